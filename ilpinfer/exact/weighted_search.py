"""Searches over scores and costs of labellings, by weights on the cost and by label setting."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, LIMIT, Grid, is_forbidden
from formulations.problem.problem import GroundRule, Problem, cost_unit, lowest_score
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.ground import Packed, reweighted
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.kernel_stage import by_kernels
from ilpinfer.exact.relaxation import Prefixes, Relaxation
from ilpinfer.exact.state import State
from ilpinfer.kernels.native import kernels


@dataclass(frozen=True)
class Point:
    """A labelling with its score (model and features) and its cost in units of the penalties' divisor."""

    path: LabelIds
    score: int
    cost: int


@dataclass(frozen=True, order=True)
class Weight:
    """Weight per unit of cost, as a fraction cost / score in grid units."""

    cost: int
    score: int

    def value(self, point: Point) -> int:
        """score - weight · cost, in units of the weight."""
        return self.score * point.score - self.cost * point.cost


@dataclass
class WeightedSearch:
    """The points of a problem with only hard rules folded, and bounds on all other labellings."""

    problem: Problem
    deadline: Deadline
    best: LabelIds
    points: list[Point] = field(default_factory=list, kw_only=True)
    """Non-dominated points, cheapest first."""
    bounds: list[tuple[Weight, int]] = field(default_factory=list, kw_only=True)
    """Weights, each with an upper bound on the value of every labelling."""

    def __post_init__(self) -> None:
        self._points: dict[bytes, Point | None] = {}
        self._probed: dict[Weight, State] = {}
        self._packed: dict[bool, Packed] = {}
        self.add(self.best)

    @cached_property
    def unit(self) -> int:
        """Grid units per unit of cost."""
        return cost_unit(self.problem.rules)

    @cached_property
    def lowest(self) -> int:
        """Lower bound on the score of every labelling."""
        return lowest_score(self.problem)

    @cached_property
    def least_penalty(self) -> int:
        """The least cost of a violation; 1 if there is none."""
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

    def add(self, path: LabelIds) -> Point | None:
        """Add a labelling that is not dominated by those found so far; None if it breaks a hard rule."""
        point = self.point(path)
        if point is None:
            return None
        cheaper = bisect_left(self.points, point.cost, key=lambda known: known.cost)
        if any(known.score >= point.score for known in self.points[max(0, cheaper - 1) : cheaper]):
            return point
        if any(k.cost == point.cost and k.score >= point.score for k in self.points[cheaper : cheaper + 1]):
            return point
        end = bisect_right(self.points, point.score, key=lambda known: known.score)
        self.points[cheaper:end] = [point]
        return point

    def best_score(self, cost: int) -> int:
        """An upper bound on the score at a cost, from the bounds at weights."""
        return min((value + weight.cost * cost) // weight.score for weight, value in self.bounds)

    def solve(self, weight: Weight) -> Point | None:
        """The best labelling at a weight by kernels; None if they leave it open."""
        state = self._probed[weight] = by_kernels(State.of(self._ground_problem(weight)))
        point = self.add(state.answer[0]) if state.answer else None
        if point is not None:
            self.bounds.append((weight, weight.value(point)))
        return point

    def _ground_problem(self, weight: Weight | None = None, *, unfolded: bool = False) -> GroundProblem:
        """The problem at a weight, or unchanged. Machines are packed once for all weights."""
        problem = self.problem if weight is None else self.weighted(weight)
        made = (GroundProblem.unfolded if unfolded else GroundProblem.of)(problem, self.deadline)
        if unfolded in self._packed:
            folded = made.folded
            packed = reweighted(self._packed[unfolded], folded)
            return replace(made, packed=packed, scores=folded.lattice)
        self._packed[unfolded] = made.instance, made.tokens
        return made

    def _exhaust(
        self,
        problem: GroundProblem,
        machines: list[int],
        multipliers: Mapping[MachineKey, int],
        region: Callable[[], tuple[int, int]],
        read: Callable[[Prefixes], list[LabelIds]],
        copies: int = 1,
    ) -> tuple[list[LabelIds], list[int]] | None:
        """The labellings of a region that `read` takes, by label setting over all the machines that they break, and these machines.

        The region is a least value and a budget, which `read` reduces. None if there are too many prefixes, or a labelling breaks
        rules without machines.
        """
        relaxation = Relaxation(problem.instance, problem.tokens, multipliers)
        while True:
            result = self._label(relaxation, machines, region, read, copies)
            if result is None:
                return None
            paths = read(result)
            new = problem.broken(paths, machines)
            if not new:
                machineless = any(problem.evaluate(path).machineless for path in paths)
                return None if machineless else (paths, machines)
            machines = [*machines, *new]

    def _label(
        self,
        relaxation: Relaxation,
        machines: list[int],
        region: Callable[[], tuple[int, int]],
        read: Callable[[Prefixes], object],
        copies: int,
    ) -> Prefixes | None:
        """Label setting within a region, after beams; `read` takes the labellings."""
        T = len(self.best)
        for width in limits.WIDTHS:
            for beam in (False, True):
                floor, budget = region()
                if relaxation.total < floor:
                    return Prefixes([], [], relaxation.total)
                result = relaxation.prefixes(
                    machines,
                    self.deadline,
                    floor=floor,
                    width=width // 8 if beam else kernels.WIDEST,
                    most=width * T,
                    copies=copies,
                    budget=budget,
                    inside=kernels.FEWEST_JOINT,
                )
                if result.complete and not beam:
                    return result
                if self.deadline.passed:
                    return None
                read(result)
        return None


def is_above(point: Point, left: Point, right: Point) -> bool:
    """Whether a point is above the line through two other points."""
    return (point.score - left.score) * (right.cost - left.cost) > (point.cost - left.cost) * (
        right.score - left.score
    )


def _times(units: Grid, factor: int) -> Grid:
    return np.where(is_forbidden(units), FORBIDDEN, units * np.int64(factor)) if factor > 1 else units
