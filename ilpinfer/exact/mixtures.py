"""Mixtures of labellings: the linear relaxation of sums over all labellings, by column generation.

A linear program mixes the labellings so far, and Viterbi finds the best labelling at its dual multipliers (Dantzig and Wolfe
1960). Any multipliers give a bound; the final multipliers give the best one. With zero scores and a negative bound, they are
Farkas multipliers: no labelling keeps all sides.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import Sum
from formulations.dtypes import Floats, Integers, LabelIds
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime, seconds_left
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.viterbi import viterbi

UNIT = UNITS_PER_NAT
"""Grid units per unit of the linear program."""


@dataclass(frozen=True)
class SumTerm:
    """A sum and its penalty, grid units; `HARD` for a hard sum."""

    total: Sum
    penalty: int


def sums_of(problem: Problem) -> list[tuple[MachineKey, SumTerm]]:
    """The sums with individually counted violations that do not fold, with their keys."""
    return [
        ((r, p), SumTerm(component, rule.penalty))
        for r, rule in enumerate(problem.rules)
        if not (rule.once or rule.folds)
        for p, component in enumerate(rule.components)
        if isinstance(component, Sum)
    ]


@dataclass(frozen=True)
class Relaxed:
    """The result of a linear relaxation."""

    bound: int  # on every labelling at the multipliers, grid units; `FORBIDDEN` if there is none
    multipliers: tuple[int, ...]  # (R,) grid units per unit of weight
    paths: list[Integers]  # label ids (T,) of the labellings found


def relax(
    lattice: Lattice,
    terms: Sequence[SumTerm],
    largest: float,
    deadline: Deadline,
    *,
    enough: int | None = None,
    start: Sequence[int] | None = None,
) -> Relaxed:
    """The linear relaxation of R sums, perhaps not solved to the end; rules on single steps are in the lattice.

    `largest` is the largest multiplier of a hard sum, nats. Multipliers with a bound below `enough`, grid units, are good enough;
    the first ones are `start`, or 0.
    """
    nothing = (0,) * len(terms)
    if not all(corners(term.total, term.penalty) for term in terms):
        return Relaxed(FORBIDDEN, nothing, [])
    paths, scores, sums = list[Integers](), list[int](), list[list[int]]()
    best, multipliers = (
        Relaxed(2**62, nothing, paths),
        np.array(nothing if start is None else start, np.int64),
    )
    near, lowest, taken = limits.NEARER, -math.inf, set[bytes]()
    for _ in range(limits.COLUMN_STEPS):
        if deadline.passed:
            break
        try:
            gain, path = viterbi(charged(lattice, terms, multipliers))
        except OutOfTime:
            return best
        if is_forbidden(gain):
            return Relaxed(FORBIDDEN, nothing, [])
        bound = gain + sum(
            worth(p.total, p.penalty, x) for p, x in zip(terms, multipliers.tolist(), strict=True)
        )
        if bound < best.bound:
            best = Relaxed(bound, tuple(multipliers.tolist()), paths)
        if enough is not None and best.bound < enough:
            return best
        if path.tobytes() in taken and not near:  # already in the program, except for rounding
            return best
        taken.add(path.tobytes())
        paths.append(path)
        scores.append(lattice.score(path))
        sums.append(units(terms, path))
        solved = _master(terms, np.array(scores), np.array(sums), largest)
        if solved is None:
            return best
        value, exact = solved
        if best.bound / UNIT - value < limits.NEAR * max(1.0, abs(value)):
            return best
        # Multipliers near the best ones so far take fewer steps (Wentges 1997), if they yield new labellings.
        near, lowest = (limits.NEARER if value > lowest else 0.0), value
        multipliers = np.rint(near * np.array(best.multipliers) + (1 - near) * exact * UNIT).astype(np.int64)
    return best


def _box(term: SumTerm, largest: float) -> tuple[float, float]:
    """The range of a multiplier, nats."""
    most = largest if term.penalty == HARD else term.penalty / UNIT
    return (0.0 if term.total.low is None else -most), (0.0 if term.total.high is None else most)


def worth(total: Sum, penalty: int, multiplier: int) -> int:
    """max over N of multiplier·N - penalty·(violations of N): a sum's term of the dual function, grid units.

    It is concave in N, so that the sides and the ends of its range suffice. A hard rule has only the sides;
    `FORBIDDEN` if no sum lies within.
    """
    return max((multiplier * n - cost for n, cost in corners(total, penalty)), default=FORBIDDEN)


def corners(total: Sum, penalty: int) -> list[tuple[int, int]]:
    """The corners of the violation cost as (sum, cost); of a hard rule, only corners without violations."""
    least, most = total.reach
    sides = [side for side in (total.low, total.high) if side is not None and least <= side <= most]
    sums = sorted({least, most, *sides})
    if penalty == HARD:
        return [(n, 0) for n in sums if not total.away(n)]
    return [(n, penalty * total.away(n)) for n in sums]


def units(terms: Sequence[SumTerm], path: LabelIds) -> list[int]:
    """(R,) the value of each sum in a labelling."""
    return [int(term.total.steps.along(path).sum()) for term in terms]


def charged(lattice: Lattice, terms: Sequence[SumTerm], multipliers: Integers) -> Lattice:
    """The scores minus the multipliers of sums; sums with the same weights at every token are added up first."""
    charges, same = list[StepTable](), dict[tuple[int, ...], Integers]()
    for multiplier, term in zip(multipliers.tolist(), terms, strict=True):
        values, index = term.total.steps.values, term.total.steps.index
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
) -> tuple[float, Floats] | None:
    """The best multipliers (R,) against the labellings with these scores (N,) and units (N, R).

    minimise gain + Σ constant, subject to gain >= score - multipliers · units for each labelling, and
    constant >= multiplier · sum - cost for each corner; None if it is not solved, or no time is left to import the solver.
    """
    if "scipy.optimize" not in sys.modules and seconds_left() < limits.IMPORT_SECONDS:
        return None
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
    return float(result.fun), result.x[1 + R :]
