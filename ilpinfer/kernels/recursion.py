# mypy: allow-untyped-defs
"""The backward recursion over states, or over states and joint states of machines, from the last token to the first, so that the first
of equal labellings by label ids is found.
"""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine

DEAD = FORBIDDEN // 2
"""Values below it contain a forbidden step."""


@subroutine
def width_of(scores):
    """Entries of a row of completions: any state, and padding."""
    return scores.base[len(scores.base) - 1] + scores.edge.shape[2]


@subroutine
def step_back(scores, e, tail, after, completion, at, states):
    """Fill row `at` of the completions for these states from row `after` of the tails, four at a time to save memory access."""
    edge, base, count = scores.edge, scores.base, len(states)
    _, S, width = edge.shape
    same = scores.labels == S
    for n in range(0, count - 3, 4):
        i0, i1, i2, i3 = states[n], states[n + 1], states[n + 2], states[n + 3]
        best0 = best1 = best2 = best3 = FORBIDDEN
        if same:
            for b in range(width):
                ahead = tail[after, b]
                best0 = max(best0, edge[e, i0, b] + ahead)
                best1 = max(best1, edge[e, i1, b] + ahead)
                best2 = max(best2, edge[e, i2, b] + ahead)
                best3 = max(best3, edge[e, i3, b] + ahead)
        else:
            to0, to1, to2, to3 = base[i0], base[i1], base[i2], base[i3]
            for b in range(width):
                best0 = max(best0, edge[e, i0, b] + tail[after, to0 + b])
                best1 = max(best1, edge[e, i1, b] + tail[after, to1 + b])
                best2 = max(best2, edge[e, i2, b] + tail[after, to2 + b])
                best3 = max(best3, edge[e, i3, b] + tail[after, to3 + b])
        completion[at, i0], completion[at, i1] = best0, best1
        completion[at, i2], completion[at, i3] = best2, best3
    for n in range(count >> 2 << 2, count):
        i, best = states[n], FORBIDDEN
        for b in range(width):
            best = max(best, edge[e, i, b] + tail[after, base[i] + b])
        completion[at, i] = best


@subroutine
def complete(scores, emission, rows, classes, edge_at, completion, tail):
    """The best value of a labelling, `FORBIDDEN` where there is none.

    Fills completion (T, W), the best value of the states after a state at token t, and tail (T, W), the same with the
    token's own score; W is `width_of`. Parameters as `label_setting.set_labels`, and rows (T,) of `emission`, classes (T,) of nodes.
    """
    node, T, S = scores.node, len(rows), emission.shape[1]
    states = np.arange(S)
    for t in range(T - 1, -1, -1):
        for j in range(S, completion.shape[1]):
            completion[t, j] = tail[t, j] = FORBIDDEN
        if t < T - 1:
            step_back(scores, edge_at[t + 1], tail, t + 1, completion, t, states)
        else:
            completion[t, :S] = 0
        row, c = rows[t], classes[t]
        for j in range(S):
            tail[t, j] = max(emission[row, j] + node[c, j] + completion[t, j], FORBIDDEN)
    return _best_of(tail[0], scores.labels)


@subroutine
def _best_of(tail, count):
    best = FORBIDDEN
    for j in range(count):
        best = max(best, tail[j])
    return best


@subroutine
def room_jointly(joint, T, width):
    """Room for the completions and tails of `complete_jointly`."""
    Q = len(joint.final)
    return np.empty((T * Q, width), np.int64), np.empty(
        (T * Q if joint.kind.shape[1] == 1 else T, width), np.int64
    )


@subroutine
def enter(joint, q, k, own, completion, first, j):
    """The best value from joint state q on of a step of kind k into state j, by the state's own score and the token's completions from row
    `first` on."""
    return max(own + completion[first + joint.after[q, k], j] - joint.cost[q, k], FORBIDDEN)


@subroutine
def enter_all(joint, q, kind, own, completion, first, tail):
    """Fill a tail (W,), the best values from joint state q on, by the kinds (S,) of the steps into each state; others as `enter`."""
    for j in range(len(kind)):
        tail[j] = enter(joint, q, kind[j], own[j], completion, first, j)


@subroutine
def fill_entered(joint, kind, entered):
    """Fill entered (Q, S): whether a step of one of the kinds (C, S) into a state leads to a joint state."""
    (Q, kinds), (C, S) = joint.after.shape, kind.shape
    entered[:] = False
    for k in range(kinds):
        for j in range(S):
            there = False
            for c in range(C):
                there = there or kind[c, j] == k
            for q in range(Q if there else 0):
                entered[joint.after[q, k], j] = True


