# mypy: allow-untyped-defs
"""Label setting: prefixes of labellings that can still reach a floor are extended token by token; those with equal keys
are merged.

The key of a prefix is its last state and the states of the active machines, some bits for each. Its reach is an upper bound on the
labellings that begin with it, from the scores and these machines' costs so far. A search for one labelling keeps the best prefix of a
key. A graph keeps every step into a key, so that it holds all labellings that reach the floor.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.ordering import descending, nth_smallest
from ilpinfer.kernels.recursion import DEAD
from ilpinfer.kernels.tables import ARC, FINAL, STATES, STRIDE, WIDTH

DONE, NONE, STOPPED, FULL = 0, -1, -2, -3
"""All prefixes are extended; no labelling reaches the floor; the limit of work is reached; there is no room for more
prefixes.
"""
TOKEN, NEXT, MADE, EDGES, STEPS, CUT = range(6)
"""Progress of label setting: the token, the next prefix to extend, the numbers of prefixes and of steps kept, the work so far, and the
best value that was left out."""
FIRST_STEP = UNITS_PER_NAT * 3 // 2
"""Distance of the first floor below the bound, grid units."""
BITS = 62
"""Bits of each word of a key that are used."""
WORD, SHIFT, MASK, PAID_WORD, PAID_BIT, ROW, READ = range(7)
"""Rows of `places`: the word of a key with a machine's state, the first bit, and the mask; the word, -1 for none, and the bit of a rule
that counts once; for the current prefix, the first arc of the machine's state, and its symbols."""
ROOM = 1024
"""Initial number of prefixes and of slots, a power of 2."""
MOST_EDGES = 2**23
"""Steps of the largest graph, where there is a limit of work."""
NO_LIMIT = 2**62


class Prefixes(NamedTuple):
    """Prefixes of all lengths, and an index by key for those of one length; in a graph, also the steps between them.

    Prefixes of t tokens are those from level[t] to level[t + 1]; number 0 is the empty prefix. Prefixes are in the order of their label
    ids, but for those of a graph, which have no parents and where all labellings end in one prefix.

    Parameters
    ----------
    reach : (N,) grid units; FORBIDDEN where a better one with the same key came later
    key : (N, W) the state, the joint state, and the state of each active machine, at the bits of `places_of`; with an account of
        costs, these are the last word
    state, parent : (N,)
    group : (N,) the first prefix with the same key, where several are kept
    level : (T + 2,)
    slots : clock + number of a prefix, a power of 2 of them; those below clock + the first number of a length are empty
    clock : (1,) at least the largest number that earlier calls have left in the slots
    begin : (N + 1,) where the steps from a prefix begin, in the order of states; those of the next one follow
    target, label, worth : (E,) of a step: the prefix that it leads to, its state, and its loss, at most 0
    ahead : (N,) the least loss from a prefix to the end, FORBIDDEN where no labelling leads there
    """

    reach: Integers
    key: Integers
    state: Small
    parent: Small
    group: Small
    level: Integers
    slots: Integers
    clock: Integers
    begin: Small
    target: Small
    label: Small
    worth: Integers
    ahead: Integers


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
def no_prefixes(T):
    """A record without room."""
    none, small = np.empty(0, np.int64), np.empty(0, np.int32)
    nodes = none, np.empty((0, 1), np.int64), small, small, small
    level, clock = np.zeros(T + 2, np.int64), np.zeros(1, np.int64)
    return Prefixes(*nodes, level, none, clock, small, small, small, none, none)


@subroutine
def _more(array, size):
    """A larger array that begins with the numbers of this one."""
    larger = np.empty(size, array.dtype)
    for k in range(len(array)):
        larger[k] = array[k]
    return larger


@subroutine
def _more_prefixes(p, more):
    """The same prefixes with at least twice the room, and room for `more`."""
    old, words = p.key.shape
    size = 2 * old + more + ROOM
    key = np.empty((size, words), np.int64)
    for h in range(old):
        for w in range(words):
            key[h, w] = p.key[h, w]
    nodes = _more(p.reach, size), key, _more(p.state, size), _more(p.parent, size), _more(p.group, size)
    begin, ahead = _more(p.begin, size + 1), np.empty(size, np.int64)
    return Prefixes(*nodes, p.level, p.slots, p.clock, begin, p.target, p.label, p.worth, ahead)


