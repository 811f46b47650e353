"""Searches over the scores and the costs of labellings, by weights on the cost and by label setting."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from formulations.dtypes import LabelIds
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.ground import Packed, reweighted
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.kernel_stage import by_kernels
from ilpinfer.exact.relaxation import Prefixes, Relaxation
from ilpinfer.exact.state import State
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
        self._probed: dict[Weight, State] = {}
        self._packed: dict[bool, Packed] = {}
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

    def best_score(self, cost: int) -> int:
        """An upper bound on the scores of labellings of a cost, where one of the bounds is at a weight."""
        return min((value + weight.cost * cost) // weight.score for weight, value in self.bounds)

    def solve(self, weight: Weight) -> Point | None:
        """The best labelling at a weight by kernels; None where they leave it open."""
        state = self._probed[weight] = by_kernels(State.of(self._ground_problem(weight)))
        point = self.add(state.answer[0]) if state.answer else None
        if point is not None:
            self.bounds.append((weight, weight.value(point)))
        return point

    def _ground_problem(self, weight: Weight | None = None, *, unfolded: bool = False) -> GroundProblem:
        """The problem at a weight, or as it is. Machines are packed once for all weights."""
        problem = self.problem if weight is None else self.weights.weighted(weight)
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

        The region is a least value and a budget, which `read` makes smaller. None where there are too many prefixes, or a
        labelling breaks rules without machines.
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
        """Label setting within a region, by beams first, whose labellings `read` takes."""
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
    """Whether a point is above the line through two others."""
    return (point.score - left.score) * (right.cost - left.cost) > (point.cost - left.cost) * (
        right.score - left.score
    )
