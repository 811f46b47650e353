"""Comparison of methods: gaps to the proved optimum, and times."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from formulations.errors import InferenceError
from ilpinfer.core.registry import method as method_named
from ilpinfer.core.solution import Solution, finite
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.system.checkpoint import Row


class Disagreement(InferenceError):
    """Two exact methods cannot both be right; the message names sequence, methods and scores."""


@dataclass(frozen=True)
class Counts:
    """Tokens and spans of one or more sequences with gold labels; counts of sequences add up."""

    tokens: int = 0
    correct: int = 0
    predicted_fields: int = 0
    gold_fields: int = 0
    matching_fields: int = 0

    @classmethod
    def of(cls, predicted: Sequence[str], gold: Sequence[str], scheme: str) -> "Counts":
        """Counts of one sequence; labels by name, read under one scheme."""
        result = evaluate([Pair(tuple(gold), tuple(predicted), tuple(gold))], scheme=scheme)
        return cls(int(result.tokens[0]), int(result.correct[0]), *result.of_all().tolist())

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def accuracy(self) -> float:
        """Share of tokens with the gold label."""
        return self.correct / self.tokens if self.tokens else 0.0

    @property
    def f1(self) -> float:
        """F1 of whole fields; 1 where none is predicted and none is gold."""
        spans = self.predicted_fields + self.gold_fields
        return 2 * self.matching_fields / spans if spans else 1.0


def row_of(sequence: int, method: str, solution: Solution, gold: Sequence[str] | None, scheme: str) -> Row:
    """The row of `results.jsonl` for one sequence and method."""
    compared = gold is not None and solution.has_labelling
    counts = Counts.of(solution.labels, gold, scheme) if compared and gold is not None else None
    return {
        "sequence": sequence,
        "method": method,
        **{k: v for k, v in solution.to_dict().items() if k not in ("method", "ids")},
        "route": solution.method,
        "gold": None if counts is None else asdict(counts),
    }


def check_agreement(rows: Sequence[Row], where: str) -> None:
    """Raise Disagreement where a proved optimum, or a score, lies above what another method has proved.

    Scores lie on a grid that floats hold exactly, so that this comparison needs no tolerance.
    """
    bounded = [row for row in rows if row["bound"] is not None or row["status"] == "infeasible"]
    for row_with_bound in bounded:
        limit = -math.inf if row_with_bound["bound"] is None else row_with_bound["bound"]
        for row in rows:
            if row["score"] is not None and row["score"] > limit:
                raise Disagreement(
                    f"{where}: {row['method']} found a labelling of score {row['score']!r}, but {row_with_bound['method']} "
                    f"claims that none is above {limit!r}"
                )


@dataclass(frozen=True)
class Summary:
    """One line of the comparison.

    Parameters
    ----------
    method : its name
    kind : "exact" or "heuristic"
    sequences : how many were decoded
    proved : share proved optimal, or proved to have no labelling
    optimum_known : how many sequences have an optimum proved by any method
    reaches : share of those on which the method's score is that optimum
    missed : sequences on which it is not
    mean_gap, largest_gap : nats below that optimum, over labellings that keep the hard rules; None without any
    unusable : sequences without a labelling that keeps the hard rules
    violations : sum over rules and sequences
    breaking : sequences with any
    accuracy, f1 : of tokens and of fields, where gold is known, else None
    median_ms, p90_ms : milliseconds a sequence
    """

    method: str
    kind: str
    sequences: int
    proved: float
    optimum_known: int
    reaches: float | None
    missed: int
    mean_gap: float | None
    largest_gap: float | None
    unusable: int
    violations: int
    breaking: int
    accuracy: float | None
    f1: float | None
    median_ms: float
    p90_ms: float


class Tally:
    """Sums over the rows of one method; times and gaps are stored for each sequence.

    Parameters
    ----------
    method : its name

    Attributes
    ----------
    seconds : (N,) of every sequence
    gaps : nats below the proved optimum, of sequences that have one and a labelling that keeps the hard rules
    """

    def __init__(self, method: str) -> None:
        self.method = method
        self.seconds, self.gaps = array("d"), array("d")
        self._counts: Counter[str] = Counter()
        self._gold: Counts | None = None

    def add(self, row: Row, optimum: float | None) -> None:
        """Count a row; KeyError, TypeError or ValueError for one that is damaged."""
        score, bound, broken = row["score"], row["bound"], sum(row["violations"].values())
        if not all(isinstance(number, float | int | None) for number in (score, bound)):
            raise TypeError("numbers are expected")
        if row["gold"] is not None:
            self._gold = (self._gold or Counts()) + Counts(**row["gold"])
        self.seconds.append(row["seconds"])
        self._counts["proved"] += row["status"] in ("optimal", "infeasible")
        self._counts["unusable"] += score is None
        self._counts["violations"] += broken
        self._counts["breaking"] += broken > 0
        if optimum is not None:
            self._counts["known"] += 1
            self._counts["reached"] += optimum == score
            if score is not None:
                self.gaps.append(optimum - score)

    def summary(self) -> "Summary":
        """The line of a comparison."""
        counts, known = self._counts, self._counts["known"]
        milliseconds, gaps = 1000 * np.array(self.seconds), np.array(self.gaps)
        return Summary(
            method=self.method,
            kind="exact" if method_named(self.method).exact else "heuristic",
            sequences=len(milliseconds),
            proved=counts["proved"] / len(milliseconds),
            optimum_known=known,
            reaches=counts["reached"] / known if known else None,
            missed=known - counts["reached"],
            mean_gap=finite(float(np.mean(gaps))) if len(gaps) else None,
            largest_gap=float(gaps.max()) if len(gaps) else None,
            unusable=counts["unusable"],
            violations=counts["violations"],
            breaking=counts["breaking"],
            accuracy=None if self._gold is None else self._gold.accuracy,
            f1=None if self._gold is None else self._gold.f1,
            median_ms=float(np.median(milliseconds)),
            p90_ms=float(np.percentile(milliseconds, 90)),
        )


def tallies(rows: Iterable[Row]) -> list[Tally]:
    """A tally for each method, in the order in which they first appear; rows of a sequence follow each other."""
    result: dict[str, Tally] = {}
    for _, group in groupby(rows, key=itemgetter("sequence")):
        own = list(group)
        optimum = next((row["score"] for row in own if row["status"] == "optimal"), None)
        for row in own:
            result.setdefault(row["method"], Tally(row["method"])).add(row, optimum)
    return list(result.values())


def summarise(rows: Iterable[Row]) -> list[Summary]:
    """A line for each method, in the order in which they first appear; rows of a sequence follow each other."""
    return [tally.summary() for tally in tallies(rows)]
