"""The best scores at each violation cost: all Pareto-optimal labellings, or the cheapest ones at or above a score.

The two-phase method of bi-objective shortest paths (Ulungu and Teghem 1995; Raith and Ehrgott 2009, section 3). The engine
gives the corners of the convex hull, by the best labellings of score - weight · cost. Between two neighbours on the hull every
other Pareto-optimal labelling lies in a triangle, all of which label setting with an account of the cost goes through. For the
cheapest labellings, only the neighbours on either side of the score are needed (Handler and Zang 1980).
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from formulations.dtypes import LabelIds
from formulations.grid import LIMIT
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact.auto import auto
from ilpinfer.exact.ground import Ground, reweighted
from ilpinfer.exact.hull import Unfound, is_corner, weight_ranges
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import LABEL_SETTING, Prefixes, Relaxation, undominated
from ilpinfer.exact.stages import solve
from ilpinfer.exact.weights import Point, Weight, Weighting
from ilpinfer.kernels.decoding import FEWEST_JOINT
from ilpinfer.kernels.label_setting import WIDEST

WIDTHS = (256, 4096, 65536)
"""Successive limits on the prefixes at a token in label setting; a beam of an eighth of the width runs in between."""
STEP = 8
"""The factor from one weight to the next heavier one."""
MOST_WEIGHTS = 20
"""Largest number of weights between two neighbours of a score."""
MOST_LOCAL = 40
"""Largest number of rules on single steps that label setting includes from the beginning."""


@dataclass
class FrontierSearch:
    """The search for a problem in which only hard rules are folded."""

    problem: Problem
    deadline: Deadline
    best: LabelIds
    hull: bool = False
    most: int | None = None
    heaviest: Fraction | None = None
    points: list[Point] = field(default_factory=list)
    open: list[tuple[int, int]] = field(default_factory=list)
    """The gaps that are not proved, as the costs of their ends, from the best score on."""
    bounds: list[tuple[Weight, int]] = field(default_factory=list)
    """Weights with an upper bound on the value of every labelling."""

    def __post_init__(self) -> None:
        self.weights = Weighting(self.problem)
        self.unit = self.weights.unit
        self._probed: dict[Weight, Known] = {}
        self._closing: Known | None = None
        self._grounds: dict[bool, Ground] = {}
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

    def cheapest(self, floor: int | None, top: int) -> tuple[list[LabelIds], Leaf, int] | None:
        """The `top` cheapest labellings of at least a score, with a leaf and its weight; None if that is not proved.

        Of equal cost the best scores come first, equal ones by label ids.
        """
        least = self.weights.lowest if floor is None else floor
        right, ratio = self.points[0], Fraction(self.unit, STEP)
        while True:
            weight = self.weights.ratio(*ratio.as_integer_ratio())
            left = self.solve(weight)
            if left is None:
                return None
            if left.score < least:
                break
            right = left
            enough = min(self.weights.heaviest, (right.score - least) // self.weights.least_penalty + 1)
            if ratio >= enough or not right.cost or (top == 1 and self._is_cheapest(right, least)):
                break
            ratio = min(Fraction(enough), STEP * ratio)
        for _ in range(MOST_WEIGHTS):
            if left.score >= least or (top == 1 and self._is_cheapest(right, least)):
                break
            weight = self.weights.between(left, right)
            middle = self.solve(weight)
            if middle is None:
                return None
            if not _above(middle, left, right):
                break
            left, right = (middle, right) if middle.score < least else (left, middle)
        paths = [right.path]
        if top > 1 or right.path is self.best or not self._is_cheapest(right, least):
            few = self._few(weight, least, right, top)
            if not few:
                return None
            paths = few
        return paths, self._leaf(), max(1, weight.cost // weight.score)

    def _is_cheapest(self, point: Point, least: int) -> bool:
        """Whether it is proved that nothing cheaper has a score."""
        return not point.cost or Unfound(self.bounds, []).best_score(point.cost - 1) < least

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
        """What is known of the problem at a weight, or as it is, at the beginning. Machines are packed once for all weights."""
        problem = self.problem if weight is None else self.weights.weighted(weight)
        known = (Known.unfolded if unfolded else Known.of)(problem, self.deadline)
        if unfolded in self._grounds:
            known.ground = reweighted(self._grounds[unfolded], known.folded)
        self._grounds[unfolded] = known.ground
        return known

    def probe(self, weight: Weight) -> Point | None:
        """The best labelling at a weight by any method; None where that is not proved."""
        point = self.solve(weight)
        if point is not None or self.deadline.passed:
            return point
        result = next(auto(self.weights.weighted(weight), Task(self.deadline), "auto"))
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
        probed, known = self._probed.get(weight), self._known(weight, unfolded=True)
        components = set(self._local)
        if probed is not None:
            known.multipliers, components = dict(probed.multipliers), components | probed.active_components
        known.active = known.machines_of(components)
        known.active += known.broken([left.path, right.path], known.active)
        return self._rounds(known, lambda: self._all_between(known, weight, left, right)) is not None

    def _few(self, weight: Weight, least: int, cheapest: Point, top: int) -> list[LabelIds] | None:
        """The cheapest labellings of at least a score, those as cheap as the cheapest so far among them; None where they are
        too many."""
        self.deadline.excuse(LABEL_SETTING.warm())
        known = self._closing = self._known(weight, unfolded=True)
        known.active = known.broken([self.best, cheapest.path])

        def attempt() -> list[LabelIds] | None:
            most: int | None = cheapest.cost if top == 1 else None

            def region() -> tuple[int, int]:
                if most is None:
                    return -LIMIT, LIMIT
                return weight.score * least - weight.cost * most, weight.cost * most

            def reaching(result: Prefixes) -> list[LabelIds]:
                worth = zip(result.paths, result.values, result.costs, strict=True)
                return [path for path, value, cost in worth if value + cost >= weight.score * least]

            def note(result: Prefixes) -> None:
                nonlocal most
                points = [self.weights.point(path) for path in reaching(result)]
                costs = sorted(point.cost for point in points if point is not None)[:top]
                if len(costs) == top:
                    most = costs[-1] if most is None else min(most, costs[-1])

            result = self._label(known, region, note, top)
            return None if result is None else reaching(result)[:top]

        return self._rounds(known, attempt)

    def _rounds(self, known: Known, attempt: Callable[[], list[LabelIds] | None]) -> list[LabelIds] | None:
        """The labellings of label setting, once they break no further rule; None where they are too many, or without a machine."""
        while True:
            paths = attempt()
            if paths is None:
                return None
            new = known.broken(paths, known.active)
            if not new:
                return None if any(known.evaluate(path).machineless for path in paths) else paths
            known.active = [*known.active, *new]

    def _label(
        self,
        known: Known,
        region: Callable[[], tuple[int, int]],
        note: Callable[[Prefixes], None],
        copies: int = 1,
    ) -> Prefixes | None:
        """Label setting within a region, a least value and a budget, that the labellings of beams make smaller."""
        relaxation, T = Relaxation(known), len(self.best)
        for width in WIDTHS:
            for beam in (False, True):
                floor, budget = region()
                if relaxation.total < floor:
                    return Prefixes([], [], relaxation.total)
                result = relaxation.prefixes(
                    known.active,
                    self.deadline,
                    floor=floor,
                    width=width // 8 if beam else WIDEST,
                    most=width * T,
                    copies=copies,
                    budget=budget,
                    inside=FEWEST_JOINT,
                )
                if result.complete and not beam:
                    return result
                if self.deadline.passed:
                    return None
                note(result)
        return None

    def _leaf(self) -> Leaf:
        """The proof of the cheapest labellings: the machines of all rules that were active, since its check has an account of the
        cost."""
        components = set() if self._closing is None else self._closing.active_components
        stages, rules = set[MachineKey](), self.problem.rules
        for probed in self._probed.values():
            folded = set(range(len(rules))) - set(probed.numbers)
            components |= probed.active_components
            components |= {(r, p) for r in folded for p in range(len(rules[r].components))}
            if isinstance(probed.tree, Leaf):
                components |= set(probed.tree.multipliers)
                stages |= {key for keys in (probed.tree.product, *probed.tree.stages) for key in keys}
        known = self._known(unfolded=True)
        one = known.ground
        machines = [
            m
            for m, (component, key) in enumerate(zip(one.components, one.keys, strict=True))
            if (component in components or key in stages) and rules[key[0]].most
        ]
        known.inside = known.product_of(machines)
        return known.leaf(machines)

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

        def note(result: Prefixes) -> None:
            for place in undominated(result):
                self.add(result.paths[place])

        result = self._label(known, lambda: self._region(weight, left, right), note)
        if result is None:
            return None
        note(result)
        return [result.paths[place] for place in undominated(result)]

    def _region(self, weight: Weight, left: Point, right: Point) -> tuple[int, int]:
        """The least value and the highest cost of points that are still wanted, in the units of the weight."""
        if self.hull and left.cost >= 0:
            slack = weight.score * (right.score - left.score) - weight.cost * (right.cost - left.cost)
            return weight.value(left) - abs(slack) + 1, weight.cost * (right.cost - 1)
        known = [p for p in self.points if left.cost < p.cost < right.cost]
        ends = zip([left, *known], [*known, right], strict=True)
        corners = [(a.score + 1, b.cost - 1) for a, b in ends]
        floor = min(weight.score * score - weight.cost * cost for score, cost in corners)
        return floor, weight.cost * (right.cost - 1)


def _above(point: Point, left: Point, right: Point) -> bool:
    """Whether a point is above the line through two others."""
    return (point.score - left.score) * (right.cost - left.cost) > (point.cost - left.cost) * (
        right.score - left.score
    )
