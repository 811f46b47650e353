"""Where labellings can lie that the search for a frontier has not found."""

from collections.abc import Sequence
from dataclasses import dataclass

from ilpinfer.exact.weights import Point, Weight

Gap = tuple[int, int | None]
"""Two costs between which labellings may be unknown, both left out; None for no end."""


@dataclass(frozen=True)
class Unfound:
    """Where labellings can lie that a search has not found: below bounds at weights, one of them 0, and within gaps of costs."""

    bounds: Sequence[tuple[Weight, int]]
    gaps: Sequence[Gap]

    def best_score(self, cost: int) -> int:
        """An upper bound on the scores of labellings of a cost."""
        return min((value + weight.cost * cost) // weight.score for weight, value in self.bounds)

    def can_dominate(self, point: Point) -> bool:
        """Whether a labelling may be unknown that makes a point not Pareto-optimal."""
        for low, high in self.gaps:
            cheaper = point.cost - 1 if high is None else min(point.cost, high) - 1
            if low < cheaper and self.best_score(cheaper) >= point.score:
                return True
            inside = low < point.cost and (high is None or point.cost < high)
            if inside and self.best_score(point.cost) > point.score:
                return True
        return False
