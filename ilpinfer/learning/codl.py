"""Constraint-driven learning: a model from few labelled sequences, many unlabelled ones, and rules."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from formulations import RuleSet
from formulations.arguments import number, one_of, whole
from formulations.errors import RuleNotice
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.evaluation.counts import Totals, shares
from ilpinfer.learning.codl_loop import Cycle, Data, Loop, Progress
from ilpinfer.learning.expectation import E_STEPS
from ilpinfer.learning.learners import M_STEPS, Model, learner_of
from ilpinfer.learning.measures import Measures
from ilpinfer.learning.selection import MARGIN, CandidateTrial, Tried, select, tried
from ilpinfer.models.files import record_of, text_of
from ilpinfer.models.sequences import UNKNOWN, Labelled, PartlyLabelled, check_texts, encode
from ilpinfer.pipelines.cross_validation import make_folds, without
from ilpinfer.system.files import digest, write_atomically

GAMMAS = (0.6, 0.9, 0.3)
"""Weights of the supervised model tried on folds; the default is the first, replaced only by a clearly better one."""
FOLDS, CYCLES, POOL = 5, 2, 100
"""Number of folds, and largest numbers of cycles and of pool sequences in a trial."""
LEAST = 10
"""The fewest labelled sequences on which γ is chosen."""


@dataclass(frozen=True)
class CODLResult:
    """The result of `CODL.fit`.

    Parameters
    ----------
    model, supervised : HMM, SecondOrderHMM, CRF or Chain
        Model after the last cycle, and model learnt from the labelled sequences only.
    before : dict of str to Measures
        Measures of the supervised model on held-out sequences, as in `Cycle.held_out`.
    trace : tuple of Cycle
        The cycles.
    tried : tuple of Tried
        Weights γ that were tried on folds; empty if none was chosen.
    made : dict of str to object
        Settings with the reason of their choice, versions, and fingerprints of data and rules.

    Examples
    --------
    >>> from ilpinfer.learning import CODL
    >>> labelled = [(["Ada", "Lovelace", "1843"], ["name", "name", "year"])]
    >>> result = CODL(cycles=1).fit(labelled, [["Alan", "Turing", "1936"]])
    >>> result.model.labels.names, len(result.trace)
    (('name', 'year'), 1)
    """

    model: Model
    supervised: Model
    before: dict[str, Measures]
    trace: tuple[Cycle, ...]
    tried: tuple[Tried, ...]
    made: dict[str, Any]

    @property
    def text(self) -> str:
        """The content of the model file, as `load_model` reads it, with `made` in addition to the model."""
        return text_of({**record_of(self.model), "made": self.made})

    def save(self, path: str | Path) -> None:
        """Write the model's file. It appears under its name only when it is complete.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        write_atomically(path, self.text)


