"""Records of the Pareto frontier of a sequence: every trade-off between score and violation cost that no other labelling beats."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from formulations.messages import counted
from formulations.plain_values import PlainRecord, items, number, record
from ilpinfer.core.printing import broken_rules, in_runs, short
from ilpinfer.core.solution import finite

ROW_KEYS = ("sequence", "tokens", "status", "error", "job")
"""Further keys of rows of `ilpinfer pareto`, which are not read."""


@dataclass(frozen=True)
class FrontierPoint(PlainRecord):
    """A labelling such that no other one is at least as good in score and cost and better in one of them.

    Parameters
    ----------
    score : float
        Score model_score + feature_score, nats.
    cost : float
        Sum of the penalties of its violations, nats.
    violations : dict of str to int
        Number of violations of each rule, zeros included.
    labels : tuple of str
        T label names.
    weights : tuple of (float, float) or None
        Range of the weights on all penalties for which score - weight · cost is proved to be the largest of
        all labellings. In a complete frontier it is the whole range, and None for an unsupported point, which
        is optimal for no weight and cannot be found by one-phase decoding. Where points may be missing, it is
        the part that no labelling that was not found can change; None if there is none.
    proved : bool, default True
        Whether it is proved that the point is Pareto-optimal.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> frontier = ilpinfer.decode_frontier(trellis, [C.starts_with("b", penalty=1.0)])
    >>> frontier.points[0].labels, frontier.points[0].cost
    (('b', 'b'), 0.0)
    """

    score: float
    cost: float
    violations: dict[str, int]
    labels: tuple[str, ...]
    weights: tuple[float, float] | None
    proved: bool = True

    def __repr__(self) -> str:
        return f"FrontierPoint(cost={self.cost:.10g}, score={self.score:.10g}, {counted(len(self.labels), 'token')})"

    def __str__(self) -> str:
        worth = f"cost {self.cost:.6g} nats, score {self.score:.6g}"
        return short([f"{worth}, {broken_rules(self.violations)}: {in_runs(self.labels)}"])

    @property
    def supported(self) -> bool:
        """Whether it is proved to lie on the convex hull of all points."""
        return self.weights is not None

    def to_dict(self) -> dict[str, Any]:
        return {
            "score": self.score,
            "cost": self.cost,
            "supported": self.supported,
            "weights": None if self.weights is None else [finite(weight) for weight in self.weights],
            "proved": self.proved,
            "violations": self.violations,
            "labels": list(self.labels),
        }

    @classmethod
    def from_dict(cls, values: Any, what: str = "point") -> "FrontierPoint":
        weights = values.get("weights") if isinstance(values, Mapping) else None
        if weights is None:
            return record(cls, values, what, derived=("supported",))
        low, high = (
            number(end, f"{what}: weights[{at}]", math.inf)
            for at, end in enumerate(items(weights, f"{what}: weights", 2))
        )
        point = record(cls, {**values, "weights": None}, what, derived=("supported",))
        return replace(point, weights=(low, high))


@dataclass(frozen=True)
class Frontier(PlainRecord):
    """The Pareto frontier of a sequence.

    Parameters
    ----------
    points : tuple of FrontierPoint
        Points in the order of increasing cost, which is also that of increasing score.
    complete : bool
        Whether there are no other points; with `hull` or `heaviest`, no other points of that kind. With
        `most`, it is false where there may be cheaper points.
    seconds : float
        Wall time.
    reason : str, optional
        Reason why there are no points, or why the frontier is not complete.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> frontier = ilpinfer.decode_frontier(trellis, [C.starts_with("b", penalty=1.0)])
    >>> len(frontier.points), frontier.complete, frontier.at_floor(-0.6).score
    (2, True, -0.5)
    """

    points: tuple[FrontierPoint, ...]
    complete: bool
    seconds: float
    reason: str = ""

    def __repr__(self) -> str:
        return f"Frontier({counted(len(self.points), 'point')}, {'complete' if self.complete else 'not complete'})"

    def __str__(self) -> str:
        said = f"{counted(len(self.points), 'point')}, {'complete' if self.complete else 'not complete'}"
        first = f"{said}{f': {self.reason}' if self.reason else ''}"
        return "\n".join(
            (short([first]), *([short(list(map(str, self.points)), "point")] * bool(self.points)))
        )

    @property
    def supported(self) -> tuple[FrontierPoint, ...]:
        """The points that are proved to lie on the convex hull, from the least cost to the best score."""
        return tuple(point for point in self.points if point.supported)

    def at_weight(self, weight: float) -> FrontierPoint:
        """The best of the points if all penalties are multiplied by a weight; the cheapest of equally good ones.

        It is proved to be the best of all labellings if the weight is in its range, as in a complete frontier.

        Parameters
        ----------
        weight : float
            Factor of all penalties, from 0.

        Returns
        -------
        FrontierPoint
            The point.

        Raises
        ------
        ValueError
            Where there are no points, and for a negative weight.
        """
        if not weight >= 0:
            raise ValueError(f"weight is {weight!r}; expected a number from 0")
        self._check()
        for point in self.points:
            if point.weights is not None and point.weights[0] <= weight <= point.weights[1]:
                return point
        return max(self.points, key=lambda point: (point.score - weight * point.cost, -point.cost))

    def at_floor(self, floor: float) -> FrontierPoint:
        """The cheapest point with at least a given score, which is the labelling of two-phase inference.

        In a frontier that is not complete it is the cheapest of the points found.

        Parameters
        ----------
        floor : float
            Least score, nats.

        Returns
        -------
        FrontierPoint
            The point.

        Raises
        ------
        ValueError
            If no point has that score.
        """
        self._check()
        place = bisect_left(self.points, floor, key=lambda point: point.score)
        if place == len(self.points):
            raise ValueError(f"floor is {floor!r}, above the best score {self.points[-1].score!r}")
        return self.points[place]

    @classmethod
    def from_dict(cls, values: Any, what: str = "the frontier") -> "Frontier":
        return record(cls, values, what, derived=ROW_KEYS)

    def _check(self) -> None:
        if not self.points:
            raise ValueError(f"the frontier has no points: {self.reason}")
