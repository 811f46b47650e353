"""Rules about the presence of fields and the order of their runs, as automata of a few states."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Annotated

import numpy as np

from formulations.automata.components import LATER, UnboundComponent
from formulations.automata.machine import Automaton, automaton
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import automaton_component, bits, choose, everywhere
from formulations.constraints.template import AnyField, CheckedField, Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector

_WANTING = automaton(
    0, lambda seen, now: (2 if (seen | now) & 2 else seen | now, 0), lambda q: q == 1, symbols=4
)
_TOGETHER = automaton(0, lambda seen, now: (seen | now, int((seen | now) == 3 != seen)), symbols=4)
_BEGIN_END = automaton(
    (0, 0), lambda state, now: ((state[0] | now & 1, now >> 1), 0), lambda q: q == (1, 0), symbols=4
)


class RequiresPresent(Template):
    """If one field is present, another is present, too; one violation if it is not.

    Stokman 2011, Tables 2-4, row 3: A@t <= Σ_z B@z for every t. The printed sums leave this condition on t out.

    >>> C.requires_present("title", "author").violations(["title", "O"])
    1
    """

    field: Annotated[Selector, "The field that requires the other."]
    required: Annotated[Selector, "The field that must then be present."]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        asking, required = labels.field(self.field).member, labels.field(self.required).member
        return [automaton_component(_WANTING, everywhere(bits(asking, required)[None, :]))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        asking = reading.positions(self.field)
        if asking:
            yield Trial(tuple(asking), int(not reading.positions(self.required)))


tag_implies_tag = template(
    RequiresPresent,
    "tag_implies_tag",
    """The presence of one tag implies that of another; one violation if it is missing.

    Stokman 2011, Table 4, row 3; the same as `requires_present`.

    >>> C.tag_implies_tag("title", "author").violations(["title", "O"])
    1
    """,
)
sequence_implies_sequence = template(
    RequiresPresent,
    "sequence_implies_sequence",
    """A run of one tag anywhere requires a run of another; one violation if it is missing.

    Stokman 2011, Table 4, row 4. The linear form of Table 2 compares counts, and Table 3 presence. The rule uses presence, so
    it is equal to `tag_implies_tag`.

    >>> C.sequence_implies_sequence("title", "author").violations(["title", "O"])
    1
    """,
)


class NeverTogether(Template):
    """Two fields are not both present; one violation if they are.

    >>> C.never_together("journal", "booktitle").violations(["journal", "booktitle"])
    1
    """

    field: AnyField
    other: AnyField

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        one, two = labels.field(self.field).member, labels.field(self.other).member
        return [automaton_component(_TOGETHER, everywhere(bits(one, two)[None, :]))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        one, two = reading.positions(self.field), reading.positions(self.other)
        if one or two:
            yield Trial(tuple(sorted({*one, *two})), int(bool(one and two)))


class BeginEnd(Template):
    """If the first token belongs to one field, the last belongs to another; one violation if it does not.

    Fersini et al. 2014, section 3.1, eq. 20: A@0 <= B@(n-1) + σ.

    >>> C.begin_end("author", "date").violations(["author", "title"])
    1
    """

    first: Annotated[Selector, "Field, label or group of the first token."]
    last: Annotated[Selector, "Field, label or group that the last token then has."]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        first, last = labels.field(self.first).member, labels.field(self.last).member
        at_start, later = bits(first, last)[None, :], bits(np.zeros_like(first), last)[None, :]
        return [automaton_component(_BEGIN_END, choose(at_start, later, (LATER,)))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        end = len(reading) - 1
        if reading.has(0, self.first):
            yield Trial((0, end), int(not reading.has(end, self.last)))


def _turns(kind: int, symbol: int) -> tuple[int, int]:
    """State: the field of the last run, 1 or 2; 0 for none."""
    broken = 0
    for bit in (1, 2):
        if symbol & bit:
            kind, broken = bit, broken + (kind == bit)
    return kind, broken


def _following(required: bool) -> Automaton:
    """State: whether the last run belongs to the first field."""

    def read(state: int, symbol: int) -> tuple[int, int]:
        if not symbol & 1:
            return state, 0
        return int(bool(symbol & 2)), int(state and not symbol & 4)

    return automaton(0, read, lambda state: int(state and required), symbols=8)


_TURNS = automaton(0, _turns, symbols=4)
_FOLLOWING = {required: _following(required) for required in (False, True)}


class Alternation(Template):
    """Runs of two fields alternate. Each run that follows a run of its own field is a violation.

    Runs are ordered by their first tokens; tokens between runs do not matter. If two runs begin at the same token, as with
    nested paths, the run of `field` is first.

    >>> C.alternation("name", "phone").violations(["name", "O", "name", "phone"])
    1
    """

    field: AnyField
    other: AnyField

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        steps = everywhere(bits(labels.field(self.field).begins, labels.field(self.other).begins))
        return [automaton_component(_TURNS, steps)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        runs = [(t, i) for i, f in enumerate((self.field, self.other)) for t in reading.run_starts(f)]
        before = None
        for t, kind in sorted(runs):
            yield Trial((t,), int(kind == before))
            before = kind


class NextField(Template):
    """The next run after each run of a field belongs to an allowed field. Each run with another next run is a violation.

    Tokens of `O` between the two runs are skipped. With nested paths, a run begins at each token where a run of any level begins,
    and belongs to all fields of that token. The last run of a sequence has no next run.

    >>> labels = ["title", "O", "O", "firm", "title", "date"]
    >>> C.next_field("title", "firm").violations(labels)
    1
    >>> C.next_field("title", C.other_than("firm")).violations(labels)
    1
    """

    field: CheckedField
    allowed: Annotated[Selector, "Field, label or group of the next run."]
    required: Annotated[
        bool, "Whether a next run must exist; if so, a last run of the field is a violation."
    ] = False

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        within = np.any([each.member for each in labels.each_field], axis=0) if labels.each_field else False
        begins = np.concatenate([np.ones((1, len(labels)), bool), labels.change[1:]]) & within
        first, allowed = (labels.field(selector).member & begins for selector in (self.field, self.allowed))
        return [automaton_component(_FOLLOWING[self.required], everywhere(bits(begins, first, allowed)))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        begins = [t for t in range(len(reading)) if reading.begins_field(t)]
        for t, after in zip_longest(begins, begins[1:]):
            if not reading.has(t, self.field):
                continue
            if after is not None:
                yield Trial((t, after), int(not reading.has(after, self.allowed)))
            elif self.required:
                yield Trial((t,), 1)


requires_present = template(RequiresPresent)
never_together = template(NeverTogether)
begin_end = template(BeginEnd)
alternation = template(Alternation)
next_field = template(NextField)