@subroutine
def complete_jointly(scores, emission, rows, classes, edge_at, joint, completion, tail):
    """As `complete`, for Q joint states: row t · Q + q of the completions (T · Q, W) is that after joint state q.

    Row t · Q + q of the tails (T · Q, W) is that from q on. Where the joint automaton reads the state before, the tails (T, W) are instead
    the states' own scores, and `enter_all` has that from q on. The completion of a joint state after a label is `FORBIDDEN` where the label
    never leads to the joint state.
    """
    node, T, S = scores.node, len(rows), emission.shape[1]
    Q, C = len(joint.final), joint.kind.shape[1]
    states, kept, own = np.empty(S, np.int64), np.empty(S, np.int64), np.full(tail.shape[1], FORBIDDEN)
    after, entered, known = np.full((1, tail.shape[1]), FORBIDDEN), np.zeros((Q, S), np.bool_), -1
    order = np.argsort(joint.before[1:])
    for t in range(T - 1, -1, -1):
        kind, later = joint.kind[joint.row[t]], joint.kind[joint.row[min(t + 1, T - 1)]]
        if joint.row[t] != known:
            known = joint.row[t]
            fill_entered(joint, kind, entered)
        for q in range(Q):
            at, n, first = t * Q + q, 0, -1
            for j in range(completion.shape[1]):
                completion[at, j] = -joint.final[q] if j < S and t == T - 1 else FORBIDDEN
            while t < T - 1 and n < S:
                c, count = joint.before[order[n] + 1], 0
                while n < S and joint.before[order[n] + 1] == c:
                    if entered[q, order[n]]:
                        states[count] = order[n]
                        count += 1
                    n += 1
                if C == 1:
                    step_back(scores, edge_at[t + 1], tail, at + Q, completion, at, states[:count])
                elif count:
                    for j in range(S if first < 0 else 0):
                        after[0, j] = enter(joint, q, later[c, j], tail[t + 1, j], completion, (t + 1) * Q, j)
                    first = c if first < 0 else first
                    for j in range(S):
                        if later[c, j] != later[first, j]:
                            kept[j] = after[0, j]
                            after[0, j] = enter(
                                joint, q, later[c, j], tail[t + 1, j], completion, (t + 1) * Q, j
                            )
                    step_back(scores, edge_at[t + 1], after, 0, completion, at, states[:count])
                    for j in range(S):
                        if later[c, j] != later[first, j]:
                            after[0, j] = kept[j]
        row, c = rows[t], classes[t]
        for j in range(S):
            own[j] = max(emission[row, j] + node[c, j], FORBIDDEN)
        if C > 1:
            tail[t] = own
        else:
            for q in range(Q):
                tail[t * Q + q] = FORBIDDEN
                enter_all(joint, q, kind[0], own, completion, t * Q, tail[t * Q + q])
    if C > 1:
        enter_all(joint, 0, joint.kind[joint.row[0], joint.before[0]], tail[0], completion, 0, after[0])
        return _best_of(after[0], scores.labels)
    return _best_of(tail[0], scores.labels)


@subroutine
def trace(scores, edge_at, completion, tail, total, path):
    """Fill path (T,) with the states of the first labelling of value `total`, which is not forbidden."""
    edge, base, j = scores.edge, scores.base, 0
    while tail[0, j] != total:
        j += 1
    path[0] = j
    for t in range(1, len(path)):
        e, i, b = edge_at[t], j, 0
        while edge[e, i, b] + tail[t, base[i] + b] != completion[t - 1, i]:
            b += 1
        j = base[i] + b
        path[t] = j


@kernel
def bare(scores, emission, rows, classes, edge_at, completion, tail, path):
    """Viterbi without machines: the best value; fills completion and tail (T, W), and path (T,) unless the value is forbidden."""
    total = complete(scores, emission, rows, classes, edge_at, completion, tail)
    if total > DEAD:
        trace(scores, edge_at, completion, tail, total, path)
    return total


@kernel
def prune(scores, emission, edge_at, completion, floor):
    """Forbid the states (T, S) through which no labelling reaches the floor by its scores, in place; returns how many are left.

    The best score up to a state and the best score after it add up to its max-marginal.
    """
    T, S = emission.shape
    reach, ahead, count = np.full(S, FORBIDDEN), np.full(S, FORBIDDEN), 0
    for t in range(T):
        for j in range(S):
            ahead[j] = 0 if t == 0 and j < scores.labels else FORBIDDEN
        if t:
            for i in range(S):
                if reach[i] > DEAD:
                    for b in range(scores.labels):
                        j = scores.base[i] + b
                        ahead[j] = max(ahead[j], reach[i] + scores.edge[edge_at[t], i, b])
        for j in range(S):
            reach[j] = max(ahead[j] + emission[t, j], FORBIDDEN) if ahead[j] > DEAD else FORBIDDEN
            if reach[j] <= DEAD or reach[j] + completion[t, j] < floor:
                reach[j] = emission[t, j] = FORBIDDEN
            else:
                count += 1
    return count
