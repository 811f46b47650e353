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
from formulations.dtypes import Integers, LabelIds

MOST_TOGETHER, MOST_APART = 5_000, 20_000
"""States of a machine for all groundings of a formula, and of those for each grounding in all."""


@dataclass(frozen=True)
class Circuit:
    """Groundings of a formula, each of which has to hold. A grounding that does not hold is a violation."""

    gates: Gates  # may be shared with other circuits of the same sequence
    roots: tuple[int, ...]  # a node for each grounding
    length: int  # T

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
        tables: list[set[int]] = [set() for _ in range(self.length)]
        for node in gates.below(roots):
            kind, token, table = gates.nodes[node]
            if kind == LITERAL:
                tables[token].add(table)
        steps, symbols = _symbols(gates, [tuple(sorted(t)) for t in tables])
        known: dict[tuple[int, int], dict[int, int]] = {}

        def read(
            token: int, state: tuple[tuple[int, int], ...], symbol: int
        ) -> tuple[tuple[tuple[int, int], ...], int]:
            cache = known.setdefault((token, symbol), {})
            left: Counter[int] = Counter()
            for node, times in (*state, *starts.get(token, ())):
                left[gates.after(node, token, symbols[token][symbol], cache)] += times
            broken = left.pop(FALSE, 0)
            left.pop(TRUE, None)
            return tuple(sorted(left.items())), broken

        certain = sum(root == FALSE for root in roots)
        return unroll(steps, (), read, [range(len(s)) for s in symbols], certain=certain, most=most)


def _symbols(gates: Gates, tables: list[tuple[int, ...]]) -> tuple[StepTable, list[list[frozenset[int]]]]:
    """The symbol of each step, and for each symbol the tables that it lies in."""
    K = gates.labels
    kinds: dict[tuple[bool, tuple[int, ...]], tuple[int, list[frozenset[int]]]] = {}
    values: list[Integers] = []
    index, symbols = [], []
    for token, used in enumerate(tables):
        key = (token == 0, used)
        if key not in kinds:
            stack = [np.broadcast_to(gates.tables[u], (1 if token == 0 else K, K)) for u in used]
            flat = np.array(stack, bool).reshape(len(used), (1 if token == 0 else K) * K)
            patterns, which = np.unique(flat, axis=1, return_inverse=True)
            table = np.zeros((K + 1, K), np.int64)
            table[0 if token == 0 else slice(1, None)] = which.reshape(-1, K)
            kinds[key] = len(values), [frozenset(np.array(used)[p].tolist()) for p in patterns.T]
            values.append(table)
        index.append(kinds[key][0])
        symbols.append(kinds[key][1])
    return StepTable(np.array(values), np.array(index, np.int64)), symbols


def components_of(gates: Gates, roots: Sequence[int], length: int) -> list[Machine | Circuit]:
    """Components of groundings; those on one step form a local machine."""
    rest = [root for root in roots if root != TRUE and not (root > TRUE and gates.is_local(root))]
    broken: dict[int, Integers] = {}
    for number, (root, times) in enumerate(Counter(roots).items()):
        if not number % 256:
            time_limits.check()
        if root > TRUE and gates.is_local(root):
            token = gates.last[root]
            table = broken.setdefault(token, np.zeros((gates.labels if token else 1, gates.labels), np.int64))
            table += times * ~gates.truth(root, token)
    components: list[Machine | Circuit] = []
    if broken:
        components.append(local(by_token(broken, gates.labels, length)))
    if rest:
        components.append(Circuit(gates, tuple(rest), length))
    return components


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
