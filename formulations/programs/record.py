"""The sparse record of an integer program for all solvers, and checks of the values of its columns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import at_targets, states_of
from formulations.dtypes import Floats, Integers, LabelIds
from formulations.messages import brief, counted, suggestion
from formulations.programs.names import Meaning, file_names

_NEVER = -(2**60)  # the score of a step on no path; two of them add without overflow
UNBOUNDED = 2**62  # an absent side of a row: `row_upper = UNBOUNDED`, `row_lower = -UNBOUNDED`


@dataclass(frozen=True)
class IntegerProgram:
    """maximise c·x subject to row_lower <= A x <= row_upper, lower <= x <= upper, x integer (Stokman 2011, eq. 49-56)."""

    # Columns begin with the edges of the path (eq. 53): S start edges, then edge (t, s, j) from state s at t-1 to label j at
    # S + (t-1)·S·K + s·K + j for t = 1 … T-1, then S end edges. States are numbered as in `Lattice`.
    tokens: int
    labels: int
    objective: Integers  # (n,) grid units
    lower: Integers
    upper: Integers
    indptr: Integers  # (m+1,) the rows of A, compressed
    indices: Integers
    data: Integers
    row_lower: Integers  # (m,) -UNBOUNDED (below: UNBOUNDED) for an absent side
    row_upper: Integers
    order: int = 1
    start: Integers | None = None  # (n,) warm start, -1 for undefined columns
    constant: int | None = None  # grid units that are added to c·x; None before `shifted`

    def __repr__(self) -> str:
        size = f"{self.n_columns} columns, {self.n_rows} rows, {len(self.data)} coefficients"
        order = "" if self.order == 1 else ", second order"
        return f"IntegerProgram({self.tokens} tokens, {self.labels} labels, {size}{order})"

    @property
    def states(self) -> int:
        """S, the number of states at each token."""
        return self.labels if self.order == 1 else (self.labels + 1) * self.labels

    @property
    def n_columns(self) -> int:
        return len(self.objective)

    @property
    def n_rows(self) -> int:
        return len(self.row_lower)

    @property
    def n_edges(self) -> int:
        """Number of path columns, (T-1)·S·K + 2S."""
        return (self.tokens - 1) * self.states * self.labels + 2 * self.states

    @cached_property
    def row_of_entry(self) -> Integers:
        return np.repeat(np.arange(self.n_rows), np.diff(self.indptr))

    def activity(self, x: Integers) -> Integers:
        """A x, (m,) int64, exact."""
        sums = np.concatenate([[0], np.cumsum(self.data * x[self.indices])]).astype(np.int64)
        return np.asarray(sums[self.indptr[1:]] - sums[self.indptr[:-1]])

    def satisfied_by(self, x: Integers) -> bool:
        """Whether x (n,) int64 is in its box and satisfies every row, in exact arithmetic."""
        if np.any(x < self.lower) or np.any(x > self.upper):
            return False
        activity = self.activity(x)
        return bool(np.all(activity >= self.row_lower) and np.all(activity <= self.row_upper))

    def value(self, x: Integers) -> int:
        return int(self.objective @ x) + (self.constant or 0)

    def shifted(self) -> "IntegerProgram":
        """The same program with scores relative to the best path; the score of this path is the constant."""
        # a common part of all labels costs digits; HiGHS is much slower if no step is above 0
        if self.constant is not None:
            return self
        if not self.tokens:
            return replace(self, constant=0)
        T, K, S = self.tokens, self.labels, self.states
        scores = np.where(self.upper > 0, self.objective, _NEVER)[: self.n_edges]
        steps, completion = scores[S:-S].reshape(T - 1, S, K), [scores[-S:]]
        for t in range(T - 2, -1, -1):
            time_limits.check()
            through = steps[t] + at_targets(completion[-1], K)
            completion.append(np.maximum(through.max(axis=1), _NEVER))
        first = scores[:S] + completion.pop()
        state = int(first.argmax())
        if first[state] <= _NEVER // 2:
            return replace(self, constant=0)
        best = [int(scores[state])]
        for t in range(T - 1):
            through = steps[t] + at_targets(completion.pop(), K)
            label = int(through[state].argmax())
            best.append(int(steps[t, state, label]))
            state = label if S == K else (state % K + 1) * K + label
        taken = np.repeat(best, [S] + [S * K] * (T - 1))
        objective = self.objective.copy()
        objective[: len(taken)] -= taken * (scores[: len(taken)] > _NEVER)
        return replace(self, objective=objective, constant=sum(best))

    def labelling(self, x: Integers) -> Integers:
        T, K, S = self.tokens, self.labels, self.states
        first = np.argmax(x[:S])
        steps = x[S : S + (T - 1) * S * K].reshape(T - 1, S * K).argmax(axis=1)
        return np.concatenate([[first], steps % K]).astype(np.int64)

    @property
    def float_sides(self) -> tuple[Floats, Floats]:
        """(m,) each: `row_lower` and `row_upper`, -inf and inf for absent sides."""
        lower, upper = self.row_lower, self.row_upper
        return np.where(lower <= -UNBOUNDED, -np.inf, lower), np.where(upper >= UNBOUNDED, np.inf, upper)

    def row(self, number: int) -> tuple[Integers, Integers]:
        """Columns and coefficients of a row, by column."""
        entries = slice(int(self.indptr[number]), int(self.indptr[number + 1]))
        order = np.argsort(self.indices[entries], kind="stable")
        return self.indices[entries][order], self.data[entries][order]

    def columns_of(self, path: LabelIds) -> Integers:
        """(T+1,) the path columns that are 1 for label ids (T,)."""
        T, K, S = self.tokens, self.labels, self.states
        states = states_of(path, K, S)
        steps = S + (np.arange(T - 1) * S + states[:-1]) * K + path[1:]
        return np.concatenate([states[:1], steps, S + (T - 1) * S * K + states[-1:]])

    def start_of(self, path: LabelIds) -> Integers:
        """(n,) a warm start: the path columns of label ids (T,); -1 for other columns."""
        start = np.full(self.n_columns, -1)
        start[: self.n_edges] = 0
        start[self.columns_of(path)] = 1
        return start

    def with_row(
        self, at: Integers, weights: Integers, *, lower: int = -UNBOUNDED, upper: int = UNBOUNDED
    ) -> "IntegerProgram":
        return replace(
            self,
            indptr=np.append(self.indptr, self.indptr[-1] + len(at)),
            indices=np.concatenate([self.indices, at]),
            data=np.concatenate([self.data, weights]),
            row_lower=np.append(self.row_lower, lower),
            row_upper=np.append(self.row_upper, upper),
        )

    @property
    def canonical_rows(self) -> Integers:
        """For each row of the canonical form, the row of this program from which it comes."""
        above, equal = self.row_lower > -UNBOUNDED, self.row_lower == self.row_upper
        return np.concatenate([np.flatnonzero(above), np.flatnonzero((self.row_upper < UNBOUNDED) & ~equal)])

    def canonical(self) -> "IntegerProgram":
        """The same program with `>=` and `=` rows only: a row with two different sides becomes two, and `<=` is negated."""
        rows = self.canonical_rows
        above = np.arange(len(rows)) < np.count_nonzero(self.row_lower > -UNBOUNDED)
        lower, upper, lengths = self.row_lower[rows], self.row_upper[rows], np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return replace(
            self,
            indptr=indptr,
            indices=self.indices[entries],
            data=self.data[entries] * np.repeat(np.where(above, 1, -1), lengths),
            row_lower=np.where(above, lower, -upper),
            row_upper=np.where(lower == upper, upper, UNBOUNDED),
        )

    def standard(self) -> "IntegerProgram":
        """The same program with `=` rows only: each inequality has a surplus column, boxed by the range of the row."""
        program = self.canonical()
        open_rows = np.flatnonzero(program.row_upper == UNBOUNDED)
        reach = np.zeros(program.n_rows, np.int64)
        at = program.indices
        best = np.maximum(program.data * program.lower[at], program.data * program.upper[at])
        np.add.at(reach, program.row_of_entry, best)
        surplus = np.maximum(reach - program.row_lower, 0)[open_rows]
        new = program.n_columns + np.arange(len(open_rows))
        ends = program.indptr[open_rows + 1]
        indptr = program.indptr.copy()
        indptr[1:] += np.cumsum(program.row_upper == UNBOUNDED)
        return replace(
            program,
            objective=np.concatenate([program.objective, np.zeros(len(new), np.int64)]),
            lower=np.concatenate([program.lower, np.zeros(len(new), np.int64)]),
            upper=np.concatenate([program.upper, surplus]),
            indptr=indptr,
            indices=np.insert(program.indices, ends, new),
            data=np.insert(program.data, ends, -1),
            row_upper=program.row_lower.copy(),
        )


def smallest_program() -> IntegerProgram:
    """The program of one token with one label, for trials of solvers."""
    one, both = np.ones(1, np.int64), np.ones(2, np.int64)
    return IntegerProgram(1, 1, both, 0 * both, both, np.array([0, 1]), np.array([0]), one, one, one)


def stable_order(keys: Integers) -> Integers:
    """`argsort(kind="stable")` of keys from 0 to 2^32 - 1, by numpy's radix sort of 16 bits at a time."""
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    high = keys >> 16
    if high.any():
        order = order[np.argsort(high[order].astype(np.uint16), kind="stable")]
    return order


