"""Mined rules with what was counted, and those that were dropped."""

from dataclasses import dataclass
from typing import Any

from formulations import Rule, RuleSet


@dataclass(frozen=True)
class MinedRule:
    """A rule with what was counted.

    Parameters
    ----------
    rule : the statement, its penalty in nats, and the counts as its reason
    family : one of `FAMILIES`
    held, broken : trials at which it holds and at which it does not
    base : share of the trials at which chance alone would keep it
    gain : nats that the trials are likelier under its confidence than under chance
    folds_held, folds_applied : folds in which it holds on sequences that it was not mined from, and in which it applies;
        0 without folds
    discrimination : wrong labellings that it tells apart and no rule before it does; 0 where nothing was pruned
    """

    rule: Rule
    family: str
    held: int
    broken: int
    base: float
    gain: float
    folds_held: int = 0
    folds_applied: int = 0
    discrimination: int = 0

    @property
    def support(self) -> int:
        """Trials in all."""
        return self.held + self.broken

    @property
    def confidence(self) -> float:
        """The share of trials at which the rule holds."""
        return self.held / self.support if self.support else 0.0

    @property
    def lift(self) -> float:
        """Confidence against chance: 1 where the rule says nothing new."""
        return self.confidence / self.base if self.base else float("inf")

    @property
    def cost(self) -> float:
        """The penalty of a violation, in nats."""
        return float(self.rule.penalty)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "rule": self.rule.title,
            "family": self.family,
            "support": self.support,
            "held": self.held,
            "broken": self.broken,
            "confidence": self.confidence,
            "lift": self.lift if self.base else None,
            "cost": self.cost,
            "gain": self.gain,
            "discrimination": self.discrimination,
            "folds_held": self.folds_held,
            "folds_applied": self.folds_applied,
        }


@dataclass(frozen=True)
class Dropped:
    """Candidates that were left out for one reason.

    Parameters
    ----------
    reason : why
    number : how many
    rules : the candidates themselves, for reasons other than support, confidence and gain
    """

    reason: str
    number: int
    rules: tuple[MinedRule, ...] = ()


@dataclass(frozen=True)
class MinedRules:
    """What mining gives.

    Parameters
    ----------
    rules : in the order of decreasing discriminative power, or of decreasing gain
    dropped : candidates that were left out, by reason
    confidence : the least one, chosen by cross-validation or given
    sequences, tokens : what was mined
    wrong : wrong labellings that rules had to tell apart
    proved : whether no cheaper set of rules tells as many of them apart
    rule_set : the rules with declared fields, to write with `formulations.dump_rules`
    """

    rules: tuple[MinedRule, ...]
    dropped: tuple[Dropped, ...]
    confidence: float
    sequences: int
    tokens: int
    wrong: int
    proved: bool
    rule_set: RuleSet

    @property
    def remark(self) -> str:
        """Why no rule survives, and what to change; empty where some do."""
        if self.rules:
            return ""
        counts = ", ".join(f"{d.number} {d.reason}" for d in self.dropped) or "no candidate at all"
        largest = max(self.dropped, key=lambda d: d.number, default=None)
        way = _WAYS.get(largest.reason if largest else "", "give more sequences, or more families")
        return f"no rule survives of {self.sequences} sequences ({counts}): {way}"


_WAYS = {
    "below the support": "lower the support",
    "below the confidence": "lower the confidence",
    "below the gain": "lower the gain",
    "not held in folds": "take fewer folds, or lower the confidence",
    "contradictory": "raise the confidence",
    "redundant": "lower the power",
    "too little power": "lower the power",
}
"""The way out, by the reason for which most candidates were dropped."""
