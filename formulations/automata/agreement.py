"""Lists of tokens that should have labels of one kind, for the template `consistent`."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine
from formulations.dtypes import Integers, LabelIds


@dataclass(frozen=True, eq=False)
class Agreement:
    """A list of tokens whose labels should be of one kind. A token is a violation if its kind differs from that of the token before it in the list.

    Parameters
    ----------
    kind : ndarray of int, shape (K,)
        The kind of each label, from 0 to F - 1.
    tokens : ndarray of int
        (n,) ascending, at least two.
    length : int
        T.
    """

    kind: Integers
    tokens: Integers
    length: int

    is_local = False

    @property
    def kinds(self) -> int:
        """F, the number of kinds."""
        return int(self.kind.max()) + 1

    @property
    def most(self) -> int:
        """An upper bound on the violations of any labelling."""
        return len(self.tokens) - 1

    def violations(self, path: LabelIds) -> int:
        """Violations of label ids (T,)."""
        return int(np.count_nonzero(np.diff(self.kind[path[self.tokens]])))

    @cached_property
    def machines(self) -> tuple[Machine]:
        """One machine. Its state is the kind read last, 0 before the first; symbol f + 1 is a token of kind f, 0 any other token."""
        values = np.zeros((2, 1, len(self.kind)), np.int64)
        values[1, 0] = self.kind + 1
        index = np.zeros(self.length, np.int64)
        index[self.tokens] = 1
        kinds = np.arange(self.kinds + 1)
        next_state = np.where(kinds[None, :] == 0, kinds[:, None], kinds[None, :])
        emits = ((kinds[:, None] != kinds[None, :]) & (kinds[:, None] > 0) & (kinds[None, :] > 0)).astype(
            np.int64
        )
        return (
            Machine(
                StepTable(values, index), Automaton(next_state, emits, np.zeros(self.kinds + 1, np.int64))
            ),
        )
