"""Sums over sequences of each model under rules, and what has to agree."""

from collections.abc import Iterator, Sequence
from typing import Any

from pandas import DataFrame, Series

from benchmarks.report import groups
from benchmarks.studies.fersini.measuring import FRONTIER, SINGLE, TAUS
from benchmarks.study import Disagreement, Row
from ilpinfer.evaluation.counts import COLUMNS
from ilpinfer.learning.measures import Measures

CHOSEN_WEIGHT = "one phase, chosen weight"
SUMMED = [*COLUMNS, "sequences", "cost", "score", "proved", "missing", "milliseconds"]


def by_title(rows: Sequence[Row]) -> dict[str, DataFrame]:
    """Rows of each model under rules, those that are not complete left out."""
    result = {}
    for (part, model, rules), own in groups(DataFrame(rows), "part", "model", "rules"):
        if {*SINGLE, *TAUS, FRONTIER} <= set(own.method):
            title = f"{part}, {model}" + ("" if rules == "mined" else f", rules: {rules}")
            result[title] = own.dropna(axis=1, how="all")
    return result


def sums(frame: DataFrame) -> Series:
    return frame[SUMMED].sum()


def measures(total: Series) -> Measures:
    """Tokens, spans and whole sequences, as shares."""
    return Measures.of_sums(total[[*COLUMNS]].to_numpy(float), int(total.sequences))


def of(frame: DataFrame, method: str, value: float | None = None) -> DataFrame:
    some = frame[(frame.method == method) & (frame.kind == ("weight" if method == FRONTIER else "method"))]
    return some if value is None else some[some.value == value]


def chosen(frame: DataFrame) -> tuple[Series, tuple[float, ...]]:
    """Each half with the value that has most right tokens on the other half, the first of equals, and these values."""
    right = frame.groupby(["half", "value"], sort=False).right.sum()
    halves = sorted(set(frame.half))
    values = [right[1 - half if 1 - half in halves else half].idxmax() for half in halves]
    best = sum(
        sums(frame[(frame.half == h) & (frame.value == v)]) for h, v in zip(halves, values, strict=True)
    )
    result: Any = best
    return result, tuple(values)


def methods_of(own: DataFrame) -> Iterator[tuple[str, Series, tuple[float, ...]]]:
    """Each method: name, sums, and chosen values."""
    for name in SINGLE:
        yield name, sums(own[own.method == name]), ()
    for name, method in ((CHOSEN_WEIGHT, FRONTIER), *((bound, bound) for bound in TAUS)):
        yield name, *chosen(of(own, method))


def best_score(own: DataFrame) -> float:
    """Sum over sequences of the best scores under the hard rules: two phases with tau = 1 have them."""
    return float(sums(of(own, "relative", 1.0)).score)


def check(rows: Sequence[Row]) -> None:
    """Two phases and the frontier have to agree on the cost at each floor, where both are proved."""
    for title, own in by_title(rows).items():
        sizes = own[own.kind == "sizes"]
        if not len(sizes) or (sizes.complete < sizes.sequences).any():
            continue
        for bound, taus in TAUS.items():
            for tau in taus:
                two = sums(of(own, bound, tau))
                if not two.sequences or two.proved < two.sequences:
                    continue
                floors = own[(own.kind == "floor") & (own.bound == bound) & (own.value == tau)]
                if abs(two.cost - floors.cost.sum()) > 1e-4:
                    raise Disagreement(
                        f"{title}, {bound} {tau:g}: two phases cost {float(two.cost)!r} nats, "
                        f"frontiers {float(floors.cost.sum())!r}"
                    )
