"""The Pareto frontier of a sequence: every trade-off between score and violation cost that no other labelling beats."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any

from formulations import Trellis, time_limits
from formulations.grid import nats
from formulations.plain_values import flag, items, number, record, table, text
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.request import deadline_for, natural
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.core.solution import finite
from ilpinfer.decoding.two_phase import TwoPhaseSearch, decode_two_phase
from ilpinfer.exact.frontier import FrontierSearch
from ilpinfer.exact.programs import Reply
from ilpinfer.exact.weights import Point

ROW_KEYS = ("sequence", "tokens", "status", "error", "job")
"""Further keys of rows of `ilpinfer pareto`, which are not read."""


@dataclass(frozen=True)
class FrontierPoint:
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
        Range of the weights on all penalties for which score - weight · cost is the largest of all points;
        None for an unsupported point, which is optimal for no weight and cannot be found by one-phase
        decoding.
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

    @property
    def supported(self) -> bool:
        """Whether it lies on the convex hull of all points."""
        return self.weights is not None

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain values; an infinite weight becomes None.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        weights = None if self.weights is None else [finite(weight) for weight in self.weights]
        fields = {"score": self.score, "cost": self.cost, "supported": self.supported, "weights": weights}
        return {
            **fields,
            "proved": self.proved,
            "violations": self.violations,
            "labels": list(self.labels),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "FrontierPoint":
        """The point of the values that `to_dict` returns.

        Parameters
        ----------
        values : mapping of str to object
            A dictionary as `to_dict` returns it.

        Returns
        -------
        FrontierPoint
            The point.

        Raises
        ------
        ValueError
            For other values.
        """
        return _point(values, "point")


@dataclass(frozen=True)
class Frontier:
    """The Pareto frontier of a sequence.

    Parameters
    ----------
    points : tuple of FrontierPoint
        Points in the order of increasing cost, which is also that of increasing score.
    complete : bool
        Whether there are no other points; with `hull` or `heaviest`, no other points of that kind.
    seconds : float
        Wall time, compilation of kernels left out.
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

    @property
    def supported(self) -> tuple[FrontierPoint, ...]:
        """The points on the convex hull, from the least cost to the best score."""
        return tuple(point for point in self.points if point.supported)

    def at_weight(self, weight: float) -> FrontierPoint:
        """The best point if all penalties are multiplied by a weight; the cheapest of equally good ones.

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
        on_hull = [point for point in self.supported if point.weights and point.weights[0] <= weight]
        return on_hull[0] if on_hull else self.points[-1]

    def at_floor(self, floor: float) -> FrontierPoint:
        """The cheapest point with at least a given score, which is the labelling of two-phase inference.

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

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain values.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        return {
            "points": [point.to_dict() for point in self.points],
            "complete": self.complete,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Frontier":
        """The frontier of the values that `to_dict` returns, or of a row of `ilpinfer pareto`.

        Parameters
        ----------
        values : mapping of str to object
            A dictionary as `to_dict` returns it.

        Returns
        -------
        Frontier
            The frontier.

        Raises
        ------
        ValueError
            For other values.
        """
        given = table(values, ("points", "complete", "seconds", "reason"), "the frontier", ROW_KEYS)
        points = enumerate(items(given["points"], "points"))
        return cls(
            tuple(_point(each, f"points[{at}]") for at, each in points),
            flag(given["complete"], "complete"),
            number(given["seconds"], "seconds"),
            text(given["reason"], "reason"),
        )

    def _check(self) -> None:
        if not self.points:
            raise ValueError(f"the frontier has no points: {self.reason}")


def _point(values: Any, what: str) -> FrontierPoint:
    """A point from plain values, in which an infinite weight is None."""
    weights = values.get("weights") if isinstance(values, Mapping) else None
    if weights is None:
        return record(FrontierPoint, values, what, derived=("supported",))
    low, high = (
        number(end, f"{what}: weights[{at}]", math.inf)
        for at, end in enumerate(items(weights, f"{what}: weights", 2))
    )
    point = record(FrontierPoint, {**values, "weights": None}, what, derived=("supported",))
    return replace(point, weights=(low, high))


def decode_frontier(
    trellis: Trellis,
    rules: Rules,
    *,
    hull: bool = False,
    heaviest: float | None = None,
    most: int | None = None,
    time_limit: float | None = None,
) -> Frontier:
    """All Pareto-optimal pairs of score and violation cost, with a labelling for each.

    A labelling is Pareto-optimal if no other one that keeps the hard rules has at least the same score at a lower cost, or a
    better score at the same cost. Score is model_score + feature_score, and cost is Σ c·σ of the soft rules: the objective
    and the floor of two-phase inference (Fersini et al. 2014, eq. 22-29). For every floor, and so for every tau, the labelling
    of two-phase inference is a point of the frontier. One-phase decoding with weighted penalties finds only the points on the
    convex hull. These are found by halving (Aneja and Nair 1979), and the points between them by label setting with cost as
    the second criterion (Raith and Ehrgott 2009, section 3), or by a solver if that takes too many prefixes.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules
        Rules and features, or a rule set; hard rules stay hard.
    hull : bool, default False
        Whether to return only the points on the convex hull, which takes less time.
    heaviest : float, optional
        Weight on all penalties. Points cheaper than the best one at this weight are left out, which saves
        most of the time under many rules; None for all points.
    most : int, optional
        Limit on the number of points, counted from the best score; None for all points.
    time_limit : float, optional
        Time limit in seconds. If it is reached, the points found so far are returned, and `complete` is
        false.

    Returns
    -------
    Frontier
        The points, ordered by cost.

    Raises
    ------
    ValueError
        For numbers out of range, and for anything that `decode` refuses.

    Examples
    --------
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> frontier = decode_frontier(trellis, [C.requires_present("a", "b", penalty=0.75)])
    >>> [(point.score, point.cost, point.weights) for point in frontier.points]
    [(-0.5, 0.0, (0.6666666666666666, inf)), (0.0, 0.75, (0.0, 0.6666666666666666))]
    """
    compiler, deadline = compiler_of(rules), deadline_for(time_limit)
    most = None if most is None else natural(most, "most")
    limit = None if heaviest is None else checked_weight(heaviest)
    context = Context(compiler, trellis, partial(decode_two_phase, trellis))
    search, finished = None, False
    try:
        with time_limits.time_limit(lambda: deadline.passed, lambda: deadline.remaining):
            context = replace(context, known_problem=compiler.problem(trellis))
            phases = TwoPhaseSearch(context, "auto", deadline, 1)
            first, _ = phases.first_phase()
            if first.path is not None:
                search = FrontierSearch(phases.base, deadline, first.path, hull, most, limit)
                search.run()
                _close(search, phases, first)
                search.trim()
                finished = True
            elif first.status == "infeasible":
                return Frontier((), True, deadline.elapsed, "no labelling keeps the hard rules")
    except time_limits.OutOfTime:
        pass
    if search is None:
        return Frontier((), False, deadline.elapsed, "no time left")
    proved = finished and first.status == "optimal"
    reason = "" if proved and not search.open else _reason(search, deadline)
    return Frontier(tuple(_points(search, context, proved)), not reason, deadline.elapsed, reason)


def _reason(search: FrontierSearch, deadline: Deadline) -> str:
    """Why the frontier is not complete."""
    if deadline.passed:
        return "no time left"
    return f"{len(search.points)} points are enough" if search.enough else "a solver gave no answer"


def checked_weight(heaviest: float) -> Fraction:
    """The heaviest weight as a fraction; ValueError unless it is a number above 0."""
    if not isinstance(heaviest, Real) or not 0 < float(heaviest) < math.inf:
        raise ValueError(f"heaviest is {heaviest!r}; expected a number above 0, or None for all weights")
    return Fraction(float(heaviest)).limit_denominator(2**12) or Fraction(1, 2**12)


def _close(search: FrontierSearch, phases: TwoPhaseSearch, first: Reply) -> None:
    """Search the gaps that are open by a solver, one least cost at a floor after the other."""
    left_open = []
    for low, high in search.open:
        if search.enough or phases.deadline.passed or not _fill(search, phases, first, low, high):
            left_open.append((low, high))
    search.open = left_open


def _fill(search: FrontierSearch, phases: TwoPhaseSearch, first: Reply, low: int, high: int) -> bool:
    """Whether all points with costs between two numbers are there."""
    floor = None
    if low >= 0:
        floor = max(point.score for point in search.points if point.cost <= low) + 1
    while True:
        solution = phases.at_floor(first, floor)
        if solution is None or not solution.has_labelling or solution.status != "optimal":
            return False
        point = search.add(solution.ids)
        if point is None or point.cost >= high:
            return True
        floor = point.score + 1


def _points(search: FrontierSearch, context: Context, proved: bool) -> Iterator[FrontierPoint]:
    """The points as users read them."""
    problem, names = context.problem, context.trellis.labels.names
    corners = upper_hull([(point.cost, point.score) for point in search.points])
    for point in search.points:
        value = problem.value(point.path)
        closed = proved and not any(low <= point.cost <= high for low, high in search.open)
        yield FrontierPoint(
            nats(value.model + value.features),
            nats(value.penalty),
            value.violations,
            tuple(names[k] for k in point.path.tolist()),
            _weights(point, corners, search),
            closed,
        )


def _weights(
    point: Point, corners: Sequence[tuple[int, int]], search: FrontierSearch
) -> tuple[float, float] | None:
    """From which weight to which a point is the best; None where it lies below the hull."""
    unit, costs = search.unit, [cost for cost, _ in corners]
    place = bisect_left(costs, point.cost)
    corner = corners[place]
    before = corners[place - 1] if place else None
    if corner == (point.cost, point.score):
        after = corners[place + 1] if place + 1 < len(corners) else None
        low = 0.0 if after is None else _slope(corner, after, unit)
        first = math.inf if search.heaviest is None or not point.cost else float(search.heaviest)
        return low, first if before is None else _slope(before, corner, unit)
    assert before is not None
    rise = (point.score - before[1]) * (corner[0] - before[0])
    if rise < (corner[1] - before[1]) * (point.cost - before[0]):
        return None
    slope = _slope(before, corner, unit)
    return slope, slope


def _slope(left: tuple[int, int], right: tuple[int, int], unit: int) -> float:
    return (right[1] - left[1]) / ((right[0] - left[0]) * unit)


def upper_hull(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The corners of the concave curve over points (cost, score), both of which grow from point to point."""
    corners: list[tuple[int, int]] = []
    for cost, score in points:
        while len(corners) > 1:
            (c0, s0), (c1, s1) = corners[-2:]
            if (s1 - s0) * (cost - c1) > (score - s1) * (c1 - c0):
                break
            corners.pop()
        corners.append((cost, score))
    return corners
