"""Depth-first search under a limit; a prefix is told by its last state and by the joint state of all machines."""

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.follow import BROKEN, UNKNOWN, price_of, read_symbol
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.packed import HARD

_DEAD = FORBIDDEN // 2
DONE, WORKED, FULL = 0, 1, 2
"""Why `dive` has stopped: nothing is left, the work is done, or there is no room for joint states or for labellings."""
DEPTH, NODES, COMPLETE, STATES, CUT, BEST, WORK = 0, 1, 2, 3, 4, 5, 6
"""Places among the counts: token whose choices are tried, nodes expanded, labellings recorded, joint states met, whether
the branching factor or the discrepancies cut anything, the best value, and work done in nodes."""
_READ_AS_ONE = 64
"""Steps of machines that are read for a whole labelling in about the time of a node."""


@kernel
def _final(packed, flags, vector):  # type: ignore[no-untyped-def]
    """What machines in these states emit after the last token, HARD where a hard rule breaks."""
    total = 0
    for m in range(len(packed.rule)):
        price = price_of(packed, flags, m, packed.final[packed.state_at[m] + vector[m]], vector)
        if price == HARD:
            return HARD
        total += price
    return total


@kernel
def _read_step(late, t, before, now, vector):  # type: ignore[no-untyped-def]
    """What the machines that are evaluated on whole labellings charge for a step, HARD where a hard rule breaks."""
    packed, flags, _, _ = late
    total = 0
    for m in range(len(packed.rule)):
        symbol = packed.symbols[packed.table[m, t] + (before + 1) * packed.stride[m] + now]
        arc = packed.arc[m] + vector[m] * packed.width[m] + symbol
        vector[m] = packed.next_state[arc]
        price = price_of(packed, flags, m, packed.emits[arc], vector)
        if price == HARD:
            return HARD
        total += price
    return total


@kernel
def _read_prefix(late, state, following, length):  # type: ignore[no-untyped-def]
    """The same for the first tokens of the labelling on the stack; where that leaves the machines is kept."""
    vector, total, before = late[2], 0, -1
    vector[:] = 0
    for t in range(length):
        now = state[t, following[t] - 1]
        price = _read_step(late, t, before, now, vector)
        if price == HARD:
            return HARD
        total += price
        before = now
    return total


@kernel
def _read_last(late, t, before, now):  # type: ignore[no-untyped-def]
    """The same for a last step, and the end, after the tokens that were read."""
    packed, flags, kept, vector = late
    vector[:] = kept
    price = _read_step(late, t, before, now, vector)
    end = HARD if price == HARD else _final(packed, flags, vector)
    return HARD if end == HARD else price + end


