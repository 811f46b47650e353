"""Rules about the order of runs. Tokens between the runs do not matter."""

from collections.abc import Iterable
from itertools import zip_longest

import numpy as np

from formulations.automata.machine import Automaton, automaton
from formulations.automata.windows import UnboundComponent
from formulations.constraints.rule_functions import maker
from formulations.constraints.steps import automaton_component, bits, everywhere
from formulations.constraints.template import Template, Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector

__all__ = ["alternation", "next_field"]


def _turns(kind: int, symbol: int) -> tuple[int, int]:
    """State: which of the two began last, 1 or 2; 0 for none."""
    broken = 0
    for bit in (1, 2):
        if symbol & bit:
            kind, broken = bit, broken + (kind == bit)
    return kind, broken


def _following(required: bool) -> Automaton:
    """State: whether the run that began last belongs to the first field."""

    def read(state: int, symbol: int) -> tuple[int, int]:
        if not symbol & 1:
            return state, 0
        return int(bool(symbol & 2)), int(state and not symbol & 4)

    return automaton(0, read, lambda state: int(state and required), symbols=8)


_TURNS = automaton(0, _turns, symbols=4)
_FOLLOWING = {required: _following(required) for required in (False, True)}


@template("alternation")
class Alternation(Template):
    """Runs of two fields alternate. Each run that follows a run of its own field is a violation.

    Runs are in the order of their first tokens. If two begin at the same token, as nested paths do, the run of `field` is
    first.

    Parameters
    ----------
    field, other : str, Group or list of str
        Field, label or group.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.alternation("name", "phone").violations(["name", "O", "name", "phone"])
    1
    """

    field: Selector
    other: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        steps = everywhere(bits(labels.field(self.field).begins, labels.field(self.other).begins))
        return [automaton_component(_TURNS, steps)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        runs = [(t, i) for i, f in enumerate((self.field, self.other)) for t in reading.run_starts(f)]
        before = None
        for t, kind in sorted(runs):
            yield Trial((t,), int(kind == before))
            before = kind


@template("next_field")
class NextField(Template):
    """The next run after each run of a field belongs to an allowed field. Each run with another next run is a violation.

    Tokens of `O` between the two runs are skipped. With nested paths, a run begins at each token where a run of any level begins,
    and belongs to all fields of that token. The last run of a sequence has no next run.

    Parameters
    ----------
    field : str, Group or list of str
        The field whose runs are checked.
    allowed : str, Group or list of str
        Field, label or group of the next run.
    required : bool, default False
        Whether a next run must exist; if so, a last run of the field is a violation.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> labels = ["title", "O", "O", "firm", "title", "date"]
    >>> C.next_field("title", "firm").violations(labels)
    1
    >>> C.next_field("title", C.other_than("firm")).violations(labels)
    1
    """

    field: Selector
    allowed: Selector
    required: bool = False

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        begins = np.zeros((len(labels) + 1, len(labels)), bool)
        for each in labels.each_field:
            begins |= each.begins
        first, allowed = (labels.field(selector).member & begins for selector in (self.field, self.allowed))
        return [automaton_component(_FOLLOWING[self.required], everywhere(bits(begins, first, allowed)))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        begins = [t for t in range(len(reading)) if any(reading.begins(t, f) for f in reading.fields)]
        for t, after in zip_longest(begins, begins[1:]):
            if not reading.has(t, self.field):
                continue
            if after is not None:
                yield Trial((t, after), int(not reading.has(after, self.allowed)))
            elif self.required:
                yield Trial((t,), 1)


alternation = maker(Alternation)
next_field = maker(NextField)
