"""Machines laid out as flat arrays, for kernels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import Lattice
from formulations.compiled.machine import Machine
from formulations.compiled.problem import Problem

Integers = NDArray[np.int64]

HARD = -1


class Packed(NamedTuple):
    """The machines of a problem's rules, reading states of its lattice; M machines, R rules.

    symbol of machine m at token t: symbols[table[m, t] + (previous + 1)·stride[m] + state], previous = -1 for START
    arc of machine m: arc[m] + state·width[m] + symbol, an index into next_state and emits
    violations at the end: final[state_at[m] + state]
    rule (M,), penalty (R,) grid units or HARD, binary (R,)
    """

    symbols: NDArray[np.int16]
    table: Integers
    stride: Integers
    arc: Integers
    width: Integers
    next_state: NDArray[np.int32]
    emits: Integers
    state_at: Integers
    final: Integers
    rule: Integers
    penalty: Integers
    binary: NDArray[np.bool_]


def pack(problem: Problem) -> Packed:
    """Flat arrays of every machine that the problem's lattice does not hold."""
    machines = [m if rule.forced else m.early for rule in problem.rules for m in rule.machines]
    rule = [r for r, ground in enumerate(problem.rules) for _ in ground.machines]
    rules = problem.rules
    return pack_machines(
        machines, rule, [r.penalty for r in rules], [r.binary for r in rules], problem.lattice
    )


def pack_machines(
    machines: Sequence[Machine],
    rule: Sequence[int],
    penalties: Sequence[int | None],
    binary: Sequence[bool],
    lattice: Lattice,
) -> Packed:
    """Flat arrays of machines, the rule that each belongs to, and each rule's penalty and way of counting."""
    T, K = lattice.shape
    tables = [lattice.on_states(m.steps).values for m in machines]
    symbol_at = _starts([t.size for t in tables])
    return Packed(
        symbols=_flat(tables, np.int16),
        table=np.array(
            [at + m.steps.index * t[0].size for at, m, t in zip(symbol_at, machines, tables, strict=True)],
            np.int64,
        ).reshape(-1, T),
        stride=np.array([K if t.shape[1] > 1 else 0 for t in tables], np.int64),
        arc=_starts([m.emits.size for m in machines]),
        width=np.array([m.emits.shape[1] for m in machines], np.int64),
        next_state=_flat([m.next_state for m in machines], np.int32),
        emits=_flat([m.emits for m in machines], np.int64),
        state_at=_starts([m.states for m in machines]),
        final=_flat([m.final for m in machines], np.int64),
        rule=np.array(rule, np.int64),
        penalty=np.array([HARD if p is None else p for p in penalties], np.int64),
        binary=np.array(binary, bool),
    )


def _starts(sizes: list[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else np.zeros(0, np.int64)


def _flat(arrays: list[NDArray[np.int64]], kind: type) -> NDArray:
    return np.concatenate([a.reshape(-1) for a in arrays]).astype(kind) if arrays else np.zeros(0, kind)
