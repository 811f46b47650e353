"""Rules on sets of nested spans: which there are, what they count, and how often a set breaks them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import eq
from typing import Any

from formulations import Rule
from formulations.constraints.counting import Counting, RunLength
from formulations.constraints.order import Precedence, RequiresBefore
from formulations.constraints.presence import NeverTogether, RequiresPresent
from formulations.constraints.template import Template
from formulations.labels.schemes import OUTSIDE
from formulations.labels.selectors import Group, Selector, alternatives, holds, names_in
from formulations.messages import brief
from formulations.problem.compiled_rules import unique_names
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.corpus.candidates import Candidate

KINDS = "bounds on numbers and lengths of runs, presence, requires_before and precedence"
Labels = frozenset[str]
Members = Mapping[str, Labels]
"""For each label of members, the labels of which one must be around a span; empty where none must."""
Placed = tuple[Candidate, Labels]
"""A chosen span, and the labels of those around it."""


def one(size: int) -> int:
    """What each member counts, whatever its size."""
    return 1


@dataclass(frozen=True)
class Limit:
    """The sum of what members count lies between two numbers; each unit outside is a violation."""

    members: Members
    low: int
    high: int | None
    of: Callable[[int], int] = one  # what a member of some tokens counts

    def away(self, total: int) -> int:
        return max(0, self.low - total, 0 if self.high is None else total - self.high)


@dataclass(frozen=True)
class Presence:
    """Where there are members of one kind, there are some of the other, or none; one violation."""

    one: Members
    other: Members
    together: bool

    def away(self, one: int, other: int) -> int:
        return int(one > 0 and (other > 0) != self.together)


@dataclass(frozen=True)
class Order:
    """Each member has a token of another kind before its first token, or after its last one; each other one is a violation."""

    members: Members
    others: Members
    before: bool

    def precedes(self, other: Candidate, span: Candidate) -> bool:
        """Whether the other span has a token on the right side of a member."""
        return other.start < span.start if self.before else other.end > span.end


@dataclass(frozen=True)
class SpanRule:
    """A rule as parts whose violations add up; `units` is its penalty on the score grid."""

    name: str
    units: int
    parts: tuple[Limit | Presence | Order, ...]

    @property
    def local(self) -> bool:
        """Whether each span has violations of its own, whatever the others are."""
        return all(isinstance(part, Limit) and part.low <= 0 == part.high for part in self.parts)

    def violations(self, chosen: Sequence[Placed]) -> int:
        return sum(_violations(part, chosen) for part in self.parts)


@dataclass(frozen=True)
class NestedSpans:
    """Candidates, what each adds in grid units, rules, and the most spans around a token, None for any number."""

    spans: tuple[Candidate, ...]
    weights: tuple[int, ...]
    rules: tuple[SpanRule, ...]
    depth: int | None = None


def span_rules(rules: Rules, labels: Sequence[str]) -> tuple[SpanRule, ...]:
    """The rules for candidates of some labels; ValueError for one that is not for nested spans."""
    given, result = compiler_of(rules).rules, list[SpanRule]()
    given.check_unconditional()
    for item, name in zip(given, unique_names(given), strict=True):
        if not isinstance(item, Rule):
            raise ValueError(f"{name}: features are not for nested spans; give the label a prior")
        if item.distance != "count":
            raise ValueError(
                f"rule {name!r}: distance {item.distance!r} is not for nested spans; use 'count'"
            )
        parts = tuple(_part(each, name, labels) for each in item.statements(tuple(labels)))
        result.append(SpanRule(name, item.units, parts))
    return tuple(result)


def _part(statement: Template, name: str, labels: Sequence[str]) -> Limit | Presence | Order:
    def members(selector: Selector) -> Members:
        return _members(selector, name, labels)

    match statement:
        case Counting(field=field, unit="runs"):
            low, high = statement.bounds
            return Limit(members(field), low or 0, high)
        case RunLength(field=field, n=n, sign=sign):
            return Limit(members(field), 0, 0, lambda size: max(0, sign * (size - n)))
        case RequiresPresent(field=field, required=other) | NeverTogether(field=field, other=other):
            return Presence(members(field), members(other), isinstance(statement, RequiresPresent))
        case RequiresBefore(field=field, earlier=other) | Precedence(field=field, later=other):
            return Order(members(field), members(other), isinstance(statement, RequiresBefore))
    raise ValueError(f"rule {name!r}: {statement.rule_name} is not for nested spans; they take {KINDS}")


def _members(selector: Selector, name: str, labels: Sequence[str]) -> Members:
    """The members that a selector means, by names of labels and paths x/y; ValueError for other names."""
    every, complement = names_in([selector]), any(map(_has_complement, alternatives(selector)))
    for each in every:
        why = ""
        if each == OUTSIDE and not complement:
            why = "is no label of spans; name a label of candidates"
        elif each.count("/") > 1:
            why = "has more than two levels; write x/y for y inside x"
        elif "/" in each and complement:
            why = 'is a path among labels that are left out ("not"); name a label'
        if why:
            raise ValueError(f"rule {name!r}: {brief(each)} {why}")
    paths = [each.split("/") for each in every if "/" in each]
    around = {label: frozenset(outer for outer, inner in paths if inner == label) for label in labels}
    whole = [label for label in labels if holds(selector, partial(eq, label))]
    return {label: outer for label, outer in around.items() if outer} | dict.fromkeys(whole, frozenset())


def _has_complement(selector: Any) -> bool:
    return isinstance(selector, Group) and (
        selector.complement or any(map(_has_complement, selector.members))
    )


def is_member(members: Members, label: str, around: Labels) -> bool:
    """Whether a span of a label, with labels around it, is a member."""
    return label in members and (not members[label] or not members[label].isdisjoint(around))


def placed(chosen: Iterable[Candidate]) -> Iterator[tuple[Candidate, tuple[Candidate, ...]]]:
    """Each span of a nested set with those around it, outermost first, by its place."""
    around = list[Candidate]()
    for span in sorted(chosen, key=lambda each: (each.start, -each.end)):
        while around and around[-1].end <= span.start:
            around.pop()
        yield span, tuple(around)
        around.append(span)


def _violations(part: Limit | Presence | Order, chosen: Sequence[Placed]) -> int:
    def spans(members: Members) -> list[Candidate]:
        return [span for span, around in chosen if is_member(members, span.label, around)]

    match part:
        case Limit():
            return part.away(sum(part.of(span.end - span.start) for span in spans(part.members)))
        case Presence():
            return part.away(len(spans(part.one)), len(spans(part.other)))
    others = spans(part.others)
    return sum(not any(part.precedes(each, span) for each in others) for span in spans(part.members))
