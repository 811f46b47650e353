"""Mined rules with their counts, and dropped candidates."""

from dataclasses import dataclass
from typing import Any

from formulations import Rule, RuleSet
from formulations.messages import counted
from formulations.plain_values import PlainValues
from ilpinfer.core.printing import short


@dataclass(frozen=True)
class MinedRule(PlainValues):
    """A mined rule with its counts.

    Parameters
    ----------
    rule : Rule
        Rule with its penalty in nats, and the counts as its reason.
    family : str
        One of `FAMILIES`.
    held, broken : int
        Number of trials that keep it and that break it.
    base : float
        Share of the trials that would keep it by chance.
    gain : float
        Log-likelihood gain of its confidence over chance on the trials, nats.
    folds_held, folds_applied : int, default 0
        Number of folds in which it holds on sequences that it was not mined from, and in which it applies; 0 without folds.
    discrimination : int, default 0
        Number of wrong labellings that it detects and no earlier rule detects; 0 without pruning.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> MinedRule(C.starts_with("author", penalty=2.0), "first-field", 9, 1, 0.5, 3.7).confidence
    0.9
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
        """Number of trials."""
        return self.held + self.broken

    @property
    def confidence(self) -> float:
        """The share of trials that keep the rule."""
        return self.held / self.support if self.support else 0.0

    @property
    def lift(self) -> float:
        """Confidence relative to chance: 1 if the rule holds as often as by chance."""
        return self.confidence / self.base if self.base else float("inf")

    @property
    def cost(self) -> float:
        """The penalty of a violation, in nats."""
        return float(self.rule.penalty)

    def to_dict(self) -> dict[str, Any]:
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
class DroppedCandidates:
    """Candidates that were dropped for one reason.

    Parameters
    ----------
    reason : str
        The reason.
    number : int
        Number of candidates.
    rules : tuple of MinedRule, optional
        The candidates, unless the reason is support, confidence or gain.

    Examples
    --------
    >>> DroppedCandidates("support", 12).number
    12
    """

    reason: str
    number: int
    rules: tuple[MinedRule, ...] = ()


@dataclass(frozen=True)
class MinedRules:
    """The result of mining.

    Parameters
    ----------
    entries : tuple of MinedRule
        Rules by decreasing discrimination, or by decreasing gain.
    dropped : tuple of DroppedCandidates
        Candidates that were dropped, by reason.
    confidence : float
        Least confidence, chosen by cross-validation or given.
    sequences, tokens : int
        Size of the mined corpus.
    wrong : int
        Number of wrong labellings that rules had to detect.
    proved : bool
        Whether no cheaper set of rules detects as many of them.
    rules : RuleSet
        The rules with declared fields, for `formulations.dump_rules`.

    Examples
    --------
    >>> from ilpinfer.learning import RuleMiner
    >>> pairs = [(["Ada", str(year)], ["author", "date"]) for year in range(1843, 1873)]
    >>> mined = RuleMiner(families=["first-field"]).fit(pairs)
    >>> [rule.title for rule in mined.rules.rules]
    ['starts_with(author)']
    """

    entries: tuple[MinedRule, ...]
    dropped: tuple[DroppedCandidates, ...]
    confidence: float
    sequences: int
    tokens: int
    wrong: int
    proved: bool
    rules: RuleSet

    def __repr__(self) -> str:
        return f"MinedRules({counted(len(self.entries), 'rule')} of {counted(self.sequences, 'sequence')})"

    def __str__(self) -> str:
        first = f"{counted(len(self.entries), 'rule')} of {counted(self.sequences, 'sequence')}"
        rules = [f"{each.rule.title}: holds {each.held}, broken {each.broken}" for each in self.entries]
        return "\n".join((first, short(rules, "rule") if rules else self.remark))

    @property
    def remark(self) -> str:
        """Reason why no rule survives, with a remedy; empty if some do."""
        if self.entries:
            return ""
        counts = ", ".join(f"{d.number} {d.reason}" for d in self.dropped) or "no candidate at all"
        largest = max(self.dropped, key=lambda d: d.number, default=None)
        way = _WAYS.get(largest.reason if largest else "", "give more sequences, or more families")
        return f"no rule found in {self.sequences} sequences ({counts}); {way}"


_WAYS = {
    "below the support": "lower the support",
    "below the confidence": "lower the confidence",
    "below the gain": "lower the gain",
    "not held in folds": "take fewer folds, or lower the confidence",
    "contradictory": "raise the confidence",
    "redundant": "lower the power",
    "too little power": "lower the power",
}
"""The remedy, by the most frequent reason for dropping a candidate."""
