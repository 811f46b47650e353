"""The tables that kernels read: compiled rules and scores as flat arrays, the same for every sequence of a label set."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.dtypes import Booleans, Integers, Small
from formulations.grid import FORBIDDEN


def integers(*shape: int) -> Integers:
    """Zeros."""
    return np.zeros(shape, np.int64)


def small(*shape: int) -> Small:
    """Zeros."""
    return np.zeros(shape, np.int32)


NODES, EDGES, MACHINES = 0, 1, 2
"""The purposes of token classes: scores of tokens, scores of steps, and symbols of machines."""


PROVED, TOO_MUCH_WORK, NO_PATH, NO_LABELLING, UNKNOWN_CLASS, WRONG_VALUE = range(6)
"""Result of a sequence: the best labelling; the best one so far, or none; no labelling has a finite score; the hard rules of the machines
exclude all labellings; a token has a new class, and nothing else is filled; the value of the best labelling is not that of its parts, which
is a defect."""
DEAD = FORBIDDEN // 2
"""Values below it contain a forbidden step."""
INSIDE = 3
"""Mark of an active machine that is multiplied into the lattice; 1 of others."""
CODE, VALUE, BOUND, RELAXED, WORK, MULTIPLIERS, ACTIVE = range(7)
"""Columns of results: code of the result; the labelling's value, FORBIDDEN where there is none; an upper bound on the
best value;
the best value without machines; steps of label setting; number of sums with multipliers; number of active machines."""
NUMBER = 1
"""Column of the results of lists: number of labellings."""
MODEL_SCORE, FEATURE_SCORE, PENALTY, BROKEN, OVERRULED = range(5)
"""Columns of parts: grid units of the model, FORBIDDEN where it forbids the labelling; of features; and of soft rules;
the number of hard rules that are broken, at least 1 where the model forbids the labelling; and the number of tokens at which a rule is overruled by an earlier one."""


class Windows(NamedTuple):
    """The classes of a token, by the token and its two neighbours. R distinct tokens."""

    numbers: Small  # (R, 3, 3) by purpose, of a token as previous, own and next one, from 1; 0 is no token
    start: Integers  # (3,) begin of the classes for each purpose
    shape: Integers  # (3, 3) number of numbers for each purpose and position
    classes: Small  # at start + (previous · shape[1] + own) · shape[2] + next; -1 for those not met before


NO_WINDOWS = Windows(small(0, 3, 3), integers(3), integers(3, 3), small(0))
"""For tables of a single sequence, whose classes are given."""


class Scores(NamedTuple):
    """States and their scores, grid units. S states, `labels` B of which can follow each; Bp is B rounded up to a multiple of 8.

    States are labels in first order, and pairs of labels in second order. Scores of states at tokens, `emission` (V, S), are kept
    apart, since they may belong to one sequence. Padding is `FORBIDDEN`.
    """

    node: Integers  # (N, S) scores added at tokens of each class
    edge: Integers  # (E, S, Bp) score of each step [previous, following]
    which: Integers  # (P, C) index of the edge scores for an entry of the model's pool and an edge class
    base: Integers  # (S,) the state that the first step from each leads to; sequences begin with those from 0 on
    labels: int  # B


ARC, WIDTH, STRIDE, FINAL, STATES, WEIGHT = range(6)
"""Columns of a layout: a machine's first arc, arcs of each state, K or 0 where the previous label has no effect, its first final cost,
its number of states, and its first weight."""
LOW, HIGH, LEAST, MOST = range(4)
"""Columns of sums: the sides, between which a sum costs nothing, and the least and the greatest multiplier of a unit of weight, grid
units; 0 for machines without multipliers."""


class Chain(NamedTuple):
    """Scores of one sequence of T tokens with S states, B of which can follow each, without padding; grid units."""

    node: Integers  # (T, S)
    pool: Integers  # (P, S, B) edge scores
    step: Integers  # (T-1,) the entry of `pool` for each step
    base: Integers  # (S,) the target of the first edge of each state


class Machines(NamedTuple):
    """M machines with costs. C classes of tokens.

    Symbol of machine m on a step [i, j] into a token of class c, i = -1 for START:
    symbols[table[c, m] + (i + 1) · STRIDE + j]. Its arc: ARC + state · WIDTH + symbol. State 0 is the first.
    """

    symbols: NDArray[np.int16]
    table: Integers  # (C, M)
    layout: Integers  # (M, 6) see `ARC`
    next_state: Small  # after each arc
    cost: Integers  # grid units of each arc, at least 0; `HARD` where a hard rule is broken
    final: Integers  # grid units at the end by state, as `cost`
    # (C · R + 1,) the first event of a step [i, j] into a token of class c, at `step_of`; R is (K + 1) · K, or S in second order;
    # (1,) where there are no events, since they would be too many
    begin: Small
    event: NDArray[np.int16]  # (E, 2) a machine, and a symbol that changes its state or has a cost
    owing: Small  # the machines whose final cost in state 0 is not 0, ascending
    weight: Integers  # of each symbol, 0 where the machine is no sum of weights with sides
    sums: Integers  # (M, 4) see `LOW`
    charged: Booleans  # (M,) whether a multiplier is in the costs
    mark: Integers  # (M,) of a rule that counts once over machines, all active or none; -1 for others
    penalty: Integers  # (M,) grid units a violation, or `HARD`
    violations: Integers  # of each arc
    last: Integers  # violations at the end by state


class Tokens(NamedTuple):
    """What of scores and machines depends on one sequence of T tokens."""

    emission: Integers  # (T, S) scores of states, to which kernels add the first row of `Scores.node`
    edges: Integers  # (T,) row of `Scores.edge` of the step into each token
    classes: Integers  # (T,) of machines


class Rules(NamedTuple):
    """Machines and the class of each token (T,) for them."""

    machines: Machines
    classes: Integers
