"""The tables that kernels read: compiled rules and scores as flat arrays, the same for every sequence of a label set."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.dtypes import Integers, Small

NODES, EDGES, MACHINES = 0, 1, 2
"""The purposes of token classes: scores of tokens, scores of steps, and symbols of machines."""


PROVED, TOO_MUCH_WORK, NO_PATH, NO_LABELLING, UNKNOWN_CLASS = range(5)
"""How a sequence ended: the best labelling; the best one so far, or none; no labelling has a finite score; the hard ones
of the machines leave none; a token has a class that was not met before, and nothing else is filled."""
CODE, VALUE, BOUND, RELAXED, WORK, MULTIPLIERS = range(6)
"""Columns of results: how it ended; the labelling's value, FORBIDDEN where there is none; an upper bound on the best value;
the best value without machines; steps of label setting; how many sums have multipliers."""


class Windows(NamedTuple):
    """The classes of a token, from what is read of it and of its two neighbours. R distinct tokens.

    Parameters
    ----------
    numbers : (R, 3, 3) for each purpose, what is read of a distinct token where it is the previous one, the token itself,
        and the following one; from 1, as 0 stands for no token
    start : (3,) where the classes for each purpose begin
    shape : (3, 3) how many numbers there are for each purpose and place
    classes : class of the numbers (previous, own, next) for a purpose, at
        start + (previous · shape[1] + own) · shape[2] + next; -1 where it was not met before
    """

    numbers: Small
    start: Integers
    shape: Integers
    classes: Small


class Scores(NamedTuple):
    """Scores of one label set, grid units; Kp is K rounded up to a multiple of 8, and padding is `FORBIDDEN`.

    Scores of labels at tokens, `emission` (V, K), stay apart, as those may belong to one sequence.

    Parameters
    ----------
    node : (N, K) what is added at tokens of each class
    edge : (E, K, Kp) score of each step [previous, next]
    which : (P, C) the edge scores for entry P of the model's pool and an edge class
    """

    node: Integers
    edge: Integers
    which: Integers


ARC, WIDTH, STRIDE, FINAL, STATES, WEIGHT = range(6)
"""Columns of a layout: where a machine's arcs begin, arcs of each state, K or 0 where the previous label does not matter,
where its final costs begin, how many states it has, and where its weights begin."""
LOW, HIGH, LEAST, MOST = range(4)
"""Columns of sums: the sides between which one costs nothing, and the least and the greatest multiplier of a unit of weight, grid
units; 0 where there is none."""


class Machines(NamedTuple):
    """M machines, each with what a violation costs. C classes of tokens.

    Symbol of machine m on a step [i, j] into a token of class c, i = -1 for START:
    symbols[table[c, m] + (i + 1) · STRIDE + j]. Its arc: ARC + state · WIDTH + symbol. State 0 is the first.

    Parameters
    ----------
    symbols : see above
    table : (C, M)
    layout : (M, 6) see `ARC`
    next_state : state after each arc
    cost : grid units of each arc, at least 0; `HARD` where a hard rule is broken
    final : grid units at the end by state, as `cost`
    begin : (C · (K + 1) · K + 1,) where the events of a step [i, j] into a token of class c begin, at (c · (K + 1) + i + 1) · K + j
    event : (E, 2) a machine for which the step is an event, and the symbol that it reads: there is a state that the symbol
        leads out of, or charges for
    owing : the machines whose final cost in state 0 is not 0, ascending
    weight : of each symbol, 0 where the machine is no sum of weights with sides
    sums : (M, 4) see `LOW`
    """

    symbols: NDArray[np.int16]
    table: Integers
    layout: Integers
    next_state: Small
    cost: Integers
    final: Integers
    begin: Small
    event: Small
    owing: Small
    weight: Integers
    sums: Integers
