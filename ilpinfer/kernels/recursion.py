# mypy: allow-untyped-defs
"""The backward recursion over states, or over states and joint states of machines, from the last token to the first, so that the first
of equal labellings by label ids is found.
"""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine

DEAD = FORBIDDEN // 2
"""Values below it contain a forbidden step."""
LOST, SHORT_LOST = 2**30 - 1, 2**14 - 1
"""What a forbidden step loses, in 32 and in 16 bits; twice as much is no overflow."""
MOST_LOST = LOST // 2
"""The most that other steps, or the steps after them, are said to lose; both together stay below `LOST`."""
COARSE, MOST_SHORT = 12, 128
"""The unit of 16-bit losses, as a power of 2, and the tokens of the longest sequences that have these: at each token, a loss may be rounded
down by two units."""


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
def _losses(scores, e, best, ahead, shift, lost, loss):
    """Fill loss (S, Bp) with what each step loses against the best one of its state; best (W,) are the completions of the states, and
    ahead (W,) the tails after them."""
    edge, base, width, most = scores.edge, scores.base, loss.shape[1], lost // 2
    for i in range(len(base)):
        gain, after, own, highest = edge[e, i], ahead[base[i] : base[i] + width], loss[i], best[i]
        for b in range(width):
            value = gain[b] + after[b]
            own[b] = lost if value < DEAD else min((highest - value) >> shift, most)


@subroutine
def _step_back_jointly(base, loss, ahead, states, joint_states, lost, short):
    """Fill short (Q, S), the losses from joint states on after each of four states, from the losses after a step, ahead (Q, W).

    Four states and two joint states at a time save memory access.
    """
    small, width, same = loss.dtype.type, loss.shape[1], base[len(base) - 1] == 0
    i0, i1, i2, i3 = states[0], states[1], states[2], states[3]
    to0, to1, to2, to3 = base[i0], base[i1], base[i2], base[i3]
    last = len(joint_states) - 1
    for n in range(0, last + 1, 2):
        q, r = joint_states[n], joint_states[min(n + 1, last)]
        q0 = q1 = q2 = q3 = r0 = r1 = r2 = r3 = small(lost)
        if same:
            for b in range(width):
                loss0, loss1, loss2, loss3 = loss[i0, b], loss[i1, b], loss[i2, b], loss[i3, b]
                more = ahead[q, b]
                q0, q1 = min(q0, small(loss0 + more)), min(q1, small(loss1 + more))
                q2, q3 = min(q2, small(loss2 + more)), min(q3, small(loss3 + more))
                more = ahead[r, b]
                r0, r1 = min(r0, small(loss0 + more)), min(r1, small(loss1 + more))
                r2, r3 = min(r2, small(loss2 + more)), min(r3, small(loss3 + more))
        else:
            for b in range(width):
                loss0, loss1, loss2, loss3 = loss[i0, b], loss[i1, b], loss[i2, b], loss[i3, b]
                q0, q1 = min(q0, small(loss0 + ahead[q, to0 + b])), min(q1, small(loss1 + ahead[q, to1 + b]))
                q2, q3 = min(q2, small(loss2 + ahead[q, to2 + b])), min(q3, small(loss3 + ahead[q, to3 + b]))
                r0, r1 = min(r0, small(loss0 + ahead[r, to0 + b])), min(r1, small(loss1 + ahead[r, to1 + b]))
                r2, r3 = min(r2, small(loss2 + ahead[r, to2 + b])), min(r3, small(loss3 + ahead[r, to3 + b]))
        short[q, i0], short[q, i1], short[q, i2], short[q, i3] = q0, q1, q2, q3
        short[r, i0], short[r, i1], short[r, i2], short[r, i3] = r0, r1, r2, r3


@subroutine
def _by_kind(kind, begin, order):
    """Fill order (S,) with the states by kind (S,), and begin (kinds + 1,) with the first place of each kind."""
    for k in range(len(begin)):
        begin[k] = 0
    for k in kind:
        begin[k + 1] += 1
    for k in range(1, len(begin)):
        begin[k] += begin[k - 1]
    for j in range(len(kind)):
        order[begin[kind[j]]] = j
        begin[kind[j]] += 1
    for k in range(len(begin) - 1, 0, -1):
        begin[k] = begin[k - 1]
    begin[0] = 0


@subroutine
def _led_to(after):
    """Joint states that steps of each kind lead to, after (Q, kinds), one kind after the other, and where those of each kind begin."""
    Q, kinds = after.shape
    begin, led, count = np.zeros(kinds + 1, np.int64), np.empty(Q * kinds, np.int64), 0
    last = np.full(Q, -1, np.int64)
    for k in range(kinds):
        for q in range(Q):
            last[after[q, k]] = k
        for q in range(Q):
            if last[q] == k:
                led[count] = q
                count += 1
        begin[k + 1] = count
    return begin, led[:count]


