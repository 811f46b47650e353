"""The best scores at each violation cost: all Pareto-optimal labellings.

The two-phase method of bi-objective shortest paths (Ulungu and Teghem 1995; Raith and Ehrgott 2009, section 3). The engine
gives the corners of the convex hull, as best labellings of score - weight · cost. Between two neighbours on the hull, all other
Pareto-optimal labellings lie in a triangle, which label setting with the cost as second criterion enumerates.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from formulations.dtypes import LabelIds
from ilpinfer.core.result import Task
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.auto import auto
from ilpinfer.exact.relaxation import Prefixes, undominated
from ilpinfer.exact.weighted_search import Point, Weight, WeightedSearch, is_above

Gap = tuple[int, int | None]
"""An open interval of costs in which labellings may be unknown; None for no end."""


@dataclass
class FrontierSearch(WeightedSearch):
    """The search for all Pareto-optimal labellings."""

    open: list[tuple[int, int]] = field(default_factory=list)
    """The unproved gaps by the costs of their ends, from the best score on."""

    def run(self) -> None:
        """Fill `points`, and `open` with unproved gaps.

        The search goes from the best score to the least cost, since problems with large weights take the most time.
        """
        if not self.points[0].cost:
            return
        proved = self.probe(Weight(1, self.finest))
        corner = self.points[-1]
        if proved is None:
            self.open.append((-1, corner.cost))
            return
        for weight in self._ladder():
            cheaper = self.probe(weight)
            if cheaper is not None:
                self._search(cheaper, corner)
                corner = cheaper
            if not corner.cost:
                return
            if cheaper is None:
                self.open.append((-1, corner.cost))
                return
        everything = Point(corner.path, self.lowest - 1, -1)
        if not self.close(everything, corner, weight):
            self.open.append((-1, corner.cost))

    def may_be_dominated(self, point: Point, gaps: Sequence[Gap]) -> bool:
        """Whether an unknown labelling, below the bounds and within the gaps, may dominate a point."""
        for low, high in gaps:
            cheaper = point.cost - 1 if high is None else min(point.cost, high) - 1
            if low < cheaper and self.best_score(cheaper) >= point.score:
                return True
            inside = low < point.cost and (high is None or point.cost < high)
            if inside and self.best_score(point.cost) > point.score:
                return True
        return False

    def probe(self, weight: Weight) -> Point | None:
        """The best labelling at a weight by any method; None if it is not proved."""
        point = self.solve(weight)
        if point is not None or self.deadline.passed:
            return point
        result = next(auto(self.weighted(weight), Task(self.deadline), "auto"))
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
        problem, components = self._ground_problem(weight, unfolded=True), self._local
        probed, multipliers = self._probed.get(weight), dict[MachineKey, int]()
        if probed is not None:
            multipliers |= probed.multipliers
            components = components | probed.problem.components_of(probed.active)
        machines = [m for m, component in enumerate(problem.instance.components) if component in components]
        machines += problem.broken([left.path, right.path], machines)

        def read(result: Prefixes) -> list[LabelIds]:
            paths = [result.paths[place] for place in undominated(result)]
            for path in paths:
                self.add(path)
            return paths

        region = partial(self._region, weight, left, right)
        return self._exhaust(problem, machines, multipliers, region, read) is not None

    @cached_property
    def _local(self) -> set[MachineKey]:
        """Components of soft rules on single steps, if they are few."""
        rules = self.problem.rules
        local = {(r, p) for r, rule in enumerate(rules) if rule.folds for p in range(len(rule.components))}
        return local if len(local) <= limits.MOST_LOCAL else set()

    def _ladder(self) -> Iterator[Weight]:
        """Increasing weights, starting with the weight of the given penalties."""
        weight, last = self.unit, self.heaviest
        while weight < last:
            yield self.ratio(weight, 1)
            weight *= limits.WEIGHT_STEP
        yield self.ratio(last, 1)

    def _search(self, left: Point, right: Point) -> None:
        """Add the points between two corners of the hull, by halving (Aneja and Nair 1979)."""
        if right.cost == left.cost:
            return
        weight = self.between(left, right)
        middle = None if right.cost - left.cost == 1 or self.deadline.passed else self.probe(weight)
        if middle is not None and is_above(middle, left, right):
            self._search(middle, right)
            self._search(left, middle)
        elif not self.close(left, right, weight):
            self.open.append((left.cost, right.cost))

    def _region(self, weight: Weight, left: Point, right: Point) -> tuple[int, int]:
        """The least value and the highest cost of points still wanted, in units of the weight."""
        between = [p for p in self.points if left.cost < p.cost < right.cost]
        ends = zip([left, *between], [*between, right], strict=True)
        corners = [(a.score + 1, b.cost - 1) for a, b in ends]
        floor = min(weight.score * score - weight.cost * cost for score, cost in corners)
        return floor, weight.cost * (right.cost - 1)
