"""Machines and scores as flat arrays, for kernels."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.automata.lattice import Lattice
from formulations.automata.machine import Machine
from formulations.dtypes import Integers, Small
from formulations.problem.problem import Problem

SHIFT, LOW = 32, 2**32 - 1
"""Bits of the second number where two numbers are stored as one."""


def integers(*shape: int) -> Integers:
    """Zeros."""
    return np.zeros(shape, np.int64)


def small(*shape: int) -> Small:
    """Zeros."""
    return np.zeros(shape, np.int32)


class Chain(NamedTuple):
    """Scores of T tokens with S states, B of which can follow each, grid units.

    node (T, S); pool (P, S, B), the edge scores; the entry of `pool` for each step (T-1,); and base (S,), the target of the first
    edge of a state.
    """

    node: Integers
    pool: Integers
    step: Integers
    base: Integers


def chain_of(lattice: Lattice) -> Chain:
    """The scores of a lattice."""
    return Chain(lattice.node, lattice.pool, lattice.step, lattice.base)


class Packed(NamedTuple):
    """M machines of a problem's rules, which read states of its lattice.

    symbol of machine m at token t: symbols[table[m, t] + (previous + 1)·stride[m] + state], previous = -1 for START
    arc of machine m: arc[m] + state·width[m] + symbol, an index into next_state and emits
    violations at the end: final[state_at[m] + state]
    penalty (M,) of a violation, grid units or HARD
    mark (M,) index of the mark in a joint state that the machine's rule is paid, -1 for rules without a mark
    """

    symbols: NDArray[np.int16]
    table: Integers
    stride: Integers
    arc: Integers
    width: Integers
    next_state: Small
    emits: Integers
    state_at: Integers
    final: Integers
    penalty: Integers
    mark: Integers

    @property
    def joint(self) -> int:
        """Numbers of a joint state: the state of each machine, then the marks."""
        return max(len(self.mark), 1 + int(self.mark.max(initial=-1)))


def pack(problem: Problem) -> Packed:
    """Flat arrays of every machine that is not folded into the problem's lattice."""
    owners = [(r, rule, m) for r, rule in enumerate(problem.rules) for m in rule.machines]
    once = [r if rule.once else None for r, rule, _ in owners]
    machines = [m if rule.forced else m.early for _, rule, m in owners]
    return pack_machines(machines, [rule.penalty for _, rule, _ in owners], once, problem.lattice)


def pack_machines(
    machines: Sequence[Machine],
    penalties: Sequence[int],
    once: Sequence[int | None],
    lattice: Lattice,
) -> Packed:
    """Flat arrays of machines, the penalty of each, and the rule that counts once with all of its machines, if one does."""
    T, K = lattice.shape
    tables = [lattice.on_states(m.steps).values for m in machines]
    symbol_at = _starts([t.size for t in tables])
    rules = {
        rule: len(machines) + n for n, rule in enumerate(dict.fromkeys(r for r in once if r is not None))
    }
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
        penalty=np.array(penalties, np.int64),
        mark=np.array([-1 if rule is None else rules[rule] for rule in once], np.int64),
    )


def _starts(sizes: list[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else np.zeros(0, np.int64)


def _flat(arrays: list[Integers], kind: type) -> NDArray[Any]:
    return np.concatenate([a.reshape(-1) for a in arrays]).astype(kind) if arrays else np.zeros(0, kind)