@subroutine
def _complete_by_losses(scores, emission, rows, classes, edge_at, joint, bare, numbers, completion, tail):
    """As `complete_jointly`, where the joint automaton does not read the state before.

    bare : completion and tail without the joint automaton
    numbers : an empty array of the type of losses, their unit as a power of 2, and `LOST` in this unit
    """
    node, base, T, S, W = scores.node, scores.base, len(rows), emission.shape[1], completion.shape[1]
    after, price, final = joint.after, joint.cost, joint.final
    (Q, kinds), (bare_completion, bare_tail), (small, shift, lost) = after.shape, bare, numbers
    most, kind = lost // 2, small.dtype
    loss, ahead = np.empty((S, scores.edge.shape[2]), kind), np.empty((Q, W), kind)
    short, own, four = np.empty((Q, S), kind), np.empty(S, np.int64), np.empty(4, np.int64)
    (first, led), begin, order = _led_to(after), np.empty(kinds + 1, np.int64), np.empty(S, np.int64)
    for t in range(T - 1, -1, -1):
        row, c, best = rows[t], classes[t], bare_completion[t]
        _by_kind(joint.kind[joint.row[t], 0], begin, order)
        for q in range(Q):
            for j in range(S):
                short[q, j] = lost
        for j in range(S):
            own[j] = max(emission[row, j] + node[c, j], FORBIDDEN)
        if t < T - 1:
            _losses(scores, edge_at[t + 1], best, bare_tail[t + 1], shift, lost, loss)
        for k in range(kinds):
            joint_states, end = led[first[k] : first[k + 1]], begin[k + 1]
            for n in range(begin[k], end, 4):
                for m in range(4):
                    four[m] = order[min(n + m, end - 1)]
                if t < T - 1:
                    _step_back_jointly(base, loss, ahead, four, joint_states, lost, short)
                else:
                    for q in joint_states:
                        for m in range(4):
                            short[q, four[m]] = lost if final[q] > -DEAD else min(final[q] >> shift, most)
        for q in range(Q):
            at = t * Q + q
            for j in range(S, W):
                completion[at, j] = tail[at, j] = FORBIDDEN
                ahead[q, j] = lost
            for j in range(S):
                less = np.int64(short[q, j])
                value = best[j] - (less << shift) if t < T - 1 else -final[q]
                completion[at, j] = FORBIDDEN if less >= lost else value
                tail[at, j] = max(own[j] + completion[at, j], FORBIDDEN)
                ahead[q, j] = lost if less >= lost else min(less, most)
        for q in range(Q):
            at = t * Q + q
            for k in range(kinds):
                a, cost = after[q, k], price[q, k]
                if a != q or cost:
                    for n in range(begin[k], begin[k + 1]):
                        j = order[n]
                        tail[at, j] = max(own[j] + completion[t * Q + a, j] - cost, FORBIDDEN)
                        dead = short[a, j] >= lost or cost > -DEAD
                        ahead[q, j] = lost if dead else min(short[a, j] + (cost >> shift), most)
    return _best_of(tail[0], scores.labels)


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
def complete_jointly(scores, emission, rows, classes, edge_at, joint, least, completion, tail):
    """As `complete`, for Q joint states: row t · Q + q of the completions (T · Q, W) is that after joint state q.

    Row t · Q + q of the tails (T · Q, W) is that from q on. Where the joint automaton reads the state before, the tails (T, W) are instead
    the states' own scores, and `enter_all` has that from q on. The completion of a joint state after a label is `FORBIDDEN` where the label
    never leads to the joint state. One that is more than `MOST_LOST` below that without machines may be too high. Where all values from
    `least` on are close to the best one without machines, losses have 16 bits, and completions may be too high by what is rounded. Returns a
    bound on the best value.
    """
    if joint.kind.shape[1] == 1:
        shape = len(rows), tail.shape[1]
        bare = np.empty(shape, np.int64), np.empty(shape, np.int64)
        total = complete(scores, emission, rows, classes, edge_at, bare[0], bare[1])
        if len(rows) <= MOST_SHORT and total - least <= SHORT_LOST // 2 << COARSE:
            numbers = np.empty(0, np.int16), COARSE, SHORT_LOST
            return _complete_by_losses(
                scores, emission, rows, classes, edge_at, joint, bare, numbers, completion, tail
            )
        exact = np.empty(0, np.int32), 0, LOST
        return _complete_by_losses(
            scores, emission, rows, classes, edge_at, joint, bare, exact, completion, tail
        )
    node, T, S = scores.node, len(rows), emission.shape[1]
    Q = len(joint.final)
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
                if count:
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
        tail[t] = own
    enter_all(joint, 0, joint.kind[joint.row[0], joint.before[0]], tail[0], completion, 0, after[0])
    return _best_of(after[0], scores.labels)


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
