# mypy: allow-untyped-defs
"""The backward recursion over states and joint states of machines, from the last token to the first."""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.losses import COARSE, LOST, MOST_ROUNDED, SHORT_LOST, complete_by_losses
from ilpinfer.kernels.recursion import best_of, step_back

UNFILLED = HARD
"""The first entry of a tail that is not filled yet."""


@subroutine
def room_jointly(joint, T, width):
    """Room for the completions and tails of `complete_jointly`."""
    Q = len(joint.final)
    more = 1 if joint.kind.shape[1] > 1 else T * Q
    return np.empty((T * Q, width), np.int64), np.empty((T + more, width), np.int64)


@subroutine
def enter(joint, q, k, own, completion, first, j):
    """The best value from joint state q on of a step of kind k into state j, by the state's own score and the token's completions from row
    `first` on."""
    return max(own + completion[first + joint.after[q, k], j] - joint.cost[q, k], FORBIDDEN)


@subroutine
def enter_all(joint, q, r, c, completion, t, tail, row):
    """Fill row `row` of the tails with the best values from joint state q on at token t, after a state of class c; r is the token's row of
    kinds."""
    for j in range(joint.kind.shape[2]):
        tail[row, j] = enter(joint, q, joint.kind[r, c, j], tail[t, j], completion, t * len(joint.final), j)


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
def complete_jointly(scores, emission, rows, classes, edge_at, joint, bare, least, completion, tail):
    """As `complete`, for Q joint states: row t · Q + q of the completions (T · Q, W) is that after joint state q.

    The first T rows of the tails are the states' own scores. Row T + t · Q + q is for the best values from q on; `enter_all` fills it when
    a search first reads it, and it begins with `UNFILLED` until then. Where the joint automaton reads the state before, there is row T alone,
    for one joint state at a time.

    The completion of a joint state after a label is `FORBIDDEN` where the label never leads to the joint state. Completions are too high
    where they are below those without machines by more than half of `LOST`. Where `least`, the least value wanted, is close to the best value
    without machines, losses have 16 bits: values below `least` are too high, and others by what is rounded. `bare` has completion and tail
    without the joint automaton, and the best value. Returns a bound on the best value.
    """
    node, T, S, W = scores.node, len(rows), emission.shape[1], tail.shape[1]
    own = tail[:T]
    for t in range(T):
        row, c = rows[t], classes[t]
        for j in range(W):
            own[t, j] = max(emission[row, j] + node[c, j], FORBIDDEN) if j < S else FORBIDDEN
    if joint.kind.shape[1] > 1:
        _complete_by_steps(scores, edge_at, joint, own, completion)
    else:
        shift = COARSE
        while bare[2] - least > SHORT_LOST // 2 << shift and T << shift <= MOST_ROUNDED:
            shift += 1
        if T << shift <= MOST_ROUNDED:
            numbers = np.empty(0, np.int16), shift, SHORT_LOST
            complete_by_losses(scores, edge_at, joint, bare, numbers, completion)
        else:
            exact = np.empty(0, np.int32), 0, LOST
            complete_by_losses(scores, edge_at, joint, bare, exact, completion)
    for row in range(T, len(tail)):
        tail[row, 0] = UNFILLED
    enter_all(joint, 0, joint.row[0], joint.before[0], completion, 0, tail, T)
    return best_of(tail[T], scores.labels)


@subroutine
def _complete_by_steps(scores, edge_at, joint, own, completion):
    """As `complete_jointly`, where the joint automaton reads the state before."""
    T, S, Q, W = len(own), len(scores.base), len(joint.final), own.shape[1]
    states, kept = np.empty(S, np.int64), np.empty(S, np.int64)
    after, entered, known = np.full((1, W), FORBIDDEN), np.zeros((Q, S), np.bool_), -1
    order = np.argsort(joint.before[1:])
    for t in range(T - 1, -1, -1):
        kind, later = joint.kind[joint.row[t]], joint.kind[joint.row[min(t + 1, T - 1)]]
        if joint.row[t] != known:
            known = joint.row[t]
            fill_entered(joint, kind, entered)
        for q in range(Q):
            at, n, first = t * Q + q, 0, -1
            for j in range(W):
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
                        after[0, j] = enter(joint, q, later[c, j], own[t + 1, j], completion, (t + 1) * Q, j)
                    first = c if first < 0 else first
                    for j in range(S):
                        if later[c, j] != later[first, j]:
                            kept[j] = after[0, j]
                            after[0, j] = enter(
                                joint, q, later[c, j], own[t + 1, j], completion, (t + 1) * Q, j
                            )
                    step_back(scores, edge_at[t + 1], after, 0, completion, at, states[:count])
                    for j in range(S):
                        if later[c, j] != later[first, j]:
                            after[0, j] = kept[j]
