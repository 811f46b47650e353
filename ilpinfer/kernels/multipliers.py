# mypy: allow-untyped-defs, allow-untyped-calls
"""Lagrangian multipliers on sums, moved into the scores and the machines, so that the value of each labelling stays the
same.

The multiplier is subtracted for each unit of a sum's weight on a step. The sum's machine returns the value of its best future at the
start; its costs then are the differences from that value (Rush and Collins 2012, section 3; reparametrizations of Werner 2007).
"""

import numpy as np

from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT
from ilpinfer.kernels.charges import charge_labelling, step_of
from ilpinfer.kernels.handle import Handle
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.recursion import DEAD, complete, trace
from ilpinfer.kernels.tables import (
    ARC,
    BOUND,
    CODE,
    FINAL,
    HIGH,
    LEAST,
    LOW,
    MACHINES,
    MOST,
    MULTIPLIERS,
    NODES,
    PROVED,
    STATES,
    STRIDE,
    VALUE,
    WEIGHT,
    WIDTH,
    Machines,
    Scores,
)

ROUNDS, MOST_STALE = 30, 4
"""Largest number of Viterbi passes, and number of passes without a better bound before steps get shorter."""
SHORTEST = 0.1
"""Fraction of Polyak's step below which the search ends."""
GUESS = 4 * UNITS_PER_NAT
"""Distance between the bound and the target value while no labelling is known, grid units."""
CELLS = 4
"""Number of scores that are changed in about the time of one step of label setting."""
MOST_PAIRS = 2**22
"""Largest number of pairs of step class and machine class for which multipliers are used."""


@subroutine
def _pairs(edge_at, classes, E, C):
    """Different pairs (P, 2) of E edge scores and C classes for machines; puts the number of its pair at each token."""
    number = np.full(E * C, -1, np.int32)
    pairs, count = np.empty((len(classes), 2), np.int64), 0
    for t in range(len(classes)):
        key = edge_at[t] * C + classes[t]
        if number[key] < 0:
            number[key] = count
            pairs[count, 0], pairs[count, 1] = edge_at[t], classes[t]
            count += 1
        edge_at[t] = number[key]
    return pairs[:count]


@subroutine
def _charge(machines, m, multiplier, c, i, base, row):
    """Subtract the multiplier of sum m from the scores (B,) of the steps from state i, -1 for START, to the states from `base` on, into
    a token of class c.
    """
    at, weight = machines.table[c, m] + (i + 1) * machines.layout[m, STRIDE], machines.layout[m, WEIGHT]
    for b in range(len(row)):
        row[b] -= multiplier * machines.weight[weight + machines.symbols[at + base + b]]


@subroutine
def _charge_all(handle, pairs, multipliers, edge, first, own):
    """Fill edge (P, S, Bp) with scores less multipliers, and own (S,) with `first` (S,), the scores of the first token,
    less multipliers.
    """
    scores, machines, S, B = handle.scores, handle.machines, len(own), handle.scores.labels
    for p in range(len(pairs)):
        for i in range(S):
            for b in range(B):
                edge[p, i, b] = scores.edge[pairs[p, 0], i, b]
    _copy(first, own)
    for m in range(len(multipliers)):
        if multipliers[m]:
            _charge(machines, m, multipliers[m], pairs[0, 1], -1, 0, own[:B])
            for p in range(len(pairs)):
                for i in range(S):
                    _charge(machines, m, multipliers[m], pairs[p, 1], i, scores.base[i], edge[p, i, :B])


@subroutine
def _copy(source, target):
    for i in range(len(source)):
        target[i] = source[i]


@subroutine
def _clear(array):
    for i in range(len(array)):
        array[i] = 0


@subroutine
def _count_multipliers(multipliers):
    """The number of multipliers that are not 0."""
    count = 0
    for multiplier in multipliers:
        count += multiplier != 0
    return count


@subroutine
def _constant(machines, multipliers):
    """The constant of the dual function: the sum of multiplier · side over all sums."""
    total = np.int64(0)
    for m in range(len(multipliers)):
        if multipliers[m]:
            total += multipliers[m] * machines.sums[m, HIGH if multipliers[m] > 0 else LOW]
    return total


