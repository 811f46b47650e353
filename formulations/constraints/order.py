"""Rules about the order of fields. Three that are often run together differ: every A is followed by some B
(`precedence`), no B stands before any A (`presence_precedence`), each B has an earlier A (`requires_before`).

Before a run is before its first token, and after a run is after its last one. What a run shares with the other field, as
with nested paths and groups, is neither before nor after it.
"""

from collections.abc import Iterable

import numpy as np

from formulations.automata.machine import automaton
from formulations.automata.windows import EARLIER, LATER, UnboundComponent, fits
from formulations.constraints.matching import Matching
from formulations.constraints.neighbours import begin_symbols, enclosure, successor
from formulations.constraints.rule_functions import maker
from formulations.constraints.steps import automaton_component, bits, choose, everywhere
from formulations.constraints.template import Template, Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector

__all__ = ["inside", "precedence", "presence_precedence", "requires_before", "state_change"]


def _around(state: int, symbol: int) -> tuple[int, int]:
    """State 1: the next token must belong to the second field; 2: the next step emits a violation; 0: neither."""
    emitted = int(state == 1 and not symbol & 1) + int(state == 2)
    return (2 if symbol & 4 else 1 if symbol & 2 else 0), emitted


_BEFORE = automaton(0, lambda seen, now: (seen | now >> 1, now & 1 & ~seen), symbols=4)
_AROUND = automaton(0, _around, symbols=8)


@template("requires_before")
class RequiresBefore(Template):
    """Each run of a field has a token of another somewhere before it. Each run without one is a violation.

    Before a run is before its first token. `requires_before("author", "title")`: an author before a title.
    Stokman 2011, section 5.3.

    Parameters
    ----------
    earlier : the field that must come first
    field : the field whose runs are checked

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.requires_before("author", "title").violations(["title", "author"])
    1
    """

    earlier: Selector
    field: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [automaton_component(_BEFORE, everywhere(begin_symbols(labels, self.field, self.earlier)))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        first = min(reading.positions(self.earlier), default=len(reading))
        for start in reading.run_starts(self.field):
            yield Trial((start,), int(start <= first))


@template("precedence")
class Precedence(Template):
    """Each run of a field is followed by a token of another, at once or later. Each run without one is a violation.

    After a run is after its last token: tokens of the run that belong to the other field, too, as with nested paths and
    groups, do not follow it, and no run follows itself. Under paths, `precedence("v", "v/p")` counts one for
    `B-v I-v/B-p`, and `precedence("v/p", "v")` none for `B-v/B-p I-v`.

    Fersini et al. 2014, section 3.1, eq. 18, with z >= 1: as printed, z = 0 would do.

    Parameters
    ----------
    field : the field whose runs are checked
    later : the field that must follow
    """

    field: Selector
    later: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [successor(labels, self.field, self.later, forbid=False)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        last = max(reading.positions(self.later), default=-1)
        for start, end in reading.runs(self.field):
            yield Trial((start,), int(end >= last))


@template("presence_precedence")
class PresencePrecedence(Template):
    """No run of one field stands before any token of another. Each run that does is a violation.

    A run stands before a token that comes after the run's last one: as for `precedence`, tokens that belong to both do
    not count for the run that they are in. Of the runs of a field, those that `presence_precedence(A, B)` counts are
    those that `precedence(B, A)` does not.
    Fersini et al. 2014, section 3.1, eq. 21: where A appears, B does not appear before it; A@t + B@z <= 1 + σ for
    all z < t, token 0 included, which the printed sum misses.

    Parameters
    ----------
    field : A, the field that must not be preceded
    other : B, the field whose runs are checked
    """

    field: Selector
    other: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [successor(labels, self.other, self.field, forbid=True)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        last = max(reading.positions(self.field), default=None)
        if last is not None:
            for start, end in reading.runs(self.other):
                yield Trial((start,), int(end < last))


@template("inside")
class Inside(Template):
    """Each run of a field stands within the span of another: after one of its tokens and before another one.

    Each run that does not is a violation: one that has no token of the other field before its first token, or none after
    its last. Tokens that belong to both do not enclose the run that they are in: under paths, `inside("v/p", "v")` counts
    one for `B-v/B-p I-v`, at whose begin p stands, and none for `B-v I-v/B-p I-v`.

    Parameters
    ----------
    field : the field whose runs are checked
    span : the field whose first and last token enclose them
    """

    field: Selector
    span: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [enclosure(labels, self.field, self.span)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        span = reading.positions(self.span)
        for start, end in reading.runs(self.field):
            yield Trial((start,), int(not (span and span[0] < start and end < span[-1])))


@template("state_change")
class StateChange(Matching):
    """Around a delimiter: where one field stands before it, another stands after it.

    A delimiter is a matching token with a token on either side; each one after the first field but not before
    the second is a violation. Fersini et al. 2014, section 3.1, eq. 19, in the form that can hold for several
    pairs of fields: A@(t-1) <= B@(t+1) + σ_t, where x_t is the delimiter.

    Parameters
    ----------
    before, after : field, label or group of the token before and after the delimiter
    both : as printed, every delimiter needs the one before it and the other after it
    """

    before: Selector
    after: Selector
    both: bool = False

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
            delimits = self.pattern_of_tokens.matches(reading.tokens[t])
            before, after = reading.has(t - 1, self.before), reading.has(t + 1, self.after)
            if delimits and (self.both or before):
                yield Trial((t - 1, t, t + 1), int(not (before and after)))


requires_before = maker(RequiresBefore)
precedence = maker(Precedence)
presence_precedence = maker(PresencePrecedence)
inside = maker(Inside)
state_change = maker(StateChange)
