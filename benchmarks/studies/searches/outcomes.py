"""Figures from rows: shares, gaps, errors, losses of accuracy, profiles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.studies.searches.contenders import CONTENDERS, OPTIMUM
from benchmarks.studies.searches.measuring import NATS
from benchmarks.study import Row
from ilpinfer.learning.measures import Measures

CAP = 50.0
"""Nats that a gap counts at most where gaps are averaged over all sequences, those without a labelling included."""
GRACE = 0.02
"""Seconds that a contender without limits of its own may take beyond one, and still have kept it."""
SHORTEST = 1e-6
"""Seconds; no time is taken to be shorter in ratios."""


@dataclass(frozen=True)
class Outcome:
    """A row of one contender on one sequence, at a limit; what has no limit of its own and comes too late is no labelling."""

    row: Row
    limit: float

    @property
    def key(self) -> tuple[str, str]:
        return self.row["data"], self.row["item"]

    @property
    def tokens(self) -> int:
        return int(self.row["T"])

    @property
    def late(self) -> bool:
        timed = CONTENDERS[self.row["method"]].timed if self.row["method"] in CONTENDERS else True
        return not timed and bool(self.row["seconds"] > self.limit + GRACE)

    @property
    def gap(self) -> float | None:
        """Nats below the proved optimum; None without a labelling that keeps the hard rules."""
        return None if self.late else self.row["gap"]

    @property
    def optimal(self) -> bool:
        return self.gap is not None and self.gap <= NATS

    @property
    def capped_gap(self) -> float:
        return CAP if self.gap is None else min(self.gap, CAP)

    @property
    def relative(self) -> float | None:
        """The gap divided by the optimum's absolute value; None where there is none."""
        optimum = abs(self.row["optimum"])
        return None if self.gap is None or not optimum else self.gap / optimum

    @property
    def violations(self) -> int | None:
        return None if self.late else self.row["violations"]

    @property
    def first(self) -> float | None:
        """Seconds to the first labelling."""
        return None if self.gap is None else self.row["first"]

    @property
    def gold(self) -> bool:
        return bool(self.row["gold"])

    @property
    def model_error(self) -> bool:
        """Whether the gold labelling scores below the optimum, or has no score at all."""
        score = self.row["gold_score"]
        return score is None or score < self.row["optimum"] - NATS

    @property
    def below_gold(self) -> bool:
        """Whether the gold labelling scores above the one that the search has."""
        score = self.row["gold_score"]
        return score is not None and (self.gap is None or score > self.row["score"] + NATS)

    @cached_property
    def counts(self) -> list[int]:
        """Right labels, then the counts of `Measures`; nothing is right without a labelling."""
        tokens, _, _, gold, _, _ = self.row["counts"]
        if self.gap is None:
            return [0, tokens, 0, 0, gold, 0, 0]
        return [self.row["right_labels"], *self.row["counts"]]


Outcomes = Mapping[str, Mapping[float, Sequence[Outcome]]]
"""By contender and limit."""


def proved(rows: Iterable[Row]) -> list[Row]:
    """Rows of contenders; there are none of sequences whose optimum is not proved."""
    return [row for row in rows if row["method"] != OPTIMUM]


def optima(rows: Iterable[Row]) -> list[Outcome]:
    """The optima of sequences that have gold labels."""
    chosen = (row for row in rows if row["method"] == OPTIMUM and row["status"] == "optimal" and row["gold"])
    return [Outcome(row, row["seconds"]) for row in chosen]


def outcomes_of(rows: Iterable[Row]) -> Outcomes:
    """Outcomes by contender and limit; what ran once counts at every limit."""
    chosen = proved(rows)
    limits = sorted({row["limit"] for row in chosen})
    result: dict[str, dict[float, list[Outcome]]] = {}
    for row in chosen:
        own = result.setdefault(row["method"], {})
        for limit in (row["limit"],) if CONTENDERS[row["method"]].timed else limits:
            own.setdefault(limit, []).append(Outcome(row, limit))
    return result


def longest(rows: Iterable[Row]) -> dict[str, Sequence[Outcome]]:
    """Outcomes by contender, at the longest limit."""
    return {name: own[max(own)] for name, own in outcomes_of(rows).items()}


def grouped(rows: Iterable[Row], field: str) -> dict[Any, list[Row]]:
    """Rows by the values of a field, in the order in which these first occur."""
    result: dict[Any, list[Row]] = {}
    for row in rows:
        result.setdefault(row[field], []).append(row)
    return result


@dataclass(frozen=True)
class Line:
    """Of one contender at one limit: shares and means over sequences; None where unknown."""

    sequences: int
    optimal: float
    none: float
    gap: float | None
    capped_gap: float
    relative: float | None
    violations: int
    breaking: float
    milliseconds: float
    most_milliseconds: float
    first: float | None


