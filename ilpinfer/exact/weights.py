"""Scores minus weighted costs, in integer arithmetic, for both searches for the least cost."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, LIMIT, Grid, is_forbidden
from formulations.problem.problem import GroundRule, Problem, cost_unit, lowest_score
from ilpinfer.exact import limits


@dataclass(frozen=True)
class Point:
    """A labelling with its score, model and features, and its cost in units of the penalties' divisor."""

    path: LabelIds
    score: int
    cost: int


@dataclass(frozen=True, order=True)
class Weight:
    """Weight of a unit of cost, as a fraction cost / score in grid units."""

    cost: int
    score: int

    def value(self, point: Point) -> int:
        """score - weight · cost, in the units of the weight."""
        return self.score * point.score - self.cost * point.cost


@dataclass(frozen=True, eq=False)
class Weighting:
    """A problem in which only hard rules are folded, at any weight."""

    problem: Problem

    @cached_property
    def unit(self) -> int:
        """Grid units of a unit of cost."""
        return cost_unit(self.problem.rules)

    @cached_property
    def lowest(self) -> int:
        """Lower bound on the score of every labelling."""
        return lowest_score(self.problem)

    @cached_property
    def least_penalty(self) -> int:
        """The least cost of a violation; 1 where there is none."""
        costs = [r.penalty // self.unit for r, most in self._breakable() if most and not r.hard]
        return min(costs, default=1)

    @cached_property
    def heaviest(self) -> int:
        """The largest factor of costs."""
        greatest = sum(rule.finite_penalty // self.unit * most for rule, most in self._breakable())
        return max(1, LIMIT // (4 * max(1, greatest)))

    @cached_property
    def finest(self) -> int:
        """The largest factor of scores."""
        lattice = self.problem.lattice
        parts = [np.where(is_forbidden(x), 0, np.abs(x)).max(initial=1) for x in (lattice.node, lattice.pool)]
        return max(1, min(limits.FINEST, LIMIT // (4 * len(lattice.node) * sum(map(int, parts)))))

    def point(self, path: LabelIds) -> Point | None:
        """Score and cost of a labelling, from a cache if possible; None if it breaks a hard rule."""
        key = path.tobytes()
        if key not in self._points:
            value = self.problem.value(path)
            point = Point(path, value.model + value.features, value.penalty // self.unit)
            self._points[key] = point if value.feasible else None
        return self._points[key]

    def between(self, left: Point, right: Point) -> Weight:
        """The weight at which two points have equal values, rounded to an integer fraction."""
        return self.ratio(right.score - left.score, right.cost - left.cost)

    def ratio(self, score: int, cost: int) -> Weight:
        """The weight score / cost, rounded to an integer fraction."""
        divisor = math.gcd(score, cost)
        if cost // divisor <= self.finest and score // divisor <= self.heaviest:
            return Weight(score // divisor, cost // divisor)
        factor = max(1, min(self.finest, self.heaviest * cost // score))
        return Weight(min(self.heaviest, max(1, round(Fraction(score * factor, cost)))), factor)

    def weighted(self, weight: Weight) -> Problem:
        """The problem with scores and costs multiplied; 1 for rules that cannot be broken."""

        def is_weighted(rule: GroundRule, most: int) -> GroundRule:
            if rule.hard:
                return rule
            return replace(rule, penalty=rule.penalty // self.unit * weight.cost if most else 1)

        lattice = self.problem.lattice
        scaled = Lattice(_times(lattice.node, weight.score), _times(lattice.pool, weight.score), lattice.step)
        rules = tuple(is_weighted(rule, most) for rule, most in self._breakable())
        return replace(self.problem, lattice=scaled, rules=rules)

    def _breakable(self) -> Iterable[tuple[GroundRule, int]]:
        return zip(self.problem.rules, self._most, strict=True)

    @cached_property
    def _most(self) -> list[int]:
        return [rule.most for rule in self.problem.rules]

    @cached_property
    def _points(self) -> dict[bytes, Point | None]:
        return {}


def _times(units: Grid, factor: int) -> Grid:
    return np.where(is_forbidden(units), FORBIDDEN, units * np.int64(factor)) if factor > 1 else units
