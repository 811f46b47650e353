"""Choice of the tau of two-phase inference on labelled sequences."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

from formulations import LabelSet, Trellis
from formulations.arguments import number, whole
from formulations.messages import counted
from formulations.plain_values import PlainRecord
from formulations.programs.formulation import score_floor
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.decoding.two_phase import Floor, decode_two_phase
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning.measures import Measures
from ilpinfer.pipelines.cross_validation import make_folds, without

TAUS = (1.0, 0.999, 0.995, 0.99, 0.98, 0.97, 0.95, 0.92, 0.9, 0.85, 0.8, 0.7, 0.5)
"""Relative floors that are tried where none are given."""
ODDS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6, 1e-8)
"""Floors by odds that are tried where none are given."""
MEASURES = ("accuracy", "f1", "whole")
"""Right tokens, F1 of spans, and whole sequences."""


@dataclass(frozen=True)
class TauRow:
    """Measures of one tau.

    Parameters
    ----------
    tau : float
        Tau from 0 to 1.
    accuracy, f1, whole : float
        Share of tokens with the gold label, F1 of spans and share of correct sequences, over all sequences.
    cost : float
        Mean penalty of a sequence, nats.
    proved : int
        Number of sequences whose labelling is proved to be that of this tau.

    Examples
    --------
    >>> TauRow(0.9, 0.95, 0.9, 0.5, 0.1, 20).tau
    0.9
    """

    tau: float
    accuracy: float
    f1: float
    whole: float
    cost: float
    proved: int


@dataclass(frozen=True)
class TauChoice(PlainRecord):
    """The chosen tau, with the measures of all candidates.

    Parameters
    ----------
    tau : float
        The best tau over all sequences; of equally good ones the largest.
    bound : str
        Definition of the floor, "relative" or "odds".
    table : tuple of TauRow
        Measures of each tau, from 1 downwards.
    held_out : dict of str to float
        Measures over all sequences, each part decoded with the tau that is best on the others.
    folds : tuple of float
        Tau of each part.
    measure : str
        Measure that was maximised.

    Examples
    --------
    >>> from formulations import Trellis, constraints as C
    >>> from ilpinfer.learning import TauSearch
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> rules = [C.requires_present("a", "b", penalty=1.0)]
    >>> choice = TauSearch((1.0, 0.5), "odds").fit([trellis] * 2, [["b", "b"]] * 2, rules)
    >>> choice.tau, [row.accuracy for row in choice.table]
    (0.5, [0.0, 1.0])
    """

    tau: float
    bound: str
    table: tuple[TauRow, ...]
    held_out: dict[str, float]
    folds: tuple[float, ...]
    measure: str
    TITLE: ClassVar = "the choice of tau"


@dataclass(frozen=True)
class TauSearch:
    """Choose tau by decoding labelled sequences with several values (Fersini et al. 2014, eq. 23, leave it open).

    Parameters
    ----------
    taus : sequence of float, optional
        Values from 0 to 1; a default grid if not given.
    bound : Floor, default "relative"
        "relative" or "odds", as for `decode_two_phase`.
    measure : str, default "accuracy"
        "accuracy", "f1" or "whole".
    folds : int, default 2
        Number of parts, for each of which tau is also chosen on the others.
    seed : int, default 0
        Seed of the parts.
    time_limit : float, optional
        Time limit in seconds for each sequence and tau.

    Raises
    ------
    ValueError
        For values out of range.

    Examples
    --------
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> rules = [C.requires_present("a", "b", penalty=1.0)]
    >>> choice = TauSearch((1.0, 0.7, 0.5), "odds").fit([trellis] * 2, [["b", "b"]] * 2, rules)
    >>> choice.tau, [row.accuracy for row in choice.table], choice.held_out["accuracy"]
    (0.5, [0.0, 0.0, 1.0], 1.0)
    """

    taus: Sequence[float] = ()
    bound: Floor = "relative"
    measure: str = "accuracy"
    folds: int = 2
    seed: int = 0
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.bound not in get_args(Floor):
            raise ValueError(f"bound is {self.bound!r}; expected one of {', '.join(get_args(Floor))}")
        if self.measure not in MEASURES:
            raise ValueError(f"measure is {self.measure!r}; expected one of {', '.join(MEASURES)}")
        whole(self.folds, "folds", 2)
        for tau in self.taus:
            score_floor(0, number(tau, "tau", 0, 1), self.bound)
        given = self.taus or (TAUS if self.bound == "relative" else ODDS)
        object.__setattr__(self, "taus", tuple(sorted({float(tau) for tau in given}, reverse=True)))

    def fit(self, trellises: Iterable[Trellis], gold: Sequence[Sequence[str]], rules: Rules) -> TauChoice:
        """Decode every sequence with every tau, and choose.

        Parameters
        ----------
        trellises : iterable of Trellis
            N sequences, at least as many as there are folds.
        gold : sequence of sequence of str
            T label names of each sequence.
        rules : Rules
            Rules and features, or a rule set.

        Returns
        -------
        TauChoice
            The best tau, with all measures.

        Raises
        ------
        ValueError
            For too few sequences, and numbers of labels that differ from those of tokens.
        """
        given = list(trellises)
        if len(gold) != len(given):
            raise ValueError(
                f"{counted(len(gold), 'gold labelling')} for {counted(len(given), 'sequence')}; give one for each"
            )
        parts = make_folds(range(len(given)), int(self.folds), self.seed)
        compiler, pairs, rows = compiler_of(rules), list[list[Pair]](), list[TauRow]()
        for tau in self.taus:
            results = [
                decode_two_phase(trellis, compiler, tau, self.bound, time_limit=self.time_limit)
                for trellis in given
            ]
            labels = [tuple(s.labels) if s.has_labelling else None for s in results]
            tokens = [tuple(map(str, trellis.tokens)) for trellis in given]
            pairs.append([Pair(t, p, tuple(g)) for t, p, g in zip(tokens, labels, gold, strict=True)])
            cost = math.fsum(s.penalty for s in results if s.has_labelling) / len(results)
            proved = sum(s.status == "optimal" for s in results)
            rows.append(TauRow(tau, **self._measures(given, pairs[-1]), cost=cost, proved=proved))
        chosen, mixed = list[float](), list[Pair]()
        for part in parts:
            others = without(part, len(given))
            worth = [self._measures(given, [one[place] for place in others])[self.measure] for one in pairs]
            best = worth.index(max(worth))
            chosen.append(self.taus[best])
            mixed += [pairs[best][place] for place in part]
        values = [getattr(row, self.measure) for row in rows]
        return TauChoice(
            self.taus[values.index(max(values))],
            self.bound,
            tuple(rows),
            self._measures(given, mixed),
            tuple(chosen),
            self.measure,
        )

    def _measures(self, trellises: Sequence[Trellis], pairs: Sequence[Pair]) -> dict[str, float]:
        names = sorted({name for pair in pairs for name in (*pair.gold, *(pair.predicted or ()))})
        labels = LabelSet(tuple(names), trellises[0].labels.notation)
        return Measures.of(evaluate(pairs, labels=labels))._asdict()
