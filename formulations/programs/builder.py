"""Construction of programs: rows, columns, and columns that rules share."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import time_limits
from formulations.automata.lattice import StepTable
from formulations.automata.sums import Sum
from formulations.automata.windows import WindowCount
from formulations.dtypes import Integers
from formulations.problem.problem import Problem
from formulations.programs.names import Block, LabelNames, Meaning, Namer, Owner
from formulations.programs.record import UNBOUNDED, stable_order

_SECONDS_AN_ENTRY = 1.2e-7  # time to compress rows outside the caches

NOTHING = np.zeros(0, np.int64)  # concatenation needs at least one array


class Axis:
    """Columns or rows, in blocks with names; `defaults` are numbers of each column or row, such as its sides."""

    def __init__(self, **defaults: int) -> None:
        self.count, self.names, self._defaults = 0, list[Block](), defaults
        self._numbers = {kind: list[Integers]() for kind in defaults}

    def add(self, n: int, name: Namer, **numbers: Integers | int) -> Integers:
        self.names.append((n, name))
        for kind, default in self._defaults.items():
            self._numbers[kind].append(np.broadcast_to(np.asarray(numbers.get(kind, default), np.int64), n))
        self.count += n
        return np.arange(self.count - n, self.count)

    def numbers(self, kind: str) -> Integers:
        return np.concatenate([*self._numbers[kind], NOTHING])


class ProgramBuilder:
    """Columns and rows of a problem's program, and indicators: columns that are 1 if a step is in a table."""

    def __init__(self, problem: Problem) -> None:
        self.shape, self.states = problem.shape, problem.lattice.states
        self.labels = LabelNames(problem.labels, self.states)
        self.columns = Axis(upper=1, score=0, cost=0)  # boxes from 0 to `upper`; score and penalty of a unit
        self.rows = Axis(lower=-UNBOUNDED, upper=UNBOUNDED)
        self.entries: tuple[list[Integers], ...] = ([], [], [])  # row, column and value of each coefficient
        self.uses = Counter[bytes]()
        self._indicators: dict[tuple[int, bytes], int] = {}
        for rule in problem.rules:
            time_limits.check()
            for component in rule.components:
                time_limits.check()
                if isinstance(component, WindowCount):
                    self.uses.update(
                        {table.tobytes(): len(component.sums) for table in component.sums[0].steps.values}
                    )
                if isinstance(component, Sum):
                    self.uses.update({table.tobytes() for table in component.steps.values})

    def sigma(self, of: Owner, most: int, penalty: int) -> int:
        """The column of violations, each of which costs the penalty."""
        return int(self.columns.add(1, of.one("sigma", "sigma"), upper=most, cost=penalty)[0])

    def put(self, row: Integers | int, column: Integers | int, value: Integers | int = 1) -> None:
        """Add coefficients; the arguments are broadcast. OutOfTime if a time limit has passed."""
        time_limits.check()
        for entries, given in zip(self.entries, np.broadcast_arrays(row, column, value), strict=True):
            entries.append(given.reshape(-1))

    def compress(self) -> tuple[Integers, Integers, Integers]:
        """indptr, indices, data; OutOfTime if too little time is left."""
        time_limits.check(_SECONDS_AN_ENTRY * sum(map(len, self.entries[0])))
        row, column, value = (
            np.concatenate([*entries, NOTHING]).astype(np.int64) for entries in self.entries
        )
        time_limits.check()
        order = stable_order(row)
        time_limits.check()
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.rows.count))])
        return indptr.astype(np.int64), column[order], value[order]

    def edges(self, token: int, table: NDArray[Any]) -> Integers:
        """Path columns into the token with a nonzero table entry, out of K at token 0 and S·K later."""
        values = self._values(token, table)
        before = self.states + (token - 1) * values.size if token else 0
        return np.asarray(before + np.flatnonzero(values))

    def _values(self, token: int, table: NDArray[Any]) -> NDArray[Any]:
        """The values of a table on path columns: (K,) at token 0, (S·K,) at later tokens."""
        _, K = self.shape
        inner = self.inner(token, table)
        return inner[0] if token == 0 else np.broadcast_to(inner, (self.states // K, K, K)).reshape(-1)

    def inner(self, token: int, table: NDArray[Any]) -> NDArray[Any]:
        """The rows of a table (K+1, K), (K, K) or (1, K) that a step into the token can use."""
        if token == 0:
            return table[:1]
        return table[1:] if len(table) > self.shape[1] else table

    def indicator(self, token: int, table: NDArray[Any]) -> int:
        """The column that is 1 if the step into the token is in the table (K+1, K), (K, K) or (1, K)."""
        key = (token, self.inner(token, table).astype(bool).tobytes())
        if key not in self._indicators:

            def name() -> Meaning:
                return self.labels.steps(token, table.astype(bool))

            def link() -> Meaning:
                return Meaning(name().under("link"), "link", token=token)

            column = int(self.columns.add(1, lambda: [name()])[0])
            row = self.rows.add(1, lambda: [link()], lower=0, upper=0)
            self.put(row, column, -1)
            self.put(row, self.edges(token, table))
            self._indicators[key] = column
        return self._indicators[key]

    def weighted_columns(self, steps: StepTable) -> tuple[Integers, Integers]:
        """Columns and weights that express a sum over steps."""
        shared = [self._shared_weight(table) for table in steps.values]
        if not any(shared):
            values = on_edges(steps, self.shape, self.states)
            at = np.flatnonzero(values)
            return at, values[at]
        columns, weights = list[Integers](), list[Integers]()
        for token, which in enumerate(steps.index.tolist()):
            table = steps.values[which]
            if shared[which]:
                columns.append(np.array([self.indicator(token, table)]))
                weights.append(np.array([shared[which]]))
            elif table.any():
                columns.append(self.edges(token, table))
                values = self._values(token, table)
                weights.append(values[values != 0])
        return np.concatenate(columns), np.concatenate(weights)

    def _shared_weight(self, table: Integers) -> int:
        """The weight of a table with a single weight that several sums use, which then gets an indicator; 0 for other tables."""
        if self.uses[table.tobytes()] < 2 or not table.any():
            return 0
        weights = np.unique(table[table != 0])
        return int(weights[0]) if len(weights) == 1 else 0


def on_edges(steps: StepTable, shape: tuple[int, int], states: int) -> Integers:
    """The table's value on each start and step column, (S + (T-1)·S·K,)."""
    T, K = shape
    times = states // K
    first = np.tile(steps.at(0)[0], times)
    values = steps.values[:, 1:] if steps.values.shape[1] > 1 else steps.values
    later = np.broadcast_to(values[steps.index[1:], None], (T - 1, times, K, K))
    return np.concatenate([first, later.reshape(-1)])


def tokens_of_edges(shape: tuple[int, int], states: int) -> Integers:
    """The token that each start and step column enters."""
    T, K = shape
    return np.concatenate([np.zeros(states, np.int64), np.repeat(np.arange(1, T), states * K)])
