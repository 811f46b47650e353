"""Constraint-driven learning: a model from few labelled sequences, many unlabelled ones, and rules."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from formulations.arguments import one_of
from formulations.errors import RuleNotice
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning.codl_records import (
    BASELINES,
    GAMMA,
    CODLResult,
    Progress,
    Settings,
    TriedSettings,
    provenance,
)
from ilpinfer.learning.codl_run import CODLState, Data
from ilpinfer.learning.measures import Measures
from ilpinfer.models.sequences import Labelled, check_texts, encode
from ilpinfer.pipelines.cross_validation import make_folds, without


@dataclass(frozen=True)
class CODL(Settings):
    """Constraint-driven learning (Chang, Ratinov, Roth 2007, Figure 2) and its baselines.

    λ0 = learn(labelled) and λ = λ0. In each cycle, each unlabelled sequence gets its K best labellings by score minus penalties
    (eq. 1) with weight 1/K each, and λ = γ·λ0 + (1 - γ)·learn(these).

    The parameters are those of `ilpinfer.learning.codl_records.Settings`. Where γ, the mixing and the weight on penalties are not
    given, the best of a small grid on folds of the labelled sequences is taken, and the result has the figures of each.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> labelled = [(["Ada", "Lovelace", "1843"], ["name", "name", "year"])]
    >>> pool = [["Alan", "Turing", "1936"], ["Alonzo", "Church", "1936"]]
    >>> rules = [C.tag_at("year", pattern="[0-9]{4}", penalty=2.0)]
    >>> result = CODL(gamma=0.5, cycles=2).fit(labelled, pool, rules)
    >>> [cycle.changed for cycle in result.trace]
    [1.0, 0.0]
    """

    @classmethod
    def of(cls, baseline: str, **settings: Any) -> "CODL":
        """The settings of a baseline, with further settings.

        Parameters
        ----------
        baseline : str
            A name from `BASELINES`.
        **settings : object
            Further settings.

        Returns
        -------
        CODL
            The learner.

        Raises
        ------
        ValueError
            For an unknown baseline, and for settings that contradict it.
        """
        one_of(baseline, "baseline", BASELINES)
        own = BASELINES[baseline]
        for name, value in settings.items():
            if name in own and own[name] != value:
                raise ValueError(
                    f"{name} is {value!r}, but {baseline} has {own[name]!r}; leave one of them out"
                )
        return cls(**{**settings, **own})

    def fit(
        self,
        labelled: Iterable[Labelled],
        unlabelled: Iterable[Sequence[str]],
        rules: Rules = (),
        *,
        scheme: str = "",
        held_out: Sequence[Labelled] = (),
        progress: Progress | None = None,
    ) -> CODLResult:
        """Learn a model from labelled and unlabelled sequences.

        Parameters
        ----------
        labelled : iterable of Labelled
            Tokens and labels of each labelled sequence.
        unlabelled : iterable of sequence of str
            Tokens of each unlabelled sequence.
        rules : Rules, optional
            Rules with their penalties, nats.
        scheme : str, optional
            Scheme of the labels; inferred where not given.
        held_out : sequence of Labelled, optional
            Labelled sequences on which the model is evaluated after each cycle, with and without the rules.
        progress : Progress, optional
            Function of the cycle, counted from 1, the number of sequences labelled so far in it and their
            total; of 0, the number of models learnt so far and their total while settings are tried on folds.

        Returns
        -------
        CODLResult
            The model, with figures of each cycle.

        Raises
        ------
        ValueError
            For no labelled or unlabelled sequences, a single label, rules that do not fit the labels, and
            models under which no unlabelled sequence has a labelling.
        """
        given = compiler_of(rules)
        labels, texts, ids = encode(labelled, scheme)
        if len(labels) < 2:
            raise ValueError(f"every token is labelled {labels.names[0]!r}; expected at least two labels")
        pool = self._pool(unlabelled)
        given.compiled(labels).warn()
        data = Data(labels, texts, ids, pool, given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuleNotice)
            settings, tried, choice = choose(self, data, progress)
            run = CODLState(settings, data, tuple(held_out), progress)
            for _ in range(self.cycles):
                run.cycle()
        made = provenance(settings.plain, [texts, [y.tolist() for y in ids], scheme], pool, given.rules)
        return CODLResult(
            run.model, run.supervised, run.before, tuple(run.trace), tried, made | {"choice": choice}
        )

    def _pool(self, unlabelled: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
        texts = list[tuple[str, ...]]()
        for number, text in enumerate(unlabelled):
            if isinstance(text, str):
                raise ValueError(
                    f"sequence {number} of the pool is the text {text!r:.60}; expected a list of tokens"
                )
            texts.append(tuple(text))
        if not texts and self.cycles:
            raise ValueError("the pool is empty: give unlabelled sequences, or take 0 cycles")
        pool = check_texts(texts) if texts else []
        if self.pool_size is None or self.pool_size >= len(pool):
            return pool
        chosen = np.random.default_rng(self.seed).choice(len(pool), self.pool_size, replace=False)
        return [pool[place] for place in sorted(chosen.tolist())]


GRID = (("probabilities", 0.5), ("probabilities", 0.1), ("counts", 0.6), ("counts", 0.3))
"""Mixings and γ that are tried beside the default."""
SOFTER = ("counts", 0.4, 1 / 3)
"""Mixing, γ and weight on the penalties that are tried too where the posterior is that under rules."""
FOLDS, CYCLES, POOL = 5, 2, 100
"""Folds, and the most cycles and sequences of the pool in a trial."""
LEAST = 10
"""The fewest labelled sequences on which settings are chosen."""


def choose(
    given: Settings, data: Data, progress: Progress | None
) -> tuple[Settings, tuple[TriedSettings, ...], str]:
    """The given settings, or the best of the grid; all that were tried, and the reason."""
    default, number = given.complete, len(data.texts)
    if not given.is_open:
        return default, (), "given"
    if number < LEAST:
        few = f"{number} labelled sequences are too few for folds; {LEAST} are needed"
        return default, (), f"default: {few}"
    grid = candidates(default, bool(data.rules.rules.items))
    tried = list[TriedSettings]()
    folds = make_folds(range(number), FOLDS, default.seed)
    done = count(1)

    def advance() -> None:
        if progress is not None:
            progress(0, next(done), len(grid) * FOLDS)

    for mixing, gamma, weight in grid:
        settings = replace(default, mixing=mixing, gamma=gamma, penalty_weight=weight)
        try:
            measures = _measured(settings, data, folds, advance)
        except ValueError as error:
            return default, tuple(tried), f"default: folds cannot be learnt from: {error}"
        tried.append(TriedSettings(gamma, mixing, weight, measures))
    best = max(tried, key=lambda each: each.value)
    why = f"the best of {len(tried)} on {FOLDS} folds of {number} labelled sequences"
    return replace(default, **best.settings), tuple(tried), why


def candidates(default: Settings, has_rules: bool) -> list[tuple[str, float, float]]:
    """Mixing, γ and weight on penalties: the default, then the grid; a mixing that the learner lacks stands for its first one."""
    mixings = default.own_learner.mixings
    result = [(mixings[0], GAMMA, 1.0)]
    result += [(mixing if mixing in mixings else mixings[0], gamma, 1.0) for mixing, gamma in GRID]
    if default.e_step == "posterior" and default.constrained and has_rules:
        result.append(SOFTER)
    return list(dict.fromkeys(result))


def _measured(
    settings: Settings, data: Data, folds: Sequence[Sequence[int]], advance: Callable[[], None]
) -> dict[str, Measures]:
    """Measures of models of the folds, each on what it has not seen."""
    chosen = np.random.default_rng(settings.seed).permutation(len(data.pool))[:POOL]
    pool = [data.pool[place] for place in sorted(chosen.tolist())]
    pairs = dict[str, list[Pair]]()
    for fold in folds:
        left = without(fold, len(data.texts))
        texts, ids = [data.texts[place] for place in left], [data.ids[place] for place in left]
        held_out = [(data.texts[place], [data.labels.names[k] for k in data.ids[place]]) for place in fold]
        run = CODLState(settings, data._replace(texts=texts, ids=ids, pool=pool), (), None)
        for _ in range(min(settings.cycles, CYCLES)):
            run.cycle()
        for name, predicted in run.predictions(held_out).items():
            pairs.setdefault(name, []).extend(predicted)
        advance()
    return {name: Measures.of(evaluate(each)) for name, each in pairs.items()}
