"""Circuits: formulas on one sequence as gates, and their machines where these are small."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations import time_limits
from formulations.automata.gates import AND, FALSE, LITERAL, TRUE, Gates
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Machine, TooManyStates, local, unroll
from formulations.automata.merging import merged
from formulations.dtypes import Integers, LabelIds

MOST_TOGETHER, MOST_APART = 5_000, 20_000
"""States of a machine for all groundings of a formula, and of those for each grounding in all."""


@dataclass(frozen=True)
class Circuit:
    """Groundings of a formula, each of which has to hold. A grounding that does not hold is a violation."""

    gates: Gates  # may be shared with other circuits of the same sequence
    roots: tuple[int, ...]  # a node for each grounding
    length: int  # T
    once: bool = False  # whether one violation counts as much as many

    is_local = False

    @property
    def most(self) -> int:
        return len(self.roots)

    def violations(self, path: LabelIds) -> int:
        gates, true = self.gates, {FALSE: False, TRUE: True}
        for node in gates.below(self.roots):
            kind, a, b = gates.nodes[node]
            if kind == LITERAL:
                table = gates.tables[b]
                true[node] = bool(table[path[a - 1] if len(table) > 1 else 0, path[a]])
            else:
                true[node] = (true[a] and true[b]) if kind == AND else (true[a] or true[b])
        return sum(not true[root] for root in self.roots)

    @cached_property
    def machines(self) -> tuple[Machine, ...] | None:
        """One machine for all groundings, or one for each; None where that takes too many states."""
        with contextlib.suppress(TooManyStates):
            return (self._machine(self.roots, MOST_TOGETHER),)
        machines: list[Machine] = []
        with contextlib.suppress(TooManyStates):
            for root in self.roots:
                machines.append(self._machine((root,), MOST_APART - sum(m.states for m in machines)))
            return tuple(machines)
        return None

    def _machine(self, roots: Sequence[int], most: int) -> Machine:
        """A machine whose states are the remaining gates of the groundings that are not decided."""
        gates, starts = self.gates, dict[int, list[tuple[int, int]]]()
        for root, times in Counter(roots).items():
            if root > TRUE:
                starts.setdefault(gates.first[root], []).append((root, times))
        literals = (gates.nodes[node] for node in gates.below(roots))
        tables = sorted({table for kind, _, table in literals if kind == LITERAL})
        steps, symbols = _symbols(gates, tables, self.length)
        known: dict[tuple[int, int], dict[int, int]] = {}

        def read(
            token: int, state: tuple[tuple[int, int], ...], symbol: int
        ) -> tuple[tuple[tuple[int, int], ...], int]:
            cache = known.setdefault((token, symbol), {})
            left: Counter[int] = Counter()
            for node, times in (*state, *starts.get(token, ())):
                left[gates.after(node, token, symbols[symbol], cache)] += times
            broken = left.pop(FALSE, 0)
            left.pop(TRUE, None)
            if self.once:
                return () if broken else tuple((node, 1) for node in sorted(left)), min(broken, 1)
            return tuple(sorted(left.items())), broken

        certain, first = sum(root == FALSE for root in roots), sorted({*steps.at(0)[0].tolist()})
        possible = [first, *([range(len(symbols))] * (self.length - 1))]
        machine = unroll(steps, (), read, possible, certain=certain, most=most)
        return Machine(steps, merged(machine.automaton, self.length, first))


def _symbols(gates: Gates, tables: list[int], length: int) -> tuple[StepTable, list[frozenset[int]]]:
    """The symbol of each step, and for each symbol the tables that it lies in; the same ones at all tokens."""
    K = gates.labels
    lies = np.zeros((len(tables), K + 1, K), bool)
    for place, table in enumerate(tables):
        lies[place, 1:] = gates.tables[table]
        lies[place, 0] = gates.tables[table][0] if len(gates.tables[table]) == 1 else False
    patterns, which = np.unique(lies.reshape(len(tables), (K + 1) * K), axis=1, return_inverse=True)
    symbols = [frozenset(np.array(tables)[pattern].tolist()) for pattern in patterns.T]
    return StepTable(which.reshape(1, K + 1, K), np.zeros(length, np.int64)), symbols


def components_of(gates: Gates, roots: Sequence[int], length: int) -> list[Machine | Circuit]:
    """The component of groundings: a local machine where each of them is on one step, else a circuit."""
    if not all(root == TRUE or (root > TRUE and gates.is_local(root)) for root in roots):
        return [Circuit(gates, tuple(root for root in roots if root != TRUE), length)]
    broken: dict[int, Integers] = {}
    for number, (root, times) in enumerate(Counter(roots).items()):
        if not number % 256:
            time_limits.check()
        if root != TRUE:
            token = gates.last[root]
            table = broken.setdefault(token, np.zeros((gates.labels if token else 1, gates.labels), np.int64))
            table += times * ~gates.truth(root, token)
    return [local(by_token(broken, gates.labels, length))] if broken else []


def by_token(tables: dict[int, Integers], labels: int, length: int) -> StepTable:
    """A step table from tables (K, K), or (1, K) at token 0, of some tokens; 0 at the others."""
    pool: dict[bytes, int] = {}
    values: list[Integers] = []
    index = np.zeros(length, np.int64)
    flat = all(len(t) == 1 or (t == t[0]).all() for t in tables.values())
    for token in range(length):
        result = tables.get(token)
        table = np.zeros((1 if flat else labels + 1, labels), np.int64)
        if result is not None:
            table[0 if flat or token == 0 else slice(1, None)] = result[0] if flat else result
        key = table.tobytes()
        if key not in pool:
            pool[key] = len(values)
            values.append(table)
        index[token] = pool[key]
    return StepTable(np.array(values), index)
