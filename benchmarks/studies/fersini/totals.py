"""Sums over sequences of each model under rules, and what has to agree."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.studies.fersini.measuring import FRONTIER, SINGLE, TAUS
from benchmarks.study import Disagreement, Row
from ilpinfer.evaluation.counts import COLUMNS
from ilpinfer.learning.measures import Measures

CHOSEN_WEIGHT = "one phase, chosen weight"


class Title(NamedTuple):
    """A model under rules."""

    part: str
    model: str
    rules: str

    def __str__(self) -> str:
        return f"{self.part}, {self.model}" + ("" if self.rules == "mined" else f", rules: {self.rules}")


class Sums(NamedTuple):
    """Sums over sequences."""

    counts: tuple[int, ...]
    sequences: int
    cost: float
    score: float
    proved: int
    missing: int
    milliseconds: float

    @property
    def measures(self) -> Measures:
        """Tokens, spans and whole sequences, as shares."""
        return Measures.of_sums(np.array(self.counts), self.sequences)


def sums(rows: Iterable[Row]) -> Sums:
    """Rows added up."""
    some = list(rows)
    total = {name: sum(row[name] for row in some) for name in (*COLUMNS, *Sums._fields[1:])}
    return Sums(tuple(total[name] for name in COLUMNS), **{name: total[name] for name in Sums._fields[1:]})


def chosen(rows: Sequence[Row]) -> tuple[Sums, tuple[float, ...]]:
    """Each half with the value that has most right tokens on the other half, and these values.

    Of equally good ones it is the first.
    """
    halves: dict[int, dict[float, list[Row]]] = {}
    for row in rows:
        halves.setdefault(row["half"], {}).setdefault(row["value"], []).append(row)
    result, values = list[Row](), list[float]()
    for half, own in sorted(halves.items()):
        other = halves.get(1 - half, own)
        values.append(max(other, key=lambda value: sum(row["right"] for row in other[value])))
        result += own[values[-1]]
    return sums(result), tuple(values)


def check(rows: Sequence[Row]) -> None:
    """Two phases and the frontier have to agree on the cost at each floor, where both are proved."""
    for title, own in by_title(rows):
        sizes = [row for row in own if row.get("kind") == "sizes"]
        if not sizes or any(row["complete"] < row["sequences"] for row in sizes):
            continue
        for bound, taus in TAUS.items():
            for tau in taus:
                two = [row for row in own if row["method"] == bound and row["value"] == tau]
                if not two or sums(two).proved < sums(two).sequences:
                    continue
                floors = [
                    r for r in own if r.get("kind") == "floor" and (r["bound"], r["value"]) == (bound, tau)
                ]
                costs = sums(two).cost, sum(row["cost"] for row in floors)
                if abs(costs[0] - costs[1]) > 1e-4:
                    raise Disagreement(
                        f"{title}, {bound} {tau:g}: two phases cost {costs[0]!r} nats, frontiers {costs[1]!r}"
                    )


def methods_of(own: Sequence[Row]) -> Iterator[tuple[str, Sums, tuple[float, ...]]]:
    """Each method: name, sums, and chosen values."""
    for name in SINGLE:
        yield name, sums(row for row in own if row["method"] == name), ()
    for name, method in ((CHOSEN_WEIGHT, FRONTIER), *((bound, bound) for bound in TAUS)):
        yield name, *chosen(rows_of(own, method))


def best_score(own: Sequence[Row]) -> float:
    """Sum over sequences of the best scores under the hard rules: two phases with tau = 1 have them."""
    return sums(rows_of(own, "relative", 1.0)).score


def rows_of(own: Sequence[Row], method: str, value: float | None = None) -> list[Row]:
    """Rows of a method, of one weight or tau if it is given."""
    kinds = ("weight",) if method == FRONTIER else ("method",)
    some = [row for row in own if row["method"] == method and row.get("kind") in kinds]
    return some if value is None else [row for row in some if row["value"] == value]


def values_of(own: Sequence[Row], method: str) -> list[float]:
    """Weights or values of tau of a method."""
    return list(dict.fromkeys(row["value"] for row in rows_of(own, method)))


def by_title(rows: Sequence[Row]) -> list[tuple[Title, list[Row]]]:
    """Rows of each model under rules, those that are not complete left out."""
    result: dict[Title, list[Row]] = {}
    for row in rows:
        result.setdefault(Title(row["part"], row["model"], row["rules"]), []).append(row)
    return [
        (title, own)
        for title, own in result.items()
        if {*SINGLE, *TAUS, FRONTIER} <= {r["method"] for r in own}
    ]
