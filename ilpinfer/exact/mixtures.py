"""Mixtures of labellings: the linear relaxation of sums over all labellings, by column generation.

A linear program mixes the labellings so far, and Viterbi finds the best labelling at its dual multipliers (Dantzig and Wolfe
1960). Any multipliers give a bound; those at the end give the best one. With scores of 0 and a negative bound, they are
Farkas multipliers: no labelling keeps all sides.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import Sum
from formulations.dtypes import Floats, Integers, LabelIds
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact.product_lattice import ProductLattice
from ilpinfer.exact.rows import Row, stretches

UNIT = UNITS_PER_NAT
"""Grid units of a unit in the linear program."""
NEARER = 0.7
"""Share of the best multipliers so far in the next ones."""
NEAR = 1e-6
"""Tolerance of the column generation, in these units."""
WHOLE = 1e-5
"""Tolerance for whole numbers."""
MOST_SPLICED, MOST_TRIED, MOST_CUTS = 3, 20, 150
"""Labellings of a mixture that are spliced, how many of the results are tried, and places of cuts."""
HARD_NATS = 1e4
"""Cost in nats of a violation of a hard sum in that program."""
MOST_STEPS = 500
"""Steps of the column generation, over all relaxations that share a pool."""
LONG, MOST_DESCENTS, MOST_STALE = 500, 200, 20
"""Tokens of a long document, whose bound is nearly smooth in the multipliers; steps of a descent to the best ones; and steps of the first
column generation without a better bound."""


@dataclass(frozen=True)
class SumTerm:
    """A sum and its penalty, grid units; `HARD` for a hard one."""

    total: Sum
    penalty: int


def sums_of(problem: Problem) -> list[tuple[MachineKey, SumTerm]]:
    """The sums whose violations count singly and that do not fold, with their places."""
    return [
        ((r, p), SumTerm(component, rule.penalty))
        for r, rule in enumerate(problem.rules)
        if not (rule.once or rule.folds)
        for p, component in enumerate(rule.components)
        if isinstance(component, Sum)
    ]


@dataclass(frozen=True)
class Relaxed:
    """The result of a linear relaxation.

    Parameters
    ----------
    bound : int
        Bound on every labelling at the multipliers, grid units; `FORBIDDEN` where there is none.
    multipliers : tuple of int
        (R,) grid units a unit of weight.
    paths, weights : list of ndarray of int or ndarray of float
        Label ids (N, T) and the mixture of them, where the linear program is solved; else None.
    """

    bound: int
    multipliers: tuple[int, ...]
    paths: list[Integers]
    weights: Floats | None = None


@dataclass
class Pool:
    """Labellings (T,) with which further relaxations start, what the machines of the product cost each, and the number of steps so far."""

    paths: list[tuple[Integers, int]] = field(default_factory=list)
    steps: int = 0


def relax(
    product: ProductLattice,
    terms: Sequence[SumTerm],
    largest: float,
    pool: Pool,
    deadline: Deadline,
    *,
    enough: int | None = None,
    start: Sequence[int] | None = None,
) -> Relaxed:
    """The linear relaxation of sums, as far as it was solved.

    Parameters
    ----------
    product : ProductLattice
        Scores, rules on single steps folded in, and machines. Those of all relaxations that share a pool are the same.
    terms : sequence of SumTerm
        R sums.
    largest : float
        Nats, the largest multiplier of a hard sum.
    enough : int, optional
        A bound, grid units, below which multipliers are good enough.
    start : sequence of int, optional
        (R,) the first multipliers, 0 where not given.
    """
    nothing, descends = (0,) * len(terms), len(product.base.node) >= LONG and not pool.steps
    if not all(corners(term.total, term.penalty) for term in terms):
        return Relaxed(FORBIDDEN, nothing, [])
    if descends and terms and not deadline.passed:
        start = _descend(product, terms, nothing if start is None else start, largest, pool, deadline)
    known = [
        (path, score - cost)
        for path, cost in pool.paths
        if not is_forbidden(score := product.base.score(path))
    ]
    paths, scores = [path for path, _ in known], [score for _, score in known]
    sums = [units(terms, path) for path in paths]
    best, multipliers = (
        Relaxed(2**62, nothing, paths),
        np.array(nothing if start is None else start, np.int64),
    )
    near, lowest, weights, taken = NEARER, -math.inf, None, {path.tobytes() for path in paths}
    improved, tables = pool.steps, _tables(product, terms)
    while pool.steps < MOST_STEPS and not deadline.passed:
        pool.steps += 1
        try:
            gain, path, cost = product.best(charged(product.lattice, tables, multipliers))
        except OutOfTime:
            return best
        if is_forbidden(gain):
            return Relaxed(FORBIDDEN, nothing, [])
        bound = gain + sum(
            worth(p.total, p.penalty, x) for p, x in zip(terms, multipliers.tolist(), strict=True)
        )
        if bound < best.bound:
            best, improved = Relaxed(bound, tuple(multipliers.tolist()), paths), pool.steps
        if descends and pool.steps > improved + MOST_STALE:
            return best
        if enough is not None and best.bound < enough:
            return best
        if path.tobytes() in taken and not near:  # the program knows it, but for its rounding
            return Relaxed(best.bound, best.multipliers, paths, weights)
        taken.add(path.tobytes())
        pool.paths.append((path, cost))
        paths.append(path)
        scores.append(product.base.score(path) - cost)
        sums.append(units(terms, path))
        solved = _master(terms, np.array(scores), np.array(sums), largest)
        if solved is None:
            return best
        value, exact, weights = solved
        if best.bound / UNIT - value < NEAR * max(1.0, abs(value)):
            return Relaxed(best.bound, best.multipliers, paths, weights)
        # Multipliers near the best ones so far take fewer steps (Wentges 1997), where their labellings tell the program something.
        near, lowest = (NEARER if value > lowest else 0.0), value
        multipliers = np.rint(near * np.array(best.multipliers) + (1 - near) * exact * UNIT).astype(np.int64)
    return best


def _descend(
    product: ProductLattice,
    terms: Sequence[SumTerm],
    start: Sequence[int],
    largest: float,
    pool: Pool,
    deadline: Deadline,
) -> list[int]:
    """Multipliers near the best ones, by a quasi-Newton method; the labellings on the way enter the pool (Lewis and Overton 2013)."""
    from scipy.optimize import minimize

    ends, best = [corners(term.total, term.penalty) for term in terms], (math.inf, list(start))
    tables = _tables(product, terms)

    def bound(prices: Floats) -> tuple[float, Floats]:
        nonlocal best
        if deadline.passed:
            raise OutOfTime
        multipliers = np.rint(prices * UNIT).astype(np.int64)
        gain, path, cost = product.best(charged(product.lattice, tables, multipliers))
        if is_forbidden(gain):
            return 0.0, 0.0 * prices
        pool.paths.append((path, cost))
        pool.steps += 1
        sums = [
            max(each, key=lambda end: x * end[0] - end[1])
            for each, x in zip(ends, multipliers.tolist(), strict=True)
        ]
        value = gain + sum(x * n - cost for (n, cost), x in zip(sums, multipliers.tolist(), strict=True))
        best = min(best, (value, multipliers.tolist()))
        slopes = [n - x for (n, _), x in zip(sums, units(terms, path), strict=True)]
        return value / UNIT, np.array(slopes, float)

    box = [_box(term, largest) for term in terms]
    options = {"maxfun": MOST_DESCENTS}
    with suppress(OutOfTime):
        minimize(bound, np.array(start) / UNIT, jac=True, method="L-BFGS-B", bounds=box, options=options)
    return best[1]


def _box(term: SumTerm, largest: float) -> tuple[float, float]:
    """The range of a multiplier, nats."""
    most = largest if term.penalty == HARD else term.penalty / UNIT
    return (0.0 if term.total.low is None else -most), (0.0 if term.total.high is None else most)


def worth(total: Sum, penalty: int, multiplier: int) -> int:
    """max over N of multiplier·N - penalty·(violations of N): the multiplier's term of the dual function, grid units.

    It is concave in N, so that the sides and the ends of its reach suffice. A hard rule has the sides only;
    `FORBIDDEN` where no sum lies within.
    """
    return max((multiplier * n - cost for n, cost in corners(total, penalty)), default=FORBIDDEN)


def corners(total: Sum, penalty: int) -> list[tuple[int, int]]:
    """The sums at the corners of the cost of violations, each with that cost; of a hard rule, those without violations."""
    least, most = total.reach
    sides = [side for side in (total.low, total.high) if side is not None and least <= side <= most]
    sums = sorted({least, most, *sides})
    if penalty == HARD:
        return [(n, 0) for n in sums if not total.away(n)]
    return [(n, penalty * total.away(n)) for n in sums]


def units(terms: Sequence[SumTerm], path: LabelIds) -> list[int]:
    """(R,) units that a labelling takes of each sum."""
    return [int(term.total.steps.along(path).sum()) for term in terms]


def splice(relaxed: Relaxed, terms: Sequence[SumTerm]) -> list[Integers]:
    """Labellings of up to three stretches, each from a labelling of the mixture, with sums near the sides.

    Their costs leave out the steps across cuts. There are none without a mixture.
    """
    if relaxed.weights is None or not terms:
        return []
    most = np.argsort(-relaxed.weights, kind="stable")[:MOST_SPLICED]
    paths = [relaxed.paths[i] for i in most if relaxed.weights[i] > WHOLE]
    if len(paths) < 2:
        return []
    along = np.array([[term.total.steps.along(path) for term in terms] for path in paths])
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
        for term, sums in zip(terms, total, strict=True):
            low, high = term.total.low, term.total.high
            away = np.maximum(
                0, np.maximum(low - sums if low is not None else 0, sums - high if high is not None else 0)
            )
            cost += away * (HARD_NATS if term.penalty == HARD else term.penalty / UNIT)
        cost[np.tril_indices(len(at), -1)] = np.inf
        in_order = np.flatnonzero(np.isfinite(cost))
        for place in in_order[np.argsort(cost.flat[in_order], kind="stable")][:MOST_TRIED]:
            i, j = np.unravel_index(place, cost.shape)
            cuts = at[i], at[j]
            path = np.concatenate(
                [paths[first][: cuts[0]], paths[second][cuts[0] : cuts[1]], paths[third][cuts[1] :]]
            )
            result.append((float(cost[i, j]), path))
    result.sort(key=lambda pair: pair[0])
    return [path for _, path in result[:MOST_TRIED]]


def _tables(product: ProductLattice, terms: Sequence[SumTerm]) -> list[StepTable]:
    """The weights of the sums on steps of a product."""
    return [product.of_states(term.total.steps) for term in terms]


def charged(lattice: Lattice, tables: Sequence[StepTable], multipliers: Integers) -> Lattice:
    """The scores less the multipliers of sums with these weights; those with the same weights at all tokens are added up first."""
    charges, same = list[StepTable](), dict[tuple[int, ...], Integers]()
    for multiplier, table in zip(multipliers.tolist(), tables, strict=True):
        values, index = table.values, table.index
        if not multiplier:
            continue
        if len(values) > 1:
            charges.append(StepTable(-multiplier * values, index))
        else:
            same[values.shape] = same.get(values.shape, np.zeros_like(values)) - multiplier * values
    index = np.zeros(len(lattice.node), np.int64)
    return lattice.plus([*charges, *(StepTable(values, index) for values in same.values())])


def _master(
    terms: Sequence[SumTerm], scores: Integers, units: Integers, largest: float
) -> tuple[float, Floats, Floats] | None:
    """The best multipliers (R,) against the labellings with these scores (N,) and units (N, R), and their mixture.

    minimise gain + Σ constant, subject to gain >= score - multipliers · units for each labelling, and
    constant >= multiplier · sum - cost for each corner; None where it is not solved.
    """
    from scipy.optimize import linprog

    N, R = units.shape
    rows, sides = (
        [np.hstack([np.full((N, 1), -1.0), np.zeros((N, R)), -units.astype(float)])],
        [-scores / UNIT],
    )
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * (1 + R)
    for r, term in enumerate(terms):
        for at, cost in corners(term.total, term.penalty):
            row = np.zeros((1, 1 + 2 * R))
            row[0, 1 + r], row[0, 1 + R + r] = -1.0, float(at)
            rows.append(row)
            sides.append(np.array([cost / UNIT]))
        bounds.append(_box(term, largest))
    objective = np.concatenate([np.ones(1 + R), np.zeros(R)])
    result = linprog(objective, np.vstack(rows), np.concatenate(sides), bounds=bounds, method="highs-ds")
    if result.status:
        return None
    return float(result.fun), result.x[1 + R :], np.clip(-result.ineqlin.marginals[:N], 0.0, None)


def fractional_row(relaxed: Relaxed, rows: Sequence[Row], shape: tuple[int, int]) -> tuple[Row, int] | None:
    """A row whose mean is no whole number, and the whole number below; None where there is none, or no mixture.

    Rows that combine sums come first, then counts of a label, in long stretches before short ones.
    """
    T, K = shape
    if relaxed.weights is None:
        return None
    share = np.zeros((T, K))
    for path, weight in zip(relaxed.paths, relaxed.weights, strict=True):
        share[np.arange(T), path] += weight
    for row in rows:
        mean = float(share[np.ix_(*map(list, row))].sum())
        if abs(mean - round(mean)) > WHOLE:
            return row, int(np.floor(mean))
    before = np.vstack([np.zeros(K), share.cumsum(axis=0)])
    for ranges in stretches(T):
        ends = np.array([(each.start, each.stop) for each in ranges])
        means = before[ends[:, 1]] - before[ends[:, 0]]
        away = np.abs(means - np.rint(means))
        if away.max() > WHOLE:
            at, k = np.unravel_index(int(away.argmax()), away.shape)
            return (tuple(ranges[int(at)]), (int(k),)), int(np.floor(means[at, k]))
    return None
