"""Searches over the scores and the costs of labellings, by weights on the cost and by label setting."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from formulations.dtypes import LabelIds
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact import limits
from ilpinfer.exact.ground import Ground, reweighted
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import Prefixes, Relaxation
from ilpinfer.exact.stages import solve
from ilpinfer.exact.weights import Point, Weight, Weighting
from ilpinfer.kernels.native import kernels


@dataclass
class WeightedSearch:
    """The points of a problem in which only hard rules are folded, with bounds on all others."""

    problem: Problem
    deadline: Deadline
    best: LabelIds
    points: list[Point] = field(default_factory=list, kw_only=True)
    """Points that no other one dominates, cheapest first."""
    bounds: list[tuple[Weight, int]] = field(default_factory=list, kw_only=True)
    """Weights with an upper bound on the value of every labelling."""

    def __post_init__(self) -> None:
        self.weights = Weighting(self.problem)
        self.unit = self.weights.unit
        self._probed: dict[Weight, Known] = {}
        self._grounds: dict[bool, Ground] = {}
        self.add(self.best)

    def add(self, path: LabelIds) -> Point | None:
        """Add a labelling that is not dominated by those found so far; None if it breaks a hard rule."""
        point = self.weights.point(path)
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

    def solve(self, weight: Weight) -> Point | None:
        """The best labelling at a weight by the stages of the engine; None where they leave it open."""
        known = self._probed[weight] = self._known(weight)
        end = solve(known)
        if not (end.complete and end.paths):
            return None
        point = self.add(end.paths[0])
        if point is not None:
            self.bounds.append((weight, weight.value(point)))
        return point

    def _known(self, weight: Weight | None = None, *, unfolded: bool = False) -> Known:
        """The state before any stage, of the problem at a weight or as it is. Machines are packed once for all weights."""
        problem = self.problem if weight is None else self.weights.weighted(weight)
        known = (Known.unfolded if unfolded else Known.of)(problem, self.deadline)
        if unfolded in self._grounds:
            known.ground = reweighted(self._grounds[unfolded], known.folded)
        self._grounds[unfolded] = known.ground
        return known

    def _exhaust(
        self,
        known: Known,
        region: Callable[[], tuple[int, int]],
        read: Callable[[Prefixes], list[LabelIds]],
        copies: int = 1,
    ) -> list[LabelIds] | None:
        """The labellings of a region that `read` takes, by label setting with all the machines that they break.

        The region is a least value and a budget, which `read` makes smaller. None where there are too many prefixes, or a
        labelling breaks a rule without a machine.
        """
        while True:
            result = self._label(known, region, read, copies)
            if result is None:
                return None
            paths = read(result)
            new = known.broken(paths, known.active)
            if not new:
                return None if any(known.evaluate(path).machineless for path in paths) else paths
            known.active = [*known.active, *new]

    def _label(
        self,
        known: Known,
        region: Callable[[], tuple[int, int]],
        read: Callable[[Prefixes], object],
        copies: int,
    ) -> Prefixes | None:
        """Label setting within a region, by beams first, whose labellings `read` takes."""
        relaxation, T = Relaxation(known), len(self.best)
        for width in limits.WIDTHS:
            for beam in (False, True):
                floor, budget = region()
                if relaxation.total < floor:
                    return Prefixes([], [], relaxation.total)
                result = relaxation.prefixes(
                    known.active,
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
    """Whether a point is above the line through two others."""
    return (point.score - left.score) * (right.cost - left.cost) > (point.cost - left.cost) * (
        right.score - left.score
    )
