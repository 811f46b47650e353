"""Settings of constraint-driven learning and of its baselines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from formulations.arguments import number, whole
from formulations.messages import suggestion
from ilpinfer.learning.expectation import E_STEPS
from ilpinfer.learning.learners import Learner, learner_of

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


@dataclass(frozen=True)
class Settings:
    """Settings of `CODL`.

    Parameters
    ----------
    kind, options : str or mapping of str to object, optional
        Kind of the model and its options; see `ilpinfer.models.training.train`.
    gamma : float or None, default 0.9
        Weight γ of the supervised model. The paper sets γ to 0.1 and does not say which model it multiplies:
        compare 0.1 and 0.9. None is the share of the labelled tokens among all tokens that are learnt from.
    k : int, default 1
        Number K of labellings of each sequence.
    cycles : int, default 5
        Number of cycles; 0 for the supervised model.
    e_step : str, default "top-k"
        A name from `ilpinfer.learning.E_STEPS`. With "posterior", a sequence gets sampled labellings if its
        rules take more joint states than `budget`, or if it is as long as one whose rules do; the trace
        counts such sequences.
    mixing : str, optional
        Meaning of λ: "probabilities", "scores" (their logarithms) or "counts" (of which the labelled
        sequences have a share γ); by default the first one that the learner supports.
    constrained : bool, default True
        Whether the E-step obeys the rules. Labellings always obey schemes that mark ends, such as IOBES.
    relabel : bool, default True
        Whether sequences are labelled again in each cycle, unlike in self-training.
    confidence : float, default 1.0
        Share of the unlabelled sequences that are learnt from. These are the ones whose best labelling leads
        the second by most nats, or whose likeliest labels have the highest mean probability. Without
        `relabel`, the share that is added in each cycle.
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
    gamma: float | None = 0.9
    k: int = 1
    cycles: int = 5
    e_step: str = "top-k"
    mixing: str = ""
    constrained: bool = True
    relabel: bool = True
    confidence: float = 1.0
    budget: int = 200_000
    samples: int = 100
    pool_size: int | None = None
    seed: int = 0
    learner: Learner | None = None

    def __post_init__(self) -> None:
        if self.e_step not in E_STEPS:
            raise ValueError(f'no E-step "{self.e_step}"{suggestion(str(self.e_step), E_STEPS)}')
        if self.gamma is not None:
            number(self.gamma, "gamma", 0, 1)
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
    def own_mixing(self) -> str:
        return self.mixing or self.own_learner.mixings[0]

    @property
    def plain(self) -> dict[str, Any]:
        """All fields as plain values."""
        own = None if self.learner is None else repr(self.learner)
        plain = {name: value for name, value in vars(self).items() if name != "learner"}
        return {
            **plain,
            "options": dict(self.options),
            "mixing": self.own_mixing,
            "learner": own,
        }
