"""Rows and σ columns of a compiled rule.

A counter is one row; a local machine one row, or one a token where the rule counts at most once; any other
machine a unit flow through its states, linked to the path by the symbols that the path's edges carry.
"""

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import StepTable
from formulations.compiled.machine import Counter, Machine
from formulations.compiled.problem import GroundRule
from formulations.programs.rows import Columns, Rows

Integers = NDArray[np.int64]


def add_rule(rule: GroundRule, shape: tuple[int, int], columns: Columns, rows: Rows) -> None:
    """Add what a rule needs; each σ costs the rule's penalty, and a hard rule has none."""
    hard = rule.penalty is None
    shared = (
        columns.add(np.ones(1, np.int64), cost=rule.penalty or 0)[0] if rule.binary and not hard else None
    )
    for machine in rule.machines:
        slack = shared
        if not rule.binary and not hard:
            slack = columns.add(np.array([machine.most]), cost=rule.penalty or 0)[0]
        if machine.counter and machine.counter != Counter(None, 0):
            _count(
                machine.counter,
                on_edges(machine.steps, shape),
                shape[0],
                slack,
                rule.binary and not hard,
                rows,
            )
            continue
        row_of, at, amount = (
            _local(machine, shape) if machine.states == 1 else _flow(machine, shape, columns, rows)
        )
        _emit(row_of, at, amount, slack, rule.binary and not hard, rows)


def on_edges(steps: StepTable, shape: tuple[int, int]) -> Integers:
    """The table's value on each start and step column, (K + (T-1)·K²,)."""
    T, K = shape
    first = np.broadcast_to(steps.at(0)[0], K)
    values = steps.values[:, 1:] if steps.values.shape[1] > 1 else steps.values
    later = np.broadcast_to(values[steps.index[1:]], (T - 1, K, K))
    return np.concatenate([first, later.reshape(-1)])


def tokens_of_edges(shape: tuple[int, int]) -> Integers:
    """The token that each start and step column enters."""
    T, K = shape
    return np.concatenate([np.zeros(K, np.int64), np.repeat(np.arange(1, T), K * K)])


def _count(
    counter: Counter, counted: Integers, length: int, slack: int | None, once: bool, rows: Rows
) -> None:
    """low <= Σ counted <= high, each side relaxed by σ; where the rule counts once, σ weighs the largest excess."""
    at = np.flatnonzero(counted)
    if counter.high is not None and counter.high < length:
        row = rows.add(1, upper=counter.high)
        rows.put(row, at)
        if slack is not None:
            rows.put(row, slack, counter.high - length if once else -1)
    if counter.low:
        row = rows.add(1, lower=counter.low)
        rows.put(row, at)
        if slack is not None:
            rows.put(row, slack, counter.low if once else 1)


def _local(machine: Machine, shape: tuple[int, int]) -> tuple[Integers, Integers, Integers]:
    """Token, column and violations of each edge that breaks the rule."""
    emits = machine.emits[0, on_edges(machine.steps, shape)]
    at = np.flatnonzero(emits)
    return tokens_of_edges(shape)[at], at, emits[at]


def _flow(
    machine: Machine, shape: tuple[int, int], columns: Columns, rows: Rows
) -> tuple[Integers, Integers, Integers]:
    """Add w[t, q, s], 1 where the machine is in state q and reads symbol s at token t.

    Flow through the states, and for each symbol but one: Σ_q w[t, q, s] = Σ of the edges that carry s.
    Returns token, column and violations of each w that emits; those at the end count for the last token.
    """
    T, (Q, S) = shape[0], machine.emits.shape
    w = columns.add(np.ones(T * Q * S, np.int64)).reshape(T, Q, S)
    state = rows.add(T * Q, 0, 0).reshape(T, Q)
    rows.put(state[:, :, None], w)
    rows.put(state[1:][:, machine.next_state], w[:-1], -1)
    rows.lower[-1] = rows.upper[-1] = (np.arange(T * Q) == 0).astype(np.int64)
    symbol = on_edges(machine.steps, shape)
    common = int(np.bincount(symbol, minlength=S).argmax())
    linked = np.delete(np.arange(S), common)
    link = np.full((T, S), -1)
    link[:, linked] = rows.add(T * (S - 1), 0, 0).reshape(T, S - 1)
    rows.put(link[:, None, linked], w[:, :, linked])
    at = np.flatnonzero(symbol != common)
    rows.put(link[tokens_of_edges(shape)[at], symbol[at]], at, -1)
    emits = np.broadcast_to(machine.emits, (T, Q, S)).copy()
    emits[-1] += machine.final[machine.next_state]
    t, q, s = np.nonzero(emits)
    return t, w[t, q, s], emits[t, q, s]


def _emit(token: Integers, at: Integers, amount: Integers, slack: int | None, once: bool, rows: Rows) -> None:
    """Σ violations <= σ, in one row; or, where the rule counts once, a row for each token."""
    if not len(at):
        return
    if not once:
        row = rows.add(1, upper=0)
        rows.put(row, at, amount)
    else:
        tokens, which = np.unique(token, return_inverse=True)
        row = rows.add(len(tokens), upper=0)
        rows.put(row[which.reshape(-1)], at)
    if slack is not None:
        rows.put(row, slack, -1)
