# mypy: allow-untyped-defs
"""Simulated annealing over runs: one labelling, changed a run or a border at a time."""

import math

import numpy as np

from ilpinfer.kernels.evolution import copy, full, record, value
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.runs import below, mutate, put, share

DONE, FULL = 0, 1
"""Why `anneal` has stopped: all steps are done, or there is no room for joint states or for labellings."""


@subroutine
def _relabel(y, seed, labels, runs):
    """Make a random stretch a run of a random label, a stretch of n tokens with probability 2^-n.

    Returns the first and the last token that may have changed.
    """
    first = below(seed, len(y))
    end = first + 1
    while end < len(y) and share(seed) < 0.5:
        end += 1
    return put(y, first, end, below(seed, labels), runs)


@kernel
def anneal(chain, machines, individuals, seed, runs, moves, weight, heat, records, counts, steps):
    """Try so many changes of individual 0, each of them first in individual 1; the temperature decides about losses.

    moves : probability that a border shifts, and probability that a run or a border changes rather than a random
        stretch
    weight : of a hard violation, grid units
    heat : temperature of the first and of the last step, grid units; it falls by the same share each step
    The other parameters are as in `evolve`. Returns the reason and the number of steps.
    """
    label, _, _, _, total, breaks = individuals
    T, K = label.shape[1], chain.pool.shape[2]
    borders = np.empty(T, np.int64)
    fall = (heat[1] / heat[0]) ** (1.0 / max(1, steps))
    temperature = heat[0]
    for step in range(steps):
        if full(machines, records, 1, counts, T):
            return FULL, step
        temperature *= fall
        copy(individuals, 1, 0)
        if share(seed) < moves[1]:
            first, last = mutate(label[1], seed, borders, K, moves[0], True, runs)
        else:
            first, last = _relabel(label[1], seed, K, runs)
        if not value(chain, machines, individuals, 1, first, last, counts):
            return FULL, step
        gain = float(total[1] - total[0]) - float(weight) * (breaks[1] - breaks[0])
        if gain < 0 and share(seed) >= math.exp(gain / temperature):
            continue
        copy(individuals, 0, 1)
        record(individuals, 0, records, counts)
    return DONE, steps
