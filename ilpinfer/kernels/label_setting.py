# mypy: allow-untyped-defs
"""Label setting: prefixes of labellings that can still reach a floor are extended token by token; those with equal keys
are merged.

The key of a prefix is its last state and the states of the active machines, some bits for each. Its reach is an upper bound on the
labellings that begin with it, from the scores and these machines' costs so far. A search for one labelling keeps the best prefix of a
key. A graph keeps every step into a key, so that it holds all labellings that reach the floor.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT
from ilpinfer.kernels.charges import step_of
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.joint_recursion import UNFILLED, enter_all
from ilpinfer.kernels.keys import places_of, slot_of
from ilpinfer.kernels.prefixes import (
    CUT,
    EDGES,
    KEPT,
    MADE,
    NEXT,
    ROOM,
    STEPS,
    TOKEN,
    begin,
    drop_dominated,
    keep_copies,
    more_slots,
    narrow,
    no_prefixes,
    reserve,
)
from ilpinfer.kernels.recursion import DEAD
from ilpinfer.kernels.tables import ARC, FINAL, STRIDE, WIDTH

DONE, NONE, STOPPED, FULL = 0, -1, -2, -3
"""All prefixes are extended; no labelling reaches the floor; the limit of work is reached; there is no room for more
prefixes.
"""
FIRST_STEP = UNITS_PER_NAT * 3 // 2
"""Distance of the first floor below the bound, grid units."""
FEW_STEPS = 10_000
"""Steps of a search under a floor, up to which the next floor is further down whatever the last one has added."""
MOST_EDGES = 2**23
"""Steps of the largest graph, where there is a limit of work."""
NO_LIMIT = 2**62
MOST_KEPT = 2**17
"""Events that are kept, after which they are read anew."""
MOST_APART = 12
"""Machines that read the state before and have no events: asking them takes less time than finding the events of each pair of states."""


class Options(NamedTuple):
    """Options of label setting.

    Parameters
    ----------
    floor : prefixes that cannot reach it are left out; grid units
    work : limit of steps
    indexed : whether slots are indexed by the key itself
    graph : whether all steps are kept
    copies : number of prefixes of a key that are kept
    width : number of prefixes of a length that are kept, those with the highest reach
    budget : the most that an account of costs may be, grid units; -1 for no account
    cost, final : costs of the account, as those of `Machines`
    inside : (M,) whether `joint` holds the costs of a machine, which then counts for the account alone
    """

    floor: int
    work: int
    indexed: bool
    graph: bool
    copies: int
    width: int
    budget: int
    cost: Integers
    final: Integers
    inside: Integers


WIDEST = 2**40
"""A width that is no limit."""


@subroutine
def best_only(floor, work, indexed, graph):
    """The options without copies, width and budget."""
    none = np.empty(0, np.int64)
    return Options(floor, work, indexed, graph, 1, WIDEST, -1, none, none, none)


@subroutine
def look_ahead(edge, e, i, tail, row, base, rest, floor, values, found):
    """Fill values (B,) with upper bounds for each state that can follow state i, -1 for START, without the other machines; tail[row] (W,)
    has the best values from each state on, the first of which is `base`. Fill found (B,) with the places of those that reach the floor.

    Returns their number, and the best bound below the floor.
    """
    cut, count = FORBIDDEN, 0
    for b in range(len(values)):
        values[b] = rest + tail[row, base + b]
    for b in range(len(values) if i >= 0 else 0):
        values[b] += edge[e, i, b]
    for b in range(len(values)):
        cut = max(cut, values[b] if values[b] < floor else FORBIDDEN)
    for b in range(len(values)):
        found[count] = b
        count += values[b] >= floor
    return count, cut


@subroutine
def no_events(A):
    """Room for the events of a step at A machines, of which none are kept."""
    return np.empty(0, np.int32), np.empty((A + 2, 3), np.int32)


@subroutine
def keep_events(steps, A):
    """Room for the events of so many steps at A machines: where those of each step begin, -1 for unknown ones, and the events.

    The first row of a step has the end of its events; each of them has the place of a machine, its arc from state 0 and its width.
    """
    return np.full(steps, np.int32(-1)), np.empty((min(steps * (A + 1), MOST_KEPT) + A + 2, 3), np.int32)


@subroutine
def read_apart(machines, active, S):
    """The places of machines in `active` (A,) that are asked at each step: those that read the state before, while they are few, or all where
    there are no events. Events are the other machines'. Also returns the number of steps that these tell apart, of S states.
    """
    places, count, listed = np.empty(len(active), np.int64), 0, len(machines.begin) > 1
    for a in range(len(active)):
        if not listed or machines.layout[active[a], STRIDE]:
            places[count] = a
            count += 1
    if listed and count > MOST_APART:
        return places[:0], len(machines.begin) - 1
    return places[:count], len(machines.table) * S if listed else 0


@subroutine
def extend(handle, edge_at, classes, joint, active, recursion, options, places, followed, values, p, at):
    """Extend prefixes from position `at` on, until all are labellings (`DONE`), the limit of work is reached (`STOPPED`) or the arrays
    are full (`FULL`)."""
    completion, tail, total = recursion
    floor, work, indexed, graph = options.floor, options.work, options.indexed, options.graph
    copies, width, budget = options.copies, options.width, options.budget
    scores, machines = handle.scores, handle.machines
    symbols, table, layout = machines.symbols, machines.table, machines.layout
    next_state, cost, final = machines.next_state, machines.cost, machines.final
    first_event, event, penalty = machines.begin, machines.event, machines.penalty
    (kept, mine), used = followed, at[KEPT]
    reach, key, state, parent, slots, clock = p.reach, p.key, p.state, p.parent, p.slots, p.clock[0]
    edge, first_state, group, level = scores.edge, scores.base, p.group, p.level
    before, next_joint, kind, row_of = joint.before, joint.after, joint.kind, joint.row
    account_cost, account_final, inside = options.cost, options.final, options.inside
    T, S, B, A, listed = len(classes), edge.shape[1], scores.labels, len(active), len(first_event) > 1
    (apart, steps), found = read_apart(machines, active, S), np.empty(len(values), np.int64)
    pairs = steps == len(first_event) - 1
    where, place_of, joint_shift, joint_mask, words = places
    word, shift, mask, paid_word, paid_bit = where
    for a in apart:
        place_of[active[a]] = -1
    Q, state_mask = len(joint.final), (1 << joint_shift) - 1
    reads_before, joined = kind.shape[1] > 1, len(tail) > len(completion)
    others = ~(state_mask | joint_mask << joint_shift)
    h, count, edges, done, cut = at[NEXT], at[MADE], at[EDGES], at[STEPS], at[CUT]
    code = DONE
    for t in range(at[TOKEN], T):
        c, r, first, last = classes[t], row_of[t], level[t + 1], t == T - 1
        while h < first:
            if reach[h] < floor:
                if graph:
                    p.begin[h] = edges
                h += 1
                continue
            if done > work or (edges > MOST_EDGES and work < NO_LIMIT):
                code = STOPPED
            elif (
                count + B > len(reach)
                or (graph and edges + B > len(p.target))
                or (not indexed and 2 * (count - first + B) > len(slots))
            ):
                code = FULL
            if code != DONE:
                break
            i, q, here = (
                (key[h, 0] & state_mask if t else -1),
                key[h, 0] >> joint_shift & joint_mask,
                reach[h],
            )
            rest, base = here - (completion[(t - 1) * Q + q, i] if t else total), (first_state[i] if t else 0)
            row, k = T if reads_before else T + t * Q + q if joined else t, before[i + 1]
            if reads_before or tail[row, 0] == UNFILLED:
                enter_all(joint, q, r, k, completion, t, tail, row)
            reaching, lower = look_ahead(edge, edge_at[t], i, tail, row, base, rest, floor, values, found)
            cut = max(cut, lower)
            if graph:
                p.begin[h] = edges
            done += B
            for n in range(reaching):
                value, j = values[found[n]], base + found[n]
                for w in range(words):
                    key[count, w] = key[h, w]
                key[count, 0] = key[h, 0] & others | j | np.int64(next_joint[q, kind[r, k, j]]) << joint_shift
                one = end = 0
                if listed:
                    step = step_of(S, B, c, i + 1, j)
                    place = step if pairs else c * S + j
                    one = kept[place] if len(kept) else -1
                    if one < 0:
                        if used + A + 1 >= len(mine):
                            used = 0
                            for other in range(len(kept)):
                                kept[other] = -1
                        one, end = used, used + 1
                        for e in range(first_event[step], first_event[step + 1]):
                            a = place_of[event[e, 0]]
                            mine[end, 0], mine[end, 1] = a, event[e, 1]
                            end += a >= 0
                        for e in range(one + 1, end):
                            m = active[mine[e, 0]]
                            mine[e, 1] += layout[m, ARC]
                            mine[e, 2] = layout[m, WIDTH]
                        mine[one, 0] = end
                        if len(kept):
                            kept[place], used = one, end
                    one, end = one + 1, int(mine[one, 0])
                spent, account, close = 0, 0, end + len(apart)
                for e in range(one, close + A if last else close):
                    if e >= close:
                        a = np.int64(e - close)
                        m, arc, ways = active[a], np.int64(-1), np.int64(0)
                    elif e < end:
                        a, arc, ways = np.int64(mine[e, 0]), np.int64(mine[e, 1]), np.int64(mine[e, 2])
                        m = active[a]
                    else:
                        a = apart[e - end]
                        m = active[a]
                        ways = layout[m, WIDTH]
                        arc = layout[m, ARC] + symbols[table[c, m] + (i + 1) * layout[m, STRIDE] + j]
                    there = key[count, word[a]] >> shift[a] & mask[a]
                    if arc < 0:
                        at_end = layout[m, FINAL] + there
                        more, actual = final[at_end], account_final[at_end] if budget >= 0 else 0
                    else:
                        arc += there * ways
                        more, actual = cost[arc], account_cost[arc] if budget >= 0 else 0
                        key[count, word[a]] ^= (there ^ np.int64(next_state[arc])) << shift[a]
                    if more and paid_word[a] >= 0:
                        paid = key[count, paid_word[a]] & paid_bit[a]
                        more = actual = 0 if paid else penalty[m]
                        key[count, paid_word[a]] |= paid_bit[a]
                    if budget >= 0:
                        account = min(account + actual, HARD)
                        if inside[m]:
                            more = 0
                    spent = min(spent + more, HARD)
                    if value - spent < floor:
                        break
                done += A + 4
                value -= spent
                if value < floor:
                    cut = max(cut, value)
                    continue
                if budget >= 0:
                    key[count, words] = key[h, words] + account
                    if key[count, words] > budget:
                        continue
                if graph and last:
                    for w in range(words):
                        key[count, w] = 0
                place = key[count, 0] if indexed else slot_of(slots, key, count, first, clock)
                other = slots[place] - clock
                if graph:
                    if other < first:
                        other = count
                        slots[place], reach[other], state[other] = clock + other, value, j
                        count += 1
                    reach[other] = max(reach[other], value)
                    p.target[edges], p.label[edges], p.worth[edges] = other, j, value - here
                    edges += 1
                    continue
                if copies == 1 and other >= first:
                    if value <= reach[other]:
                        continue
                    reach[other] = FORBIDDEN
                if copies == 1 or other < first:
                    slots[place], other = clock + count, count
                reach[count], state[count], parent[count], group[count] = value, j, h, other
                count += 1
            h += 1
        if code != DONE:
            at[TOKEN] = t
            break
        if copies > 1:
            keep_copies(p, first, count, copies)
        elif budget >= 0:
            drop_dominated(p, first, count)
        if count - first > width:
            cut = max(cut, narrow(p, first, count, width))
        level[t + 2] = count
    at[NEXT], at[MADE], at[EDGES], at[STEPS], at[CUT], at[KEPT] = h, count, edges, done, cut, used
    return code


@subroutine
def go_on(handle, edge_at, classes, joint, active, recursion, options, places, followed, values, p, at):
    """As `extend`, with more room where it is needed; the code, and the prefixes."""
    code = FULL
    while code == FULL:
        p = reserve(p, at, len(values), options.indexed, options.graph)
        if at[TOKEN] == 0:
            p.reach[0], p.state[0], p.parent[0] = recursion[2], -1, -1
            for w in range(p.key.shape[1]):
                p.key[0, w] = 0
        code = extend(
            handle, edge_at, classes, joint, active, recursion, options, places, followed, values, p, at
        )
    return code, p


@subroutine
def _next_step(step, steps, before):
    """The distance to the next floor, after one that took so many steps, and one before it; work should grow by small factors only."""
    if steps < FEW_STEPS:
        return step * 5 // 2
    return max(step * 5 // (1 + max(steps // max(before, 1), 1)), FIRST_STEP // 4)


@subroutine
def set_labels(handle, edge_at, classes, joint, active, recursion, bound, least, limits, p):
    """The first of the best labellings by scores, joint automaton and the machines in `active` (A,).

    Only prefixes that can reach a floor are extended; the floor is lowered until a labelling reaches it.

    Parameters
    ----------
    handle : `Handle`
    edge_at : (T,) edge scores of the step into each token
    classes : (T,) of machines
    recursion : completion, tail, and the best value without the machines in `active`, of `complete`, or of `complete_jointly`, whose tails
        are filled here
    bound : upper bound on all labellings
    least : labellings with a lower value are left out; grid units
    limits : limit of steps, and slots of the largest direct index
    p : room for prefixes

    Returns
    -------
    number of the labelling in `p`, `NONE` where none has a finite value of at least `least`, or `STOPPED`; its value or another bound on
    the best one; steps; p
    """
    T, S, A = len(classes), handle.scores.edge.shape[1], len(active)
    places, used = places_of(handle.machines, active, S, len(joint.final))
    values, at = np.empty(handle.scores.labels, np.int64), np.zeros(7, np.int64)
    size = 1 << used
    work, indexed = limits[0], places[4] == 1 and size <= limits[1]
    if len(p.slots) < (size if indexed else ROOM):
        p = more_slots(p, size if indexed else ROOM)
    _, steps = read_apart(handle.machines, active, S)
    step, before, spent, followed = FIRST_STEP, np.int64(0), np.int64(0), no_events(A)
    while True:
        if len(followed[0]) == 0 and 0 < steps <= max(at[STEPS], FEW_STEPS):
            followed = keep_events(steps, A)
        floor = max(bound - step, least, DEAD)
        p = begin(p, at, recursion[2], places[4])
        options = best_only(floor, work, indexed, False)
        code, p = go_on(
            handle, edge_at, classes, joint, active, recursion, options, places, followed, values, p, at
        )
        p.clock[0] += at[MADE]
        if code == STOPPED:
            return STOPPED, bound, at[STEPS], p
        end = NONE
        for h in range(p.level[T], at[MADE]):
            if p.reach[h] >= floor and (end < 0 or p.reach[h] > p.reach[end]):
                end = h
        if end >= 0:
            return end, p.reach[end], at[STEPS], p
        bound, step = at[CUT], _next_step(step, at[STEPS] - before, spent)
        before, spent = at[STEPS], at[STEPS] - before
        if bound < max(DEAD, least):
            return NONE, bound if bound >= DEAD else FORBIDDEN, at[STEPS], p


@kernel
def room_for_prefixes(machines, active, S, Q, T, account):
    """An empty record for keys of these machines, and the position before the first token."""
    p, at = no_prefixes(T), np.zeros(7, np.int64)
    places, _ = places_of(machines, active, S, Q)
    return begin(more_slots(p, ROOM), at, 0, places[4] + account), at


@kernel
def advance(handle, edge_at, classes, joint, active, recursion, options, p, at):
    """Extend prefixes up to the limit of steps; `DONE` or `STOPPED`, and the prefixes."""
    places = places_of(handle.machines, active, handle.scores.edge.shape[1], len(joint.final))[0]
    values = np.empty(handle.scores.labels, np.int64)
    followed = keep_events(read_apart(handle.machines, active, handle.scores.edge.shape[1])[1], len(active))
    at[KEPT] = 0
    return go_on(handle, edge_at, classes, joint, active, recursion, options, places, followed, values, p, at)
