# mypy: allow-untyped-defs
"""Symbols, states and costs of machines, alone and jointly.

A joint state is a vector: the state of each machine, then a mark for each rule that counts once over its machines:
whether it is paid.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import HARD
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.keys import enter, slot_of
from ilpinfer.kernels.tables import ARC, FINAL, STRIDE, WIDTH, Rules

UNKNOWN, BROKEN = -1, -2


@subroutine
def once(marks, m, violations, vector):
    """The violations of machine m that count; a rule that counts once over several machines is marked as paid."""
    if violations == 0 or marks[m] < 0:
        return violations
    paid = len(marks) + marks[m]
    if vector[paid]:
        return 0
    vector[paid] = 1
    return 1


@subroutine
def read(machines, m, symbol, vector):
    """Let machine m read a symbol; returns the number of violations that count."""
    arc = machines.layout[m, ARC] + vector[m] * machines.layout[m, WIDTH] + symbol
    vector[m] = machines.next_state[arc]
    return once(machines.mark, m, machines.violations[arc], vector)


@subroutine
def count_final(machines, m, vector):
    """The number of violations of machine m that count after the last token."""
    return once(machines.mark, m, machines.last[machines.layout[m, FINAL] + vector[m]], vector)


@subroutine
def read_step(rules, t, before, now, vector):
    """Let every machine read a step, up to the first hard violation; returns the cost in grid units and the hard
    violations.

    The arrays are taken out of their record before the loop: a call for each machine that passes it takes longer than the step.
    """
    machines, c, cost = rules.machines, rules.classes[t], np.int64(0)
    layout, table, symbols, next_state = (
        machines.layout,
        machines.table,
        machines.symbols,
        machines.next_state,
    )
    emitted, penalties, marks = machines.violations, machines.penalty, machines.mark
    for m in range(len(marks)):
        symbol = symbols[table[c, m] + (before + 1) * layout[m, STRIDE] + now]
        arc = layout[m, ARC] + vector[m] * layout[m, WIDTH] + symbol
        vector[m] = next_state[arc]
        violations = once(marks, m, np.int64(emitted[arc]), vector)
        if violations and penalties[m] == HARD:
            return cost, violations
        cost += penalties[m] * violations
    return cost, np.int64(0)


@subroutine
def close(rules, vector):
    """Final cost of the machines in grid units, and their hard violations after the last token."""
    machines, cost, broken = rules.machines, np.int64(0), np.int64(0)
    layout, last, penalties, marks = machines.layout, machines.last, machines.penalty, machines.mark
    for m in range(len(marks)):
        violations = once(marks, m, np.int64(last[layout[m, FINAL] + vector[m]]), vector)
        if penalties[m] == HARD:
            broken += violations
        else:
            cost += penalties[m] * violations
    return cost, broken


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
        enter(memo.slots, memo.vectors, 0, n)
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
    enter(memo.slots, memo.vectors, 0, 1)
    if counting:
        first_final_cost(rules, memo)
    return Joint(rules, symbols, memo)


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
    machines, cost, broken = rules.machines, np.int64(0), np.int64(0)
    for m in range(len(symbols.read)):
        violations, penalty = read(machines, m, symbols.read[m, symbol], vector), machines.penalty[m]
        if penalty != HARD:
            cost += penalty * violations
        elif violations and not counting:
            memo.after[joint, symbol] = BROKEN
            return True
        else:
            broken += violations
    slot = slot_of(memo.slots, memo.vectors, new, 0, 0)
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
