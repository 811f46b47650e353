"""The trade-off between score and violation cost over a corpus, by the weight on all penalties."""

import bisect
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from formulations import LabelSet, Trellis, plain_values
from formulations.grid import snap
from formulations.messages import counted
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.core.solution import finite
from ilpinfer.decoding.frontier import Frontier, FrontierPoint
from ilpinfer.decoding.frontier_search import decode_frontier
from ilpinfer.evaluation.counts import LabelCounter, Totals
from ilpinfer.learning.measures import Measures


@dataclass(frozen=True)
class TradeOff(plain_values.PlainRecord):
    """The labellings of a corpus for an interval of weights on all penalties.

    Parameters
    ----------
    low, high : float
        Least and largest weight of the interval; at both ends another choice is equally good.
    score, cost : float
        Sums over the sequences, nats.
    measures : Measures, optional
        Measures against gold labels; None if there are none.

    Examples
    --------
    >>> TradeOff(0.0, 0.5, 10.0, 2.0).cost
    2.0
    """

    low: float
    high: float
    score: float
    cost: float
    measures: Measures | None = None

    def to_dict(self) -> dict[str, Any]:
        own = {"low": self.low, "high": finite(self.high), "score": self.score, "cost": self.cost}
        return own if self.measures is None else {**own, **self.measures._asdict()}

    @classmethod
    def from_dict(cls, values: Any, what: str = "the trade-off") -> "TradeOff":
        own = "low", "high", "score", "cost"
        measured = isinstance(values, dict) and any(name in values for name in Measures._fields)
        given = plain_values.table(values, (*own, *(Measures._fields if measured else ())), what)
        measures = [
            plain_values.number(given[name], f"{what}: {name}") for name in Measures._fields if measured
        ]
        low, high, score, cost = (
            plain_values.number(given[name], f"{what}: {name}", math.inf if name == "high" else None)
            for name in own
        )
        return cls(low, high, score, cost, Measures(*measures) if measured else None)


@dataclass(frozen=True)
class CorpusFrontier:
    """The frontier of a corpus under a common weight on all penalties.

    Parameters
    ----------
    points : tuple of TradeOff
        Choices from weight 0, the best score, to the largest weight, the least cost; one for each interval
        between breakpoints.
    frontiers : tuple of Frontier, optional
        Frontiers of the sequences, in order.
    complete : bool, default True
        Whether the frontier of every sequence is complete, up to the largest weight. If it is false, the
        choices are the best of the points found, and labellings that were not found may be better.

    Examples
    --------
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> curve = corpus_frontier([trellis], [C.requires_present("a", "b", penalty=1.0)])
    >>> curve.at(0.25).cost, curve.at(2.0).cost
    (1.0, 0.0)
    """

    points: tuple[TradeOff, ...]
    frontiers: tuple[Frontier, ...] = field(repr=False)
    complete: bool = True

    def at(self, weight: float) -> TradeOff:
        """The choice at a weight; at a breakpoint, that of smaller weights.

        Parameters
        ----------
        weight : float
            Factor of all penalties.

        Returns
        -------
        TradeOff
            The choice.

        Raises
        ------
        ValueError
            For a weight below 0 or above the largest one.
        """
        if not 0 <= weight <= self.points[-1].high:
            raise ValueError(f"weight is {weight!r}; expected a number from 0 to {self.points[-1].high:g}")
        return self.points[bisect.bisect_left([point.high for point in self.points], weight)]


def corpus_frontier(
    trellises: Iterable[Trellis],
    rules: Rules,
    gold: Sequence[Sequence[str]] | None = None,
    *,
    heaviest: float | None = None,
    time_limit: float | None = None,
) -> CorpusFrontier:
    """Total score against total cost over a corpus, for every weight that multiplies all penalties alike.

    The frontier of a corpus is that of the Minkowski sum of its sequences' pairs (score, cost), and can have exponentially many
    points. Those on its convex hull, where a sum is the best one at a weight if each summand is, are computed exactly, with all
    breakpoints of the weight. Sums that need a different weight for each sequence are left out.

    Parameters
    ----------
    trellises : iterable of Trellis
        N sequences.
    rules : Rules
        Rules and features, or a rule set.
    gold : sequence of sequence of str, optional
        Labellings of the N sequences, against which the points are measured.
    heaviest, time_limit : float, optional
        Largest weight, None for all, and time limit in seconds for each sequence.

    Returns
    -------
    CorpusFrontier
        The points, by increasing weight.

    Raises
    ------
    ValueError
        For no sequences, a wrong number of labellings, and a sequence without a feasible labelling.

    Examples
    --------
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> curve = corpus_frontier([trellis], [C.requires_present("a", "b", penalty=1.0)], [["b", "b"]])
    >>> [(point.low, point.high, point.score, point.cost, point.measures.accuracy) for point in curve.points]
    [(0.0, 0.5, 0.0, 1.0, 0.0), (0.5, inf, -0.5, 0.0, 1.0)]
    """
    given = list(trellises)
    frontiers = [decode_frontier(each, rules, heaviest=heaviest, time_limit=time_limit) for each in given]
    return sum_frontiers(frontiers, [trellis.labels for trellis in given], gold, heaviest)


