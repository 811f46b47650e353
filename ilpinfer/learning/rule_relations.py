"""Rules that follow from another rule, and contradictory pairs, by their form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from formulations.constraints.local import Adjacency
from formulations.constraints.order import Precedence, PresencePrecedence, RequiresBefore, StateChange
from formulations.constraints.presence import BeginEnd, NeverTogether, RequiresPresent
from formulations.constraints.template import TEMPLATES, Template
from formulations.labels.selectors import Selector, alternatives

Fact = tuple[str, str, str]
"""(relation, field, other): each run of the field has the other with it, before it, or after it."""


@dataclass(frozen=True)
class Claims:
    holds: frozenset[Fact] = frozenset()
    denied: frozenset[Fact] = frozenset()
    exclusive: tuple[tuple[Any, ...], Selector] | None = None


def _never_together(s: NeverTogether) -> Claims:
    a, b = _name(s.field), _name(s.other)
    facts = {(relation, *pair) for relation in ("with", "before", "after") for pair in ((a, b), (b, a))}
    return Claims(denied=frozenset(facts))


def _requires_before(s: RequiresBefore) -> Claims:
    earlier, field = _name(s.earlier), _name(s.field)
    return Claims(frozenset({("with", field, earlier), ("before", field, earlier)}))


def _precedence(s: Precedence) -> Claims:
    field, later = _name(s.field), _name(s.later)
    return Claims(frozenset({("with", field, later), ("after", field, later)}))


def _presence_precedence(s: PresencePrecedence) -> Claims:
    field, other = _name(s.field), _name(s.other)
    return Claims(denied=frozenset({("before", field, other), ("after", other, field)}))


def _state_change(s: StateChange) -> Claims:
    key = "around", str(s.pattern_of_tokens), _name(s.before)
    return Claims(exclusive=(key, s.after))


_CLAIMS: Mapping[type[Template], Callable[[Any], Claims]] = {
    RequiresPresent: lambda s: Claims(frozenset({("with", _name(s.field), _name(s.required))})),
    NeverTogether: _never_together,
    RequiresBefore: _requires_before,
    Precedence: _precedence,
    PresencePrecedence: _presence_precedence,
    Adjacency: lambda s: Claims(exclusive=(("next", _name(s.field)), s.next)),
    StateChange: _state_change,
    BeginEnd: lambda s: Claims(exclusive=(("end", _name(s.first)), s.last)),
    TEMPLATES["starts_with"]: lambda s: Claims(exclusive=(("first",), s.field)),
    TEMPLATES["ends_with"]: lambda s: Claims(exclusive=(("last",), s.field)),
}


def claims(statement: Template) -> Claims:
    """The claims of a statement about fields; none for other templates."""
    make = _CLAIMS.get(type(statement))
    return Claims() if make is None else make(statement)


def implies(strong: Claims, weak: Claims, nested: bool) -> bool:
    """Whether a statement with these claims holds only where one with the weaker claims does."""
    if not (weak.holds or weak.denied) or strong == weak:
        return False

    def within(a: str, b: str) -> bool:
        return a == b or (nested and a.startswith(b + "/"))

    return all(
        any(r == q and within(a, c) and within(d, b) for q, c, d in strong.holds) for r, a, b in weak.holds
    ) and all(
        any(r == q and within(a, c) and within(b, d) for q, c, d in strong.denied) for r, a, b in weak.denied
    )


def contradict(one: Claims, other: Claims, nested: bool) -> bool:
    """Whether two statements with these claims leave no place for a field of which both speak."""
    if one.holds & other.denied or one.denied & other.holds:
        return True
    if one.exclusive is None or other.exclusive is None or one.exclusive[0] != other.exclusive[0]:
        return False
    fields, others = (list(map(str, alternatives(each[1]))) for each in (one.exclusive, other.exclusive))
    return not any(
        a == b or (nested and (a.startswith(b + "/") or b.startswith(a + "/")))
        for a in fields
        for b in others
    )


def _name(selector: Selector) -> str:
    return " or ".join(map(str, alternatives(selector)))
