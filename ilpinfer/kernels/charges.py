# mypy: allow-untyped-defs
"""The cost of a labelling by machines; only events along the labelling are read."""

import numpy as np

from formulations.grid import HARD
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.tables import ARC, FINAL, WIDTH


@subroutine
def _charge(cost, m, mask, active, count, total):
    """Add the cost of machine m, and activate the machine; returns the number of active machines, and the total cost."""
    if cost == 0:
        return count, total
    if not mask[m]:
        mask[m] = 2
        active[count] = m
        count += 1
    return count, min(total + cost, HARD)


@subroutine
def charge_labelling(handle, classes, path, mask, room, count):
    """The cost of a labelling by the machines that are not active; machines with a cost become active.

    Parameters
    ----------
    classes : (T,) of machines
    mask : (M,) odd for active machines
    room : (3, M) rows: the active machines, `count` of them; -1; work space

    Returns
    -------
    the number of active machines now, and the cost, at most `HARD`
    """
    machines, K = handle.machines, handle.scores.edge.shape[1]
    begin, event, layout, final = machines.begin, machines.event, machines.layout, machines.final
    active, state, visited = room[0], room[1], room[2]
    before, touched, now, total = 0, 0, count, np.int64(0)
    for t in range(len(path)):
        c, j = classes[t], path[t]
        step = (c * (K + 1) + before) * K + j
        for e in range(begin[step], begin[step + 1]):
            m = np.int64(event[e, 0])
            if mask[m] & 1:
                continue
            if state[m] < 0:
                state[m] = 0
                visited[touched] = m
                touched += 1
            arc = layout[m, ARC] + state[m] * layout[m, WIDTH] + event[e, 1]
            state[m] = machines.next_state[arc]
            now, total = _charge(machines.cost[arc], m, mask, active, now, total)
        before = j + 1
    for owing in range(len(machines.owing)):
        m = np.int64(machines.owing[owing])
        if state[m] < 0 and not mask[m] & 1:
            now, total = _charge(final[layout[m, FINAL]], m, mask, active, now, total)
    for v in range(touched):
        m = visited[v]
        now, total = _charge(final[layout[m, FINAL] + state[m]], m, mask, active, now, total)
        state[m] = -1
    for v in range(count, now):
        mask[active[v]] = 1
    return now, total
