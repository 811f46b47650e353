"""The tables that kernels read: compiled rules and scores as flat arrays, the same for every sequence of a label set."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Small = NDArray[np.int32]

NODES, EDGES, MACHINES = 0, 1, 2
"""What tokens are sorted into classes for: scores of tokens, scores of steps, and what machines read."""


PROVED, TOO_MUCH_WORK, NO_PATH, NO_LABELLING, UNKNOWN_CLASS = range(5)
"""How a sequence ended: the best labelling; the best one so far, or none; no labelling has a finite score; the hard ones
of the machines leave none; a token has a class that was not met before, and nothing else is filled."""
CODE, VALUE, BOUND, RELAXED, WORK, PRICES = range(6)
"""Columns of results: how it ended; the labelling's value, FORBIDDEN where there is none; an upper bound on the best value;
the best value without machines; steps of label setting; how many sums have prices."""


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


class Machines(NamedTuple):
    """M machines, each with what a violation costs. C classes of tokens.

    Symbol of machine m on a step [i, j] into a token of class c, i = -1 for START:
    symbols[table[c, m] + (i + 1) · stride[m] + j]. Its arc: arc[m] + state · width[m] + symbol. State 0 is the first.

    Parameters
    ----------
    symbols : see above
    table : (C, M)
    stride : (M,) K, or 0 where the previous label does not matter
    arc, width : (M,)
    next_state : state after each arc
    cost : grid units of each arc, at least 0; -FORBIDDEN where a hard rule is broken
    state_at : (M,) where the final costs of each machine begin
    final : grid units at the end by state, as `cost`
    states : (M,)
    begin : (C · (K + 1) · K + 1,) where the events of a step [i, j] into a token of class c begin, at (c · (K + 1) + i + 1) · K + j
    event, read : the machines for which the step is an event, and the symbols that they read: there is a state that the
        symbol leads out of, or charges for
    owing : the machines whose final cost in state 0 is not 0, ascending
    weight : of each symbol of machine m, from weight_at[m]; 0 where the machine is no sum of weights with sides
    weight_at : (M,)
    side : (M, 2) between which a sum costs nothing
    box : (M, 2) the least and the greatest price of a unit of weight, grid units; 0 where it has none
    """

    symbols: NDArray[np.int16]
    table: Integers
    stride: Integers
    arc: Integers
    width: Integers
    next_state: Small
    cost: Integers
    state_at: Integers
    final: Integers
    states: Integers
    begin: Small
    event: Small
    read: NDArray[np.int16]
    owing: Small
    weight: Integers
    weight_at: Integers
    side: Integers
    box: Integers
