"""Rules about which fields occur together and in what order; they need an automaton of a few states."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from formulations.compiled.lattice import StepTable
from formulations.compiled.machine import Machine
from formulations.constraints.reading import Reading
from formulations.constraints.rule import Template, template
from formulations.labels import LabelSet, Selector


@dataclass(frozen=True)
class RequiresPresent(Template):
    """Where one field is present, so is another; one violation if it is not.

    Stokman 2011, Table 4, TagImpliesTag, read as presence.

    Parameters
    ----------
    field : the field that asks for the other
    required : the field that must then be present, anywhere
    """

    field: Selector
    required: Selector

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        asking, given = labels.field(self.field).member, labels.field(self.required).member
        symbols = np.where(given, 2, asking.astype(np.int64))
        steps = StepTable(symbols[None, None, :], np.zeros(len(tokens), np.int64))
        nothing, asked, settled = range(3)
        next_state = np.array(
            [[nothing, asked, settled], [asked, asked, settled], [settled, settled, settled]]
        )
        return [Machine(steps, next_state, np.zeros((3, 3), np.int64), np.array([0, 1, 0]))]

    def count(self, reading: Reading) -> int:
        return int(bool(reading.positions(self.field)) and not reading.positions(self.required))


requires_present = template("requires_present", RequiresPresent)


@dataclass(frozen=True)
class RequiresBefore(Template):
    """Each run of a field has a token of another somewhere before it. Each run without one is a violation.

    `requires_before("author", "title")`: an author before a title. Of the order rules that Fersini et al. 2014,
    section 3.1, run together, this is "each B has an earlier A", as in Stokman 2011, section 5.3.

    Parameters
    ----------
    earlier : the field that must come first
    field : the field whose runs are checked
    """

    earlier: Selector
    field: Selector

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        begins, seen = labels.field(self.field).begins, labels.field(self.earlier).member
        symbols = begins.astype(np.int64) + 2 * seen[None, :]
        steps = StepTable(symbols[None], np.zeros(len(tokens), np.int64))
        next_state = np.array([[0, 0, 1, 1], [1, 1, 1, 1]])
        emits = np.array([[0, 1, 0, 1], [0, 0, 0, 0]])
        return [Machine(steps, next_state, emits, np.zeros(2, np.int64))]

    def count(self, reading: Reading) -> int:
        first = min(reading.positions(self.earlier), default=len(reading.names))
        return sum(start <= first for start in reading.run_starts(self.field))


requires_before = template("requires_before", RequiresBefore)
