"""Explanations of labellings: broken rules, and labels that are not Viterbi's; conflicts where there is no labelling."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

from formulations.constraints.template import Trial
from formulations.messages import counted
from formulations.plain_values import PlainRecord
from ilpinfer.core.context import Context
from ilpinfer.core.infeasibility import Infeasibility, tokens_text

MOST_SHOWN = 8
"""Labels that a line lists."""


@dataclass(frozen=True)
class Place:
    """A place of a violation; without tokens, the rule is about the sequence as a whole."""

    tokens: tuple[int, ...]
    text: tuple[str, ...]
    labels: tuple[str, ...]
    violations: int

    def __str__(self) -> str:
        places = zip(self.tokens[:6], self.text, self.labels, strict=False)
        shown = [f"{t} {text} [{label}]".replace("  ", " ") for t, text, label in places]
        return "; ".join(shown) + ("; …" if len(self.tokens) > 6 else "") if shown else "the whole sequence"


@dataclass(frozen=True)
class Broken(PlainRecord):
    """One rule that a labelling breaks, its cost in nats, and the labelling that would be found without it, if any."""

    rule: str
    reason: str
    hard: bool
    violations: int
    cost: float
    places: tuple[Place, ...]
    without: tuple[str, ...] | None
    changes: tuple[int, ...]
    gain: float
    TITLE: ClassVar = "broken rule"
    NULL: ClassVar = MappingProxyType({"cost": math.inf, "gain": math.inf})

    @classmethod
    def from_dict(cls, values: Any, what: str = "") -> Self:
        item = super().from_dict(values, what)
        return replace(item, gain=-math.inf) if values["gain"] is None and item.without is None else item

    def __str__(self) -> str:
        cost = "hard" if self.hard else f"{self.cost:.4g} nats"
        lines = [f"{self.rule}: {counted(self.violations, 'violation')}, {cost}"]
        lines += [f"  because {self.reason}"] if self.reason else []
        lines += [f"  at {place}" for place in self.places]
        if self.without is None:
            lines.append("  without it: no labelling was found")
        elif not self.changes:
            lines.append("  without it: the same labelling")
        else:
            changed = "; ".join(f"{t} [{self.without[t]}]" for t in self.changes[:8])
            lines.append(f"  without it: {changed}{'; …' if len(self.changes) > 8 else ''}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation(PlainRecord):
    """The rules that a labelling breaks; where no labelling is feasible, the conflict."""

    broken: tuple[Broken, ...]
    overruled: dict[str, tuple[int, ...]]
    infeasibility: Infeasibility | None = None
    TITLE: ClassVar = "explanation"

    def __str__(self) -> str:
        if self.infeasibility is not None:
            return f"no labelling is feasible: {self.infeasibility}"
        lines = [str(item) for item in self.broken] or ["no rule is broken"]
        lines += [
            f"{rule}: overruled by an earlier rule at token{'s' * (len(at) > 1)} {', '.join(map(str, at))}"
            for rule, at in self.overruled.items()
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Change(PlainRecord):
    """A run of labels that are not Viterbi's, and the best labelling with Viterbi's labels there.

    For a token with Viterbi's label, the best labelling with any other label there.
    """

    tokens: tuple[int, ...]
    text: tuple[str, ...]
    labels: tuple[str, ...]  # of the labelling that is explained
    viterbi: tuple[str, ...]
    breaks: dict[str, int]  # violations that Viterbi's labels there add while all other labels stay
    other: tuple[str, ...] | None  # T labels; of the fewest violations of hard rules if none keeps these
    status: str  # of the search for `other`, as in a solution
    loss: float  # score of the labelling minus score of the other, nats; inf if the other breaks a hard rule
    more: dict[str, int]  # violations that the other labelling has more
    differs: tuple[int, ...]  # tokens at which the other labelling differs
    TITLE: ClassVar = "change"
    NULL: ClassVar = MappingProxyType({"loss": math.inf})

    @classmethod
    def from_dict(cls, values: Any, what: str = "") -> Self:
        item = super().from_dict(values, what)
        keeps = item.status in ("optimal", "feasible")
        return replace(item, loss=-math.inf) if values["loss"] is None and keeps else item

    @property
    def is_changed(self) -> bool:
        """Whether the labels are not Viterbi's."""
        return self.labels != self.viterbi

    def __str__(self) -> str:
        own, before = _listed(self.labels), _listed(self.viterbi)
        place = tokens_text(self.tokens, dict(zip(self.tokens, self.text, strict=True)))
        lines = [f"{place.removeprefix(' at ')}: {own}{f', where Viterbi has {before}' * self.is_changed}"]
        if not self.is_changed:
            lines.append("  it is Viterbi's label, too")
        elif self.breaks:
            lines.append(
                f"  {before} there, with all other labels as they are, breaks {_counts(self.breaks)}"
            )
        else:
            lines.append(f"  {before} there, with all other labels as they are, breaks no more rules")
        lines.append(f"  {self._other(f'with {before} there' if self.is_changed else 'with another label')}")
        return "\n".join(lines)

    def _other(self, which: str) -> str:
        """What the other labelling is worth, in a line."""
        if self.status == "infeasible":
            none = f"no labelling {which} keeps the hard rules"
            if self.other is None:
                return none
            return f"{none}; one that keeps the others breaks {_counts(self.more)}: {self._where()}"
        if self.other is None:
            return f"no labelling {which} was found in time"
        best = f"the best labelling {'' if self.status == 'optimal' else 'found in time '}{which}"
        if self.loss == -math.inf:
            return f"{best} keeps the hard rules, which this one does not: {self._where()}"
        nats = f"{abs(self.loss):.4g} nats {'less' if self.loss >= 0 else 'more'}"
        breaks = f"breaks {_counts(self.more)}" if self.more else "breaks no rule more"
        return f"{best} scores {nats} and {breaks}: {self._where()}"

    def _where(self) -> str:
        assert self.other is not None
        shown = "; ".join(f"{t} [{self.other[t]}]" for t in self.differs[:MOST_SHOWN])
        return shown + ("; …" if len(self.differs) > MOST_SHOWN else "")


