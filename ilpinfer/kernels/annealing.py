# mypy: allow-untyped-defs
"""Simulated annealing over runs: one labelling, changed a run or a border at a time."""

import math

import numpy as np

from ilpinfer.kernels.evolution import copy, full, record, value
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.runs import below, mutate, put, share

DONE, FULL = 0, 1
"""Why `anneal` has stopped: the steps are over, or there is no room for joint states or for labellings."""


@subroutine
def _relabel(y, seed, labels, runs):
    """Make a stretch a run of a random label, one of n tokens with probability 2^-n; what may have changed."""
    first = below(seed, len(y))
    end = first + 1
    while end < len(y) and share(seed) < 0.5:
        end += 1
    return put(y, first, end, below(seed, labels), runs)


@kernel
def anneal(chain, machines, people, seed, runs, moves, weight, heat, records, counts, steps):
    """Change individual 0 so many times, through individual 1; it may get worse by what the temperature allows.

    moves : how often a border shifts, and how often a run or a border changes rather than any stretch
    weight : of a hard violation, grid units
    heat : temperature of the first and of the last step, grid units; it falls by the same share each step
    The other parameters are as in `evolve`. How many steps were done is returned beside the reason.
    """
    label, _, _, _, total, breaks = people
    T, K = label.shape[1], chain.pool.shape[2]
    borders = np.empty(T, np.int64)
    fall = (heat[1] / heat[0]) ** (1.0 / max(1, steps))
    temperature = heat[0]
    for step in range(steps):
        if full(machines, records, 1, counts, T):
            return FULL, step
        temperature *= fall
        copy(people, 1, 0)
        if share(seed) < moves[1]:
            first, last = mutate(label[1], seed, borders, K, moves[0], True, runs)
        else:
            first, last = _relabel(label[1], seed, K, runs)
        if not value(chain, machines, people, 1, first, last, counts):
            return FULL, step
        gain = float(total[1] - total[0]) - float(weight) * (breaks[1] - breaks[0])
        if gain < 0 and share(seed) >= math.exp(gain / temperature):
            continue
        copy(people, 0, 1)
        record(people, 0, records, counts)
    return DONE, steps
