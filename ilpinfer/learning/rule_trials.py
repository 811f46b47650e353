"""The trials of rules on many labelled sequences at once.

The same trials as those of a rule's `trials` for one labelling, counted in arrays; tests compare the two.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations.constraints.counting import Bound
from formulations.constraints.lengths import RunLength
from formulations.constraints.lexical import RightBefore, TagAt
from formulations.constraints.local import Adjacency, Ending
from formulations.constraints.order import Precedence, PresencePrecedence, RequiresBefore, StateChange
from formulations.constraints.presence import BeginEnd, NeverTogether, RequiresPresent
from formulations.constraints.template import TEMPLATES, Template
from formulations.dtypes import Booleans, Integers
from ilpinfer.learning.labellings import Labellings


@dataclass(frozen=True)
class Trials:
    """The trials of a rule, in the order of the sequences or of the tokens."""

    sequence: Integers
    amount: Integers

    @cached_property
    def broken(self) -> Booleans:
        """(n,) whether each trial is broken."""
        return self.amount > 0


def count_trials(table: Labellings, statement: Template) -> Trials:
    """The trials of a statement, those of `statement.trials` on each sequence."""
    count = _COUNTED.get(type(statement))
    if count is None:
        raise ValueError(f"trials of {statement.rule_name} are not counted in arrays")
    return count(table, statement)


def violations(table: Labellings, statement: Template) -> Integers:
    """(M,) violations in each sequence."""
    trials = count_trials(table, statement)
    result = np.zeros(len(table), np.int64)
    np.add.at(result, trials.sequence, trials.amount)
    return result


def _of_sequences(applies: Booleans, broken: Booleans) -> Trials:
    return Trials(np.flatnonzero(applies), broken[applies].astype(np.int64))


def _of_tokens(table: Labellings, places: Integers, broken: Booleans) -> Trials:
    return Trials(table.sequence[places], broken.astype(np.int64))


def _at_most_runs(table: Labellings, s: Bound) -> Trials:
    runs = table.field(s.field).runs
    applies = np.flatnonzero(runs)
    return Trials(applies, np.maximum(0, runs[applies] - s.n))


def _requires_present(table: Labellings, s: RequiresPresent) -> Trials:
    return _of_sequences(table.field(s.field).present, ~table.field(s.required).present)


def _never_together(table: Labellings, s: NeverTogether) -> Trials:
    one, two = table.field(s.field).present, table.field(s.other).present
    return _of_sequences(one | two, one & two)


def _begin_end(table: Labellings, s: BeginEnd) -> Trials:
    first, last = table.field(s.first).member[table.begin], table.field(s.last).member[table.finish]
    return _of_sequences(first, ~last)


def _starts_with(table: Labellings, s: Ending) -> Trials:
    return _of_sequences(np.ones(len(table), bool), ~table.field(s.field).member[table.begin])


def _ends_with(table: Labellings, s: Ending) -> Trials:
    return _of_sequences(np.ones(len(table), bool), ~table.field(s.field).member[table.finish])


def _requires_before(table: Labellings, s: RequiresBefore) -> Trials:
    runs, first = table.field(s.field), table.field(s.earlier).first
    return Trials(runs.run_sequence, (runs.start <= first[runs.run_sequence]).astype(np.int64))


def _precedence(table: Labellings, s: Precedence) -> Trials:
    runs, last = table.field(s.field), table.field(s.later).last
    return Trials(runs.run_sequence, (runs.end >= last[runs.run_sequence]).astype(np.int64))


def _presence_precedence(table: Labellings, s: PresencePrecedence) -> Trials:
    runs, last = table.field(s.other), table.field(s.field).last
    bound = last[runs.run_sequence]
    applies = bound >= 0
    return Trials(runs.run_sequence[applies], (runs.end < bound)[applies].astype(np.int64))


def _adjacency(table: Labellings, s: Adjacency) -> Trials:
    places = np.flatnonzero(table.field(s.field).member & ~table.closes)
    return _of_tokens(table, places, ~table.field(s.next).member[places + 1])


def _state_change(table: Labellings, s: StateChange) -> Trials:
    places = np.flatnonzero(table.matching(s.pattern_of_tokens) & ~table.opens & ~table.closes)
    held = table.field(s.before).member[places - 1]
    after = table.field(s.after).member[places + 1]
    applies = held | s.both
    return _of_tokens(table, places[applies], ~(held & after)[applies])


def _min_run_length(table: Labellings, s: RunLength) -> Trials:
    runs = table.field(s.field)
    return Trials(runs.run_sequence, np.maximum(0, s.n - (runs.end - runs.start + 1)))


def _tag_at(table: Labellings, s: TagAt) -> Trials:
    here = table.matching(s.pattern_of_tokens)
    if s.previous is not None:
        here = here & np.concatenate([[False], table.matching(s.previous)[:-1]]) & ~table.opens
    if s.following is not None:
        here = here & np.concatenate([table.matching(s.following)[1:], [False]]) & ~table.closes
    places = np.flatnonzero(here)
    return _of_tokens(table, places, ~table.field(s.field).member[places])


def _right_before(table: Labellings, s: RightBefore) -> Trials:
    places = np.flatnonzero(table.matching(s.pattern_of_tokens) & ~table.opens) - 1
    return _of_tokens(table, places, ~table.field(s.field).member[places])


_COUNTED: Mapping[type[Template], Callable[[Labellings, Any], Trials]] = {
    TEMPLATES["at_most_runs"]: _at_most_runs,
    RequiresPresent: _requires_present,
    NeverTogether: _never_together,
    BeginEnd: _begin_end,
    TEMPLATES["starts_with"]: _starts_with,
    TEMPLATES["ends_with"]: _ends_with,
    RequiresBefore: _requires_before,
    Precedence: _precedence,
    PresencePrecedence: _presence_precedence,
    Adjacency: _adjacency,
    StateChange: _state_change,
    TEMPLATES["min_run_length"]: _min_run_length,
    TagAt: _tag_at,
    RightBefore: _right_before,
}
