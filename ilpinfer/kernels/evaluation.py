# mypy: allow-untyped-defs
"""The parts of a labelling's score, and its violations of every rule that the tables hold."""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from formulations.problem.folding import FEATURES
from ilpinfer.kernels.charges import events_of, follow, read_event
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.tables import EDGES, FINAL, MACHINES, NODES

MODEL_SCORE, FEATURE_SCORE, PENALTY, BROKEN, OVERRULED = range(5)
"""Columns of parts: grid units of the model, FORBIDDEN where it forbids the labelling; of features; and of soft rules;
the number of hard rules that are broken, at least 1 where the model forbids the labelling; and the number of tokens at which a rule is overruled by an earlier one."""


@subroutine
def _count(counts, number, begin, violations):
    """Add the violations of one label or step; the grid units that the model and features add to its score."""
    model = features = np.int64(0)
    for e in range(begin[number], begin[number + 1]):
        source, amount = counts.event[e, 0], counts.event[e, 1]
        if source >= 0:
            violations[source] += amount
        elif source == FEATURES:
            features += amount
        else:
            model += amount
    return model, features


@subroutine
def _follow_machines(handle, classes, path, room, violations):
    """Add the violations that machines emit."""
    scores, machines, owner = handle.scores, handle.machines, handle.counts.owner
    layout, state, visited, touched, before = machines.layout, room[1], room[2], 0, 0
    for t in range(len(path)):
        first, end = events_of(scores, machines, classes[t], before, path[t])
        for e in range(first, end):
            m, symbol = read_event(machines, e, classes[t], before, path[t])
            arc, touched = follow(machines, m, symbol, room, touched)
            violations[owner[m]] += machines.violations[arc]
        before = path[t] + 1
    for owing in range(len(machines.owing)):
        m = machines.owing[owing]
        if state[m] < 0:
            violations[owner[m]] += machines.last[layout[m, FINAL]]
    for v in range(touched):
        m = visited[v]
        violations[owner[m]] += machines.last[layout[m, FINAL] + state[m]]
        state[m] = -1


@subroutine
def evaluate(handle, emission, rows, pool, tokens, path, room, parts, violations, silent):
    """Fill parts (5,) and violations (R,) of label ids (T,); returns the value, `FORBIDDEN` where that is.

    Parameters
    ----------
    rows, pool : as of `decode_batch`, of the sequence
    tokens : (3, T) at least, the classes for each purpose
    room : of `charges.room_for`
    silent : whether it is known that no machine has a cost
    """
    counts, K, overruled = handle.counts, emission.shape[1], 0
    model = features = penalty = broken = 0
    violations[:] = 0
    for t in range(len(path)):
        j = path[t]
        own, more = _count(counts, tokens[NODES, t] * K + j, counts.node_begin, violations)
        model, features = max(model + emission[rows[t], j] + own, FORBIDDEN), features + more
        overruled += counts.overruled[tokens[NODES, t]]
        if t:
            i = path[t - 1]
            own, more = _count(counts, (tokens[EDGES, t] * K + i) * K + j, counts.edge_begin, violations)
            step = counts.pool[pool[t] if len(pool) else 0, i, j]
            model, features = max(model + step + own, FORBIDDEN), features + more
    if not silent:
        _follow_machines(handle, tokens[MACHINES], path, room, violations)
    for r in range(len(violations)):
        violations[r] = min(violations[r], counts.rules[r, 1])
        if counts.rules[r, 0] == HARD:
            broken += violations[r] > 0
        else:
            penalty += counts.rules[r, 0] * violations[r]
    if model < FORBIDDEN // 2:
        model, features, broken = FORBIDDEN, 0, max(broken, 1)
    parts[MODEL_SCORE], parts[FEATURE_SCORE], parts[PENALTY] = model, features, penalty
    parts[BROKEN], parts[OVERRULED] = broken, overruled
    return FORBIDDEN if broken else model + features - penalty
