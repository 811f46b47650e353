# mypy: allow-untyped-defs
"""Symbols, states and costs of machines, alone and jointly.

A joint state is a vector: the state of each machine, then a mark for each rule that counts once over its machines:
whether it is paid.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import HARD
from ilpinfer.kernels.hashing import enter, place
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.tables import ARC, FINAL, STRIDE, WIDTH, Rules

UNKNOWN, BROKEN = -1, -2


@subroutine
def symbol_of(rules, m, t, before, now):
    """The symbol of machine m on a step from a state, -1 for START, into a state at token t."""
    machines = rules.machines
    at = machines.table[rules.classes[t], m] + (before + 1) * machines.layout[m, STRIDE]
    return machines.symbols[at + now]


@subroutine
def once(rules, m, violations, vector):
    """The violations of machine m that count; a rule that counts once over several machines is marked as paid."""
    mark = rules.machines.mark[m]
    if violations == 0 or mark < 0:
        return violations
    paid = len(rules.machines.mark) + mark
    if vector[paid]:
        return 0
    vector[paid] = 1
    return 1


@subroutine
def read(rules, m, symbol, vector):
    """Let machine m read a symbol; returns the number of violations that count."""
    machines = rules.machines
    arc = machines.layout[m, ARC] + vector[m] * machines.layout[m, WIDTH] + symbol
    vector[m] = machines.next_state[arc]
    return once(rules, m, machines.violations[arc], vector)


@subroutine
def count_final(rules, m, vector):
    """The number of violations of machine m that count after the last token."""
    return once(rules, m, rules.machines.last[rules.machines.layout[m, FINAL] + vector[m]], vector)


@subroutine
def penalty_of(rules, m, violations):
    """Cost in grid units and hard violations for the violations of machine m that count."""
    penalty = rules.machines.penalty[m]
    return (0, violations) if penalty == HARD else (penalty * violations, 0)


@subroutine
def read_step(rules, t, before, now, vector):
    """Let every machine read a step, up to the first hard violation; returns the cost in grid units and the hard
    violations.
    """
    cost = 0
    for m in range(len(rules.machines.mark)):
        more, hard = penalty_of(rules, m, read(rules, m, symbol_of(rules, m, t, before, now), vector))
        if hard:
            return cost, hard
        cost += more
    return cost, 0


@subroutine
def close(rules, vector):
    """Final cost of the machines in grid units, and their hard violations after the last token."""
    cost, broken = 0, 0
    for m in range(len(rules.machines.mark)):
        more, hard = penalty_of(rules, m, count_final(rules, m, vector))
        cost, broken = cost + more, broken + hard
    return cost, broken


def vector_size(rules: Rules) -> int:
    """Numbers of a joint state: the state of each machine, then the marks."""
    return max(1, len(rules.machines.mark) + 1 + int(rules.machines.mark.max(initial=-1)))


class Symbols(NamedTuple):
    """J joint symbols; a joint symbol has a symbol for each machine.

    Joint symbol (C, S+1, B) of the step from a state, the first row from START; the table of each token (T,); and the symbol of
    each machine in each joint symbol (M, J).
    """

    symbol: Small
    table: Integers
    read: Small


class Memo(NamedTuple):
    """The joint states met so far, with their transitions: a product automaton that is built on demand.

    vectors (N, W); after (N, J), the next joint state, `UNKNOWN`, or `BROKEN` where a hard rule breaks; cost (N, J), grid units; the
    number of joint states (1,); and a hash table. Where hard violations are counted, `hard` (N, J) has their numbers, and `end` (N, 2)
    has cost and hard violations after the last token; otherwise both have no rows.
    """

    vectors: Small
    after: Small
    cost: Integers
    number: Integers
    slots: Small
    hard: Integers
    end: Integers


class Joint(NamedTuple):
    """Machines in a product: the machines, their symbols, and the joint states met so far."""

    rules: Rules
    symbols: Symbols
    memo: Memo

    def grown(self) -> "Joint":
        """The same machines with four times the room."""
        old, n = self.memo, len(self.memo.vectors)
        memo = memo_of(self.rules, self.symbols, 4 * n)
        memo.vectors[:n], memo.after[:n], memo.cost[:n] = old.vectors, old.after, old.cost
        memo.number[:] = old.number
        enter(memo.slots, memo.vectors, 0, n)
        return self._replace(memo=memo)


def joint_of(rules: Rules, symbols: Symbols, n: int = 64) -> Joint:
    """The machines with room for n joint states, none of them met yet."""
    return Joint(rules, symbols, memo_of(rules, symbols, n))


def memo_of(rules: Rules, symbols: Symbols, n: int, *, counting: bool = False) -> Memo:
    """Room for n joint states; the first one is that of all machines at their start."""
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
    enter(memo.slots, memo.vectors, 0, 1)
    if counting:
        first_final_cost(rules, memo)
    return memo


@kernel
def first_final_cost(rules, memo):
    """Compute the final cost of the first joint state."""
    _final_cost(rules, memo, 0)


@subroutine
def _final_cost(rules, memo, row):
    """Compute the final cost of a joint state."""
    memo.end[row, 0], memo.end[row, 1] = close(rules, memo.vectors[row].copy())


@subroutine
def read_symbol(rules, symbols, memo, joint, symbol):
    """Compute the transition of a joint state by a symbol; False if there is no room for a new state."""
    new, counting = memo.number[0], len(memo.hard) > 0
    if new == len(memo.vectors):
        return False
    vector = memo.vectors[new]
    for k in range(len(vector)):
        vector[k] = memo.vectors[joint, k]
    cost, broken = 0, 0
    for m in range(len(symbols.read)):
        more, hard = penalty_of(rules, m, read(rules, m, symbols.read[m, symbol], vector))
        if hard and not counting:
            memo.after[joint, symbol] = BROKEN
            return True
        cost, broken = cost + more, broken + hard
    slot = place(memo.slots, memo.vectors, 0, new)
    if memo.slots[slot] < 0:
        memo.slots[slot] = new
        for s in range(memo.after.shape[1]):
            memo.after[new, s] = UNKNOWN
        if counting:
            _final_cost(rules, memo, new)
        memo.number[0] += 1
    memo.after[joint, symbol], memo.cost[joint, symbol] = memo.slots[slot], cost
    if counting:
        memo.hard[joint, symbol] = broken
    return True
