"""Settings of constraint-driven learning and of its baselines, and its result with figures of each cycle."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from formulations import RuleSet
from formulations.arguments import number, one_of, positive, whole
from formulations.messages import suggestion
from ilpinfer.learning.expectation import E_STEPS
from ilpinfer.learning.learners import Learner, learner_of
from ilpinfer.learning.measures import Measures
from ilpinfer.models.files import record_of, text_of
from ilpinfer.models.mixture import Mixture, Part
from ilpinfer.system.files import digest, write_atomically

BASELINES: Mapping[str, Mapping[str, Any]] = {
    "codl": {},
    "supervised": {"cycles": 0},
    "hard-em": {"gamma": 0.0, "constrained": False},
    "weighted-hard-em": {"constrained": False},
    "soft-em": {"e_step": "posterior", "constrained": False},
    "posterior": {"e_step": "posterior"},
    "self-training": {"constrained": False, "relabel": False, "confidence": 0.2},
    "high-confidence": {"confidence": 0.5},
}
"""Settings of the baselines of `CODL`: sup, H, H&W and H&W&C of Table 2, and others."""

AUTO = "auto"
"""γ that is chosen on folds."""
GAMMA = 0.9
"""γ that is neither given nor chosen."""


@dataclass(frozen=True)
class Settings:
    """Settings of `CODL`.

    Parameters
    ----------
    kind, options : str or mapping of str to object, optional
        Kind of the model and its options; see `ilpinfer.models.training.train`.
    gamma : float, None or "auto", default "auto"
        Weight γ of the supervised model; None for the share of the labelled tokens among all that are learnt from. The paper
        has 0.1 and does not say which model it multiplies. With "auto", and neither `mixing` nor `penalty_weight`, all three are
        chosen on folds of the labelled sequences; with one of these, or too few sequences for folds, γ is 0.9.
    k : int, default 1
        Number K of labellings of each sequence.
    cycles : int, default 5
        Number of cycles; 0 for the supervised model.
    e_step : str, default "top-k"
        A name from `ilpinfer.learning.E_STEPS`. With "posterior", sequences whose rules take more joint states than `budget`,
        and others as long, get sampled labellings; the trace counts them.
    mixing : str, optional
        Meaning of λ: "probabilities", "scores" (their logarithms) or "counts"; by default chosen, or the learner's first.
    penalty_weight : float, optional
        Weight on the penalties of all soft rules in the E-step; by default chosen, or 1.
    constrained : bool, default True
        Whether the E-step obeys the rules. Labellings always obey schemes that mark ends, such as IOBES.
    relabel : bool, default True
        Whether sequences are labelled again in each cycle, unlike in self-training.
    confidence : float, default 1.0
        Share of the unlabelled sequences that are learnt from, or added in each cycle without `relabel`: those with the largest
        lead of the best labelling, nats, or the highest mean probability of the likeliest labels.
    budget : int, default 200000
        Limit on the joint states of a sequence for "posterior".
    samples : int, default 100
        Number of labellings that are sampled for each such sequence.
    pool_size : int, optional
        Number of unlabelled sequences that are drawn from those given; None for all.
    seed : int, default 0
        Seed of random choices.
    learner : Learner, optional
        A learner to use instead of that of `kind` and `options`.

    Raises
    ------
    ValueError
        For invalid names, numbers and combinations.
    """

    kind: str = "hmm"
    options: Mapping[str, Any] = field(default_factory=dict)
    gamma: float | str | None = AUTO
    k: int = 1
    cycles: int = 5
    e_step: str = "top-k"
    mixing: str = ""
    penalty_weight: float | None = None
    constrained: bool = True
    relabel: bool = True
    confidence: float = 1.0
    budget: int = 200_000
    samples: int = 100
    pool_size: int | None = None
    seed: int = 0
    learner: Learner | None = None

    def __post_init__(self) -> None:
        one_of(self.e_step, "E-step", E_STEPS)
        if self.gamma not in (None, AUTO):
            number(self.gamma, "gamma", 0, 1)
        if self.penalty_weight is not None:
            positive(self.penalty_weight, "penalty_weight")
        number(self.confidence, "confidence", 0, 1)
        if self.confidence == 0:
            raise ValueError("confidence is 0: nothing would be learnt from; expected a share above 0")
        for name, least in (("k", 1), ("cycles", 0), ("budget", 1), ("samples", 1), ("seed", 0)):
            whole(getattr(self, name), name, least)
        if self.pool_size is not None:
            whole(self.pool_size, "pool_size", 1)
        learner = self.own_learner
        if self.mixing and self.mixing not in learner.mixings:
            raise ValueError(
                f'no mixing "{self.mixing}" for {self.kind}{suggestion(self.mixing, learner.mixings)}'
            )
        if self.e_step == "posterior" and not learner.fractions:
            raise ValueError(
                f"{self.kind} learns from labellings only: take another E-step, such as weighted-top-k"
            )
        if self.e_step == "posterior" and not self.relabel:
            raise ValueError("self-training keeps labellings: take another E-step, such as weighted-top-k")

    @property
    def own_learner(self) -> Learner:
        return learner_of(self.kind, self.options) if self.learner is None else self.learner

    @property
    def is_open(self) -> bool:
        """Whether γ, mixing and weight of the penalties are to be chosen."""
        return self.gamma == AUTO and not self.mixing and self.penalty_weight is None and self.cycles > 0

    @property
    def complete(self) -> "Settings":
        """The settings with the values of those that are neither given nor chosen."""
        return replace(
            self,
            gamma=GAMMA if self.gamma == AUTO else self.gamma,
            mixing=self.mixing or self.own_learner.mixings[0],
            penalty_weight=self.penalty_weight or 1.0,
        )

    @property
    def plain(self) -> dict[str, Any]:
        own = None if self.learner is None else repr(self.learner)
        return {**vars(self), "options": dict(self.options), "learner": own}


Progress = Callable[[int, int, int], None]
"""Receives the cycle, from 1, how many sequences are labelled in it, and how many there are; or 0 and the same for trials on folds."""


@dataclass(frozen=True)
class TriedSettings:
    """Settings that were tried on folds of the labelled sequences.

    Parameters
    ----------
    gamma : float
        Weight of the supervised model.
    mixing : str
        What is mixed.
    penalty_weight : float
        Weight on the penalties in the E-step.
    held_out : dict of str to Measures
        Measures "without rules" and "with rules" on the folds that were left out, together.

    Examples
    --------
    >>> TriedSettings(0.6, "counts", 1.0, {"without rules": Measures(0.9, 0.8, 0.5)}).value
    1.3
    """

    gamma: float
    mixing: str
    penalty_weight: float
    held_out: dict[str, Measures]

    @property
    def settings(self) -> dict[str, Any]:
        """What was tried, by the names of `Settings`."""
        return {name: value for name, value in vars(self).items() if name != "held_out"}

    @property
    def value(self) -> float:
        """The figure by which settings are chosen: token accuracy plus half the F1, with rules where there are some."""
        best = list(self.held_out.values())[-1]
        return best.accuracy + best.f1 / 2


@dataclass(frozen=True)
class Cycle:
    """Figures of one cycle.

    Parameters
    ----------
    number : int
        Number of the cycle, from 1.
    learnt : int
        Number of unlabelled sequences from which the model was learnt.
    changed : float
        Share of the unlabelled sequences whose labels differ from those of the cycle before.
    violations : dict of str to int
        Number of violations of each rule by the labels of the unlabelled sequences.
    left_out : int
        Number of sequences for which no labelling keeps the hard rules.
    ways : dict of str to int
        Number of sequences by E-step; more than one E-step if some sequences have too many joint states.
    held_out : dict of str to Measures
        Measures "without rules" and "with rules"; empty without held-out sequences.

    Examples
    --------
    >>> Cycle(1, 10, 0.5, {"one title": 2}, 0, {"top-k": 10}, {}).changed
    0.5
    """

    number: int
    learnt: int
    changed: float
    violations: dict[str, int]
    left_out: int
    ways: dict[str, int]
    held_out: dict[str, Measures]


@dataclass(frozen=True)
class CODLResult:
    """The result of `CODL.fit`.

    Parameters
    ----------
    model, supervised : Part or Mixture
        Model after the last cycle, and model learnt from the labelled sequences only.
    before : dict of str to Measures
        Measures of the supervised model on held-out sequences, as in `Cycle.held_out`.
    trace : tuple of Cycle
        The cycles.
    tried : tuple of TriedSettings
        Settings that were tried on folds; the first of the largest `value` is chosen. Empty if nothing was chosen.
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

    model: Part | Mixture
    supervised: Part
    before: dict[str, Measures]
    trace: tuple[Cycle, ...]
    tried: tuple[TriedSettings, ...]
    made: dict[str, Any]

    @property
    def text(self) -> str:
        """The model's file, as `load_model` reads it, with `made` beside the model."""
        return text_of({**record_of(self.model), "made": self.made})

    def save(self, path: str | Path) -> None:
        """Write the model's file. It appears under its name only when it is complete.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        write_atomically(path, self.text)


def provenance(settings: Mapping[str, Any], labelled: Any, pool: Any, rules: RuleSet) -> dict[str, Any]:
    """How a model is made, as plain values without date or place."""
    return {
        "by": "CODL",
        "settings": dict(settings),
        "versions": {"ilpinfer": version("ilpinfer"), "numpy": version("numpy")},
        "labelled": digest(labelled),
        "unlabelled": digest(pool),
        "rules": digest(str(rules)),
    }
