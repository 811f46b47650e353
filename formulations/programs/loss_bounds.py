"""Bounds by the scores alone: the best score, and the loss of each step against it."""

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, Grid, is_forbidden
from formulations.programs.record import UNBOUNDED


def best_score(lattice: Lattice) -> int:
    """The best score of any labelling, grid units; `FORBIDDEN` where none is possible. It keeps one token at a time."""
    completion = np.zeros(lattice.states, np.int64)
    for t in range(len(lattice.step) - 1, -1, -1):
        completion = np.maximum(_through(lattice, t, completion).max(axis=1), FORBIDDEN)
    return max(int((lattice.node[0] + completion).max()), FORBIDDEN)


def losses(lattice: Lattice) -> tuple[int, Integers]:
    """The best score, and what each start and step column loses against the best completion; `UNBOUNDED` for an impossible one."""
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
    """(S, K) the best that follows each state at token t by each step, given the completions (S,) of token t + 1."""
    ahead = np.maximum(lattice.node[t + 1] + completion, FORBIDDEN)
    through: Grid = lattice.pool[lattice.step[t]] + lattice.at_targets(ahead)
    return through