def line(outcomes: Sequence[Outcome]) -> Line:
    """The figures of one contender at one limit."""
    gaps = [one.gap for one in outcomes if one.gap is not None]
    relative = [one.relative for one in outcomes if one.relative is not None]
    violations = [one.violations or 0 for one in outcomes]
    first = [1000 * one.first for one in outcomes if one.first is not None]
    return Line(
        sequences=len(outcomes),
        optimal=float(np.mean([one.optimal for one in outcomes])),
        none=1 - len(gaps) / len(outcomes),
        gap=float(np.mean(gaps)) if gaps else None,
        capped_gap=float(np.mean([one.capped_gap for one in outcomes])),
        relative=float(np.mean(relative)) if relative else None,
        violations=sum(violations),
        breaking=float(np.mean([count > 0 for count in violations])),
        milliseconds=1000 * float(np.median([one.row["seconds"] for one in outcomes])),
        most_milliseconds=1000 * max(one.row["seconds"] for one in outcomes),
        first=float(np.median(first)) if first else None,
    )


def accuracy(outcomes: Sequence[Outcome]) -> tuple[float, float, float] | None:
    """Right labels, right fields of tokens, and F1 of spans, in per cent; None without gold."""
    counts = [one.counts for one in outcomes if one.gold]
    if not counts:
        return None
    total = np.sum(counts, axis=0)
    measures = Measures.of_sums(total[1:], len(counts))
    return 100 * total[0] / total[1], 100 * measures.accuracy, 100 * measures.f1


def losses(outcomes: Sequence[Outcome], best: Sequence[Outcome]) -> tuple[float, float, float] | None:
    """Points of accuracy below the optimum's on the same sequences, in the order of `accuracy`."""
    known = {one.key for one in outcomes}
    own, other = accuracy(outcomes), accuracy([one for one in best if one.key in known])
    if own is None or other is None:
        return None
    labels, tokens, spans = (b - a for a, b in zip(own, other, strict=True))
    return labels, tokens, spans


def errors(outcomes: Sequence[Outcome]) -> dict[tuple[bool, bool], int]:
    """How many sequences with gold have a search error (below the optimum), a model error (gold below it), both or neither."""
    result = {(search, model): 0 for search in (False, True) for model in (False, True)}
    for one in outcomes:
        if one.gold:
            result[not one.optimal, one.model_error] += 1
    return result


def by_length(outcomes: Sequence[Outcome], edges: Sequence[int]) -> dict[int, list[Outcome]]:
    """Sequences of at most so many tokens, and more than the edge before; no empty lists."""
    result = {
        high: [one for one in outcomes if low < one.tokens <= high]
        for low, high in zip((0, *edges), edges, strict=False)
    }
    return {edge: own for edge, own in result.items() if own}


def pair(one: Sequence[Outcome], other: Sequence[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """Outcomes of two contenders on the sequences that both have."""
    known = {outcome.key: outcome for outcome in other}
    return [(outcome, known[outcome.key]) for outcome in one if outcome.key in known]


def borders(short: Sequence[Outcome], long: Sequence[Outcome]) -> dict[int, float]:
    """Mean capped gap of a hybrid for each border: the first contender up to so many tokens, the second beyond."""
    pairs = pair(short, long)
    return {
        border: float(np.mean([(a if border >= a.tokens else b).capped_gap for a, b in pairs]))
        for border in (0, *sorted({one.tokens for one in short}))
    }


def gap_at(outcomes: Sequence[Outcome], seconds: float, *, bound: bool = False) -> float:
    """Mean capped gap of the incumbent, or of the bound, to the optimum at a moment."""
    return float(np.mean([_then(one.row["trace"], seconds, 2 if bound else 1) for one in outcomes]))


def _then(trace: Sequence[Sequence[Any]], seconds: float, place: int) -> float:
    known = [event[place] for event in trace if event[0] <= seconds and event[place] is not None]
    return min(known[-1], CAP) if known else CAP


def profiles(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, list[float]]:
    """Of each contender, ascending: seconds to the optimum divided by the fastest contender's, where it is reached.

    As in the performance profiles of Dolan and Moré 2002, section 2.
    """
    seconds = {
        name: {one.key: max(one.row["reached"], SHORTEST) for one in own if _reached(one)}
        for name, own in outcomes.items()
    }
    best: dict[tuple[str, str], float] = {}
    for own in seconds.values():
        for key, value in own.items():
            best[key] = min(value, best.get(key, value))
    return {name: sorted(value / best[key] for key, value in own.items()) for name, own in seconds.items()}


def _reached(one: Outcome) -> bool:
    return one.optimal and one.row["reached"] is not None