@subroutine
def _with_words(p, words):
    """Room for prefixes whose keys have `words` words."""
    if p.key.shape[1] == words:
        return p
    nodes = p.reach, np.empty((len(p.reach), words), np.int64), p.state, p.parent, p.group
    return Prefixes(*nodes, p.level, p.slots, p.clock, p.begin, p.target, p.label, p.worth, p.ahead)


@subroutine
def _more_slots(p, least):
    """The same prefixes with at least `least` slots, all empty."""
    size = ROOM
    while size < least:
        size *= 2
    nodes, slots = (p.reach, p.key, p.state, p.parent, p.group), np.zeros(size, np.int64)
    return Prefixes(*nodes, p.level, slots, p.clock, p.begin, p.target, p.label, p.worth, p.ahead)


@subroutine
def _more_steps(p, more):
    """The same graph with at least twice the room for steps, and room for `more`."""
    nodes, size = (p.reach, p.key, p.state, p.parent, p.group), 2 * len(p.target) + more + 4 * ROOM
    steps = _more(p.target, size), _more(p.label, size), _more(p.worth, size)
    return Prefixes(*nodes, p.level, p.slots, p.clock, p.begin, *steps, p.ahead)


@subroutine
def slot_of(slots, keys, h, first, clock):
    """The slot of prefix h's key in an open hash table, where the prefixes of this length begin at `first`."""
    mask, words, spread = len(slots) - 1, keys.shape[1], np.uint64(0)
    for w in range(words):
        spread = (spread ^ np.uint64(keys[h, w])) * np.uint64(0x9E3779B97F4A7C15)
        spread ^= spread >> np.uint64(32)
    place = np.int64(spread >> np.uint64(2)) & mask
    while slots[place] >= clock + first:
        other, same = slots[place] - clock, True
        for w in range(words):
            same &= keys[other, w] == keys[h, w]
        if same:
            break
        place = (place + 1) & mask
    return place


@subroutine
def _reserve(p, at, more, indexed, graph):
    """The same prefixes with room for the successors of another one."""
    first, count = p.level[at[TOKEN] + 1], at[MADE]
    if count + more > len(p.reach):
        p = _more_prefixes(p, more)
    if graph and at[EDGES] + more > len(p.target):
        p = _more_steps(p, more)
    if not indexed and 2 * (count - first + more) > len(p.slots):
        p = _more_slots(p, 4 * (count - first + more))
        for h in range(first, count):
            if p.reach[h] > DEAD:
                place = slot_of(p.slots, p.key, h, first, p.clock[0])
                if p.slots[place] < p.clock[0] + first:
                    p.slots[place] = p.clock[0] + h
    return p


@subroutine
def look_ahead(scores, e, i, tail, t, rest, floor, values):
    """Fill values (B,) with upper bounds for each state that can follow state i, -1 for START, at token t, without the other
    machines.

    Returns the best bound below the floor.
    """
    cut, base = FORBIDDEN, scores.base[i] if i >= 0 else 0
    for b in range(len(values)):
        value = rest + tail[t, base + b] + (scores.edge[e, i, b] if i >= 0 else 0)
        values[b] = value
        cut = max(cut, value if value < floor else FORBIDDEN)
    return cut


@subroutine
def _keep_copies(p, first, count, copies):
    """Keep the best `copies` of prefixes with the same key; of equal ones, the first."""
    worth, number = np.empty(count - first, np.int64), np.zeros(count - first, np.int64)
    for h in range(first, count):
        worth[h - first] = p.reach[h]
    for c in descending(worth, count - first):
        of = p.group[first + c] - first
        number[of] += 1
        if number[of] > copies:
            p.reach[first + c] = FORBIDDEN