def sum_frontiers(
    frontiers: Sequence[Frontier],
    labels: Sequence[LabelSet],
    gold: Sequence[Sequence[str]] | None = None,
    heaviest: float | None = None,
) -> CorpusFrontier:
    """The frontier of a corpus from those of its sequences; arguments and errors as in `corpus_frontier`."""
    if not frontiers:
        raise ValueError("no sequences to trade off; give at least one")
    if gold is not None and len(gold) != len(frontiers):
        raise ValueError(
            f"{counted(len(gold), 'gold labelling')} for {counted(len(frontiers), 'sequence')}; give one for each"
        )
    for number, frontier in enumerate(frontiers):
        if not frontier.points:
            raise ValueError(f"sequence {number}: {frontier.reason}; leave it out, or soften a rule")
    paths = [_choices(frontier) for frontier in frontiers]
    counts = None
    if gold is not None:
        counters: dict[LabelSet, LabelCounter] = {}
        counts = [
            [_totals(choice.point, right, known, counters) for choice in path]
            for path, right, known in zip(paths, gold, labels, strict=True)
        ]
    points = tuple(_sums(paths, counts, math.inf if heaviest is None else heaviest))
    return CorpusFrontier(points, tuple(frontiers), all(frontier.complete for frontier in frontiers))


class _Choice(NamedTuple):
    """A point, and the weight from which on a cheaper one is better."""

    point: FrontierPoint
    until: float


def _choices(frontier: Frontier) -> list[_Choice]:
    """The corners of the hull of the points, from the best score to the least cost."""
    corners = list[FrontierPoint]()
    for point in frontier.points:
        while len(corners) > 1 and _slope(*corners[-2:]) <= _slope(corners[-1], point):
            corners.pop()
        corners.append(point)
    until = [math.inf, *(float(_slope(*pair)) for pair in pairwise(corners))]
    return [_Choice(*pair) for pair in zip(corners, until, strict=True)][::-1]


def _slope(cheaper: FrontierPoint, better: FrontierPoint) -> Fraction:
    """The weight at which two points are equally good."""
    return Fraction(
        int(snap(better.score)) - int(snap(cheaper.score)), int(snap(better.cost)) - int(snap(cheaper.cost))
    )


def _totals(
    point: FrontierPoint, gold: Sequence[str], labels: LabelSet, counters: dict[LabelSet, LabelCounter]
) -> Totals:
    """The counts of one labelling; gold may have labels that the model lacks."""
    known = LabelSet(tuple(dict.fromkeys((*labels.names, *gold))), labels.notation)
    counter = counters.setdefault(known, LabelCounter(known))
    return np.array(counter.count_names(point.labels, gold).totals(), np.int64)


def _sums(
    paths: Sequence[Sequence[_Choice]], counts: Sequence[Sequence[Totals]] | None, heaviest: float
) -> Iterator[TradeOff]:
    """Sums over sequences for each interval of weights, exact as sums of grid numbers."""
    changes = sorted(
        (choice.until, number, place + 1)
        for number, path in enumerate(paths)
        for place, choice in enumerate(path[:-1])
        if choice.until < heaviest
    )
    at = [0] * len(paths)
    score, cost = (math.fsum(getattr(path[0].point, name) for path in paths) for name in ("score", "cost"))
    total = None if counts is None else np.sum([own[0] for own in counts], axis=0)
    low = 0.0
    for weight, number, place in [*changes, (heaviest, -1, 0)]:
        if weight > low or number < 0:
            yield TradeOff(
                low, weight, score, cost, None if total is None else Measures.of_sums(total, len(paths))
            )
            low = weight
        if number < 0:
            return
        before, after = paths[number][at[number]].point, paths[number][place].point
        score, cost = score + (after.score - before.score), cost + (after.cost - before.cost)
        if counts is not None and total is not None:
            total = total + counts[number][place] - counts[number][at[number]]
        at[number] = place
