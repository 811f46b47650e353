# mypy: allow-untyped-defs
"""Beam search over labels and machine states, a stretch of tokens at a time."""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.keys import slot_of
from ilpinfer.kernels.machines import close, read_step
from ilpinfer.kernels.ordering import descending

_DEAD = FORBIDDEN // 2


class Beam(NamedTuple):
    """Prefixes, W of them at most."""

    score: Integers  # (W,)
    states: Small  # (W, J+1) the joint state of the machines, then the state of the lattice
    nodes: Small  # (T, W) the states of the prefixes of each token
    parents: Small  # (T, W)
    size: Integers  # (1,) number of prefixes
    left_out: Integers  # (1,) an upper bound on the labellings of all prefixes that were dropped


@subroutine
def _read(rules, t, beam, h, now, row):
    """Fill a row with prefix h after a step; returns the cost in grid units and the hard violations of the step."""
    J = len(row) - 1
    for k in range(J):
        row[k] = beam.states[h, k]
    row[J] = now
    return read_step(rules, t, beam.states[h, J] if t else -1, now, row)


@kernel
def advance(chain, completion, rules, beam, copies, first, last):
    """Extend the beam over tokens first … last - 1, keeping at most `copies` prefixes with the same future.

    The best W prefixes are kept, in the order of their label ids. Of equal prefixes the first one by label ids is kept.
    """
    node, pool, step, base = chain
    score, states, nodes, parents, size, left_out = beam
    K, (W, width) = pool.shape[2], states.shape
    value, chosen, alike = np.empty(W * K, np.int64), np.empty(W, np.int64), np.empty(W, np.int64)
    rows = np.empty((W, width), np.int32)
    room = 4
    while room < 4 * W:
        room *= 2
    slots = np.empty(room, np.int32)
    for t in range(first, last):
        for h in range(size[0]):
            before = states[h, width - 1]
            for b in range(K):
                c, j = h * K + b, base[before] + b if t else b
                value[c] = FORBIDDEN
                gain = node[t, j] if t == 0 else max(node[t, j] + pool[step[t - 1], before, b], FORBIDDEN)
                if gain >= _DEAD and completion[t, j] >= _DEAD:
                    cost, hard = _read(rules, t, beam, h, j, rows[0])
                    if not hard:
                        value[c] = score[h] + gain - cost
        for slot in range(room):
            slots[slot] = -1
        kept = 0
        for c in descending(value, size[0] * K):
            if value[c] < _DEAD:
                break
            h = c // K
            j = c % K + (base[states[h, width - 1]] if t else 0)
            if kept == W:
                left_out[0] = max(left_out[0], value[c] + completion[t, j])
                continue
            _read(rules, t, beam, h, j, rows[kept])
            slot = slot_of(slots, rows, kept, 0, 0)
            if slots[slot] < 0:
                slots[slot], alike[kept] = kept, 0
            same = slots[slot]
            if alike[same] < copies:
                alike[same] += 1
                chosen[kept] = -c
                kept += 1
        size[0], by_ids = kept, descending(chosen, kept)
        for h in range(kept):
            source, c = by_ids[h], -chosen[by_ids[h]]
            nodes[t, h], parents[t, h], score[h] = rows[source, width - 1], c // K, value[c]
            for k in range(width):
                states[h, k] = rows[source, k]


@kernel
def finish(rules, beam):
    """Subtract the final costs of the machines; prefixes that break a hard rule become forbidden."""
    for h in range(beam.size[0]):
        cost, hard = close(rules, beam.states[h])
        beam.score[h] = FORBIDDEN if hard else beam.score[h] - cost
