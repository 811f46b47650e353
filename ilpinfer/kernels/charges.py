# mypy: allow-untyped-defs
"""The cost of a labelling by machines. Where there are events, only those along the labelling are read.

Loops over events read arrays that were taken out of their records before: a call that passes a record, or a field that is read
in the loop, costs more than the work on an event.
"""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.recursion import DEAD
from ilpinfer.kernels.tables import ARC, FINAL, STRIDE, WIDTH


@subroutine
def room_for(machines):
    """Work space of `charge_labelling`: the active machines; -1 in the other rows."""
    return np.full((4, len(machines.layout)), -1)


@subroutine
def step_of(S, B, c, before, j):
    """The place among events of the step into state j at a token of class c; `before` is the state before plus 1, or 0."""
    return (c * (B + 1) + before) * B + j if S == B else c * S + j


@subroutine
def _activate(machines, m, mask, active, count):
    """Activate a machine, and with it the others of a rule that counts once."""
    mark = machines.mark[m]
    for k in range(m if mark < 0 else 0, m + 1 if mark < 0 else len(mask)):
        if not mask[k] and (k == m or machines.mark[k] == mark):
            mask[k] = 2
            active[count] = k
            count += 1
    return count


@subroutine
def _charge(machines, cost, m, mask, room, count, total):
    """Add the cost of machine m, above 0, and activate the machine; returns the number of active machines, and the total cost."""
    count, mark = _activate(machines, m, mask, room[0], count), machines.mark[m]
    if mark >= 0:
        if room[3, mark] >= 0:
            return count, total
        room[3, mark] = m
    return count, min(total + cost, HARD)


@subroutine
def charge_labelling(scores, machines, classes, path, mask, room, count):
    """The cost of a labelling by the machines that are not active; machines with a cost become active.

    Parameters
    ----------
    classes : (T,) of machines
    path : (T,) states
    mask : (M,) odd for active machines
    room : of `room_for`; `count` machines are active

    Returns
    -------
    the number of active machines now, and the cost, at most `HARD`
    """
    layout, final, next_state, price = machines.layout, machines.final, machines.next_state, machines.cost
    begin, event, symbols, table = machines.begin, machines.event, machines.symbols, machines.table
    S, B, listed = scores.edge.shape[1], scores.labels, len(begin) > 1
    active, state, visited, paid = room[0], room[1], room[2], room[3]
    before, touched, now, total = 0, 0, count, np.int64(0)
    for t in range(len(path)):
        j = path[t]
        step = step_of(S, B, classes[t], before, j)
        first, end = (begin[step], begin[step + 1]) if listed else (0, len(layout))
        for e in range(first, end):
            if listed:
                m, symbol = np.int64(event[e, 0]), np.int64(event[e, 1])
            else:
                m, symbol = (
                    np.int64(e),
                    np.int64(symbols[table[classes[t], e] + before * layout[e, STRIDE] + j]),
                )
            if mask[m] & 1:
                continue
            if state[m] < 0:
                state[m] = 0
                visited[touched] = m
                touched += 1
            arc = layout[m, ARC] + state[m] * layout[m, WIDTH] + symbol
            state[m] = next_state[arc]
            if price[arc]:
                now, total = _charge(machines, price[arc], m, mask, room, now, total)
        before = j + 1
    for owing in range(len(machines.owing)):
        m = np.int64(machines.owing[owing])
        if state[m] < 0 and not mask[m] & 1:
            now, total = _charge(machines, final[layout[m, FINAL]], m, mask, room, now, total)
    for v in range(touched):
        m = visited[v]
        at_end = final[layout[m, FINAL] + state[m]]
        if at_end:
            now, total = _charge(machines, at_end, m, mask, room, now, total)
        state[m] = -1
    for a in range(count, now):
        mask[active[a]] = 1
        if machines.mark[active[a]] >= 0:
            paid[machines.mark[active[a]]] = -1
    return now, total


@kernel
def value_states(scores, machines, emission, classes, path, broken):
    """The score of a labelling without machines, and its cost; fills broken (M,) with the machines that have a cost, in order.

    Parameters
    ----------
    emission, classes : of `decoding.decode_ground`
    path : (T,) states

    Returns
    -------
    score, `FORBIDDEN` where a step is; cost, at most `HARD`; number of machines with a cost
    """
    total, i = 0, 0
    for t in range(len(path)):
        j = path[t]
        gain = emission[t, j] + (scores.edge[classes[0, t], i, j - scores.base[i]] if t else 0)
        total = FORBIDDEN if gain < DEAD or total < DEAD else total + gain
        i = j
    mask, room = np.zeros(len(machines.layout), np.int64), room_for(machines)
    count, cost = charge_labelling(scores, machines, classes[1], path, mask, room, np.int64(0))
    for a in range(count):
        broken[a] = room[0, a]
    return total, cost, count
