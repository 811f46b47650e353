"""The cheapest labellings at or above a score.

This needs only the two hull neighbours on either side of the score (Handler and Zang 1980), and label setting between them;
see `FrontierSearch`.
"""

from fractions import Fraction

from formulations.dtypes import LabelIds
from formulations.grid import LIMIT
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.relaxation import Prefixes
from ilpinfer.exact.state import State
from ilpinfer.exact.weighted_search import Point, Weight, WeightedSearch, is_above


class LeastCostSearch(WeightedSearch):
    """The search for the cheapest labellings at or above a score."""

    def cheapest(self, floor: int | None, top: int) -> tuple[list[LabelIds], Leaf, int] | None:
        """The `top` cheapest labellings with at least a score, with a leaf and its weight; None if unproved.

        Equal costs are ordered by decreasing score, equal scores by label ids.
        """
        least = self.lowest if floor is None else floor
        right, ratio = self.points[0], Fraction(self.unit, limits.WEIGHT_STEP)
        while True:
            weight = self.ratio(*ratio.as_integer_ratio())
            left = self.solve(weight)
            if left is None:
                return None
            if left.score < least:
                break
            right = left
            enough = min(self.heaviest, (right.score - least) // self.least_penalty + 1)
            if ratio >= enough or not right.cost or (top == 1 and self._is_cheapest(right, least)):
                break
            ratio = min(Fraction(enough), limits.WEIGHT_STEP * ratio)
        for _ in range(limits.MOST_WEIGHTS):
            if left.score >= least or (top == 1 and self._is_cheapest(right, least)):
                break
            weight = self.between(left, right)
            middle = self.solve(weight)
            if middle is None:
                return None
            if not is_above(middle, left, right):
                break
            left, right = (middle, right) if middle.score < least else (left, middle)
        paths, components = [right.path], set[MachineKey]()
        if top > 1 or right.path is self.best or not self._is_cheapest(right, least):
            paths, components = self._few(weight, least, right, top)
        return (paths, self._leaf(components), max(1, weight.cost // weight.score)) if paths else None

    def _is_cheapest(self, point: Point, least: int) -> bool:
        """Whether it is proved that no cheaper labelling has at least the score."""
        return not point.cost or self.best_score(point.cost - 1) < least

    def _few(
        self, weight: Weight, least: int, cheapest: Point, top: int
    ) -> tuple[list[LabelIds], set[MachineKey]]:
        """The cheapest labellings of at least a score, those as cheap as the cheapest so far among them; none where they are
        too many. And the components that label setting followed."""
        problem = self._ground_problem(weight, unfolded=True)
        most: int | None = cheapest.cost if top == 1 else None

        def region() -> tuple[int, int]:
            if most is None:
                return -LIMIT, LIMIT
            return weight.score * least - weight.cost * most, weight.cost * most

        def read(result: Prefixes) -> list[LabelIds]:
            nonlocal most
            worth = zip(result.paths, result.values, result.costs, strict=True)
            paths = [path for path, value, cost in worth if value + cost >= weight.score * least]
            points = [self.point(path) for path in paths]
            costs = sorted(point.cost for point in points if point is not None)[:top]
            if len(costs) == top:
                most = costs[-1] if most is None else min(most, costs[-1])
            return paths[:top]

        found = self._exhaust(problem, problem.broken([self.best, cheapest.path]), {}, region, read, top)
        return ([], set()) if found is None else (found[0], problem.components_of(found[1]))

    def _leaf(self, components: set[MachineKey]) -> Leaf:
        """The proof of the cheapest labellings: the machines of components and of all rules that were active, since its check has an
        account of the cost."""
        stages, rules = set[MachineKey](), self.problem.rules
        for probed in self._probed.values():
            folded = set(range(len(rules))) - set(probed.problem.numbers)
            components |= probed.problem.components_of(probed.active)
            components |= {(r, p) for r in folded for p in range(len(rules[r].components))}
            if isinstance(probed.proof, Leaf):
                components |= set(probed.proof.multipliers)
                stages |= {key for keys in (probed.proof.product, *probed.proof.stages) for key in keys}
        problem = self._ground_problem(unfolded=True)
        one = problem.instance
        machines = [
            m
            for m, (component, key) in enumerate(zip(one.components, one.keys, strict=True))
            if (component in components or key in stages) and rules[key[0]].most
        ]
        return State(problem, active=tuple(machines), inside=problem.small_product(machines)).leaf()