@subroutine
def _weigh(scores, machines, classes, path, units):
    """Fill units (M,) with the value of each sum on a labelling, 0 for other machines."""
    layout, weight, S, B = machines.layout, machines.weight, scores.edge.shape[1], scores.labels
    begin, event, symbols, table = machines.begin, machines.event, machines.symbols, machines.table
    before, listed = 0, len(begin) > 1
    _clear(units)
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
            units[m] += weight[layout[m, WEIGHT] + symbol]
        before = path[t] + 1


@subroutine
def _slopes(machines, multipliers, units):
    """Replace units by a negative subgradient of the bound, with 0 where a multiplier is at the end of its range;
    returns its squared norm.
    """
    norm = np.int64(0)
    for m in range(len(multipliers)):
        low, high, least, most = machines.sums[m]
        side = high if multipliers[m] > 0 else low
        away = units[m] - (side if multipliers[m] else min(max(units[m], low), high))
        if (away > 0 and multipliers[m] >= most) or (away < 0 and multipliers[m] <= least):
            away = 0
        units[m] = away
        norm += away * away
    return norm


@subroutine
def _reparametrise(machines, multipliers):
    """Costs of machines after the best future of each, at its multiplier, is moved to the start; and the sum of these
    futures.
    """
    cost, final, total = machines.cost.copy(), machines.final.copy(), 0
    owing, count = np.empty(len(multipliers), np.int32), 0
    for m in range(len(multipliers)):
        begin = machines.layout[m, FINAL]
        end = begin + machines.layout[m, STATES]
        if multipliers[m]:
            total += _give_back(machines, m, multipliers[m], cost, final[begin:end])
        if final[begin]:
            owing[count] = m
            count += 1
    return cost, final, owing[:count], total


@subroutine
def _give_back(machines, m, multiplier, cost, final):
    """Change the costs of one machine; returns the value of its best future.

    One pass over the states from the last to the first is enough where no arc leads to an earlier state, as in sums with weights
    of one sign. Others take passes in both directions until nothing changes.
    """
    layout = machines.layout[m]
    Q, width, arc, weight = layout[STATES], layout[WIDTH], layout[ARC], layout[WEIGHT]
    most, changed, backward, ordered = np.empty(Q, np.int64), True, True, True
    for q in range(Q):
        most[q] = max(-final[q], FORBIDDEN)
    while changed:
        changed = False
        for k in range(Q):
            q = Q - 1 - k if backward else k
            for s in range(width):
                a = arc + q * width + s
                if machines.next_state[a] != q:
                    ahead = most[machines.next_state[a]]
                    gain = multiplier * machines.weight[weight + s]
                    if gain + ahead - cost[a] > most[q]:
                        most[q], changed = gain + ahead - cost[a], True
                    ordered = ordered and machines.next_state[a] > q
        changed, backward = changed and not ordered, not backward
    for q in range(Q):
        for s in range(width):
            a = arc + q * width + s
            gain, ahead = multiplier * machines.weight[weight + s], most[machines.next_state[a]]
            dead = cost[a] > -DEAD or ahead < DEAD or most[q] < DEAD
            cost[a] = HARD if dead else cost[a] - gain - ahead + most[q]
        final[q] = HARD if final[q] > -DEAD or most[q] < DEAD else final[q] + most[q]
    return most[0]


