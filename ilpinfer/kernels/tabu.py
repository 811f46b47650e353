# mypy: allow-untyped-defs
"""Tabu search over runs: each step makes the best of a few changes that undo no recent change, even if the labelling
gets worse.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.evolution import copy, full, record, value
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.runs import below, mutate, share

DONE, FULL = 0, 1
"""Why `search` has stopped: the steps or the work are done, or there is no room for joint states or for labellings."""
NOW, SINCE, EVER, KICKS = 0, 1, 2, 3
"""Places in `clock`: steps so far, steps since the last best fitness, that fitness, and number of random changes left.
"""
CURRENT, TOP, ONE, OTHER = 0, 1, 2, 3
"""Individuals: the current one, the fittest so far, and two candidates."""
WIDEST = 5
"""Windows reach up to 2^4 tokens to each side."""


class Memory(NamedTuple):
    """What a walk remembers, and work space for a window."""

    until: Integers  # (T, K) the step until which a label is tabu at a token
    clock: Integers  # see `NOW`
    score: Integers  # (W, K)
    back: Small  # (W, K) origins


class Manner(NamedTuple):
    """How steps are chosen; see `search.tabu.Tabu`."""

    candidates: int
    tenure: int
    patience: int
    kicks: int
    refits: float  # probability that a window is refitted
    shifts: float  # probability that a border shifts


@subroutine
def _best_label(chain, row, last, following, k):
    """Score of a window's labels up to `last`, the last one k, with the step to the label that follows."""
    node, pool, step, _ = chain
    if last + 1 == len(node):
        return row[k]
    return max(row[k] + pool[step[last], k, following] + node[last + 1, following], FORBIDDEN)


@kernel
def _refit(chain, y, seed, memory, now):
    """Forbid the label of a random token, and relabel a window around it by Viterbi without tabu labels.

    Returns the first and the last token of the window; the last is before the first where the window has no other labels.
    """
    node, pool, step, _ = chain
    until, _, score, back = memory
    T, K = len(y), pool.shape[2]
    at = below(seed, T)
    reach = np.int64(1) << below(seed, WIDEST)
    first, last = max(0, at - below(seed, reach)), min(T - 1, at + below(seed, reach))
    for t in range(first, last + 1):
        now_row, row = t - first, score[t - first]
        for k in range(K):
            row[k] = FORBIDDEN
            if until[t, k] > now or (t == at and k == y[t]):
                continue
            gain = node[t, k]
            if t > first:
                before = score[now_row - 1]
                best, which = FORBIDDEN, 0
                for i in range(K):
                    through = before[i] + pool[step[t - 1], i, k]
                    if through > best:
                        best, which = through, i
                back[now_row, k] = which
                gain += best
            elif t:
                gain += pool[step[t - 1], y[t - 1], k]
            row[k] = max(gain, FORBIDDEN)
    following = y[last + 1] if last + 1 < T else 0
    end, chosen = FORBIDDEN // 2, -1
    for k in range(K):
        total = _best_label(chain, score[last - first], last, following, k)
        if total > end:
            end, chosen = total, k
    if chosen < 0:
        return first, first - 1
    for t in range(last, first - 1, -1):
        y[t] = chosen
        chosen = back[t - first, chosen]
    return first, last


@subroutine
def _differs(label, who, first, last, until, now):
    """Whether any label differs from the current one, and whether one of these is tabu."""
    other, forbidden = False, False
    for t in range(first, last + 1):
        if label[who, t] != label[CURRENT, t]:
            other = True
            forbidden |= until[t, label[who, t]] > now
    return other, forbidden


@kernel
def search(chain, machines, individuals, seed, runs, memory, manner, weight, records, counts, steps, work):
    """Do `steps` steps from the current labelling, or until `work` candidates were tried.

    If the room for joint states ends within a step, the step chooses among the candidates so far.

    weight : of a hard violation, grid units
    The other parameters are as in `evolve`. Returns the reason, the number of steps, and the number of candidates.
    """
    label, _, _, _, total, breaks = individuals
    until, clock, _, _ = memory
    candidates, tenure, patience, kicks, refits, shifts = manner
    T, K = until.shape
    borders = np.empty(T, np.int64)
    tried = 0
    for step in range(steps):
        if tried >= work:
            return DONE, step, tried
        if full(machines, records, 1, counts, T):
            return FULL, step, tried
        if clock[SINCE] > patience:
            copy(individuals, CURRENT, TOP)
            clock[SINCE], clock[KICKS] = 0, kicks
        now, at_hand = clock[NOW], total[CURRENT] - weight * breaks[CURRENT]
        trial, kept, best = ONE, -1, 0
        for _ in range(candidates if clock[KICKS] == 0 else 1):
            tried += 1
            copy(individuals, trial, CURRENT)
            if share(seed) < refits and chain.base[0] == 0:
                first, last = _refit(chain, label[trial], seed, memory, now)
            else:
                first, last = mutate(label[trial], seed, borders, K, shifts, True, runs)
            other, forbidden = _differs(label, trial, first, last, until, now)
            if not other:
                continue
            if not value(chain, machines, individuals, trial, first, last, counts):
                break
            fitness = total[trial] - weight * breaks[trial]
            if (kept < 0 or fitness > best) and (not forbidden or fitness > clock[EVER]):
                kept, best, trial = trial, fitness, OTHER if trial == ONE else ONE
                if best > at_hand:
                    break
        clock[NOW] += 1
        clock[SINCE] += 1
        clock[KICKS] = max(0, clock[KICKS] - 1)
        if kept < 0:
            continue
        for t in range(T):
            if label[kept, t] != label[CURRENT, t]:
                until[t, label[CURRENT, t]] = now + tenure + below(seed, tenure)
        copy(individuals, CURRENT, kept)
        if best > clock[EVER]:
            copy(individuals, TOP, kept)
            clock[EVER], clock[SINCE] = best, 0
        record(individuals, kept, records, counts)
    return DONE, steps, tried
