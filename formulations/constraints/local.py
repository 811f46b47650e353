"""Rules about single tokens or steps; they fold into the trellis."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar

import numpy as np

from formulations.automata.components import FIRST, LAST, Component, UnboundComponent, fits
from formulations.automata.machine import local
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import Matching, at_tokens, between, everywhere, only_at, violations_at
from formulations.constraints.template import AnyField, Template, Trial
from formulations.dtypes import Booleans
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector
from formulations.parameters import Position
from formulations.tokens.token_pattern import TokenPattern

_ENDS = {0: FIRST, -1: LAST}  # positions that a condition on a token and its neighbours can test


class ForbiddenTransition(Template):
    """No token of one field directly before a token of another. Each such step is a violation.

    Stokman 2011, Table 4, ShouldNotPrecede, at every token.

    >>> C.forbidden_transition("title", "date").violations(["title", "date", "O"])
    1
    """

    from_: AnyField
    to: AnyField

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        step = between(labels.field(self.from_).member, labels.field(self.to).member)
        return [violations_at(everywhere(step))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in range(1, len(reading)):
            if reading.has(t - 1, self.from_):
                yield Trial((t - 1, t), int(reading.has(t, self.to)))


class _AtPosition(Template):
    position: Position

    @abstractmethod
    def _table(self, labels: LabelSet) -> Booleans:
        """(K+1, K) or (1, K) steps into the token that are violations."""

    def components(self, labels: LabelSet) -> list[UnboundComponent] | None:
        end = _ENDS.get(self.position)
        return None if end is None else [violations_at(only_at(self._table(labels), end))]

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Component]:
        if self.position in _ENDS:
            return super().ground(labels, tokens)
        table, T = self._table(labels), len(tokens)
        here = np.arange(T) == (self.position + T if self.position < 0 else self.position)
        return [local(at_tokens([np.zeros_like(table), table], here.astype(np.int64)))]


class ShouldNotPrecede(_AtPosition):
    """At one token, forbid one field directly before another; at most one violation.

    Stokman 2011, Tables 2-4, row 1. A position outside the sequence has no effect.

    >>> C.should_not_precede(1, "title", "date").violations(["title", "date"])
    1
    """

    first: Annotated[Selector, "Field, label or group of the token before it."]
    second: Annotated[Selector, "Field, label or group of the token itself."]

    def _table(self, labels: LabelSet) -> Booleans:
        return between(labels.field(self.first).member, labels.field(self.second).member)

    def trials(self, reading: Reading) -> Iterable[Trial]:
        t = reading.at(self.position)
        if t and reading.has(t - 1, self.first):
            yield Trial((t - 1, t), int(reading.has(t, self.second)))


class ShouldBeTagged(_AtPosition):
    """One token belongs to the field; one violation if it does not.

    Stokman 2011, Tables 2-4, row 2. A position outside the sequence has no effect.

    >>> C.should_be_tagged(-1, "date").violations(["date", "O"])
    1
    """

    field: AnyField

    def _table(self, labels: LabelSet) -> Booleans:
        outside: Booleans = ~labels.field(self.field).member[None, :]
        return outside

    def trials(self, reading: Reading) -> Iterable[Trial]:
        t = reading.at(self.position)
        if t is not None:
            yield Trial((t,), int(not reading.has(t, self.field)))


class Ending(Template):
    field: AnyField
    position: ClassVar[int]

    def components(self, labels: LabelSet) -> list[UnboundComponent] | None:
        return ShouldBeTagged(self.position, self.field).components(labels)

    def trials(self, reading: Reading) -> Iterable[Trial]:
        return ShouldBeTagged(self.position, self.field).trials(reading)


starts_with = template(
    Ending,
    "starts_with",
    """The first token belongs to the field; one violation if it does not.

    >>> C.starts_with("author").violations(["title", "author"])
    1
    """,
    position=0,
)
ends_with = template(
    Ending,
    "ends_with",
    """The last token belongs to the field; one violation if it does not.

    >>> C.ends_with("date").violations(["title", "date"])
    0
    """,
    position=-1,
)


class Adjacency(Template):
    """Every token of a field, except at the end of the sequence, is followed directly by a token of another.

    Each token of the field without such a neighbour is a violation. Fersini et al. 2014, section 3.1, eq. 17, read as
    A@t <= B@(t+1) + σ_t for t <= n-2. The printed form, together with eq. 13, forbids A everywhere.

    >>> C.adjacency("day", "month").violations(["day", "O"])
    1
    """

    field: Annotated[Selector, "Field, label or group that requires the other."]
    next: Annotated[Selector, "Field, label or group of the token after it."]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        step = between(labels.field(self.field).member, ~labels.field(self.next).member)
        return [violations_at(everywhere(step))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in reading.positions(self.field):
            if t < len(reading) - 1:
                yield Trial((t, t + 1), int(not reading.has(t + 1, self.next)))


class DirectlyAfter(Template):
    """Runs of a field begin directly after allowed fields only. Each run that begins elsewhere is a violation.

    >>> C.directly_after("title", "author").violations(["author", "title", "O", "title"])
    1
    """

    field: Annotated[Selector, "Field, label or group whose runs are checked."]
    allowed: Annotated[Selector, "Field, label or group of the token before a run."]
    at_start: Annotated[bool, "Whether a run may begin the sequence."] = True

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        wrong = np.append(not self.at_start, ~labels.field(self.allowed).member)
        return [violations_at(everywhere(labels.field(self.field).begins & wrong[:, None]))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in reading.run_starts(self.field):
            held = reading.has(t - 1, self.allowed) if t else self.at_start
            yield Trial((t - 1, t) if t else (t,), int(not held))


class ChangesOnlyAfter(Matching):
    """Fields change only after a matching token. Without words or a pattern, punctuation matches.

    A change at token t begins a run or enters `O`. It is a violation if token t-1 does not match. Chang et
    al. 2007, Table 1, rules (a) 2 and (b) 1.

    >>> C.changes_only_after().violations(["title", "title", "date"], tokens=["A", "title", "1998"])
    1
    """

    _default: ClassVar[TokenPattern | None] = TokenPattern(token_class="punctuation")
    _breaks_where: ClassVar[bool] = False

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        after = fits(self.pattern_of_tokens, -1, holds=self._breaks_where)
        return [violations_at(only_at(labels.change, after))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in reading.changes():
            broken = self.matches(reading, t - 1) == self._breaks_where
            yield Trial((t - 1, t), int(broken))


changes_never_after = template(
    ChangesOnlyAfter,
    "changes_never_after",
    """Fields do not change after a matching token. Each change right after one is a violation.

    Chang et al. 2007, Figure 1: fields do not end with words such as "the".

    >>> C.changes_never_after(words=["the"]).violations(["title", "date"], tokens=["the", "1998"])
    1
    """,
    _default=None,
    _breaks_where=True,
)
forbidden_transition = template(ForbiddenTransition)
should_not_precede = template(ShouldNotPrecede)
should_be_tagged = template(ShouldBeTagged)
adjacency = template(Adjacency)
directly_after = template(DirectlyAfter)
changes_only_after = template(ChangesOnlyAfter)