@dataclass(frozen=True)
class Changes(PlainRecord):
    """The labels that are not Viterbi's, run by run, or the answer for one token."""

    changes: tuple[Change, ...]
    TITLE: ClassVar = "changes"

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes)) or "every label is Viterbi's"

    def short(self) -> list[dict[str, Any]]:
        """For each run: its tokens, Viterbi's labels, the labels of the solution, and the rules that Viterbi's labels would break more often."""
        return [
            {
                "tokens": list(each.tokens),
                "from": list(each.viterbi),
                "to": list(each.labels),
                "rules": each.breaks or each.more,
            }
            for each in self.changes
        ]


def explain(
    labels: Sequence[str], score: float, violations: Mapping[str, int], context: Context
) -> Explanation:
    """Explain a labelling by the plain checker. For each broken rule, the sequence is decoded without it."""
    rules, result = context.named(), []
    for name, count in violations.items():
        if not count:
            continue
        rule, other = rules[name], context.decode(context.rules.without(name))
        places = [_place(trial, context.trellis.tokens, labels) for trial in context.broken(name, labels)]
        without = tuple(other.labels) if other.has_labelling else None
        changes = tuple(t for t, (a, b) in enumerate(zip(labels, without or labels, strict=True)) if a != b)
        cost = float("inf") if rule.hard else rule.units * count / 2**20
        gain = other.score - score if other.score != score else 0.0
        result.append(
            Broken(name, rule.reason, rule.hard, count, cost, tuple(places), without, changes, gain)
        )
    result.sort(key=lambda item: -item.cost)
    return Explanation(tuple(result), {rule: tuple(at) for rule, at in context.overruled().items()})


def _listed(labels: Sequence[str]) -> str:
    """One label for a run of equal ones, else the first few."""
    if len(set(labels)) == 1:
        return labels[0]
    return " ".join(labels[:MOST_SHOWN]) + (" …" if len(labels) > MOST_SHOWN else "")


def _counts(more: Mapping[str, int]) -> str:
    """`"one title" (1 more)`."""
    return ", ".join(f'"{name}" ({count} more)' for name, count in more.items())


def _place(trial: Trial, tokens: Sequence[str], labels: Sequence[str]) -> Place:
    at = trial.tokens
    return Place(at, tuple(tokens[t] for t in at), tuple(labels[t] for t in at), trial.amount)
