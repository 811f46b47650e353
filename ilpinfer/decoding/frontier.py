"""Records of the Pareto frontier of a sequence: its non-dominated pairs of score and violation cost."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import ClassVar

from formulations.messages import counted
from formulations.plain_values import PlainRecord
from ilpinfer.core.printing import broken_rules, in_runs, short


@dataclass(frozen=True)
class FrontierPoint(PlainRecord):
    """A Pareto-optimal labelling: no other labelling is at least as good in score and cost and better in one of them.

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
    proved : bool, default True
        Whether Pareto optimality of the point is proved.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> frontier = ilpinfer.decode_frontier(trellis, [C.starts_with("b", penalty=1.0)])
    >>> frontier.points[0].labels, frontier.points[0].cost
    (('b', 'b'), 0.0)
    """

    TITLE: ClassVar = "point"

    score: float
    cost: float
    violations: dict[str, int]
    labels: tuple[str, ...]
    proved: bool = True

    def __repr__(self) -> str:
        return f"FrontierPoint(cost={self.cost:.10g}, score={self.score:.10g}, {counted(len(self.labels), 'token')})"

    def __str__(self) -> str:
        worth = f"cost {self.cost:.6g} nats, score {self.score:.6g}"
        return short([f"{worth}, {broken_rules(self.violations)}: {in_runs(self.labels)}"])


@dataclass(frozen=True)
class Frontier(PlainRecord):
    """The Pareto frontier of a sequence.

    Parameters
    ----------
    points : tuple of FrontierPoint
        Points in the order of increasing cost, which is also the order of increasing score.
    complete : bool
        Whether there are no other points.
    seconds : float
        Wall time.
    reason : str, optional
        Reason why there are no points, or why the frontier is not complete.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> frontier = ilpinfer.decode_frontier(trellis, [C.starts_with("b", penalty=1.0)])
    >>> len(frontier.points), frontier.complete, frontier.at_floor(-0.6).score
    (2, True, -0.5)
    """

    TITLE: ClassVar = "the frontier"

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

    def at_weight(self, weight: float) -> FrontierPoint:
        """The best point if all penalties are multiplied by a weight; the cheapest of equally good points.

        In a complete frontier it is the best of all labellings.

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
            If there are no points, and for a negative weight.
        """
        if not weight >= 0:
            raise ValueError(f"weight is {weight!r}; expected a number from 0")
        self._check()
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

    def _check(self) -> None:
        if not self.points:
            raise ValueError(f"the frontier has no points: {self.reason}")
