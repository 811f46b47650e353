"""A call of the decoding kernels: sequences with the tables that they read, and the labellings that are found."""

import time
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import Grid
from formulations.messages import counted
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.kernels.counts import Counts
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import (
    CODE,
    INSIDE,
    NO_LABELLING,
    NO_PATH,
    NUMBER,
    PROVED,
    WRONG_VALUE,
    Machines,
    Scores,
)


class Entry(NamedTuple):
    """Tables as one object for kernels, and what it was made of: the model's pool, the changes of the vocabulary before, the machine of
    each place and the component that it counts, the number of rules, and the limits of `decode_best` as `work`. `own` are the places of
    rules whose machines are those of one sequence."""

    pool: Grid
    changes: int
    handle: Any
    parts: tuple[Scores, Machines, Counts]
    keys: list[MachineKey]
    components: list[MachineKey]
    rules: int
    work: tuple[int, int, int]
    own: tuple[int, ...] = ()

    def work_within(self, length: int, time_limit: float | None) -> tuple[int, int, int]:
        """The limits for sequences of at most so many tokens within a time limit for each."""
        return work_within(self.work, length, time_limit)


def work_within(work: tuple[int, int, int], length: int, seconds: float | None) -> tuple[int, int, int]:
    """Limits of `decode_best` for sequences of at most so many tokens, lower where a time limit demands it."""
    if seconds is None:
        return work
    token, least, slots = work
    steps = int(min(seconds * limits.STEPS_PER_SECOND * limits.KERNEL_SHARE, float(token * length + least)))
    return min(token, steps // length), min(least, steps), slots


class Call:
    """N sequences for one kernel, and what it has found.

    `ends` are the first token of each sequence, then the number of all; arrays are as `decode_best` reads them; `top` is None
    for the best labelling. `times` are the seconds that the preparation and the kernel have taken.
    """

    def __init__(
        self,
        entry: Entry,
        ends: list[int],
        tokens: Integers,
        rows: Integers,
        steps: Integers,
        emission: Grid,
        top: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.entry, self.tokens, self.rows, self.steps = entry, tokens, rows, steps
        self.emission, self.top = emission, top
        self.number, self.width, self.total = len(ends) - 1, top or 1, len(tokens)
        self.times, self._ends, self._read = list[float](), ends, list[int]()
        N, k, work = self.number, self.width, entry.work
        if time_limit is not None:
            work = entry.work_within(self.total, time_limit)
        elif top is not None:
            work = limits.EFFORT * work[0], limits.EFFORT * work[1], work[2]
        size = self.total * k + N * (7 + 6 * k + 2 * len(entry.keys) + k * entry.rules)
        self._buffer, self._end = np.zeros(size, np.int64), np.zeros(1, np.int64)
        self.begins = np.array(ends, np.int64)
        self._inputs = entry.handle, (emission, self.begins, tokens, rows, steps), work, k, self._buffer

    def run(self, threads: int = 1) -> None:
        """Decode the sequences."""
        began = time.perf_counter()
        kernel = kernels.decode_best if self.top is None else kernels.decode_lists
        kernel(*self._inputs, threads, self._end)
        self.times.append(time.perf_counter() - began)

    def stop(self) -> None:
        """End the kernel, which may run in another thread; nothing is read from the call afterwards."""
        self._end[0] = 1

    @property
    def _head(self) -> list[int]:
        """Values, results and parts one after the other, read when all is done."""
        if not self._read:
            begin, size = self.total * self.width, self.number * (7 + 6 * self.width)
            self._read = self._buffer[begin : begin + size].tolist()
        return self._read

    @cached_property
    def _views(self) -> tuple[Integers, ...]:
        """Marks and multipliers (N, 2, M) of machines, and violations (N, top, R)."""
        N, M, k, R = self.number, len(self.entry.keys), self.width, self.entry.rules
        marks = self.total * k + N * (7 + 6 * k)
        end = marks + N * 2 * M
        return self._buffer[marks:end].reshape(N, 2, M), self._buffer[end:].reshape(N, k, R)

    @property
    def best_values(self) -> Integers:
        """(N,) values of the best labellings, grid units."""
        return self._buffer[self.total : self.total + self.number]

    @property
    def paths(self) -> Integers:
        """(T,) label ids of the best labellings, one after the other."""
        return self._buffer[: self.total]

    @property
    def all_violations(self) -> Integers:
        """(N, R) violations by the best labellings."""
        return self._views[1][:, 0]

    @property
    def all_codes(self) -> Integers:
        """(N,) the code of each sequence's result; see `kernels.tables.CODE`."""
        begin = (self.total + self.number) * self.width
        return self._buffer[begin + CODE : begin + 7 * self.number : 7]

    def values(self, n: int) -> list[int]:
        """Values (top,) of the labellings of a sequence, grid units."""
        return self._head[n * self.width : (n + 1) * self.width]

    def result(self, n: int) -> list[int]:
        """Results of a sequence; see `kernels.tables.CODE`."""
        begin = self.number * self.width + 7 * n
        return self._head[begin : begin + 7]

    def labelling(self, n: int, k: int) -> tuple[int, list[int], list[int]]:
        """Value of a labelling, results of its sequence, and parts (5,) of the value; see `evaluate`."""
        head, N, at = self._head, self.number, n * self.width + k
        result, parts = N * self.width + 7 * n, N * (self.width + 7) + 5 * at
        return head[at], head[result : result + 7], head[parts : parts + 5]

    def violations(self, n: int, k: int) -> list[int]:
        """Violations (R,) of the rules by a labelling."""
        counts: list[int] = self._views[1][n, k].tolist()
        return counts

    def place(self, n: int) -> slice:
        """The tokens of a sequence among those of all."""
        return slice(self._ends[n], self._ends[n + 1])

    @property
    def codes(self) -> list[int]:
        """The code of each sequence's result; see `kernels.tables.CODE`."""
        begin = self.number * self.width
        return self._head[begin + CODE : begin + 7 * self.number : 7]

    def error(self, n: int) -> ArithmeticError | None:
        """The error of a sequence with a labelling whose value is not that of its parts."""
        if self.result(n)[CODE] != WRONG_VALUE:
            return None
        parts = [self.labelling(n, k)[2] for k in range(self.width)]
        return ArithmeticError(
            f"the engine's values {self.values(n)} of labellings are not those under the rules, of parts {parts}"
        )

    def proves(self, code: int) -> bool:
        """Whether a code says that the labellings found are the best ones, or that there are no others."""
        return code == PROVED or (self.top is not None and code in (NO_PATH, NO_LABELLING))

    def path(self, n: int) -> Integers:
        """Label ids (T,) of the best labelling of a sequence."""
        b, e, k = self._ends[n], self._ends[n + 1], self.width
        return self._buffer[b * k : b * k + e - b]

    def paths_of(self, n: int) -> Integers:
        """Label ids (k, T) of the labellings of a sequence, best first."""
        b, e, k = self._ends[n], self._ends[n + 1], self.width
        found = 1 if self.top is None else self.result(n)[NUMBER]
        return self._buffer[b * k : e * k].reshape(k, e - b)[:found]

    def machines(self, n: int) -> tuple[tuple[MachineKey, ...], frozenset[MachineKey]]:
        """The active machines of a sequence, and those of them that the lattice was multiplied with."""
        marks, keys = self._views[0][n, 0].tolist(), self.entry.keys
        active = [m for m, mark in enumerate(marks) if mark]
        return tuple(keys[m] for m in active), frozenset(keys[m] for m in active if marks[m] == INSIDE)

    def multipliers(self, n: int) -> dict[MachineKey, int]:
        """Multipliers of components that are sums, grid units."""
        values, components = self._views[0][n, 1].tolist(), self.entry.components
        return {components[m]: value for m, value in enumerate(values) if value}


@lru_cache(1024)
def words_of_work(machines: int, multipliers: int) -> str:
    """What the kernels did, in words."""
    words = [counted(multipliers, "multiplier")] if multipliers else []
    words += [f"label setting over {counted(machines, 'machine')}"] if machines else []
    return ", ".join(words) or "viterbi"
