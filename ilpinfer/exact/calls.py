"""A call of the decoding kernels: sequences, the tables that they read, and the labellings found."""

import time
from functools import cached_property, lru_cache

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import Grid, add
from formulations.messages import counted
from ilpinfer.exact import limits
from ilpinfer.exact.instance import Instance, work_within
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import (
    CODE,
    NO_LABELLING,
    NO_PATH,
    NUMBER,
    PROVED,
    WRONG_VALUE,
    Tokens,
)


class Call:
    """N sequences for one kernel, and its results.

    `ends` has the first token of each sequence, then the total number of tokens; arrays are as `decode_best` reads them; `top` is
    None for the best labelling. `times` are the seconds of preparation and kernel.
    """

    def __init__(
        self,
        instance: Instance,
        ends: list[int],
        tokens: Integers,
        rows: Integers,
        steps: Integers,
        emission: Grid,
        top: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.instance, self.tokens, self.rows, self.steps = instance, tokens, rows, steps
        self.emission, self.top = emission, top
        self.nodes: Grid | None = None  # scores of tokens and ends, which digests need
        self.number, self.width, self.total = len(ends) - 1, top or 1, len(tokens)
        self.times, self._ends, self._read = list[float](), ends, list[int]()
        N, k, work = self.number, self.width, instance.work
        if time_limit is not None:
            work = work_within(work, self.total, time_limit)
        elif top is not None:
            work = limits.EFFORT * work[0], limits.EFFORT * work[1], work[2]
        M, R = len(instance.sources), len(instance.counts.rules)
        size = self.total * k + N * (7 + 6 * k + 2 * M + k * R)
        self._buffer, self._end = np.zeros(size, np.int64), np.zeros(1, np.int64)
        self.ends = np.array(ends, np.int64)
        batch = emission, self.ends, tokens, rows, steps
        self._inputs = instance.tables, batch, work, k, self._buffer

    def run(self, threads: int = 1) -> None:
        """Decode the sequences."""
        began = time.perf_counter()
        kernel = kernels.decode_best if self.top is None else kernels.decode_lists
        kernel(*self._inputs, threads, self._end)
        self.times.append(time.perf_counter() - began)

    @property
    def seconds(self) -> float:
        """Seconds of preparation and kernel, per sequence."""
        return sum(self.times) / self.number

    def stop(self) -> None:
        """End the kernel, which may run in another thread; nothing is read from the call afterwards."""
        self._end[0] = 1

    @property
    def _head(self) -> list[int]:
        """Values, results and parts, concatenated; read when the kernel is done."""
        if not self._read:
            begin, size = self.total * self.width, self.number * (7 + 6 * self.width)
            self._read = self._buffer[begin : begin + size].tolist()
        return self._read

    @cached_property
    def _views(self) -> tuple[Integers, ...]:
        """Marks and multipliers (N, 2, M) of machines, and violations (N, top, R)."""
        N, M, k, R = self.number, len(self.instance.sources), self.width, len(self.instance.counts.rules)
        marks = self.total * k + N * (7 + 6 * k)
        end = marks + N * 2 * M
        return self._buffer[marks:end].reshape(N, 2, M), self._buffer[end:].reshape(N, k, R)

    @property
    def best_values(self) -> Integers:
        """(N,) values of the best labellings, grid units."""
        return self._buffer[self.total : self.total + self.number]

    @property
    def paths(self) -> Integers:
        """(T,) label ids of the best labellings, concatenated."""
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
        """The slice of a sequence in the tokens of all."""
        return slice(self._ends[n], self._ends[n + 1])

    @property
    def codes(self) -> list[int]:
        """The code of each sequence's result; see `kernels.tables.CODE`."""
        begin = self.number * self.width
        return self._head[begin + CODE : begin + 7 * self.number : 7]

    def error(self, n: int) -> ArithmeticError | None:
        """The error of a sequence with a labelling whose value is not the sum of its parts."""
        if self.result(n)[CODE] != WRONG_VALUE:
            return None
        parts = [self.labelling(n, k)[2] for k in range(self.width)]
        return ArithmeticError(
            f"the engine's values {self.values(n)} of labellings are not those under the rules, of parts {parts}"
        )

    def proves(self, code: int) -> bool:
        """Whether a code means that the labellings found are the best, or that there are no others."""
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

    def marks(self, n: int) -> Integers:
        """The marks (2, M) of a sequence, as `Instance.followed` reads them."""
        marks: Integers = self._views[0][n]
        return marks

    def classes(self, n: int) -> Integers:
        """The classes (3, T) of the tokens of a sequence, by purpose; -1 for unknown classes."""
        at = self.place(n)
        classes = np.empty((3, at.stop - at.start), np.int64)
        kernels.classify(self.instance.tables, self.tokens[at], classes)
        return classes

    def packed(self, n: int) -> tuple[Instance, Tokens]:
        """A single sequence with the same machines."""
        at, classes, scores = self.place(n), self.classes(n), self.instance.scores
        nodes, edges, machines = classes
        entry = self.steps[at] if len(self.steps) else np.zeros_like(edges)
        edges[1:] = scores.which[entry[1:], edges[1:]]
        edges[:1] = 0
        emission = add(self.emission[self.rows[at]], scores.node[nodes])
        bare = scores._replace(node=np.zeros_like(scores.node[:1]))
        instance = Instance(bare, self.instance.machines, self.instance.sources)
        return instance, Tokens(emission, edges, machines)


@lru_cache(1024)
def words_of_work(machines: int, multipliers: int) -> str:
    """The work of the kernels in words."""
    words = [counted(multipliers, "multiplier")] if multipliers else []
    words += [f"label setting over {counted(machines, 'machine')}"] if machines else []
    return ", ".join(words) or "viterbi"
