# mypy: allow-untyped-defs
"""Local search by changes of one token, one run or one border; the first improvement is accepted."""

from ilpinfer.kernels.evolution import VALUED, copy, full, record, value
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.runs import begins, put, shift_back, shift_on

DONE, WORKED, FULL = 0, 1, 2
"""Why `improve` has stopped: no change is an improvement, the work is done, or there is no room for joint states or
labellings.
"""
TOKEN, SINCE, MOVE = 0, 1, 2
"""Places in `position`: the current token, the number of tokens since the last improvement, and the next change."""


@subroutine
def _better(chain, machines, individuals, first, last, weight, counts):
    """Evaluate individual 1, changed from `first` to `last`: 1 if it replaces individual 0, -1 if there is no room."""
    total, breaks = individuals.total, individuals.breaks
    if not value(chain, machines, individuals, 1, first, last, counts):
        return -1
    better = total[1] - weight * breaks[1] > total[0] - weight * breaks[0]
    if better:
        copy(individuals, 0, 1)
    else:
        copy(individuals, 1, 0)
    return 1 if better else 0


@kernel
def improve(chain, machines, individuals, runs, weight, records, counts, position, work):
    """Improve individual 0 until no change is better; individual 1 is a copy for trials. Parameters as in `evolve`."""
    label = individuals.label
    T, K, stop = label.shape[1], chain.pool.shape[2], counts[VALUED] + work
    while position[SINCE] < T:
        if counts[VALUED] >= stop:
            return WORKED
        if full(machines, records, 1, counts, T):
            return FULL
        t, improved = position[TOKEN], False
        y = label[0]
        end = t + 1
        while not begins(y, end, runs[0]):
            end += 1
        starts = begins(y, t, runs[0])
        for move in range(position[MOVE], 2 * K + 2):
            k = move % K if move < 2 * K else 0
            first, last = t, t
            if move < K:
                if k == y[t]:
                    continue
                label[1, t] = k
            elif move < 2 * K:
                if not starts or end == t + 1 or k == y[t]:
                    continue
                first, last = put(label[1], t, end, k, runs)
            elif not starts or t == 0:
                continue
            elif move == 2 * K:
                first, last = shift_back(label[1], t, runs)
            else:
                first, last = shift_on(label[1], t, runs)
            result = _better(chain, machines, individuals, first, last, weight, counts)
            if result < 0:
                copy(individuals, 1, 0)
                position[MOVE] = move
                return FULL
            if result:
                improved = True
                record(individuals, 0, records, counts)
                break
        position[MOVE] = 0
        position[SINCE] = 0 if improved else position[SINCE] + 1
        if not improved:
            position[TOKEN] = (t + 1) % T
    return DONE
