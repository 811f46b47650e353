"""Lagrangian multipliers on sums, by subgradients with Polyak's step (Rush and Collins 2012, section 3)."""

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import UNITS_PER_NAT, is_forbidden
from ilpinfer.exact.guide import Guide, Relaxed, slope
from ilpinfer.exact.progress import Progress

ROUNDS = 40
_GUESS = 4 * UNITS_PER_NAT
"""Distance of the target value below the bound while no labelling is known, grid units."""
MOST_STALE = 4
"""Steps without a lower bound, after which steps get shorter."""


def tighten(
    guide: Guide, multipliers: Integers, relaxed: Relaxed, progress: Progress
) -> tuple[Integers, Relaxed]:
    """Multipliers, grid units (R,), with as low a bound as the subgradient method reaches, and the relaxation at them.

    It aims at the value of the best labelling so far, and stops where the bound comes down to it, or where the
    relaxation's own labelling attains the bound.
    """
    box = np.array([machine.multipliers for machine in guide.charged]).T
    best_multipliers, best = multipliers, relaxed
    at, now, share, stale = multipliers, relaxed, 1.0, 0
    for _ in range(ROUNDS):
        evaluation = progress.evaluate(now.path)
        if evaluation.value >= best.bound or progress.value >= best.bound:
            break
        units = guide.units(now.path)
        away = np.array([slope(p, int(x), int(n)) for p, x, n in zip(guide.charged, at, units, strict=True)])
        norm = int((away * away).sum())
        if not norm:
            break
        target = progress.value if not is_forbidden(progress.value) else best.bound - _GUESS
        step = share * max(1, now.bound - target) / norm
        following = np.clip(at + np.rint(step * away).astype(np.int64), *box)
        if np.array_equal(following, at):
            break
        solved = guide.solve(following, progress.deadline)
        if solved is None:
            break
        at, now = following, solved
        if now.bound < best.bound:
            best_multipliers, best, stale = at, now, 0
        else:
            stale += 1
            if stale == MOST_STALE:
                share, stale, at, now = share / 2, 0, best_multipliers, best
                if share < 0.1:
                    break
    return best_multipliers, best