TOLERANCE = 1e-5  # largest distance of a value from a whole number


def by_column(values: Any, names: Sequence[str]) -> Floats:
    """(n,) values from a mapping by name, or by name in files, or from an array; NaN is accepted."""
    if not isinstance(values, Mapping):
        return _array(values, names)
    place = {name: c for c, name in enumerate(names)}
    place |= {name: c for c, name in enumerate(file_names(names))}
    result: list[float | None] = [None] * len(names)
    for name, value in values.items():
        c = place.get(name) if isinstance(name, str) else None
        if c is None:
            near = suggestion(name, names) if isinstance(name, str) and len(names) < 1000 else ""
            what = f"{brief(name)} is no column of this program{near}"
            raise ValueError(f"{what}: are these values of another program?")
        if result[c] is not None:
            raise ValueError(f"column {names[c]} has two values: by its name, and by its name in files")
        try:
            result[c] = float(value)
        except (TypeError, ValueError, OverflowError):
            hint = ": was the program solved?" if value is None else "; expected a number"
            raise ValueError(f"column {names[c]} is {brief(value)}{hint}") from None
    missing = [name for name, value in zip(names, result, strict=True) if value is None]
    if missing:
        more = f" and {len(missing) - 1} more columns" if len(missing) > 1 else ""
        raise ValueError(f"no value for column {missing[0]}{more}: give each column one, 0 included")
    return np.array(result, float)


