"""Settings of constraint-driven learning, and those of what it is compared with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

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
"""Settings of `CODL` for what it is compared with: sup, H, H&W and H&W&C of Table 2, and other rivals."""


@dataclass(frozen=True)
class Settings:
    """How `CODL` learns.

    Parameters
    ----------
    kind, options : of the model, as in `ilpinfer.models.training.train`
    gamma : γ, the weight of the supervised model. The paper sets γ to 0.1 and does not say which side it multiplies:
        compare 0.1 and 0.9. None is the share of the labelled tokens among all that are learnt from
    k : K, labellings of each sequence
    cycles : 0 for the supervised model
    e_step : a name from `ilpinfer.learning.E_STEPS`. For "posterior", sequences whose rules take more joint states than `budget`, or
        as long as one whose rules do, get sampled labellings, and the trace counts them
    mixing : what λ is, "probabilities", "scores" (their logarithms) or "counts" (of which a share γ is the labelled sequences');
        the learner's first where not given
    constrained : whether the E-step obeys the rules. Labels of schemes that mark ends, such as IOBES, keep to it in any case
    relabel : whether a sequence is labelled anew in each cycle; self-training does not
    confidence : share of the pool that is learnt from, where the best labelling leads the second by most nats, or the mean
        probability of the likeliest labels is greatest. Without `relabel`, the share that is added in each cycle
    budget : joint states of a sequence for "posterior"
    samples : labellings that are drawn for each such sequence
    pool_size : how many unlabelled sequences are drawn from the pool; None for all
    seed : of what is drawn
    learner : another than that of `kind` and `options`

    Raises
    ------
    ValueError
        for names, numbers and combinations that make no sense.
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
        _check_share("gamma", self.gamma, optional=True)
        _check_share("confidence", self.confidence)
        if self.confidence == 0:
            raise ValueError("confidence is 0: nothing would be learnt from; expected a share above 0")
        for name, least in (
            ("k", 1),
            ("cycles", 0),
            ("budget", 1),
            ("samples", 1),
            ("seed", 0),
            ("pool_size", 1),
        ):
            _check_number(name, getattr(self, name), least)
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
        """The learner that is used."""
        return learner_of(self.kind, self.options) if self.learner is None else self.learner

    @property
    def own_mixing(self) -> str:
        """The mixing that is used."""
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


def _check_share(name: str, value: Any, *, optional: bool = False) -> None:
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} is {value!r}; expected a number from 0 to 1")


def _check_number(name: str, value: Any, least: int) -> None:
    if name == "pool_size" and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} is {value!r}; expected a whole number from {least}")
