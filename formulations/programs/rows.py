"""Rows and columns gathered piece by piece, whole arrays at a time."""

from dataclasses import dataclass, field

import numpy as np

from formulations import time_limits
from formulations.dtypes import Integers
from formulations.programs.names import Blocks, Namer
from formulations.programs.record import UNBOUNDED, stable_order

_SECONDS_AN_ENTRY = 1.2e-7
"""To compress rows that memory caches do not hold."""


@dataclass
class Columns:
    """Columns so far: box, and score and penalty of a unit of each in grid units."""

    count: int = 0
    lower: list[Integers] = field(default_factory=list)
    upper: list[Integers] = field(default_factory=list)
    score: list[Integers] = field(default_factory=list)
    cost: list[Integers] = field(default_factory=list)
    names: Blocks = field(default_factory=Blocks)

    def add(
        self, upper: Integers, name: Namer, score: Integers | int = 0, cost: Integers | int = 0
    ) -> Integers:
        """Indices of new columns with boxes from 0 to `upper`."""
        n = len(upper)
        self.names.add(n, name)
        self.lower.append(np.zeros(n, np.int64))
        self.upper.append(upper)
        self.score.append(np.broadcast_to(np.asarray(score, np.int64), n))
        self.cost.append(np.broadcast_to(np.asarray(cost, np.int64), n))
        self.count += n
        return np.arange(self.count - n, self.count)


@dataclass
class Rows:
    """Rows gathered so far, as coordinates."""

    count: int = 0
    row: list[Integers] = field(default_factory=list)
    column: list[Integers] = field(default_factory=list)
    value: list[Integers] = field(default_factory=list)
    lower: list[Integers] = field(default_factory=list)
    upper: list[Integers] = field(default_factory=list)
    names: Blocks = field(default_factory=Blocks)

    def add(
        self, n: int, name: Namer, lower: int | Integers = -UNBOUNDED, upper: int | Integers = UNBOUNDED
    ) -> Integers:
        """Indices of n new, empty rows."""
        self.names.add(n, name)
        self.lower.append(np.broadcast_to(np.asarray(lower, np.int64), n))
        self.upper.append(np.broadcast_to(np.asarray(upper, np.int64), n))
        self.count += n
        return np.arange(self.count - n, self.count)

    def put(self, row: Integers | int, column: Integers | int, value: Integers | int = 1) -> None:
        """Coefficients; the three are broadcast against each other."""
        rows, columns, values = np.broadcast_arrays(row, column, value)
        self.row.append(rows.reshape(-1))
        self.column.append(columns.reshape(-1))
        self.value.append(values.reshape(-1))

    def compress(self) -> tuple[Integers, Integers, Integers]:
        """indptr, indices, data; OutOfTime where a time limit leaves too little for them."""
        time_limits.check(_SECONDS_AN_ENTRY * sum(map(len, self.row)))
        row, column, value = (
            np.concatenate(component).astype(np.int64) for component in (self.row, self.column, self.value)
        )
        time_limits.check()
        order = stable_order(row)
        time_limits.check()
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.count))])
        return indptr.astype(np.int64), column[order], value[order]
