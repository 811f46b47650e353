"""Rules about the presence of fields; each is an automaton of a few states."""

from collections.abc import Iterable

import numpy as np

from formulations.automata.machine import automaton
from formulations.automata.windows import LATER, UnboundComponent
from formulations.constraints.rule_functions import maker
from formulations.constraints.steps import automaton_component, bits, choose, everywhere
from formulations.constraints.template import Template, Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector

__all__ = ["begin_end", "never_together", "requires_present", "sequence_implies_sequence", "tag_implies_tag"]

_WANTING = automaton(
    0, lambda seen, now: (2 if (seen | now) & 2 else seen | now, 0), lambda q: q == 1, symbols=4
)
_TOGETHER = automaton(0, lambda seen, now: (seen | now, int((seen | now) == 3 != seen)), symbols=4)
_BEGIN_END = automaton(
    (0, 0), lambda state, now: ((state[0] | now & 1, now >> 1), 0), lambda q: q == (1, 0), symbols=4
)


@template("requires_present")
class RequiresPresent(Template):
    """If one field is present, another is present, too; one violation if it is not.

    Stokman 2011, Tables 2-4, row 3: A@t <= Σ_z B@z for every t. The printed sums leave this condition on t out.

    Parameters
    ----------
    field : str, Group or list of str
        The field that requires the other.
    required : str, Group or list of str
        The field that must then be present, anywhere.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.requires_present("title", "author").violations(["title", "O"])
    1
    """

    field: Selector
    required: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        asking, required = labels.field(self.field).member, labels.field(self.required).member
        return [automaton_component(_WANTING, everywhere(bits(asking, required)[None, :]))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        asking = reading.positions(self.field)
        if asking:
            yield Trial(tuple(asking), int(not reading.positions(self.required)))


@template("tag_implies_tag")
class TagImpliesTag(RequiresPresent):
    """The presence of one tag implies that of another; one violation if it is missing.

    Stokman 2011, Table 4, row 3; the same as `requires_present`.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.tag_implies_tag("title", "author").violations(["title", "O"])
    1
    """


@template("sequence_implies_sequence")
class SequenceImpliesSequence(RequiresPresent):
    """A run of one tag anywhere requires a run of another; one violation if it is missing.

    Stokman 2011, Table 4, row 4. The linear form of Table 2 compares counts, and Table 3 presence. The rule uses presence, so
    it is equal to `tag_implies_tag`.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.sequence_implies_sequence("title", "author").violations(["title", "O"])
    1
    """


@template("never_together")
class NeverTogether(Template):
    """Two fields are not both present; one violation if they are.

    Parameters
    ----------
    field, other : str, Group or list of str
        Field, label or group.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.never_together("journal", "booktitle").violations(["journal", "booktitle"])
    1
    """

    field: Selector
    other: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        one, two = labels.field(self.field).member, labels.field(self.other).member
        return [automaton_component(_TOGETHER, everywhere(bits(one, two)[None, :]))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        one, two = reading.positions(self.field), reading.positions(self.other)
        if one or two:
            yield Trial(tuple(sorted({*one, *two})), int(bool(one and two)))


@template("begin_end")
class BeginEnd(Template):
    """If the first token belongs to one field, the last belongs to another; one violation if it does not.

    Fersini et al. 2014, section 3.1, eq. 20: A@0 <= B@(n-1) + σ.

    Parameters
    ----------
    first : str, Group or list of str
        Field, label or group of the first token.
    last : str, Group or list of str
        Field, label or group that the last token then has.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.begin_end("author", "date").violations(["author", "title"])
    1
    """

    first: Selector
    last: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        first, last = labels.field(self.first).member, labels.field(self.last).member
        at_start, later = bits(first, last)[None, :], bits(np.zeros_like(first), last)[None, :]
        return [automaton_component(_BEGIN_END, choose(at_start, later, (LATER,)))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        end = len(reading) - 1
        if reading.has(0, self.first):
            yield Trial((0, end), int(not reading.has(end, self.last)))


requires_present = maker(RequiresPresent)
tag_implies_tag = maker(TagImpliesTag)
sequence_implies_sequence = maker(SequenceImpliesSequence)
never_together = maker(NeverTogether)
begin_end = maker(BeginEnd)