@dataclass(frozen=True)
class CODL:
    """Constraint-driven learning (Chang, Ratinov, Roth 2007, Figure 2).

    λ0 = learn(labelled) and λ = λ0. In each cycle, each unlabelled sequence gets its K best labellings by score minus penalties
    (eq. 1) with weight 1/K each, and λ = γ·λ0 + (1 - γ)·learn(these), where λ are the relative counts of a hidden Markov model, or
    the scores of a conditional random field or a perceptron (section 5).

    Parameters
    ----------
    k : int, default 1
        Number K of labellings per sequence.
    gamma : float, optional
        Weight γ of the supervised model, from 0 to 1. If not given, 0.6, or another value that is clearly better on folds of the
        labelled sequences. The paper uses 0.1 and does not say which model it multiplies.
    cycles : int, default 5
        Number of cycles; 0 for the supervised model.
    e_step : str, default "top-k"
        A name from `ilpinfer.learning.E_STEPS`. With "posterior", sequences whose rules need more than 200 000 joint states,
        and all sequences at least as long, get 100 sampled labellings; the trace counts them.
    m_step : str, default "likelihood"
        How models are learnt from labellings, λ0 too, a name from `ilpinfer.learning.M_STEPS`. "perceptron" takes steps towards each
        labelling and away from the best one without rules, the mean of which counts (Collins 2002); it learns from labellings only.

    Raises
    ------
    ValueError
        For invalid names and numbers.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> labelled = [(["Ada", "Lovelace", "1843"], ["name", "name", "year"])]
    >>> pool = [["Alan", "Turing", "1936"], ["Alonzo", "Church", "1936"]]
    >>> rules = [C.tag_at("year", pattern="[0-9]{4}", penalty=2.0)]
    >>> result = CODL(gamma=0.5, cycles=2).fit(labelled, pool, rules)
    >>> [cycle.changed for cycle in result.trace]
    [1.0, 0.0]
    """

    k: int = 1
    gamma: float | None = None
    cycles: int = 5
    e_step: str = "top-k"
    m_step: str = "likelihood"

    def __post_init__(self) -> None:
        one_of(self.e_step, "E-step", E_STEPS)
        one_of(self.m_step, "M-step", M_STEPS)
        if self.gamma is not None:
            number(self.gamma, "gamma", 0, 1)
        whole(self.k, "k", 1)
        whole(self.cycles, "cycles", 0)

    def fit(
        self,
        labelled: Iterable[PartlyLabelled],
        unlabelled: Iterable[Sequence[str]],
        rules: Rules = (),
        *,
        kind: str = "hmm",
        options: Mapping[str, Any] | None = None,
        scheme: str = "",
        held_out: Sequence[Labelled] = (),
        seed: int = 0,
        progress: Progress | None = None,
    ) -> CODLResult:
        """Learn a model from labelled and unlabelled sequences.

        Labellings always keep schemes that mark the ends of spans, such as IOBES.

        Parameters
        ----------
        labelled : iterable of Labelled
            Tokens and labels of each labelled sequence, None for unknown labels. Sequences with such tokens join the unlabelled
            ones, and keep their known labels there.
        unlabelled : iterable of sequence of str
            Tokens of each unlabelled sequence.
        rules : Rules, optional
            Rules with their penalties, nats.
        kind, options : str or mapping of str to object, optional
            Kind of the model and its options; see `ilpinfer.models.training.train`.
        scheme : str, optional
            Scheme of the labels; inferred where not given.
        held_out : sequence of Labelled, optional
            Labelled sequences on which the model is evaluated after each cycle, with and without the rules.
        seed : int, default 0
            Seed of folds and samples.
        progress : Progress, optional
            Function of the cycle, counted from 1, the number of sequences labelled so far in it and their
            total; of 0, the number of models learnt so far and their total while γ is tried on folds.

        Returns
        -------
        CODLResult
            The model, with figures of each cycle.

        Raises
        ------
        ValueError
            For no labelled or unlabelled sequences, a single label, rules that do not fit the labels, an E-step from which the
            kind does not learn, and models under which no unlabelled sequence has a labelling.
        """
        learner, given = learner_of(kind, options or {}, self.m_step), compiler_of(rules)
        whole(seed, "seed", 0)
        if self.e_step == "posterior" and not learner.fractions:
            learns = kind if kind == "crf" else f"the M-step {self.m_step}"
            raise ValueError(f"{learns} learns from labellings only: take the E-step top-k")
        labels, given_texts, given_ids = encode(labelled, scheme, partly=True)
        if len(labels) < 2:
            raise ValueError(f"every token is labelled {labels.names[0]!r}; expected at least two labels")
        whole_ones = [
            (text, y) for text, y in zip(given_texts, given_ids, strict=True) if (y != UNKNOWN).all()
        ]
        if not whole_ones:
            raise ValueError(
                "every labelled sequence has tokens without a label; CODL begins with some in which all have one: label them, or "
                "train a hidden Markov model"
            )
        texts, ids = [text for text, _ in whole_ones], [y for _, y in whole_ones]
        partial = [(text, y) for text, y in zip(given_texts, given_ids, strict=True) if (y == UNKNOWN).any()]
        pool = self._pool(unlabelled, others=bool(partial))
        given.compiled(labels).warn()
        known = [{int(t): int(y[t]) for t in np.flatnonzero(y != UNKNOWN)} for _, y in partial]
        of_pool = [*(text for text, _ in partial), *pool]
        data = Data(labels, texts, ids, of_pool, given, learner, seed, [*known, *({} for _ in pool)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuleNotice)
            codl, trials, choice = self._choose(data, progress)
            loop = codl._loop(data, tuple(held_out), progress)
            for _ in range(self.cycles):
                loop.cycle()
        settings = {**asdict(codl), "kind": kind, "options": dict(options or {}), "seed": seed}
        content = [given_texts, [y.tolist() for y in given_ids], scheme]
        made = provenance(settings, content, pool, given.rules)
        trace = tuple(loop.trace)
        return CODLResult(loop.model, loop.supervised, loop.before, trace, trials, made | {"choice": choice})

    def _pool(self, unlabelled: Iterable[Sequence[str]], *, others: bool) -> list[tuple[str, ...]]:
        """The unlabelled texts; `others` says whether there are partly labelled sequences, without which the pool may not be empty."""
        texts = list[tuple[str, ...]]()
        for place, text in enumerate(unlabelled):
            if isinstance(text, str):
                raise ValueError(
                    f"sequence {place} of the pool is the text {text!r:.60}; expected a list of tokens"
                )
            texts.append(tuple(text))
        if not texts and self.cycles and not others:
            raise ValueError("the pool is empty: give unlabelled sequences, or take 0 cycles")
        return check_texts(texts) if texts else []

    def _loop(self, data: Data, held_out: Sequence[Labelled] = (), progress: Progress | None = None) -> Loop:
        assert self.gamma is not None
        return Loop(data, self.e_step, self.k, self.gamma, held_out, progress)

    def _choose(self, data: Data, progress: Progress | None) -> tuple["CODL", tuple[Tried, ...], str]:
        """CODL with the given γ or the best γ on folds, all values tried, and the reason."""
        usual, sequences = replace(self, gamma=GAMMAS[0]), len(data.texts)
        if self.gamma is not None:
            return self, (), "given"
        if not self.cycles:
            return usual, (), "without cycles"
        if sequences < LEAST:
            few = f"{sequences} labelled sequences are too few for folds; {LEAST} are needed"
            return usual, (), f"default: {few}"
        chosen = sorted(np.random.default_rng(data.seed).permutation(len(data.pool))[:POOL].tolist())
        some = data._replace(
            pool=[data.pool[place] for place in chosen], known=[data.known[place] for place in chosen]
        )
        candidates = {f"gamma {gamma:g}": replace(self, gamma=gamma) for gamma in GAMMAS}
        done = count(1)

        def fit(codl: CODL, fold: Sequence[int]) -> Loop:
            left = without(fold, sequences)
            texts, ids = [data.texts[n] for n in left], [data.ids[n] for n in left]
            loop = codl._loop(some._replace(texts=texts, ids=ids))
            for _ in range(min(self.cycles, CYCLES)):
                loop.cycle()
            if progress is not None:
                progress(0, next(done), len(candidates) * FOLDS)
            return loop

        def score(loop: Loop, fold: Sequence[int]) -> Totals:
            return loop.counts([(data.texts[n], data.named(data.ids[n])) for n in fold])

        try:
            folds = make_folds(range(sequences), FOLDS, data.seed)
            selection = select(candidates, fit, score, folds, clearly_best)
        except ValueError as error:
            return usual, (), f"default: folds cannot be learnt from: {error}"
        why = f"of {len(candidates)} on {FOLDS} folds of {sequences} labelled sequences"
        return candidates[selection.chosen], tried(selection.trials), why


def clearly_best(trials: Mapping[str, CandidateTrial[Any]]) -> str:
    """The candidate with the largest token accuracy plus half the span F1, if ahead by two standard errors; otherwise the first."""
    worth = {name: shares(trial.scores) @ [1.0, 0.5, 0.0] for name, trial in trials.items()}
    usual, best = next(iter(worth)), max(worth, key=lambda name: float(worth[name].mean()))
    gain = worth[best] - worth[usual]
    return best if gain.mean() > MARGIN * gain.std() / np.sqrt(len(gain)) else usual


def provenance(settings: Mapping[str, Any], labelled: Any, pool: Any, rules: RuleSet) -> dict[str, Any]:
    """How a model was made, as plain values without date or path."""
    return {
        "by": "CODL",
        "settings": dict(settings),
        "versions": {"ilpinfer": version("ilpinfer"), "numpy": version("numpy")},
        "labelled": digest(labelled),
        "unlabelled": digest(pool),
        "rules": digest(str(rules)),
    }