@subroutine
def _drop_dominated(p, first, count):
    """Drop prefixes where another one with the same states costs no more and has at least the same score without costs."""
    words, size = p.key.shape[1] - 1, 16
    while size < 2 * (count - first):
        size *= 2
    keys, score = np.empty((count - first, words), np.int64), np.empty(count - first, np.int64)
    for h in range(first, count):
        score[h - first] = p.reach[h] + p.key[h, words] if p.reach[h] > DEAD else FORBIDDEN
        for w in range(words):
            keys[h - first, w] = p.key[h, w]
    slots = np.full(size, -1, np.int64)
    for c in descending(score, count - first):
        if p.reach[first + c] <= DEAD:
            continue
        place = slot_of(slots, keys, c, 0, 0)
        cheapest = slots[place]
        if cheapest >= 0 and p.key[first + cheapest, words] <= p.key[first + c, words]:
            p.reach[first + c] = FORBIDDEN
        else:
            slots[place] = c


@subroutine
def _narrow(p, first, count, width):
    """Keep the `width` prefixes with the highest reach, of equal ones the first; returns the highest reach that is left out."""
    left, cut = 0, FORBIDDEN
    for h in range(first, count):
        left += p.reach[h] > DEAD
    if left <= width:
        return cut
    threshold, equal = nth_smallest(p.reach, first, count, count - first - width), width
    for h in range(first, count):
        equal -= p.reach[h] > threshold
    for h in range(first, count):
        if p.reach[h] == threshold and equal:
            equal -= 1
        elif p.reach[h] <= threshold:
            cut = max(cut, p.reach[h])
            p.reach[h] = FORBIDDEN
    return cut


@subroutine
def extend(handle, edge_at, classes, joint, active, recursion, options, places, values, p, at):
    """Extend prefixes from position `at` on, until all are labellings (`DONE`), the limit of work is reached (`STOPPED`) or the arrays
    are full (`FULL`)."""
    completion, tail, total = recursion
    floor, work, indexed, graph = options.floor, options.work, options.indexed, options.graph
    copies, width, budget = options.copies, options.width, options.budget
    scores, machines = handle.scores, handle.machines
    symbols, table, layout = machines.symbols, machines.table, machines.layout
    next_state, cost, final = machines.next_state, machines.cost, machines.final
    reach, key, state, parent, slots, clock = p.reach, p.key, p.state, p.parent, p.slots, p.clock[0]
    T, B, A = len(classes), scores.labels, len(active)
    where, joint_shift, joint_mask, words = places
    word, shift, mask, paid_word, paid_bit, row, read = where
    state_mask = (1 << joint_shift) - 1
    h, count, edges, done, cut = at[NEXT], at[MADE], at[EDGES], at[STEPS], at[CUT]
    code, marked = DONE, False
    for a in range(A):
        marked |= paid_word[a] >= 0
    for t in range(at[TOKEN], T):
        c, kind, first, last = classes[t], joint.kind[joint.row[t]], p.level[t + 1], t == T - 1
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
            rest, base = here - (completion[q, t - 1, i] if t else total), (scores.base[i] if t else 0)
            cut = max(cut, look_ahead(scores, edge_at[t], i, tail[q], t, rest, floor, values))
            for a in range(A):
                m = active[a]
                row[a] = layout[m, ARC] + (key[h, word[a]] >> shift[a] & mask[a]) * layout[m, WIDTH]
                read[a] = table[c, m] + (i + 1) * layout[m, STRIDE]
            if graph:
                p.begin[h] = edges
            done += B
            for b in range(B):
                value, j = values[b], base + b
                if value < floor:
                    continue
                key[count, 0] = j | np.int64(joint.after[q, kind[j]]) << joint_shift
                for w in range(1, words):
                    key[count, w] = 0
                if marked:
                    for a in range(A):
                        if paid_word[a] >= 0:
                            key[count, paid_word[a]] |= key[h, paid_word[a]] & paid_bit[a]
                spent, account = 0, 0
                for a in range(A):
                    arc = row[a] + symbols[read[a] + j]
                    key[count, word[a]] |= np.int64(next_state[arc]) << shift[a]
                    more, actual = cost[arc], 0
                    if budget >= 0:
                        actual = options.cost[arc]
                    if last:
                        end = layout[active[a], FINAL] + next_state[arc]
                        more = min(more + final[end], HARD)
                        if budget >= 0:
                            actual = min(actual + options.final[end], HARD)
                    if marked and paid_word[a] >= 0 and more:
                        paid = key[count, paid_word[a]] & paid_bit[a]
                        more = actual = 0 if paid else machines.penalty[active[a]]
                        key[count, paid_word[a]] |= paid_bit[a]
                    if budget >= 0:
                        account = min(account + actual, HARD)
                        if options.inside[active[a]]:
                            more = 0
                    spent = min(spent + more, HARD)
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
                reach[count], state[count], parent[count], p.group[count] = value, j, h, other
                count += 1
            h += 1
        if code != DONE:
            at[TOKEN] = t
            break
        if copies > 1:
            _keep_copies(p, first, count, copies)
        elif budget >= 0:
            _drop_dominated(p, first, count)
        if count - first > width:
            cut = max(cut, _narrow(p, first, count, width))
        p.level[t + 2] = count
    at[NEXT], at[MADE], at[EDGES], at[STEPS], at[CUT] = h, count, edges, done, cut
    return code


