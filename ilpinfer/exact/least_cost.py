"""The least violation cost among labellings near the best score: the second phase, by label setting with an account.

The engine finds the best labelling by score - θ·cost at several weights θ. The weight at which the floor is just reached
bounds the cost (Handler and Zang 1980, for constrained shortest paths). Label setting with an account of the cost closes the
duality gap.
"""

from dataclasses import dataclass
from fractions import Fraction

from formulations.dtypes import LabelIds
from formulations.grid import LIMIT
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import LABEL_SETTING, Relaxation
from ilpinfer.exact.stages import solve
from ilpinfer.exact.weights import Point, Weight, Weighting
from ilpinfer.kernels.decoding import FEWEST_JOINT
from ilpinfer.kernels.label_setting import WIDEST

WIDTHS = (256, 4096, 65536)
MOST_WEIGHTS = 20
STEP = 8
"""The factor from one weight to the next heavier one."""


@dataclass
class LeastCost:
    """The search for a problem in which only hard rules are folded.

    Parameters
    ----------
    problem : Problem
        Scores and rules.
    floor : int or None
        Grid units that a score must reach; None for any.
    best : ndarray of int
        The labelling of the best score.
    """

    problem: Problem
    deadline: Deadline
    floor: int | None
    best: LabelIds

    def __post_init__(self) -> None:
        self.weights = Weighting(self.problem)
        self.lowest = self.weights.lowest if self.floor is None else self.floor
        self.incumbent = self.point(self.best)
        self.cost_bound = 0
        self.is_weighted = False
        self.weight = 1
        self.components: set[MachineKey] = set()
        self.stages: set[MachineKey] = set()

    def point(self, path: LabelIds) -> Point:
        """Its score and cost."""
        point = self.weights.point(path)
        assert point is not None, "a labelling that keeps the hard rules"
        return point

    def reaches_floor(self, score: int) -> bool:
        """Whether a score reaches the floor."""
        return self.floor is None or score >= self.floor

    def proof(self) -> tuple[Leaf, int]:
        """The leaf of the proof, and its weight.

        The check has an account of the cost, so that the machines of all rules that were active suffice.
        """
        known, rules = Known.unfolded(self.problem, self.deadline), self.problem.rules
        one = known.ground
        machines = [
            m
            for m, (component, key) in enumerate(zip(one.components, one.keys, strict=True))
            if (component in self.components or key in self.stages) and rules[key[0]].most
        ]
        known.inside = known.product_of(machines)
        return known.leaf(machines), self.weight

    def run(self, top: int) -> list[LabelIds] | None:
        """The `top` cheapest labellings, of equal cost the best scores, equal ones by label ids; None if the gap is not
        closed."""
        weight = self.bracket()
        if weight is None:
            return None
        self.weight = max(1, weight.cost // weight.score)
        if top == 1 and self.incumbent.cost <= self.cost_bound and self.is_weighted:
            return [self.incumbent.path]
        return self.close(weight, top)

    def bracket(self) -> Weight | None:
        """A weight at which the best labelling just reaches or just misses the floor, or a weight that is large enough.

        It is approached from below, since the problems with heavy weights take the most time. It is heavy enough
        where a violation less would make up for all of the score that is left above the floor.
        """
        weights, low = self.weights, self.point(self.best)
        heaviest = Fraction(weights.heaviest)
        ratio = min(heaviest, Fraction(weights.unit, STEP))
        while True:
            weight = weights.ratio(*ratio.as_integer_ratio())
            result = self.probe(weight)
            if result is None:
                return None
            if not self.reaches_floor(result.score):
                return self.balance(low, result)
            enough = Fraction((result.score - self.lowest) // weights.least_penalty + 1)
            if ratio >= min(heaviest, enough) or not result.cost:
                return weight
            low, ratio = result, min(heaviest, enough, STEP * ratio)

    def balance(self, low: Point, high: Point) -> Weight | None:
        """A weight between those of two labellings, one above and one below the floor, at which the best labelling just
        reaches or just misses it."""
        weight = Weight(1, 1)
        for _ in range(MOST_WEIGHTS):
            if low.cost <= high.cost:
                break
            weight = self.weights.between(high, low)
            result = self.probe(weight)
            if result is None:
                return None
            if weight.value(result) <= max(weight.value(low), weight.value(high)):
                break
            low, high = (result, high) if self.reaches_floor(result.score) else (low, result)
        return weight

    def probe(self, weight: Weight) -> Point | None:
        """The best labelling at a weight: none of its cost scores more, and its value bounds all costs."""
        known = Known.of(self.weights.weighted(weight), self.deadline)
        end = solve(known)
        self.components |= known.active_components | self._folded_components(known)
        if isinstance(known.tree, Leaf):
            self.components |= set(known.tree.multipliers)
            self.stages |= {key for keys in (known.tree.product, *known.tree.stages) for key in keys}
        if not end.complete or not end.paths:
            return None
        result = self.point(end.paths[0])
        before = self.incumbent
        if self.reaches_floor(result.score) and (result.cost, -result.score) <= (before.cost, -before.score):
            self.incumbent, self.is_weighted = result, True
        missing = weight.score * self.lowest - weight.value(result)
        self.cost_bound = max(self.cost_bound, -(-missing // weight.cost))
        return result

    def close(self, weight: Weight, top: int) -> list[LabelIds] | None:
        """Label setting over all labellings that could cost less, or score more at the same cost."""
        self.deadline.excuse(LABEL_SETTING.warm())
        known = Known.unfolded(self.weights.weighted(weight), self.deadline)
        known.active = known.broken([self.best, self.incumbent.path])
        while True:
            result = self._cheapest_few(known, weight, top)
            if result is None:
                return None
            new = known.broken(result, known.active)
            if new:
                known.active = sorted([*known.active, *new])
            elif any(known.evaluate(path).machineless for path in result):
                return None
            else:
                self.components |= known.active_components
                return result

    def _folded_components(self, known: Known) -> set[MachineKey]:
        """The components of the folded rules."""
        kept, rules = set(known.numbers), self.problem.rules
        return {(r, p) for r in range(len(rules)) if r not in kept for p in range(len(rules[r].components))}

    def _cheapest_few(self, known: Known, weight: Weight, top: int) -> list[LabelIds] | None:
        """The cheapest labellings under the active rules."""
        relaxation, T = Relaxation(known), len(self.best)
        least: int | None = self.incumbent.cost if top == 1 else None
        for width in WIDTHS:
            for beam in (False, True):
                budget = LIMIT if least is None else weight.cost * least
                result = relaxation.prefixes(
                    known.active,
                    self.deadline,
                    floor=-LIMIT if least is None else weight.score * self.lowest - budget,
                    width=width // 8 if beam else WIDEST,
                    most=width * T,
                    copies=top,
                    budget=budget,
                    inside=FEWEST_JOINT,
                )
                pairs = zip(result.paths, result.values, result.costs, strict=True)
                kept = [
                    path for path, value, cost in pairs if self.reaches_floor((value + cost) // weight.score)
                ]
                if result.complete and not beam:
                    return kept[:top]
                if self.deadline.passed:
                    return None
                costs = sorted(self.point(p).cost for p in kept if self.problem.value(p).feasible)
                if len(costs) >= top:
                    least = costs[top - 1] if least is None else min(least, costs[top - 1])
        return None
