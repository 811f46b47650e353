"""Labelled sequences as arrays, and the trials of rules on all of them at once.

What a rule's own `trials` yields for one labelling in plain Python is counted here for many; tests compare the two.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations import LabelSet
from formulations.constraints.counting import AtMostRuns
from formulations.constraints.lengths import MinRunLength
from formulations.constraints.lexical import RightBefore, TagAt
from formulations.constraints.local import Adjacency, EndsWith, StartsWith
from formulations.constraints.order import Precedence, PresencePrecedence, RequiresBefore, StateChange
from formulations.constraints.presence import BeginEnd, NeverTogether, RequiresPresent
from formulations.constraints.template import Template
from formulations.dtypes import Booleans, Integers
from formulations.labels.selectors import Selector
from formulations.tokens.token_pattern import TokenPattern


@dataclass(frozen=True)
class Vocabulary:
    """The different tokens of M sequences.

    Parameters
    ----------
    words : V different tokens
    ids : (N,) the number of each token, sequence after sequence
    """

    words: tuple[str, ...]
    ids: Integers

    @classmethod
    def of(cls, texts: Sequence[Sequence[str]]) -> "Vocabulary":
        """The vocabulary of token sequences."""
        index: dict[str, int] = {}
        ids = [index.setdefault(token, len(index)) for text in texts for token in text]
        return cls(tuple(index), np.array(ids, np.int64))

    def select(self, places: Integers) -> "Vocabulary":
        """The same words, at these places."""
        return Vocabulary(self.words, self.ids[places])

    def matching(self, pattern: TokenPattern) -> Booleans:
        """(N,) which tokens match."""
        fits: Booleans = np.array([pattern.matches(word) for word in self.words], bool)[self.ids]
        return fits


@dataclass(frozen=True)
class FieldTable:
    """Where a field is, in N tokens of M sequences.

    Parameters
    ----------
    member : (N,) whether a token belongs to it
    start, end : (R,) first and last token of each run
    run_sequence : (R,) the sequence of each run
    first, last : (M,) first and last token of the field in each sequence; N and -1 where it is absent
    runs : (M,) runs in each sequence
    """

    member: Booleans
    start: Integers
    end: Integers
    run_sequence: Integers
    first: Integers
    last: Integers
    runs: Integers

    @cached_property
    def present(self) -> Booleans:
        """(M,) whether the field is in each sequence."""
        return self.runs > 0


@dataclass(frozen=True)
class Trials:
    """The trials of a rule, in the order of the sequences or of the tokens.

    Parameters
    ----------
    sequence : (n,) the sequence of each trial
    amount : (n,) its violations
    """

    sequence: Integers
    amount: Integers

    @cached_property
    def broken(self) -> Booleans:
        """(n,) whether each trial is broken."""
        return self.amount > 0


@dataclass(frozen=True, eq=False)
class Labellings:
    """M labelled sequences of N tokens in all, as arrays.

    Parameters
    ----------
    labels : the labels and their scheme
    ids : (N,) label of each token, sequence after sequence
    lengths : (M,) tokens of each sequence, at least one
    words : the tokens
    """

    labels: LabelSet
    ids: Integers
    lengths: Integers
    words: Vocabulary

    @classmethod
    def of(cls, labels: LabelSet, texts: Sequence[Sequence[str]], ids: Sequence[Integers]) -> "Labellings":
        """Labelled sequences, one after the other."""
        lengths = np.array([len(text) for text in texts], np.int64)
        return cls(labels, np.concatenate([np.zeros(0, np.int64), *ids]), lengths, Vocabulary.of(texts))

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def sequence(self) -> Integers:
        """(N,) the sequence of each token."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def begin(self) -> Integers:
        """(M,) the first token of each sequence."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def finish(self) -> Integers:
        """(M,) the last token of each sequence."""
        return np.cumsum(self.lengths) - 1

    @cached_property
    def opens(self) -> Booleans:
        """(N,) whether a token is the first of its sequence."""
        result = np.zeros(len(self.ids), bool)
        result[self.begin] = True
        return result

    @cached_property
    def closes(self) -> Booleans:
        """(N,) whether a token is the last of its sequence."""
        result = np.zeros(len(self.ids), bool)
        result[self.finish] = True
        return result

    @cached_property
    def before(self) -> Integers:
        """(N,) the label before each token, plus one; 0 at the first token of a sequence."""
        result = np.concatenate([[0], self.ids[:-1] + 1])
        result[self.begin] = 0
        return result

    @cached_property
    def _fields(self) -> dict[Any, FieldTable]:
        return {}

    def field(self, selector: Selector) -> FieldTable:
        """Where a field, label or group is."""
        key = (
            selector
            if isinstance(selector, str)
            else tuple(selector)
            if isinstance(selector, list)
            else selector
        )
        if key not in self._fields:
            self._fields[key] = self._table(selector)
        return self._fields[key]

    def _table(self, selector: Selector) -> FieldTable:
        field = self.labels.field(selector)
        member, begins = field.member[self.ids], field.begins[self.before, self.ids]
        goes_on = np.concatenate([member[1:] & ~begins[1:], [False]]) & ~self.closes
        start, end = np.flatnonzero(begins), np.flatnonzero(member & ~goes_on)
        owner, N = self.sequence[start], len(self.ids)
        first, last = np.full(len(self), N), np.full(len(self), -1)
        np.minimum.at(first, owner, start)
        np.maximum.at(last, owner, end)
        runs = np.bincount(owner, minlength=len(self))
        return FieldTable(member, start, end, owner, first, last, runs)

    @cached_property
    def _matches(self) -> dict[TokenPattern, Booleans]:
        return {}

    def matching(self, pattern: TokenPattern) -> Booleans:
        """(N,) which tokens match."""
        if pattern not in self._matches:
            self._matches[pattern] = self.words.matching(pattern)
        return self._matches[pattern]

    def trials(self, statement: Template) -> Trials:
        """The trials of a statement, those of `statement.trials` on each sequence.

        Raises
        ------
        ValueError
            for a template that is not counted here.
        """
        count = _COUNTED.get(type(statement))
        if count is None:
            raise ValueError(f"trials of {statement.rule_name} are not counted in arrays")
        return count(self, statement)

    def violations(self, statement: Template) -> Integers:
        """(M,) violations in each sequence."""
        trials = self.trials(statement)
        result = np.zeros(len(self), np.int64)
        np.add.at(result, trials.sequence, trials.amount)
        return result


def _of_sequences(applies: Booleans, broken: Booleans) -> Trials:
    return Trials(np.flatnonzero(applies), broken[applies].astype(np.int64))


def _of_tokens(table: Labellings, places: Integers, broken: Booleans) -> Trials:
    return Trials(table.sequence[places], broken.astype(np.int64))


def _at_most_runs(table: Labellings, s: AtMostRuns) -> Trials:
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


def _starts_with(table: Labellings, s: StartsWith) -> Trials:
    return _of_sequences(np.ones(len(table), bool), ~table.field(s.field).member[table.begin])


def _ends_with(table: Labellings, s: EndsWith) -> Trials:
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


def _min_run_length(table: Labellings, s: MinRunLength) -> Trials:
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
    AtMostRuns: _at_most_runs,
    RequiresPresent: _requires_present,
    NeverTogether: _never_together,
    BeginEnd: _begin_end,
    StartsWith: _starts_with,
    EndsWith: _ends_with,
    RequiresBefore: _requires_before,
    Precedence: _precedence,
    PresencePrecedence: _presence_precedence,
    Adjacency: _adjacency,
    StateChange: _state_change,
    MinRunLength: _min_run_length,
    TagAt: _tag_at,
    RightBefore: _right_before,
}
