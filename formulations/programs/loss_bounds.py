"""Bounds from scores only: the best score, and the loss of each step against it."""

from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN, Grid, is_forbidden
from formulations.programs.record import UNBOUNDED, IntegerProgram


def best_score(lattice: Lattice) -> int:
    """The best score of any labelling, grid units; `FORBIDDEN` if there is none. Memory is that of one token."""
    completion = np.zeros(lattice.states, np.int64)
    for t in range(len(lattice.step) - 1, -1, -1):
        completion = np.maximum(_through(lattice, t, completion).max(axis=1), FORBIDDEN)
    return max(int((lattice.node[0] + completion).max()), FORBIDDEN)


def losses(lattice: Lattice) -> tuple[int, Integers]:
    """The best score, and the loss of each start and step column against the best completion; `UNBOUNDED` for forbidden steps."""
    T, K = lattice.shape
    S = lattice.states
    completion = np.zeros((T, S), np.int64)
    through = np.empty((T - 1, S, K), np.int64)
    for t in range(T - 2, -1, -1):
        through[t] = _through(lattice, t, completion[t + 1])
        completion[t] = np.maximum(through[t].max(axis=1), FORBIDDEN)
    first = lattice.node[0] + completion[0]
    best = int(first.max())
    if is_forbidden(best):
        return FORBIDDEN, np.full(S + (T - 1) * S * K, UNBOUNDED)
    loss = np.concatenate([best - first, (completion[:-1, :, None] - through).reshape(-1)])
    impossible = np.concatenate([is_forbidden(first), is_forbidden(through).reshape(-1)])
    return best, np.where(impossible, UNBOUNDED, loss)


def _through(lattice: Lattice, t: int, completion: Grid) -> Grid:
    """(S, K) the best completion of each state at token t by each step, given the completions (S,) at token t + 1."""
    ahead = np.maximum(lattice.node[t + 1] + completion, FORBIDDEN)
    through: Grid = lattice.pool[lattice.step[t]] + lattice.at_targets(ahead)
    return through


@dataclass(frozen=True)
class ReducedProgram:
    """A program on fewer columns, with the numbers of these columns in the whole program."""

    program: IntegerProgram
    places: Integers  # (n,)
    columns: int  # of the whole program

    def expand(self, x: Integers) -> Integers:
        whole = np.zeros(self.columns, np.int64)
        whole[self.places] = x
        return whole


def reduce(
    program: IntegerProgram, lattice: Lattice, path: LabelIds | None, value: int, bound: int | None = None
) -> ReducedProgram:
    """Remove the steps that no labelling with a score of at least `value` (grid units), the score of `path` (T,), takes, and require this score."""
    best, loss = losses(lattice)
    # a labelling has at most `bound` minus its losses: losses add up, and rules only reduce the score
    best = best if bound is None else bound
    upper = program.upper.copy()
    if path is not None:
        upper[: len(loss)] *= loss <= best - value
    program = replace(program, upper=upper).shifted()
    if path is not None:
        at = np.flatnonzero(program.objective)
        program = program.with_row(at, program.objective[at], lower=value - (program.constant or 0))
    places = np.flatnonzero((upper > 0) | (program.lower > 0))
    place = np.full(program.n_columns, -1)
    place[places] = np.arange(len(places))
    stays = place[program.indices] >= 0
    filled = np.bincount(program.row_of_entry[stays], minlength=program.n_rows)
    rows = np.flatnonzero((filled > 0) | (program.row_lower > 0) | (program.row_upper < 0))
    smaller = replace(
        program,
        objective=program.objective[places],
        lower=program.lower[places],
        upper=upper[places],
        indptr=np.concatenate([[0], np.cumsum(filled[rows])]).astype(np.int64),
        indices=place[program.indices[stays]],
        data=program.data[stays],
        row_lower=program.row_lower[rows],
        row_upper=program.row_upper[rows],
        start=None if path is None else program.start_of(path)[places],
    )
    return ReducedProgram(smaller, places, program.n_columns)
