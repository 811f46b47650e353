"""Figures of the searches, from rows: shares, gaps, and the time to a first labelling."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.journal import Journal, Row
from benchmarks.searches.running import NATS, OPTIMUM

CAP = 50.0
"""Nats that a gap counts at most where gaps are averaged over all sequences, those without a labelling included."""
GRACE = 0.02
"""Seconds that a contender without limits of its own may take beyond one, and still have kept it."""


@dataclass(frozen=True)
class Outcome:
    """One contender on one sequence under one limit.

    Parameters
    ----------
    key : the sequence
    T : tokens
    gap : nats below the proved optimum; None without a labelling that keeps the hard rules
    violations, correct : of its labelling; None where unknown
    seconds : taken
    first : seconds to the first labelling that keeps the hard rules; None for none
    trace : seconds and gaps of every labelling that was the best so far
    """

    key: tuple[str, str]
    T: int
    gap: float | None
    violations: int | None
    correct: int | None
    seconds: float
    first: float | None
    trace: tuple[tuple[float, float], ...]

    @property
    def optimal(self) -> bool:
        return self.gap is not None and self.gap <= NATS

    @property
    def capped_gap(self) -> float:
        return CAP if self.gap is None else min(self.gap, CAP)


Outcomes = Mapping[str, Mapping[float, Sequence[Outcome]]]
"""By contender and limit."""


def family(data: str) -> str:
    """The data set that a table or a panel is about: the generator's lengths belong together."""
    return "generator" if data.startswith("generator") else data


def families(journal: Journal) -> dict[str, Outcomes]:
    """Outcomes by family of data sets; sequences without a proved optimum are left out."""
    rows = [row for row in journal.rows.values() if row.get("limit") is not None or row["method"] == OPTIMUM]
    best = {(r["data"], r["item"]): r for r in rows if r["method"] == OPTIMUM}
    limits = sorted({row["limit"] for row in rows if row["limit"] is not None})
    lonely = _lonely(rows)
    result: dict[str, dict[str, dict[float, list[Outcome]]]] = {}
    for row in rows:
        optimum = best[row["data"], row["item"]]
        if row["method"] == OPTIMUM or optimum["status"] != "optimal":
            continue
        own = result.setdefault(family(row["data"]), {}).setdefault(row["method"], {})
        for limit in limits if row["method"] in lonely else (row["limit"],):
            own.setdefault(limit, []).append(_outcome(row, optimum["score"], limit))
    return result  # type: ignore[return-value]


def _lonely(rows: Iterable[Row]) -> set[str]:
    """Contenders that ran at one limit only."""
    limits: dict[str, set[float]] = {}
    for row in rows:
        limits.setdefault(row["method"], set()).add(row["limit"])
    return {method for method, own in limits.items() if len(own) == 1}


def _outcome(row: Row, optimum: float, limit: float) -> Outcome:
    late = row["score"] is None or row["seconds"] > limit + GRACE
    trace = tuple((seconds, optimum - score) for seconds, score in row["trace"])
    gap = None if late else optimum - row["score"]
    first = None if late or not trace else trace[0][0]
    return Outcome(
        (row["data"], row["item"]),
        row["T"],
        gap,
        row["violations"],
        row["correct"],
        row["seconds"],
        first,
        trace,
    )


@dataclass(frozen=True)
class Line:
    """Of one contender under one limit: shares, means over sequences, and token accuracy; None where unknown."""

    sequences: int
    optimal: float
    none: float
    gap: float | None
    capped_gap: float
    violations: float | None
    accuracy: float | None
    milliseconds: float
    first: float | None
    first_most: float | None


def line(outcomes: Sequence[Outcome]) -> Line:
    """The figures of one contender under one limit."""
    gaps = [one.gap for one in outcomes if one.gap is not None]
    violations = [one.violations for one in outcomes if one.violations is not None]
    read = [one for one in outcomes if one.correct is not None]
    tokens, right = sum(one.T for one in read), sum(one.correct or 0 for one in read)
    first = [1000 * one.first for one in outcomes if one.first is not None]
    return Line(
        sequences=len(outcomes),
        optimal=float(np.mean([one.optimal for one in outcomes])),
        none=1 - len(gaps) / len(outcomes),
        gap=float(np.mean(gaps)) if gaps else None,
        capped_gap=float(np.mean([one.capped_gap for one in outcomes])),
        violations=float(np.mean(violations)) if violations else None,
        accuracy=right / tokens if tokens else None,
        milliseconds=1000 * float(np.median([one.seconds for one in outcomes])),
        first=float(np.median(first)) if first else None,
        first_most=max(first, default=None),
    )


def by_length(outcomes: Sequence[Outcome], edges: Sequence[int]) -> dict[int, float]:
    """Mean capped gap of sequences of at most so many tokens, and more than the edge before."""
    result = {}
    for low, high in zip((0, *edges), edges, strict=False):
        own = [one.capped_gap for one in outcomes if low < one.T <= high]
        if own:
            result[high] = float(np.mean(own))
    return result


def pair(one: Sequence[Outcome], other: Sequence[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """Outcomes of two contenders on the sequences that both have, the first ones of several seeds."""
    known: dict[tuple[str, str], Outcome] = {}
    for outcome in other:
        known.setdefault(outcome.key, outcome)
    return [(outcome, known[outcome.key]) for outcome in one if outcome.key in known]


def borders(short: Sequence[Outcome], long: Sequence[Outcome]) -> dict[int, float]:
    """Mean capped gap of a hybrid for each border: the first contender up to so many tokens, the second beyond."""
    lengths = [0, *sorted({one.T for one in short})]
    pairs = pair(short, long)
    return {
        border: float(np.mean([(a if border >= a.T else b).capped_gap for a, b in pairs]))
        for border in lengths
    }


def gap_at(outcomes: Sequence[Outcome], seconds: float) -> float:
    """Mean capped gap at a moment."""
    return float(np.mean([_then(one, seconds) for one in outcomes]))


def _then(one: Outcome, seconds: float) -> float:
    known = [gap for when, gap in one.trace if when <= seconds]
    return min(known[-1], CAP) if known else CAP
