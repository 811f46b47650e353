# mypy: allow-untyped-defs
"""The parts of a labelling's score, and its violations of every rule that the tables hold."""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from formulations.problem.folding import FEATURES
from ilpinfer.kernels.charges import step_of
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.tables import ARC, EDGES, FINAL, MACHINES, NODES, STRIDE, WIDTH

MODEL_SCORE, FEATURE_SCORE, PENALTY, BROKEN, OVERRULED = range(5)
"""Columns of parts: grid units of the model, FORBIDDEN where it forbids the labelling; of features; and of soft rules;
the number of hard rules that are broken, at least 1 where the model forbids the labelling; and the number of tokens at which a rule is overruled by an earlier one."""


@subroutine
def _count(event, number, begin, violations):
    """Add the violations of one label or step; the grid units that the model and features add to its score."""
    model = features = np.int64(0)
    for e in range(begin[number], begin[number + 1]):
        source, amount = event[e, 0], event[e, 1]
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
    machines, owner, S, B = (
        handle.machines,
        handle.counts.owner,
        handle.scores.edge.shape[1],
        handle.scores.labels,
    )
    layout, next_state, emitted = machines.layout, machines.next_state, machines.violations
    begin, event, symbols, table = machines.begin, machines.event, machines.symbols, machines.table
    state, visited, listed, touched, before = room[1], room[2], len(begin) > 1, 0, 0
    for t in range(len(path)):
        step = step_of(S, B, classes[t], before, path[t])
        first, end = (begin[step], begin[step + 1]) if listed else (0, len(layout))
        for e in range(first, end):
            if listed:
                m, symbol = np.int64(event[e, 0]), np.int64(event[e, 1])
            else:
                m, symbol = (
                    np.int64(e),
                    np.int64(symbols[table[classes[t], e] + before * layout[e, STRIDE] + path[t]]),
                )
            if state[m] < 0:
                state[m] = 0
                visited[touched] = m
                touched += 1
            arc = layout[m, ARC] + state[m] * layout[m, WIDTH] + symbol
            state[m] = next_state[arc]
            violations[owner[m]] += emitted[arc]
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
    nodes, edges, events, lost = counts.node_begin, counts.edge_begin, counts.event, counts.overruled
    steps, rules = counts.pool, counts.rules
    model = features = penalty = broken = 0
    violations[:] = 0
    for t in range(len(path)):
        j = path[t]
        own, more = _count(events, tokens[NODES, t] * K + j, nodes, violations)
        model, features = max(model + emission[rows[t], j] + own, FORBIDDEN), features + more
        overruled += lost[tokens[NODES, t]]
        if t:
            i = path[t - 1]
            own, more = _count(events, (tokens[EDGES, t] * K + i) * K + j, edges, violations)
            step = steps[pool[t] if len(pool) else 0, i, j]
            model, features = max(model + step + own, FORBIDDEN), features + more
    if not silent:
        _follow_machines(handle, tokens[MACHINES], path, room, violations)
    for r in range(len(violations)):
        violations[r] = min(violations[r], rules[r, 1])
        if rules[r, 0] == HARD:
            broken += violations[r] > 0
        else:
            penalty += rules[r, 0] * violations[r]
    if model < FORBIDDEN // 2:
        model, features, broken = FORBIDDEN, 0, max(broken, 1)
    parts[MODEL_SCORE], parts[FEATURE_SCORE], parts[PENALTY] = model, features, penalty
    parts[BROKEN], parts[OVERRULED] = broken, overruled
    return FORBIDDEN if broken else model + features - penalty
