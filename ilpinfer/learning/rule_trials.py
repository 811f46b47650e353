"""Mined templates: their trials on labelled sequences as arrays, and their claims about other fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations.constraints.counting import AtMostInWindow, Bound, MaxGap, RunLength
from formulations.constraints.lexical import RightBefore, TagAt
from formulations.constraints.local import Adjacency, Ending
from formulations.constraints.order import Precedence, PresencePrecedence, RequiresBefore, StateChange
from formulations.constraints.presence import Alternation, BeginEnd, NeverTogether, RequiresPresent
from formulations.constraints.template import TEMPLATES, Template
from formulations.dtypes import Booleans, Integers
from formulations.labels.selectors import Selector, alternatives
from ilpinfer.learning.labellings import LabelArrays


@dataclass(frozen=True)
class Trials:
    """The trials of a rule, in the order of sequences or tokens."""

    sequence: Integers
    amount: Integers

    @cached_property
    def broken(self) -> Booleans:
        return self.amount > 0


def count_trials(table: LabelArrays, statement: Template) -> Trials:
    count = _COUNTED.get(type(statement))
    if count is None:
        raise ValueError(f"trials of {statement.rule_name} are not counted in arrays")
    return count(table, statement)


def is_counted(statement: Template) -> bool:
    """Whether `count_trials` knows the template."""
    return type(statement) in _COUNTED


def violations(table: LabelArrays, statement: Template) -> Integers:
    """(M,) violations in each sequence."""
    trials = count_trials(table, statement)
    result = np.zeros(len(table), np.int64)
    np.add.at(result, trials.sequence, trials.amount)
    return result


def _of_sequences(applies: Booleans, broken: Booleans) -> Trials:
    return Trials(np.flatnonzero(applies), broken[applies].astype(np.int64))


def _of_tokens(table: LabelArrays, places: Integers, broken: Booleans) -> Trials:
    return Trials(table.sequence[places], broken.astype(np.int64))


def _at_most_runs(table: LabelArrays, s: Bound) -> Trials:
    runs = table.field(s.field).runs
    applies = np.flatnonzero(runs)
    return Trials(applies, np.maximum(0, runs[applies] - s.n))


def _never_together(table: LabelArrays, s: NeverTogether) -> Trials:
    one, two = table.field(s.field).present, table.field(s.other).present
    return _of_sequences(one | two, one & two)


def _begin_end(table: LabelArrays, s: BeginEnd) -> Trials:
    first, last = table.field(s.first).member[table.begin], table.field(s.last).member[table.finish]
    return _of_sequences(first, ~last)


def _of_ends(table: LabelArrays, s: Ending, places: Integers) -> Trials:
    return _of_sequences(np.ones(len(table), bool), ~table.field(s.field).member[places])


def _requires_before(table: LabelArrays, s: RequiresBefore) -> Trials:
    runs, first = table.field(s.field), table.field(s.earlier).first
    return Trials(runs.run_sequence, (runs.start <= first[runs.run_sequence]).astype(np.int64))


def _precedence(table: LabelArrays, s: Precedence) -> Trials:
    runs, last = table.field(s.field), table.field(s.later).last
    return Trials(runs.run_sequence, (runs.end >= last[runs.run_sequence]).astype(np.int64))


def _presence_precedence(table: LabelArrays, s: PresencePrecedence) -> Trials:
    runs, last = table.field(s.field), table.field(s.later).last
    bound = last[runs.run_sequence]
    applies = bound >= 0
    return Trials(runs.run_sequence[applies], (runs.end < bound)[applies].astype(np.int64))


def _adjacency(table: LabelArrays, s: Adjacency) -> Trials:
    places = np.flatnonzero(table.field(s.field).member & ~table.closes)
    return _of_tokens(table, places, ~table.field(s.next).member[places + 1])


def _state_change(table: LabelArrays, s: StateChange) -> Trials:
    places = np.flatnonzero(table.matching(s.pattern_of_tokens) & ~table.opens & ~table.closes)
    held = table.field(s.before).member[places - 1]
    after = table.field(s.after).member[places + 1]
    applies = held | s.both
    return _of_tokens(table, places[applies], ~(held & after)[applies])


def _run_length(table: LabelArrays, s: RunLength) -> Trials:
    runs = table.field(s.field)
    return Trials(runs.run_sequence, np.maximum(0, s.sign * (runs.end - runs.start + 1 - s.n)))


def _max_gap(table: LabelArrays, s: MaxGap) -> Trials:
    runs, earlier = table.field(s.field), np.flatnonzero(table.field(s.earlier).member)
    place = np.searchsorted(earlier, runs.start) - 1
    last = earlier[place] if len(earlier) else np.zeros(len(place), np.int64)
    applies = (place >= 0) & (last >= table.begin[runs.run_sequence])
    return Trials(runs.run_sequence[applies], (runs.start - last - 1 > s.n)[applies].astype(np.int64))


def _at_most_in_window(table: LabelArrays, s: AtMostInWindow) -> Trials:
    until = np.append(0, np.cumsum(table.field(s.field).member))
    places = np.arange(len(table.ids)) - table.begin[table.sequence]
    starts = np.flatnonzero(places <= np.maximum(0, table.lengths - s.width)[table.sequence])
    ends = np.minimum(starts + s.width, table.finish[table.sequence[starts]] + 1)
    inside = until[ends] - until[starts]
    applies = inside > 0
    return Trials(table.sequence[starts[applies]], np.maximum(0, inside[applies] - s.n))


def _alternation(table: LabelArrays, s: Alternation) -> Trials:
    one, two = table.field(s.field), table.field(s.other)
    kind = np.repeat([0, 1], [len(one.start), len(two.start)])
    start = np.concatenate([one.start, two.start])
    order = np.lexsort((kind, start))
    kind, sequence = kind[order], table.sequence[start[order]]
    again = (kind[1:] == kind[:-1]) & (sequence[1:] == sequence[:-1])
    return Trials(sequence, np.append(np.zeros(min(1, len(kind)), bool), again).astype(np.int64))


def _tag_at(table: LabelArrays, s: TagAt) -> Trials:
    here = table.matching(s.pattern_of_tokens)
    if s.previous is not None:
        here = here & np.concatenate([[False], table.matching(s.previous)[:-1]]) & ~table.opens
    if s.following is not None:
        here = here & np.concatenate([table.matching(s.following)[1:], [False]]) & ~table.closes
    places = np.flatnonzero(here)
    return _of_tokens(table, places, ~table.field(s.field).member[places])


def _right_before(table: LabelArrays, s: RightBefore) -> Trials:
    places = np.flatnonzero(table.matching(s.pattern_of_tokens) & ~table.opens) - 1
    return _of_tokens(table, places, ~table.field(s.field).member[places])


_COUNTED: Mapping[type[Template], Callable[[LabelArrays, Any], Trials]] = {
    TEMPLATES["at_most_runs"]: _at_most_runs,
    RequiresPresent: lambda table, s: _of_sequences(
        table.field(s.field).present, ~table.field(s.required).present
    ),
    NeverTogether: _never_together,
    BeginEnd: _begin_end,
    TEMPLATES["starts_with"]: lambda table, s: _of_ends(table, s, table.begin),
    TEMPLATES["ends_with"]: lambda table, s: _of_ends(table, s, table.finish),
    RequiresBefore: _requires_before,
    Precedence: _precedence,
    PresencePrecedence: _presence_precedence,
    Adjacency: _adjacency,
    StateChange: _state_change,
    TEMPLATES["min_run_length"]: _run_length,
    TEMPLATES["max_run_length"]: _run_length,
    MaxGap: _max_gap,
    AtMostInWindow: _at_most_in_window,
    Alternation: _alternation,
    TagAt: _tag_at,
    RightBefore: _right_before,
}


Fact = tuple[str, str, str]
"""(relation, field, other): each run of the field has the other field with it, before it, or after it."""


@dataclass(frozen=True)
class FieldClaims:
    holds: frozenset[Fact] = frozenset()
    denied: frozenset[Fact] = frozenset()
    exclusive: tuple[tuple[Any, ...], Selector] | None = None


def _never_together_claims(s: NeverTogether) -> FieldClaims:
    a, b = _name(s.field), _name(s.other)
    facts = {(relation, *pair) for relation in ("with", "before", "after") for pair in ((a, b), (b, a))}
    return FieldClaims(denied=frozenset(facts))


def _requires_before_claims(s: RequiresBefore) -> FieldClaims:
    earlier, field = _name(s.earlier), _name(s.field)
    return FieldClaims(frozenset({("with", field, earlier), ("before", field, earlier)}))


def _precedence_claims(s: Precedence) -> FieldClaims:
    field, later = _name(s.field), _name(s.later)
    return FieldClaims(frozenset({("with", field, later), ("after", field, later)}))


def _presence_precedence_claims(s: PresencePrecedence) -> FieldClaims:
    later, field = _name(s.later), _name(s.field)
    return FieldClaims(denied=frozenset({("before", later, field), ("after", field, later)}))


def _state_change_claims(s: StateChange) -> FieldClaims:
    key = "around", str(s.pattern_of_tokens), _name(s.before)
    return FieldClaims(exclusive=(key, s.after))


_CLAIMS: Mapping[type[Template], Callable[[Any], FieldClaims]] = {
    RequiresPresent: lambda s: FieldClaims(frozenset({("with", _name(s.field), _name(s.required))})),
    NeverTogether: _never_together_claims,
    RequiresBefore: _requires_before_claims,
    Precedence: _precedence_claims,
    PresencePrecedence: _presence_precedence_claims,
    Adjacency: lambda s: FieldClaims(exclusive=(("next", _name(s.field)), s.next)),
    StateChange: _state_change_claims,
    BeginEnd: lambda s: FieldClaims(exclusive=(("end", _name(s.first)), s.last)),
    TEMPLATES["starts_with"]: lambda s: FieldClaims(exclusive=(("first",), s.field)),
    TEMPLATES["ends_with"]: lambda s: FieldClaims(exclusive=(("last",), s.field)),
}


def claims(statement: Template) -> FieldClaims:
    """The claims of a statement about fields; empty for other templates."""
    make = _CLAIMS.get(type(statement))
    return FieldClaims() if make is None else make(statement)


def implies(strong: FieldClaims, weak: FieldClaims, nested: bool) -> bool:
    """Whether a statement with the strong claims implies a statement with the weak claims."""
    if not (weak.holds or weak.denied) or strong == weak:
        return False

    def within(a: str, b: str) -> bool:
        return a == b or (nested and a.startswith(b + "/"))

    return all(
        any(r == q and within(a, c) and within(d, b) for q, c, d in strong.holds) for r, a, b in weak.holds
    ) and all(
        any(r == q and within(a, c) and within(b, d) for q, c, d in strong.denied) for r, a, b in weak.denied
    )


def contradict(one: FieldClaims, other: FieldClaims, nested: bool) -> bool:
    """Whether two statements with these claims exclude a field that both concern."""
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
