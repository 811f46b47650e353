"""Pareto-optimal labellings: those that no other one beats in both score and violation cost.

The two-phase method of bi-objective shortest paths (Ulungu and Teghem 1995; Raith and Ehrgott 2009, section 3). The engine
gives the corners of the convex hull, by the best labellings of score - weight · cost. Between two neighbours on the hull every
other Pareto-optimal labelling lies in a triangle, all of which label setting with an account of the cost goes through.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from formulations.dtypes import LabelIds
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact.auto import auto
from ilpinfer.exact.hull import Unfound, is_corner, weight_ranges
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import LABEL_SETTING, Relaxation, undominated
from ilpinfer.exact.stages import solve
from ilpinfer.exact.weights import Point, Weight, Weighting
from ilpinfer.kernels.decoding import FEWEST_JOINT
from ilpinfer.kernels.label_setting import WIDEST

WIDTHS = (256, 4096, 32768)
"""Successive limits on the prefixes at a token in label setting; a beam of an eighth of the width runs in between."""
STEP = 8
"""The factor from one weight to the next heavier one."""
MOST_LOCAL = 40
"""Largest number of rules on single steps that label setting includes from the beginning."""


@dataclass
class FrontierSearch:
    """The search for a problem in which only hard rules are folded.

    Parameters
    ----------
    problem : Problem
        Scores and rules.
    deadline : Deadline
        Time limit.
    best : ndarray of int
        A labelling of the best score.
    hull : bool, default False
        Whether the corners of the convex hull, and points on its edges, are enough.
    most : int, optional
        How many points are wanted, from the best score on; None for all.
    heaviest : Fraction, optional
        The heaviest weight on all penalties; points that are cheaper than the best at that one are left out.
    points : list of Point, optional
        Pareto-optimal among the labellings so far, cheapest first.
    open : list of tuple of (int, int), optional
        The gaps that were not searched or given up, as the costs of their ends, from the best score on.
    bounds : list of tuple of (Weight, int), optional
        Weights with an upper bound on the value of every labelling.
    """

    problem: Problem
    deadline: Deadline
    best: LabelIds
    hull: bool = False
    most: int | None = None
    heaviest: Fraction | None = None
    points: list[Point] = field(default_factory=list)
    open: list[tuple[int, int]] = field(default_factory=list)
    bounds: list[tuple[Weight, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.weights = Weighting(self.problem)
        self.unit = self.weights.unit
        self._probed: dict[Weight, Known] = {}
        self.add(self.best)

    def run(self) -> None:
        """Fill `points`, and `open` with gaps that are not proved.

        It goes from the best score to the least cost, since the problems with heavy weights take the most time.
        """
        if not self.points[0].cost:
            return
        proved = self.probe(Weight(1, self.weights.finest))
        corner = self.points[-1]
        if proved is None or self.enough(corner.cost):
            self.open.append((-1, corner.cost))
            return
        for weight in self._ladder():
            cheaper = self.probe(weight)
            if cheaper is not None:
                self._search(cheaper, corner)
                corner = cheaper
            if not corner.cost:
                return
            if cheaper is None or self.enough(corner.cost):
                self.open.append((-1, corner.cost))
                return
        if self.heaviest is None:
            everything = Point(corner.path, self.weights.lowest - 1, -1)
            if not self.close(everything, corner, weight):
                self.open.append((-1, corner.cost))

    def enough(self, cost: int) -> bool:
        """Whether as many points as are wanted are proved from a cost on."""
        if self.most is None:
            return False
        unfound = Unfound(self.bounds, [*self.open, (-1, cost)])
        known = [point for point in self.points if point.cost >= cost]
        ranges = weight_ranges([(p.cost, p.score) for p in known], unfound.corners())
        proved = [
            is_corner(weights) if self.hull else not unfound.can_dominate(point)
            for point, weights in zip(known, ranges, strict=True)
        ]
        return sum(proved) >= self.most

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

    def probe(self, weight: Weight) -> Point | None:
        """The best labelling at a weight; None where that is not proved."""
        problem = self.weights.weighted(weight)
        known = self._probed[weight] = Known.of(problem, self.deadline)
        end = solve(known)
        if end.complete and end.paths:
            point = self.add(end.paths[0])
            if point is not None:
                self.bounds.append((weight, weight.value(point)))
            return point
        if self.deadline.passed:
            return None
        result = next(auto(problem, Task(self.deadline), "auto"))
        if math.isfinite(result.bound):
            self.bounds.append((weight, math.floor(result.bound)))
        if result.path is None:
            return None
        point = self.add(result.path)
        return point if point is not None and weight.value(point) >= result.bound else None

    def close(self, left: Point, right: Point, weight: Weight) -> bool:
        """Add all points between two neighbours; whether that is proved."""
        if right.score - left.score <= 1 and right.cost - left.cost <= 1:
            return True
        self.deadline.excuse(LABEL_SETTING.warm())
        probed, known = self._probed.get(weight), Known.unfolded(self.weights.weighted(weight), self.deadline)
        components = set(self._local)
        if probed is not None:
            known.multipliers, components = dict(probed.multipliers), components | probed.active_components
        known.active = known.machines_of(components)
        known.active += known.broken([left.path, right.path], known.active)
        while True:
            paths = self._all_between(known, weight, left, right)
            if paths is None:
                return False
            for path in paths:
                self.add(path)
            new = known.broken(paths, known.active)
            if not new:
                return not any(known.evaluate(path).machineless for path in paths)
            known.active = [*known.active, *new]

    @cached_property
    def _local(self) -> list[MachineKey]:
        """Components of soft rules on single steps, if they are few."""
        rules = self.problem.rules
        local = [(r, p) for r, rule in enumerate(rules) if rule.folds for p in range(len(rule.components))]
        return local if len(local) <= MOST_LOCAL else []

    def _ladder(self) -> Iterator[Weight]:
        """Increasing weights, starting with that of the penalties themselves."""
        factor, last = Fraction(1), Fraction(self.weights.heaviest, self.unit)
        if self.heaviest is not None:
            last = min(last, self.heaviest)
        while factor < last:
            weight = factor * self.unit
            yield self.weights.ratio(weight.numerator, weight.denominator)
            factor *= STEP
        weight = last * self.unit
        yield self.weights.ratio(weight.numerator, weight.denominator)

    def _search(self, left: Point, right: Point) -> None:
        """Add the points between two corners of the hull, by halving (Aneja and Nair 1979)."""
        if right.cost == left.cost:
            return
        if self.enough(right.cost):
            self.open.append((left.cost, right.cost))
            return
        weight = self.weights.between(left, right)
        middle = None if right.cost - left.cost == 1 or self.deadline.passed else self.probe(weight)
        if middle is not None and _above(middle, left, right):
            self._search(middle, right)
            self._search(left, middle)
        elif not self.close(left, right, weight):
            self.open.append((left.cost, right.cost))

    def _all_between(self, known: Known, weight: Weight, left: Point, right: Point) -> list[LabelIds] | None:
        """The Pareto-optimal labellings between two points under the active rules; None where they are too many."""
        relaxation, T = Relaxation(known), len(self.best)
        for width in WIDTHS:
            for beam in (False, True):
                floor, most = self._region(weight, left, right)
                if relaxation.total < floor:
                    return []
                result = relaxation.prefixes(
                    known.active,
                    self.deadline,
                    floor=floor,
                    width=width // 8 if beam else WIDEST,
                    most=width * T,
                    budget=weight.cost * most,
                    inside=FEWEST_JOINT,
                )
                paths = [result.paths[place] for place in undominated(result)]
                if result.complete and not beam:
                    return paths
                if self.deadline.passed:
                    return None
                for path in paths:
                    self.add(path)
        return None

    def _region(self, weight: Weight, left: Point, right: Point) -> tuple[int, int]:
        """The least value, in the units of the weight, and the highest cost of points that are still wanted."""
        if self.hull and left.cost >= 0:
            slack = weight.score * (right.score - left.score) - weight.cost * (right.cost - left.cost)
            return weight.value(left) - abs(slack) + 1, right.cost - 1
        known = [p for p in self.points if left.cost < p.cost < right.cost]
        ends = zip([left, *known], [*known, right], strict=True)
        corners = [(a.score + 1, b.cost - 1) for a, b in ends]
        return min(weight.score * score - weight.cost * cost for score, cost in corners), right.cost - 1


def _above(point: Point, left: Point, right: Point) -> bool:
    """Whether a point is above the line through two others."""
    return (point.score - left.score) * (right.cost - left.cost) > (point.cost - left.cost) * (
        right.score - left.score
    )
