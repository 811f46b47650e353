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
    earlier : str, Group or list of str
        The field that must come first.
    field : str, Group or list of str
        The field whose runs are checked.

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
    """Each run of a field is followed by a token of another, directly or later. Each run without one is a violation.

    A token follows a run if it comes after the run's last token. Tokens of the run that also belong to the other field, as with
    nested paths and groups, do not follow it, and no run follows itself. Under paths, `precedence("v", "v/p")` counts one for
    `B-v I-v/B-p`, and `precedence("v/p", "v")` none for `B-v/B-p I-v`.

    Fersini et al. 2014, section 3.1, eq. 18, with z >= 1; the printed sum includes z = 0, the token itself.

    Parameters
    ----------
    field : str, Group or list of str
        The field whose runs are checked.
    later : str, Group or list of str
        The field that must follow.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.precedence("title", "date").violations(["title", "date", "title"])
    1
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

    A run stands before the tokens that come after its last token. As for `precedence`, tokens that belong to both fields do not
    count for the run that contains them. Each run of a field B is counted either by `presence_precedence(A, B)` or by
    `precedence(B, A)`.

    Fersini et al. 2014, section 3.1, eq. 21: where A appears, B does not appear before it, A@t + B@z <= 1 + σ for all z < t.
    The printed sum omits token 0.

    Parameters
    ----------
    field : str, Group or list of str
        A, the field that must not be preceded.
    other : str, Group or list of str
        B, the field whose runs are checked.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.presence_precedence("title", "date").violations(["date", "title"])
    1
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
    """Each run of a field lies between two tokens of another field, one before it and one after it.

    A run is a violation if no token of the other field comes before its first token, or none after its last. Tokens of the
    run that belong to both fields do not count. Under paths, `inside("v/p", "v")` counts one for `B-v/B-p I-v`, where no
    token of v comes before p, and none for `B-v I-v/B-p I-v`.

    Parameters
    ----------
    field : str, Group or list of str
        The field whose runs are checked.
    span : str, Group or list of str
        The field whose first and last token enclose them.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.inside("issue", "journal").violations(["journal", "issue", "O"])
    1
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
    """If one field stands directly before a delimiter, another stands directly after it.

    A delimiter is a matching token that is neither first nor last. A delimiter is a violation if the first field is before it
    and the second is not after it. Fersini et al. 2014, section 3.1, eq. 19, in the form that several pairs of fields can
    satisfy: A@(t-1) <= B@(t+1) + σ_t, where x_t is the delimiter.

    Parameters
    ----------
    before, after : str, Group or list of str
        Field, label or group of the token before and after the delimiter.
    both : bool, default False
        Whether every delimiter needs the first field before it and the second after it, as printed.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.state_change("author", "title", words=["."]).violations(["author", "O", "date"], tokens=["A", ".", "B"])
    1
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
