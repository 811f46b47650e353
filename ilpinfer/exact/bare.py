"""The unit of times: a bare compiled Viterbi pass, tables and room made beforehand."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from formulations import Trellis
from formulations.dtypes import Integers
from formulations.grid import Grid
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.packing import lattice_scores, room_of
from ilpinfer.kernels.tables import Scores

REPEATS = 5
"""Passes whose fastest is the unit, after one that is not timed."""


def bare_pass(trellis: Trellis) -> Callable[[], int]:
    """A Viterbi pass over the scores without rules: its value in grid units."""
    lattice = trellis.lattice
    return pass_over(lattice_scores(lattice), lattice.node, np.append(0, lattice.step))


def pass_over(scores: Scores, node: Grid, edges: Integers) -> Callable[[], int]:
    """A Viterbi pass over node scores (T, S), without those of classes, and entries of `scores.edge` (T,)."""
    T = len(node)
    plain = scores._replace(node=np.zeros((1, node.shape[1]), np.int64))
    room = np.empty((2, T, room_of(scores)), np.int64)
    return partial(kernels.viterbi, plain, node, edges, *room, np.empty(T, np.int64))


def bare_seconds(trellis: Trellis) -> float:
    """Seconds of a bare Viterbi pass over the scores without rules: the fastest of a few."""
    work, seconds = bare_pass(trellis), []
    work()
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
