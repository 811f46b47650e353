"""Joint states of machines: the state of each machine, then a mark for each rule that counts once: whether it is paid."""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import Rules

UNKNOWN, BROKEN = -1, -2


def vector_size(rules: Rules) -> int:
    """Numbers of a joint state: the state of each machine, then the marks."""
    return max(1, len(rules.machines.mark) + 1 + int(rules.machines.mark.max(initial=-1)))


class Symbols(NamedTuple):
    """J joint symbols; a joint symbol has a symbol for each machine."""

    symbol: Small  # (C, S+1, B) of the step from a state, the first row from START
    table: Integers  # (T,) of each token
    read: Small  # (M, J) the symbol of each machine in each joint symbol


class Memo(NamedTuple):
    """The joint states met so far, with their transitions: a product automaton that is built on demand."""

    vectors: Small  # (N, W)
    after: Small  # (N, J) the next joint state, `UNKNOWN`, or `BROKEN` where a hard rule breaks
    cost: Integers  # (N, J) grid units
    number: Integers  # (1,) of joint states
    slots: Small  # a hash table
    hard: Integers  # (N, J) hard violations, or no rows where they are not counted
    end: Integers  # (N, 2) cost and hard violations after the last token, or no rows as well


class Joint(NamedTuple):
    """Machines in a product: the machines, their symbols, and the joint states met so far."""

    rules: Rules
    symbols: Symbols
    memo: Memo

    def grown(self) -> "Joint":
        """The same machines with four times the room."""
        old, n = self.memo, len(self.memo.vectors)
        result = joint_of(self.rules, self.symbols, 4 * n)
        memo = result.memo
        memo.vectors[:n], memo.after[:n], memo.cost[:n] = old.vectors, old.after, old.cost
        memo.number[:] = old.number
        kernels.enter_rows(memo.slots, memo.vectors, 0, n)
        return result


def joint_of(rules: Rules, symbols: Symbols, n: int = 64, *, counting: bool = False) -> Joint:
    """The machines with room for n joint states, of which the first is that of all machines at their start."""
    J, counted = max(1, symbols.read.shape[1]), n if counting else 0
    memo = Memo(
        np.zeros((n, vector_size(rules)), np.int32),
        np.full((n, J), UNKNOWN, np.int32),
        np.empty((n, J), np.int64),
        np.ones(1, np.int64),
        np.empty(1 << (2 * n).bit_length(), np.int32),
        np.empty((counted, J), np.int64),
        np.empty((counted, 2), np.int64),
    )
    kernels.enter_rows(memo.slots, memo.vectors, 0, 1)
    if counting:
        kernels.first_final_cost(rules, memo)
    return Joint(rules, symbols, memo)