@subroutine
def places_of(machines, active, S, Q):
    """Bits of a key for S states, Q joint states, states of the machines in `active` (A,), and marks; the state has the lowest.

    Returns the rows of `WORD`; first bit of the joint state in the first word, and its mask; number of words; bits of
    the last word.
    """
    where, word, used = np.empty((7, len(active)), np.int64), 0, _bits(S) + _bits(Q)
    for a in range(len(active)):
        need = _bits(machines.layout[active[a], STATES])
        if used + need > BITS:
            word, used = word + 1, 0
        where[WORD, a], where[SHIFT, a], where[MASK, a] = word, used, (1 << need) - 1
        where[PAID_WORD, a], where[PAID_BIT, a] = -1, 0
        used += need
        mark, known = machines.mark[active[a]], 0
        if mark >= 0:
            while machines.mark[active[known]] != mark:
                known += 1
            if known == a:
                if used + 1 > BITS:
                    word, used = word + 1, 0
                where[PAID_WORD, a], where[PAID_BIT, a] = word, 1 << used
                used += 1
            else:
                where[PAID_WORD, a], where[PAID_BIT, a] = where[PAID_WORD, known], where[PAID_BIT, known]
    return (where, _bits(S), (1 << _bits(Q)) - 1, word + 1), used


@subroutine
def _bits(values):
    """The number of bits for so many values."""
    bits = 0
    while 1 << bits < values:
        bits += 1
    return bits


@subroutine
def begin(p, at, total, words):
    """Begin with the empty prefix; the same prefixes, with keys of `words` words."""
    p = _with_words(p, words)
    at[TOKEN], at[NEXT], at[MADE], at[EDGES], at[CUT] = 0, 0, 1, 0, FORBIDDEN
    p.level[0], p.level[1] = 0, 1
    return p


@subroutine
def go_on(handle, edge_at, classes, joint, active, recursion, options, places, values, p, at):
    """As `extend`, with more room where it is needed; the code, and the prefixes."""
    code = FULL
    while code == FULL:
        p = _reserve(p, at, len(values), options.indexed, options.graph)
        if at[TOKEN] == 0:
            p.reach[0], p.state[0], p.parent[0] = recursion[2], -1, -1
            for w in range(p.key.shape[1]):
                p.key[0, w] = 0
        code = extend(handle, edge_at, classes, joint, active, recursion, options, places, values, p, at)
    return code, p


