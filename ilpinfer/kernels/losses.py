# mypy: allow-untyped-defs
"""The backward recursion over joint states, in small numbers: what is lost against the best labelling without machines."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.defaults import SLACK, defaults_of, no_defaults
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.recursion import DEAD

LOST, SHORT_LOST = 2**30 - 1, 2**14 - 1
"""What a forbidden step loses, in 32 and in 16 bits; twice as much is no overflow. Other steps, and what follows them, are said to lose at
most half of it each."""
COARSE, MOST_ROUNDED = 12, 2**20
"""The least unit of 16-bit losses, as a power of 2; and the most that their units add up to over the tokens of a sequence: a loss is rounded
down by about three units at each token."""
TOKENS_A_TABLE = 8
"""Defaults are looked for where the table of steps changes at most once in so many tokens."""


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
def _changes(joint, shift, lost):
    """Joint states that steps of each kind leave or charge, with the next joint state and the loss, and where those of each kind begin."""
    after, price, (Q, kinds) = joint.after, joint.cost, joint.after.shape
    begin, change, count = np.zeros(kinds + 1, np.int64), np.empty((Q * kinds, 3), np.int32), 0
    for k in range(kinds):
        for q in range(Q):
            if after[q, k] != q or price[q, k]:
                change[count, 0], change[count, 1] = q, after[q, k]
                change[count, 2] = lost if price[q, k] > -DEAD else min(price[q, k] >> shift, lost // 2)
                count += 1
        begin[k + 1] = count
    return begin, change[:count]


@subroutine
def _step_back_by_defaults(defaults, gain, best, after, shift, lost, ahead, short):
    """Fill short (S, Q), the losses from each joint state on after each state, from those of the next step, ahead (S, Q).

    gain (S, Bp) are the scores of steps; best (W,) the completions of the states, and after (W,) the tails after them. The loss of a default
    step is that of the state before plus that of the next state, so that one minimum for each joint state serves all states before. Four
    exceptions at a time save memory access.
    """
    out, into, begin, other = defaults
    small, (S, Q), most, highest = short.dtype.type, short.shape, lost // 2, FORBIDDEN
    usual, four, near = np.full(Q, small(lost)), np.empty(4, np.int64), np.empty(4, short.dtype)
    for b in range(S):
        highest = max(highest, into[b] + after[b])
    for b in range(S):
        value = into[b] + after[b]
        if value > DEAD:
            # the loss of the state before may be below 0 by the slack, and is not counted below 0
            loss = small(min(max(highest - value - 2 * SLACK, 0) >> shift, most))
            for q in range(Q):
                usual[q] = min(usual[q], small(loss + ahead[b, q]))
    for q in range(Q):
        usual[q] = small(lost) if usual[q] >= lost else min(usual[q], small(most))
    for i in range(S):
        value = out[i] + highest
        loss = small(lost if value < DEAD else min(max(best[i] - value, 0) >> shift, most))
        for q in range(Q):
            short[i, q] = min(small(loss + usual[q]), small(lost))
        last = begin[i + 1] - 1
        for n in range(begin[i], last + 1, 4):
            for m in range(4):
                four[m] = other[min(n + m, last)]
                value = gain[i, four[m]] + after[four[m]]
                near[m] = lost if value < DEAD else min((best[i] - value) >> shift, most)
            b0, b1, b2, b3 = four[0], four[1], four[2], four[3]
            near0, near1, near2, near3 = near[0], near[1], near[2], near[3]
            for q in range(Q):
                short0 = min(small(near0 + ahead[b0, q]), small(near1 + ahead[b1, q]))
                short1 = min(small(near2 + ahead[b2, q]), small(near3 + ahead[b3, q]))
                short[i, q] = min(short[i, q], min(short0, short1))


@subroutine
def _enter_states(kind, changes, lost, short, ahead):
    """Fill ahead (S, Q), the losses from each joint state on of a step into each state, of a kind (S,), from those after it, short (S, Q)."""
    small, (S, Q), most, (begin, change) = short.dtype.type, short.shape, lost // 2, changes
    for j in range(S):
        for q in range(Q):
            ahead[j, q] = small(lost) if short[j, q] >= lost else min(short[j, q], small(most))
        for n in range(begin[kind[j]], begin[kind[j] + 1]):
            loss, more = np.int64(short[j, change[n, 1]]), np.int64(change[n, 2])
            ahead[j, change[n, 0]] = lost if max(loss, more) >= lost else min(loss + more, most)


@subroutine
def _enter_joint_states(begin, order, changes, lost, short, ahead):
    """As `_enter_states`, for rows of joint states: ahead (Q, W) from short (Q, S); states of kind k are order[begin[k]:begin[k + 1]]."""
    small, (Q, S), most, (first, change) = short.dtype.type, short.shape, lost // 2, changes
    for q in range(Q):
        for j in range(S, ahead.shape[1]):
            ahead[q, j] = lost
        for j in range(S):
            ahead[q, j] = small(lost) if short[q, j] >= lost else min(short[q, j], small(most))
    for k in range(len(first) - 1):
        for n in range(first[k], first[k + 1]):
            q, a, more = change[n, 0], change[n, 1], np.int64(change[n, 2])
            for m in range(begin[k], begin[k + 1]):
                loss = np.int64(short[a, order[m]])
                ahead[q, order[m]] = lost if max(loss, more) >= lost else min(loss + more, most)


@subroutine
def complete_by_losses(scores, edge_at, joint, bare, numbers, completion):
    """Fill completion (T · Q, W) as `complete_jointly` does, where the joint automaton does not read the state before.

    numbers : an empty array of the type of losses, their unit as a power of 2, and `LOST` in this unit
    """
    base, edge, T, W = scores.base, scores.edge, len(joint.row), completion.shape[1]
    final, (Q, kinds), (none, shift, lost) = joint.final, joint.after.shape, numbers
    S, most, dtype = edge.shape[1], lost // 2, none.dtype
    loss, ahead, short = np.empty((S, edge.shape[2]), dtype), np.empty((Q, W), dtype), np.empty((Q, S), dtype)
    ahead_by_state, short_by_state = np.empty((S, Q), dtype), np.empty((S, Q), dtype)
    begin, order, four = np.empty(kinds + 1, np.int64), np.empty(S, np.int64), np.empty(4, np.int64)
    (first, led), changes = _led_to(joint.after), _changes(joint, shift, lost)
    defaults, known, tables = no_defaults(), -1, 0
    for t in range(1, T):
        tables += t == 1 or edge_at[t] != edge_at[t - 1]
    with_defaults = shift and scores.labels == S and tables <= max(1, T // TOKENS_A_TABLE)
    for t in range(T - 1, -1, -1):
        best, here = bare[0][t], joint.kind[joint.row[t], 0]
        _by_kind(here, begin, order)
        for q in range(Q):
            for j in range(S):
                short[q, j] = lost
        dense = t < T - 1 and len(defaults.out) == 0
        if t == T - 1:
            for j in range(S):
                for q in range(Q):
                    short_by_state[j, q] = lost if final[q] > -DEAD else min(final[q] >> shift, most)
        elif dense:
            _losses(scores, known, best, bare[1][t + 1], shift, lost, loss)
        else:
            own, after = ahead_by_state, bare[1][t + 1]
            _step_back_by_defaults(defaults, edge[known], best, after, shift, lost, own, short_by_state)
        for k in range(kinds):
            joint_states, end = led[first[k] : first[k + 1]], begin[k + 1]
            for n in range(begin[k], end if dense else begin[k], 4):
                for m in range(4):
                    four[m] = order[min(n + m, end - 1)]
                _step_back_jointly(base, loss, ahead, four, joint_states, lost, short)
            for n in range(end if dense else begin[k], end):
                for q in joint_states:
                    short[q, order[n]] = short_by_state[order[n], q]
        for q in range(Q):
            at = t * Q + q
            for j in range(S, W):
                completion[at, j] = FORBIDDEN
            for j in range(S):
                value = best[j] - (np.int64(short[q, j]) << shift) if t < T - 1 else -final[q]
                completion[at, j] = FORBIDDEN if short[q, j] >= lost else value
        if t and edge_at[t] != known:
            known = edge_at[t]
            if with_defaults:
                defaults = defaults_of(edge[known])
        if len(defaults.out):
            for j in range(S if dense else 0):
                for q in range(Q):
                    short_by_state[j, q] = short[q, j]
            _enter_states(here, changes, lost, short_by_state, ahead_by_state)
        else:
            _enter_joint_states(begin, order, changes, lost, short, ahead)
