"""Lists of tokens that should have labels of one kind, for the template `consistent`."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine
from formulations.dtypes import Integers, LabelIds


@dataclass(frozen=True, eq=False)
class Agreement:
    """A list of tokens that should have labels of one kind; each change of kind from one to the next is a violation."""

    kind: Integers  # (K,) from 0 to F - 1
    tokens: Integers  # (n,) ascending, at least two
    length: int  # T

    is_local = False

    @property
    def kinds(self) -> int:
        """F, the number of kinds."""
        return int(self.kind.max()) + 1

    @property
    def most(self) -> int:
        return len(self.tokens) - 1

    def violations(self, path: LabelIds) -> int:
        return int(np.count_nonzero(np.diff(self.kind[path[self.tokens]])))

    @cached_property
    def machines(self) -> tuple[Machine]:
        """One machine, whose state is the kind read last, 0 before the first; symbol f + 1 is a token of kind f, 0 any other."""
        values = np.zeros((2, 1, len(self.kind)), np.int64)
        values[1, 0] = self.kind + 1
        index = np.zeros(self.length, np.int64)
        index[self.tokens] = 1
        kinds = np.arange(self.kinds + 1)
        next_state = np.where(kinds == 0, kinds[:, None], kinds)
        emits = ((next_state != kinds[:, None]) & (kinds[:, None] > 0)).astype(np.int64)
        return (Machine(StepTable(values, index), Automaton(next_state, emits, 0 * kinds)),)
