"""Explanations of labellings: broken rules, places, costs, and the labelling without each rule."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

from formulations import Rule, Trellis
from formulations.constraints.template import Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.messages import counted
from formulations.plain_values import PlainRecord
from formulations.problem.compiled_rules import unique_names
from formulations.problem.problem import Problem
from ilpinfer.core.rule_compiler import RuleCompiler


@dataclass(frozen=True)
class Context:
    rules: RuleCompiler
    trellis: Trellis
    decode: Callable[[RuleCompiler], Any]
    known_problem: Problem | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "known_problem": None}

    @property
    def problem(self) -> Problem:
        return self.rules.quietly(self.trellis) if self.known_problem is None else self.known_problem

    @property
    def digest(self) -> str:
        """Digest of trellis and rules; see `Certificate`."""
        return self.rules.compiled(self.trellis.labels).digest_of(self.trellis)

    @property
    def labels(self) -> LabelSet:
        """With the fields that the rules declare."""
        return self.trellis.labels.with_optional_fields(self.rules.rules.fields)

    def named(self) -> dict[str, Rule]:
        """Rules by their unique names, without features."""
        pairs = zip(unique_names(self.rules), self.rules, strict=True)
        return {name: rule for name, rule in pairs if isinstance(rule, Rule)}

    def overruled(self) -> dict[str, list[int]]:
        """For each rule that an earlier one has priority over, the tokens where it has."""
        return self.rules.compiled(self.trellis.labels).overruled(self.trellis.tokens)

    def broken(self, name: str, labels: Sequence[str]) -> list[Trial]:
        """The trials in which a labelling breaks a rule, by the plain checker."""
        reading = Reading(labels, self.trellis.tokens, self.labels)
        lost = set(self.overruled().get(name, ()))
        return [t for t in self.named()[name].trials(reading) if t.amount and not lost & set(t.tokens[:1])]

    def places(self, name: str, labels: Sequence[str]) -> tuple[int, ...]:
        return tuple(sorted({t for trial in self.broken(name, labels) for t in trial.tokens}))


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
    broken: tuple[Broken, ...]
    overruled: dict[str, tuple[int, ...]]
    TITLE: ClassVar = "explanation"

    def __str__(self) -> str:
        lines = [str(item) for item in self.broken] or ["no rule is broken"]
        lines += [
            f"{rule}: overruled by an earlier rule at token{'s' * (len(at) > 1)} {', '.join(map(str, at))}"
            for rule, at in self.overruled.items()
        ]
        return "\n".join(lines)


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


def _place(trial: Trial, tokens: Sequence[str], labels: Sequence[str]) -> Place:
    at = trial.tokens
    return Place(at, tuple(tokens[t] for t in at), tuple(labels[t] for t in at), trial.amount)
