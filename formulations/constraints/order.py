"""Rules about the order of fields. "Before a run" is before its first token, "after a run" is after its last token."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Annotated

import numpy as np

from formulations.automata.components import EARLIER, LATER, UnboundComponent, fits
from formulations.automata.machine import Automaton, automaton
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import (
    Matching,
    automaton_component,
    bits,
    choose,
    counting_machine,
    everywhere,
)
from formulations.constraints.template import CheckedField, Template, Trial
from formulations.dtypes import Integers
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector

_BEGINS, _OTHER, _GOES_ON = 1, 2, 4
"""Bits of a symbol: a run begins, the token belongs to the other field, a run continues."""


def _successor(labels: LabelSet, field: Selector, other: Selector, *, forbid: bool) -> UnboundComponent:
    """Count the runs of a field that no token of the other field follows; with `forbid`, the runs that one follows."""
    table, overlap = _symbols(labels, field, other)
    return UnboundComponent(everywhere(table), counting_machine(_successors, forbid, overlap))


@lru_cache(maxsize=64)
def _enclosures(overlap: bool, longest: int) -> Automaton:
    """Count the runs without a token of the span before them or after them."""

    def pending(state: tuple[bool, int, bool]) -> int:
        return min(state[1] + state[2], longest)

    def read(state: tuple[bool, int, bool], symbol: int) -> tuple[tuple[bool, int, bool], int]:
        """State: whether the span was seen, the number of runs without a later token of the span, and whether a run continues."""
        seen, begins = state[0], bool(symbol & _BEGINS)
        waiting, running = state[1:] if symbol & _GOES_ON else (pending(state), begins and seen)
        waiting = 0 if symbol & _OTHER else waiting
        if not overlap:
            waiting, running = min(waiting + running, longest), False
        return (seen or bool(symbol & _OTHER), waiting, running), int(begins and not seen)

    return automaton((False, 0, False), read, pending, symbols=8 if overlap else 4)


def _begin_symbols(labels: LabelSet, field: Selector, other: Selector) -> Integers:
    """Symbols (K+1, K): begin of a run, and the other field."""
    return bits(labels.field(field).begins, labels.field(other).member[None, :])


def _symbols(labels: LabelSet, field: Selector, other: Selector) -> tuple[Integers, bool]:
    """Symbols (K+1, K), and whether the fields have common labels; if so, symbols also mark where runs continue."""
    result, shared = labels.field(field), labels.field(other).member
    if not (result.member & shared).any():
        return _begin_symbols(labels, field, other), False
    return bits(result.begins, shared[None, :], result.member[None, :] & ~result.begins), True


@lru_cache(maxsize=64)
def _successors(forbid: bool, overlap: bool, longest: int) -> Automaton:
    """Count the runs without a later token of the other field; emit them at such a token (`forbid`), or at the end."""

    def pending(state: tuple[int, bool]) -> int:
        return min(state[0] + state[1], longest)

    def read(state: tuple[int, bool], symbol: int) -> tuple[tuple[int, bool], int]:
        """State: the number of runs without a successor, and whether a run continues."""
        waiting = state[0] if symbol & _GOES_ON else pending(state)
        seen, running = bool(symbol & _OTHER), bool(symbol & (_BEGINS | _GOES_ON))
        emitted, waiting = waiting if seen and forbid else 0, 0 if seen else waiting
        return ((waiting, running) if overlap else (min(waiting + running, longest), False)), emitted

    symbols = 8 if overlap else 4
    forward = automaton((0, False), read, (lambda state: 0) if forbid else pending, symbols=symbols)
    return replace(forward, backward=_successors_backward(forbid, symbols))


def _successors_backward(forbid: bool, symbols: int) -> Automaton:
    """The automaton from right to left, which emits at the first token of each run."""

    def read(state: tuple[bool, bool | None], symbol: int) -> tuple[tuple[bool, bool | None], int]:
        """State: whether the other field was seen, and whether it was seen before the end of the current run was read; None outside runs."""
        seen, at_end = state
        at_end = seen if at_end is None else at_end
        emitted = int(bool(symbol & _BEGINS) and at_end == forbid)
        return (seen or bool(symbol & _OTHER), at_end if symbol & _GOES_ON else None), emitted

    start: tuple[bool, bool | None] = (False, None)
    return automaton(start, read, symbols=symbols)


def _around(state: int, symbol: int) -> tuple[int, int]:
    """State 1: the next token must belong to the second field; 2: the next step emits a violation; 0: neither."""
    emitted = int(state == 1 and not symbol & 1) + int(state == 2)
    return (2 if symbol & 4 else 1 if symbol & 2 else 0), emitted


_BEFORE = automaton(0, lambda seen, now: (seen | now >> 1, now & 1 & ~seen), symbols=4)
_AROUND = automaton(0, _around, symbols=8)


class RequiresBefore(Template):
    """Each run of a field has a token of another somewhere before it. Each run without one is a violation.

    Example: `requires_before("author", "title")`, an author before a title.
    Stokman 2011, section 5.3.

    >>> C.requires_before("author", "title").violations(["title", "author"])
    1
    """

    earlier: Annotated[Selector, "The field that must come first."]
    field: CheckedField

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [automaton_component(_BEFORE, everywhere(_begin_symbols(labels, self.field, self.earlier)))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        first = min(reading.positions(self.earlier), default=len(reading))
        for start in reading.run_starts(self.field):
            yield Trial((start,), int(start <= first))


class Precedence(Template):
    """Each run of a field is followed by a token of another, directly or later. Each run without one is a violation.

    A token follows a run if it comes after the run's last token. Tokens of the run do not follow it, even if they belong to both
    fields, as with nested paths and groups. Under paths, `precedence("v", "v/p")` counts one for `B-v I-v/B-p`, and
    `precedence("v/p", "v")` none for `B-v/B-p I-v`.

    Fersini et al. 2014, section 3.1, eq. 18, with z >= 1; the printed sum includes z = 0, the token itself.

    >>> C.precedence("title", "date").violations(["title", "date", "title"])
    1
    """

    field: CheckedField
    later: Annotated[Selector, "The field that must follow."]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [_successor(labels, self.field, self.later, forbid=False)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        last = max(reading.positions(self.later), default=-1)
        for start, end in reading.runs(self.field):
            yield Trial((start,), int(end >= last))


class PresencePrecedence(Template):
    """No run of a field stands before any token of another. Each run that does is a violation.

    A run stands before the tokens after its last token. As for `precedence`, tokens of the run do not count, even if they belong
    to both fields. Each run of a field B is counted either by `presence_precedence(A, B)` or by `precedence(B, A)`.

    Fersini et al. 2014, section 3.1, eq. 21: where A appears, B does not appear before it, A@t + B@z <= 1 + σ for all z < t.
    The printed sum omits token 0.

    >>> C.presence_precedence("title", "date").violations(["date", "title"])
    1
    """

    later: Annotated[Selector, "A, the field that no run may precede."]
    field: Annotated[Selector, "B, the field whose runs are checked."]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [_successor(labels, self.field, self.later, forbid=True)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        last = max(reading.positions(self.later), default=None)
        if last is not None:
            for start, end in reading.runs(self.field):
                yield Trial((start,), int(end < last))


class Inside(Template):
    """Each run of a field lies between two tokens of another field, one before it and one after it.

    A run is a violation if no token of the other field comes before its first token, or none after its last. Tokens of the
    run that belong to both fields do not count. Under paths, `inside("v/p", "v")` counts one for `B-v/B-p I-v`, where no
    token of v comes before p, and none for `B-v I-v/B-p I-v`.

    >>> C.inside("issue", "journal").violations(["journal", "issue", "O"])
    1
    """

    field: CheckedField
    span: Annotated[Selector, "The enclosing field."]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        table, overlap = _symbols(labels, self.field, self.span)
        return [UnboundComponent(everywhere(table), counting_machine(_enclosures, overlap))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        span = reading.positions(self.span)
        for start, end in reading.runs(self.field):
            yield Trial((start,), int(not (span and span[0] < start and end < span[-1])))


class StateChange(Matching):
    """If one field stands directly before a delimiter, another stands directly after it.

    A delimiter is a matching token other than the first and the last token. It is a violation if the first field is directly before
    it and the second is not directly after it. Fersini et al. 2014, section 3.1, eq. 19, in a form for several pairs of fields:
    A@(t-1) <= B@(t+1) + σ_t, where x_t is the delimiter.

    >>> C.state_change("author", "title", words=["."]).violations(["author", "O", "date"], tokens=["A", ".", "B"])
    1
    """

    before: Annotated[Selector, "Field, label or group of the token before the delimiter."]
    after: Annotated[Selector, "Field, label or group of the token after the delimiter."]
    both: Annotated[
        bool, "Whether every delimiter needs the first field before it and the second after it, as printed."
    ] = False

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        before, after = labels.field(self.before).member, labels.field(self.after).member
        held = np.concatenate([[False], before])[:, None]
        everything = np.ones((len(labels) + 1, len(labels)), bool)
        wrong, asks = ~held & everything & self.both, (held | self.both) & everything
        plain = bits(after[None, :] & everything, np.zeros_like(asks), np.zeros_like(wrong))
        delimiter = bits(after[None, :] & everything, asks, wrong)
        here = fits(self.pattern_of_tokens), LATER, EARLIER
        return [automaton_component(_AROUND, choose(plain, delimiter, here))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in range(1, len(reading) - 1):
            delimits = self.matches(reading, t)
            before, after = reading.has(t - 1, self.before), reading.has(t + 1, self.after)
            if delimits and (self.both or before):
                yield Trial((t - 1, t, t + 1), int(not (before and after)))


requires_before = template(RequiresBefore)
precedence = template(Precedence)
presence_precedence = template(PresencePrecedence)
inside = template(Inside)
state_change = template(StateChange)
