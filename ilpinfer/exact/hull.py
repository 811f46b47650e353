"""The weights at which points of a frontier are the best of all labellings, also of those that no search has found."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ilpinfer.exact.weights import Point, Weight

Number = int | Fraction
Pair = tuple[Number, Number]
"""Cost and score."""
Gap = tuple[int, int | None]
"""Two costs between which labellings may be unknown, both left out; None for no end."""
Weights = tuple[float, float]
"""The least and the largest weight of a range."""


def upper_hull(points: Iterable[Pair]) -> list[Pair]:
    """The corners of the concave curve over points (cost, score), both of which grow from point to point."""
    corners: list[Pair] = []
    for cost, score in points:
        while len(corners) > 1:
            (c0, s0), (c1, s1) = corners[-2:]
            if (s1 - s0) * (cost - c1) > (score - s1) * (c1 - c0):
                break
            corners.pop()
        corners.append((cost, score))
    return corners


def weight_ranges(points: Sequence[Pair], others: Sequence[Pair] = (), unit: int = 1) -> list[Weights | None]:
    """For each point, the weights on a cost of `unit` at which no other pair is better; None where there are none."""
    corners = upper_hull(_growing([*points, *others]))
    costs = [cost for cost, _ in corners]
    slopes = [
        float(Fraction(s1 - s0) / (Fraction(c1 - c0) * unit)) for (c0, s0), (c1, s1) in pairwise(corners)
    ]
    highs, lows = [math.inf, *slopes], [*slopes, 0.0]
    result: list[Weights | None] = []
    for cost, score in points:
        place = bisect_left(costs, cost)
        if place < len(corners) and corners[place] == (cost, score):
            result.append((lows[place], highs[place]))
        elif 0 < place < len(corners) and _on_line((cost, score), corners[place - 1], corners[place]):
            result.append((highs[place], highs[place]))
        else:
            result.append(None)
    return result


def is_corner(weights: Weights | None) -> bool:
    """Whether a point with a range is the only best one at a weight."""
    return weights is not None and weights[0] < weights[1]


def _growing(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs that score more than every cheaper one, cheapest first."""
    best: Number | None = None
    for cost, score in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        if best is None or score > best:
            best = score
            yield cost, score


def _on_line(pair: Pair, left: Pair, right: Pair) -> bool:
    return (pair[1] - left[1]) * (right[0] - left[0]) == (right[1] - left[1]) * (pair[0] - left[0])


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

    def corners(self) -> list[Pair]:
        """Pairs such that no unknown labelling is better, at any weight, than all of them."""
        bends = list(self._bends())
        result: list[Pair] = []
        for low, high in self.gaps:
            first = low + 1
            last = max([first, *bends]) if high is None else high - 1
            if first <= last:
                costs = {first, *(cost for cost in bends if first < cost < last), last}
                result += [(cost, self._line(cost)[0]) for cost in costs]
        return result

    def _line(self, cost: Number) -> tuple[Fraction, Fraction]:
        """The lowest bound on scores at a cost and its slope; of equal ones the flattest."""
        lines = (
            (Fraction(value + weight.cost * cost) / weight.score, Fraction(weight.cost, weight.score))
            for weight, value in self.bounds
        )
        return min(lines)

    def _bends(self) -> Iterator[Number]:
        """The costs at which another bound becomes the lowest one, from 0 on."""
        cost: Number = 0
        while True:
            score, slope = self._line(cost)
            meeting = [
                cost + (Fraction(value + weight.cost * cost) / weight.score - score) / (slope - flatter)
                for weight, value in self.bounds
                if (flatter := Fraction(weight.cost, weight.score)) < slope
            ]
            if not meeting:
                return
            cost = min(meeting)
            yield cost