def _array(values: Any, names: Sequence[str]) -> Floats:
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError, OverflowError):
        expected = "a mapping from columns to numbers, or an array"
        raise ValueError(f"values are {brief(values)}; expected {expected}") from None
    if array.shape != (len(names),):
        raise ValueError(
            f"values have the shape {array.shape}, but the program has {counted(len(names), 'column')}"
        )
    return array


def feasible_values(
    values: Floats, program: IntegerProgram, columns: Sequence[str], rows: Sequence[Meaning]
) -> Integers:
    """Values (n,) as whole numbers in their boxes that satisfy every row exactly; ValueError for the first violation."""
    for c in np.flatnonzero(~(np.abs(values - np.rint(values)) <= TOLERANCE))[:1]:
        value = float(values[c])
        what = f"which is not {'whole' if math.isfinite(value) else 'finite'}"
        raise ValueError(f"column {columns[c]} is {value:.9g}, {what}: give a solution in whole numbers")
    low, high = program.lower, program.upper
    for c in np.flatnonzero((values < low - 0.5) | (values > high + 0.5))[:1]:
        raise ValueError(f"column {columns[c]} is {values[c]:.9g}, outside {low[c]} to {high[c]}")
    x = np.rint(values).astype(np.int64)
    activity = program.activity(x)
    for r in np.flatnonzero((activity < program.row_lower) | (activity > program.row_upper))[:1]:
        path = ", so that the columns x are no path" if rows[r].kind == "flow" else ""
        least, most = int(program.row_lower[r]), int(program.row_upper[r])
        sides = [f"at least {least}"] * (least > -UNBOUNDED) + [f"at most {most}"] * (most < UNBOUNDED)
        expected = f"{least}" if least == most else " and ".join(sides)
        raise ValueError(f"row {rows[r].name} is broken: its sum is {activity[r]}, expected {expected}{path}")
    return x
