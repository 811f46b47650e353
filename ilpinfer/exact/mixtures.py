"""Mixtures of labellings: the linear relaxation of sums over all labellings, by column generation.

A linear program mixes the labellings known so far, its dual multipliers charge each unit of a sum, and Viterbi finds the
labelling that the multipliers favour most (Dantzig and Wolfe 1960). Any multipliers bound all labellings; those at the end are the
best multipliers, and where the scores count for nothing and even the labelling that they favour most loses, they are
Farkas multipliers: no labelling keeps all sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from formulations import constraints as C
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import Sum
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import MachineKey
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.guide import corners, worth
from ilpinfer.exact.rows import Row, stretches
from ilpinfer.exact.viterbi import VITERBI, viterbi
from ilpinfer.kernels.warming import Stage, example_problem

Integers = NDArray[np.int64]
Shares = NDArray[np.float64]

UNIT = UNITS_PER_NAT
"""Of multipliers and scores in a linear program."""
NEAR = 1e-6
"""How close, in these units, a linear program comes to what it has still to gain."""
WHOLE = 1e-5
"""How far from a whole number a mean counts as one."""
SPLICED, TRIED, MOST_CUTS = 3, 20, 150
"""Labellings of a mixture that are spliced, how many of the results are tried, and places of cuts."""
HARD = 1e4
"""Nats that a violation of a hard sum counts there."""
MOST_STEPS = 500
"""Of the column generation, over all relaxations that share a pool."""


@dataclass(frozen=True)
class Counted:
    """A sum and what a violation costs, grid units; None for a hard one."""

    total: Sum
    penalty: int | None = None


def sums_of(problem: Problem) -> list[tuple[MachineKey, Counted]]:
    """The sums whose violations count singly and that do not fold, with their places."""
    return [
        ((r, p), Counted(part, rule.penalty))
        for r, rule in enumerate(problem.rules)
        if rule.penalty is None or not rule.binary
        if not rule.folds
        for p, part in enumerate(rule.components)
        if isinstance(part, Sum)
    ]


@dataclass(frozen=True)
class Relaxed:
    """What the linear relaxation says.

    Parameters
    ----------
    bound : on every labelling at the multipliers, grid units; `FORBIDDEN` where there is none
    multipliers : (R,) grid units a unit of weight
    paths, shares : label ids (N, T) and the mixture of them, where the linear program is solved; else None
    """

    bound: int
    multipliers: tuple[int, ...]
    paths: list[Integers]
    shares: Shares | None = None


@dataclass
class Pool:
    """Labellings (T,) found so far, which further relaxations begin with, and how many steps were made for them."""

    paths: list[Integers] = field(default_factory=list)
    steps: int = 0


def relax(
    lattice: Lattice,
    counted: Sequence[Counted],
    largest: float,
    pool: Pool,
    deadline: Deadline,
    *,
    enough: int | None = None,
) -> Relaxed:
    """The linear relaxation of sums, as far as it was solved.

    Parameters
    ----------
    lattice : scores, rules on single steps folded in
    counted : R sums
    largest : nats that the price of a hard sum may have
    enough : a bound, grid units, below which multipliers are good enough
    """
    nothing = (0,) * len(counted)
    if not all(corners(part.total, part.penalty) for part in counted):
        return Relaxed(FORBIDDEN, nothing, [])
    known = [(path, lattice.score(path)) for path in pool.paths]
    paths = [path for path, score in known if not is_forbidden(score)]
    scores = [score for _, score in known if not is_forbidden(score)]
    taken = [units(counted, path) for path in paths]
    best, multipliers = Relaxed(2**62, nothing, paths), np.zeros(len(counted), np.int64)
    while pool.steps < MOST_STEPS and not deadline.passed:
        pool.steps += 1
        gain, path = _favoured(lattice, counted, multipliers)
        if is_forbidden(gain):
            return Relaxed(FORBIDDEN, nothing, [])
        bound = gain + sum(
            worth(p.total, p.penalty, x) for p, x in zip(counted, multipliers.tolist(), strict=True)
        )
        if bound < best.bound:
            best = Relaxed(bound, tuple(multipliers.tolist()), paths)
        if enough is not None and best.bound < enough:
            return best
        pool.paths.append(path)
        paths.append(path)
        scores.append(lattice.score(path))
        taken.append(units(counted, path))
        solved = _master(counted, np.array(scores), np.array(taken), largest)
        if solved is None:
            return best
        value, exact, shares = solved
        if best.bound / UNIT - value < NEAR * max(1.0, abs(value)):
            return Relaxed(best.bound, best.multipliers, paths, shares)
        multipliers = np.rint(exact * UNIT).astype(np.int64)
    return best


def units(counted: Sequence[Counted], path: Integers) -> list[int]:
    """(R,) units that a labelling takes of each sum."""
    return [int(part.total.steps.along(path).sum()) for part in counted]


def spliced(relaxed: Relaxed, counted: Sequence[Counted]) -> list[Integers]:
    """Labellings that begin like one of the mixture, go on like another and end like a third, near the sides.

    The stretches are those whose sums cost least, steps across cuts apart; none without a mixture.
    """
    if relaxed.shares is None or not counted:
        return []
    most = np.argsort(-relaxed.shares, kind="stable")[:SPLICED]
    paths = [relaxed.paths[i] for i in most if relaxed.shares[i] > WHOLE]
    if len(paths) < 2:
        return []
    along = np.array([[part.total.steps.along(path) for part in counted] for path in paths])
    before = np.concatenate([np.zeros((*along.shape[:2], 1), np.int64), along.cumsum(axis=2)], axis=2)
    T = along.shape[2]
    at = np.linspace(0, T, min(T, MOST_CUTS) + 1).astype(np.int64)
    result: list[tuple[float, Integers]] = []
    for first, second, third in (
        permutations(range(len(paths)), 3) if len(paths) > 2 else ((0, 1, 0), (1, 0, 1))
    ):
        begin, middle, end = before[first][:, at], before[second][:, at], before[third][:, at]
        total = (begin - middle)[:, :, None] + (middle - end)[:, None, :] + end[:, -1][:, None, None]
        cost = np.zeros(total.shape[1:])
        for part, sums in zip(counted, total, strict=True):
            low, high = part.total.low, part.total.high
            away = np.maximum(
                0, np.maximum(low - sums if low is not None else 0, sums - high if high is not None else 0)
            )
            cost += away * (HARD if part.penalty is None else part.penalty / UNIT)
        cost[np.tril_indices(len(at), -1)] = np.inf
        in_order = np.flatnonzero(np.isfinite(cost))
        for place in in_order[np.argsort(cost.flat[in_order], kind="stable")][:TRIED]:
            i, j = np.unravel_index(place, cost.shape)
            cuts = at[i], at[j]
            path = np.concatenate(
                [paths[first][: cuts[0]], paths[second][cuts[0] : cuts[1]], paths[third][cuts[1] :]]
            )
            result.append((float(cost[i, j]), path))
    result.sort(key=lambda pair: pair[0])
    return [path for _, path in result[:TRIED]]


def _favoured(lattice: Lattice, counted: Sequence[Counted], multipliers: Integers) -> tuple[int, Integers]:
    """What the labelling that multipliers favour most is worth under them, and the labelling."""
    charges = (
        StepTable(-price * part.total.steps.values, part.total.steps.index)
        for price, part in zip(multipliers.tolist(), counted, strict=True)
        if price
    )
    return viterbi(lattice.plus(charges))


def _master(
    counted: Sequence[Counted], scores: Integers, taken: Integers, largest: float
) -> tuple[float, Shares, Shares] | None:
    """The best multipliers (R,) against the labellings with these scores (N,) and units (N, R), and their mixture.

    minimise gain + Σ back, subject to gain >= score - multipliers · units for each labelling, and
    back >= price · sum - cost for each corner; None where it is not solved.
    """
    from scipy.optimize import linprog

    N, R = taken.shape
    rows, sides = (
        [np.hstack([np.full((N, 1), -1.0), np.zeros((N, R)), -taken.astype(float)])],
        [-scores / UNIT],
    )
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * (1 + R)
    for r, part in enumerate(counted):
        for at, cost in corners(part.total, part.penalty):
            row = np.zeros((1, 1 + 2 * R))
            row[0, 1 + r], row[0, 1 + R + r] = -1.0, float(at)
            rows.append(row)
            sides.append(np.array([cost / UNIT]))
        most = largest if part.penalty is None else part.penalty / UNIT
        low, high = part.total.low is not None, part.total.high is not None
        bounds.append((-most if low else 0.0, most if high else 0.0))
    objective = np.concatenate([np.ones(1 + R), np.zeros(R)])
    result = linprog(objective, np.vstack(rows), np.concatenate(sides), bounds=bounds, method="highs-ds")
    if result.status:
        return None
    return float(result.fun), result.x[1 + R :], np.clip(-result.ineqlin.marginals[:N], 0.0, None)


def fractional(relaxed: Relaxed, rows: Sequence[Row], shape: tuple[int, int]) -> tuple[Row, int] | None:
    """A row whose mean is no whole number, and the whole number below; None where there is none, or no mixture.

    Rows that combine sums come first, then counts of a label, in long stretches before short ones.
    """
    T, K = shape
    if relaxed.shares is None:
        return None
    share = np.zeros((T, K))
    for path, part in zip(relaxed.paths, relaxed.shares, strict=True):
        share[np.arange(T), path] += part
    for row in rows:
        mean = float(share[np.ix_(*map(list, row))].sum())
        if abs(mean - round(mean)) > WHOLE:
            return row, int(np.floor(mean))
    before = np.vstack([np.zeros(K), share.cumsum(axis=0)])
    for parts in stretches(T):
        ends = np.array([(part.start, part.stop) for part in parts])
        means = before[ends[:, 1]] - before[ends[:, 0]]
        away = np.abs(means - np.rint(means))
        if away.max() > WHOLE:
            at, k = np.unravel_index(int(away.argmax()), away.shape)
            return (tuple(parts[int(at)]), (int(k),)), int(np.floor(means[at, k]))
    return None


def _example() -> None:
    VITERBI.warm()
    problem = example_problem(C.exactly_tokens("0", 1, penalty=1), C.at_least_runs("1", 1))
    relax(problem.lattice, [part for _, part in sums_of(problem)], 1.0, Pool(), Deadline())


RELAXATION = Stage("relaxation", "the linear relaxation of sums", _example)