@subroutine
def tighten(handle, emission, rows, tokens, recursion, path, result, marks, room, steps, ends):
    """Lower the bound by multipliers, marks[1] (M,), which begin at 0, with Polyak's steps towards the best known
    value.

    The time is at most that of `steps` steps of label setting. Other parameters as `decoding._decode`; recursion :
    completion,
    tail and the best value without multipliers, all changed. In `result` the bound goes down, better labellings are entered, and it
    is `PROVED` where one attains the bound; then the handle is of no use with `ends`.

    Returns
    -------
    a handle whose scores and machines have the multipliers in them, and emission (T, K) and rows (T,) for it; the entries of
    edge scores in `tokens` belong to it
    """
    machines, windows, scores = handle.machines, handle.windows, handle.scores
    completion, tail, total = recursion
    mask, multipliers = marks[0], marks[1]
    T, S = len(rows), emission.shape[1]
    classes, edge_at, trial = tokens[MACHINES, :T], tokens[3, :T], tokens[4, :T]
    own, order = np.empty((T, S), np.int64), np.arange(T)
    for t in range(T):
        _copy(emission[rows[t]], own[t])
    if len(scores.edge) * len(machines.table) > MOST_PAIRS:
        return handle, own, order
    trace(scores, edge_at, completion, tail, total, trial)
    pairs = _pairs(edge_at, classes, len(scores.edge), len(machines.table))
    edge = np.full((len(pairs), S, scores.edge.shape[2]), FORBIDDEN)
    charged = with_edges(scores, edge)
    at, units, best_path = (
        np.zeros(len(multipliers), np.int64),
        np.empty(len(multipliers), np.int64),
        trial.copy(),
    )
    bound = best = best_total = total
    share, stale, spent = 1.0, 0, 0
    for _ in range(ROUNDS):
        _clear(mask)
        _, cost = charge_labelling(scores, machines, classes, trial, mask, room, np.int64(0))
        _weigh(scores, machines, classes, trial, units)
        value = total - cost
        for m in range(len(at)):
            value += at[m] * units[m]
        if value > max(result[VALUE], DEAD) or value == bound:
            result[VALUE] = value
            _copy(trial, path)
        if value == bound:
            result[CODE] = PROVED
            _copy(at, multipliers)
            break
        norm = _slopes(machines, at, units)
        target = result[VALUE] if result[VALUE] > DEAD else best - GUESS
        if norm == 0 or target >= best:
            break
        step, moved = share * max(1, bound - target) / norm, False
        for m in range(len(at)):
            after = min(
                max(at[m] + np.int64(round(step * units[m])), machines.sums[m, LEAST]), machines.sums[m, MOST]
            )
            moved |= after != at[m]
            at[m] = after
        spent += (T + len(pairs) * (1 + _count_multipliers(at))) * S * scores.labels // CELLS
        if not moved or spent > steps:
            break
        _charge_all(handle, pairs, at, edge, emission[rows[0]], own[0])
        total = complete(charged, own, order, tokens[NODES], edge_at, completion, tail)
        bound = total + _constant(machines, at)
        trace(charged, edge_at, completion, tail, total, trial)
        if bound < best:
            best, best_total, stale = bound, total, 0
            _copy(at, multipliers)
            _copy(trial, best_path)
        else:
            stale += 1
            if stale == MOST_STALE:
                share, stale = share / 2, 0
                if share < SHORTEST:
                    break
                _copy(multipliers, at)
                _copy(best_path, trial)
                total, bound = best_total, best
    result[BOUND] = min(result[BOUND], bound if result[CODE] == PROVED else best)
    result[MULTIPLIERS] = _count_multipliers(multipliers)
    _clear(mask)
    if ends and result[CODE] == PROVED:
        return handle, own, order
    scores, machines = _move(handle, pairs, multipliers, edge, emission[rows[0]], own)
    return Handle(windows, scores, machines, handle.counts), own, order


@subroutine
def _move(handle, pairs, multipliers, edge, first, own):
    """The scores and machines with multipliers in them; own (T, S), the emission for them, is changed."""
    cost, final, owing, dual_constant = _reparametrise(handle.machines, multipliers)
    _charge_all(handle, pairs, multipliers, edge, first, own[0])
    for j in range(own.shape[1]):
        own[0, j] += dual_constant
    return with_edges(handle.scores, edge), _with_costs(handle.machines, cost, final, owing)


@kernel
def reparametrise(handle, emission, edge_at, classes, multipliers):
    """Scores, machines and an emission (T, S) with multipliers (M,) in them; edge_at (T,) gets the rows of these scores of steps."""
    scores, own = handle.scores, emission.copy()
    pairs = _pairs(edge_at, classes, len(scores.edge), len(handle.machines.table))
    edge = np.full((len(pairs), *scores.edge.shape[1:]), FORBIDDEN)
    scores, machines = _move(handle, pairs, multipliers, edge, emission[0], own)
    for m in range(len(multipliers)):
        machines.sums[m, LEAST] = multipliers[m] != 0
    return scores, machines, own


@subroutine
def with_edges(scores, edge):
    """The scores with others of steps."""
    return Scores(scores.node, edge, scores.which, scores.base, scores.labels)


@subroutine
def _with_costs(machines, cost, final, owing):
    """The machines with new costs, and without ranges of multipliers.

    In those of `reparametrise`, the least multiplier of a sum with a multiplier is greater than the greatest.
    """
    return Machines(
        *(machines.symbols, machines.table, machines.layout, machines.next_state, cost, final),
        *(machines.begin, machines.event, owing, machines.weight, np.zeros_like(machines.sums)),
        *(machines.mark, machines.penalty, machines.violations, machines.last),
    )
