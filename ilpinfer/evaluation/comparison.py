"""Methods side by side: what each loses against the proved optimum, and what it costs."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ilpinfer.evaluation.measures import Counts, compare_labels, total
from ilpinfer.method_table import method as method_named
from ilpinfer.solution import Solution, finite

Row = dict[str, Any]


class Disagreement(Exception):
    """Two exact methods cannot both be right; the message names sequence, methods and scores."""


def row_of(sequence: int, method: str, solution: Solution, gold: Sequence[str] | None, scheme: str) -> Row:
    """What `results.jsonl` keeps of one sequence and method."""
    measured = gold is not None and solution.found
    counts = compare_labels(solution.labels, gold, scheme) if measured and gold is not None else None
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
    proofs = [row for row in rows if row["bound"] is not None or row["status"] == "infeasible"]
    for proof in proofs:
        limit = -math.inf if proof["bound"] is None else proof["bound"]
        for row in rows:
            if row["score"] is not None and row["score"] > limit:
                raise Disagreement(
                    f"{where}: {row['method']} found a labelling of score {row['score']!r}, but {proof['method']} "
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


def summarise(rows: Sequence[Row]) -> list[Summary]:
    """A line for each method, in the order in which they first appear."""
    optima = {r["sequence"]: r["score"] for r in rows if r["status"] == "optimal"}
    names = list(dict.fromkeys(row["method"] for row in rows))
    return [_line(name, [row for row in rows if row["method"] == name], optima) for name in names]


def _line(name: str, rows: list[Row], optima: dict[int, float]) -> Summary:
    known = [row for row in rows if row["sequence"] in optima]
    gaps = [optima[row["sequence"]] - row["score"] for row in known if row["score"] is not None]
    reached = sum(gap == 0 for gap in gaps)
    gold = [Counts(**row["gold"]) for row in rows if row["gold"] is not None]
    counts = total(gold)
    milliseconds = np.array([row["seconds"] * 1000 for row in rows])
    return Summary(
        method=name,
        kind="exact" if method_named(name).exact else "heuristic",
        sequences=len(rows),
        proved=sum(row["status"] in ("optimal", "infeasible") for row in rows) / len(rows),
        optimum_known=len(known),
        reaches=reached / len(known) if known else None,
        missed=len(known) - reached,
        mean_gap=finite(float(np.mean(gaps))) if gaps else None,
        largest_gap=max(gaps) if gaps else None,
        unusable=sum(row["score"] is None for row in rows),
        violations=sum(sum(row["violations"].values()) for row in rows),
        breaking=sum(any(row["violations"].values()) for row in rows),
        accuracy=counts.accuracy if gold else None,
        f1=counts.f1 if gold else None,
        median_ms=float(np.median(milliseconds)),
        p90_ms=float(np.percentile(milliseconds, 90)),
    )