@kernel
def _expand(lattice, machines, late, stack, t, source, limits, counts):  # type: ignore[no-untyped-def]
    """Put the choices for token t on the stack, best first; False where there is no room for joint states.

    Those for the last token make whole labellings, which all rules are held against.
    """
    node, pool, step, base, completion, shift = lattice
    packed, flags, (symbol, table, read), memo = machines
    _, after, cost, _ = memo
    state, joint, value, key, size, following, _ = stack
    floor, reach, width = limits
    last = t == len(node) - 1
    paid = _read_prefix(late, state, following, t) if last else 0
    before = state[t - 1, source] if t else -1
    from_joint, so_far = (joint[t - 1, source], value[t - 1, source]) if t else (0, 0)
    start, count = (base[before] if t else 0), 0
    counts[NODES] += 1
    counts[WORK] += 1 + (t * len(late[0].rule) // _READ_AS_ONE if last else 0)
    for b in range(pool.shape[2]):
        j = start + b
        gain = node[t, j] if t == 0 else node[t, j] + pool[step[t - 1], before, b]
        if gain < _DEAD or completion[t, j] < _DEAD:
            continue
        s = symbol[table[t], before + 1, b]
        if after[from_joint, s] == UNKNOWN and not read_symbol(
            packed, flags, read, memo, counts, from_joint, s
        ):
            return False
        if after[from_joint, s] == BROKEN:
            continue
        total = so_far + gain - cost[from_joint, s]
        if last:
            end = _final(packed, flags, memo[0][after[from_joint, s]].copy())
            rest = HARD if end == HARD or paid == HARD else _read_last(late, t, before, j)
            if rest == HARD:
                continue
            total -= end + paid + rest
        could = total + completion[t, j]
        if total - shift[t] < floor or could < reach:
            continue
        rank, place = (could if reach > _DEAD else total), count
        while place > 0 and key[t, place - 1] < rank:
            place -= 1
        if count == width:
            counts[CUT] = 1
            if place == width:
                continue
        else:
            count += 1
        for other in range(count - 1, place, -1):
            state[t, other], joint[t, other] = state[t, other - 1], joint[t, other - 1]
            value[t, other], key[t, other] = value[t, other - 1], key[t, other - 1]
        state[t, place], joint[t, place], value[t, place], key[t, place] = (
            j,
            after[from_joint, s],
            total,
            rank,
        )
    size[t] = count
    return True


@kernel
def dive(lattice, machines, late, stack, limits, counts, records, discrepancies, monotone, work):  # type: ignore[no-untyped-def]
    """Search depth first, best choices first, until `work` more is done: a node, or what takes as long.

    lattice : node, pool, step, base; completion (T, S), the best that can follow a state; and shift (T,), which is
        taken off the value of a prefix before the floor is asked
    machines : packed; marks of rules that are paid; symbols; memo, as in label setting
    late : packed, marks, and twice room for the states of the machines that are only evaluated on whole labellings
    stack : state, joint state, value and key (T, W) of the choices for each token, best first; how many there are (T,),
        which is next (T,), and how many discrepancies lead there (T,)
    limits : floor of values, of values with what can follow, and how many choices are kept; the first two rise
    records : values (N,), nodes (N,) and states (N, T) of labellings, each better than the one before
    discrepancies : how many choices may differ from the first, -1 for any number
    monotone : whether what is found raises the floor of values (1), or the one with what can follow (2), or none (0)
    """
    state, _, value, key, size, following, spent = stack
    values, at_node, paths = records
    T, stop = len(size), counts[WORK] + work
    floor, reach, width = limits
    shift = lattice[5]
    while counts[DEPTH] >= 0:
        if counts[WORK] >= stop:
            limits[0], limits[1] = floor, reach
            return WORKED
        t = counts[DEPTH]
        c = following[t]
        if c < 0:
            source = following[t - 1] - 1 if t else 0
            if not _expand(lattice, machines, late, stack, t, source, (floor, reach, width), counts):
                limits[0], limits[1] = floor, reach
                return FULL
            following[t] = 0
            continue
        used = (spent[t - 1] if t else 0) + (c > 0)
        too_many = discrepancies >= 0 and used > discrepancies
        if c >= size[t] or too_many or (reach > _DEAD and key[t, c] < reach):
            counts[CUT] |= c < size[t] and too_many
            following[t] = -1
            counts[DEPTH] -= 1
            continue
        following[t], spent[t] = c + 1, used
        if t < T - 1:
            counts[DEPTH] += 1
            continue
        total = value[t, c]
        if total <= counts[BEST]:
            continue
        if counts[COMPLETE] == len(values):
            following[t] = c
            limits[0], limits[1] = floor, reach
            return FULL
        path = paths[counts[COMPLETE]]
        for token in range(T):
            path[token] = state[token, following[token] - 1]
        values[counts[COMPLETE]], at_node[counts[COMPLETE]] = total, counts[NODES]
        counts[BEST] = total
        counts[COMPLETE] += 1
        if monotone == 1:
            floor = max(floor, total - shift[T - 1])
        elif monotone == 2:
            reach = max(reach, total + 1)
    limits[0], limits[1] = floor, reach
    return DONE