@subroutine
def set_labels(handle, edge_at, classes, joint, active, recursion, bound, least, limits, p):
    """The first of the best labellings by scores, joint automaton and the machines in `active` (A,).

    Only prefixes that can reach a floor are extended; the floor is lowered until a labelling reaches it.

    Parameters
    ----------
    handle : `Handle`
    edge_at : (T,) edge scores of the step into each token
    classes : (T,) of machines
    recursion : completion, tail, and the best value without the machines in `active`, of `recursion.complete_jointly`
    bound : upper bound on all labellings
    least : labellings with a lower value are left out; grid units
    limits : limit of steps, and slots of the largest direct index
    p : room for prefixes

    Returns
    -------
    number of the labelling in `p`, `NONE` where none has a finite value of at least `least`, or `STOPPED`; its value or another bound on
    the best one; steps; p
    """
    T = len(classes)
    places, used = places_of(handle.machines, active, handle.scores.edge.shape[1], len(joint.final))
    values, at = np.empty(handle.scores.labels, np.int64), np.zeros(6, np.int64)
    size = 1 << used
    work, indexed = limits[0], places[3] == 1 and size <= limits[1]
    if len(p.slots) < (size if indexed else ROOM):
        p = _more_slots(p, size if indexed else ROOM)
    step = FIRST_STEP
    while True:
        floor = max(bound - step, least, DEAD)
        p = begin(p, at, recursion[2], places[3])
        options = best_only(floor, work, indexed, False)
        code, p = go_on(handle, edge_at, classes, joint, active, recursion, options, places, values, p, at)
        p.clock[0] += at[MADE]
        if code == STOPPED:
            return STOPPED, bound, at[STEPS], p
        end = NONE
        for h in range(p.level[T], at[MADE]):
            if p.reach[h] >= floor and (end < 0 or p.reach[h] > p.reach[end]):
                end = h
        if end >= 0:
            return end, p.reach[end], at[STEPS], p
        bound, step = at[CUT], step * 5 // 2
        if bound < max(DEAD, least):
            return NONE, bound if bound >= DEAD else FORBIDDEN, at[STEPS], p


@subroutine
def build_graph(handle, edge_at, classes, joint, active, recursion, floor, work, p):
    """The graph of all labellings that can reach a floor.

    Parameters
    ----------
    handle, edge_at, classes, joint, active, recursion, p : as of `set_labels`
    floor : grid units
    work : limit of steps

    Returns
    -------
    `DONE` or `STOPPED`; the best value that was left out, below `DEAD` where the graph contains all labellings; steps; p
    """
    places, _ = places_of(handle.machines, active, handle.scores.edge.shape[1], len(joint.final))
    values, at = np.empty(handle.scores.labels, np.int64), np.zeros(6, np.int64)
    p = begin(p, at, recursion[2], places[3])
    options = best_only(floor, work, False, True)
    code, p = go_on(handle, edge_at, classes, joint, active, recursion, options, places, values, p, at)
    p.clock[0] += at[MADE]
    if code == DONE:
        _look_back(p, len(classes), at)
    return code, at[CUT], at[STEPS], p


@subroutine
def _look_back(p, T, at):
    """Fill `ahead` of each prefix of a graph."""
    last = p.level[T]
    p.begin[last] = at[EDGES]
    for h in range(last, at[MADE]):
        p.ahead[h] = 0
    for h in range(last - 1, -1, -1):
        best = FORBIDDEN
        for e in range(p.begin[h], p.begin[h + 1]):
            best = max(best, p.worth[e] + p.ahead[p.target[e]])
        p.ahead[h] = best if best > DEAD else FORBIDDEN


@subroutine
def spell(p, end, path):
    """Fill path (T,) with the states of a prefix."""
    for t in range(len(path) - 1, -1, -1):
        path[t] = p.state[end]
        end = p.parent[end]


@kernel
def room_for_prefixes(machines, active, S, Q, T, account):
    """An empty record for keys of these machines, and the position before the first token."""
    p, at = no_prefixes(T), np.zeros(6, np.int64)
    places, _ = places_of(machines, active, S, Q)
    return begin(_more_slots(p, ROOM), at, 0, places[3] + account), at


@kernel
def advance(handle, edge_at, classes, joint, active, recursion, options, p, at):
    """Extend prefixes up to the limit of steps; `DONE` or `STOPPED`, and the prefixes."""
    places = places_of(handle.machines, active, handle.scores.edge.shape[1], len(joint.final))[0]
    values = np.empty(handle.scores.labels, np.int64)
    return go_on(handle, edge_at, classes, joint, active, recursion, options, places, values, p, at)


@kernel
def spell_all(p, ends, paths):
    """Fill paths (n, T) with the states of prefixes (n,)."""
    for k in range(len(ends)):
        spell(p, ends[k], paths[k])
