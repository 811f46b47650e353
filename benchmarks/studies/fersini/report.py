"""Methods and frontiers."""

from collections.abc import Iterator, Sequence
from typing import Any

from pandas import DataFrame, Series

from benchmarks.report import Report, groups, number, percent
from benchmarks.studies.fersini.measuring import FRONTIER, SINGLE, TAUS
from ilpinfer.evaluation.counts import COLUMNS
from ilpinfer.learning.measures import Measures

CHOSEN_WEIGHT = "one phase, chosen weight"
SUMMED = [*COLUMNS, "sequences", "cost", "score", "proved", "missing", "milliseconds"]


def by_title(rows: DataFrame) -> dict[str, DataFrame]:
    """Rows of each model under rules, those that are not complete left out."""
    result = {}
    for (part, model, rules), own in groups(rows, "part", "model", "rules"):
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


def headline(own: DataFrame) -> Measures:
    """Of one method, with the values that are chosen on the other halves."""
    return measures(sums(own) if own.method.iloc[0] in SINGLE else chosen(own)[0])


def best_score(own: DataFrame) -> float:
    """Sum over sequences of the best scores under the hard rules: two phases with tau = 1 have them."""
    return float(sums(of(own, "relative", 1.0)).score)


PUBLISHED = (
    ("Cora", "CRF of 350, 150 to test (Peng and McCallum 2004)", "95.37", "–", "77.33"),
    ("UMass, test part", "CRF (Anzaroot et al. 2014)", "–", "94.44", "–"),
    ("UMass, test part", "CRF, learnt soft rules (Anzaroot et al. 2014)", "–", "95.39", "–"),
)
"""Corpus, method, tokens, F1, whole; per cent."""


def report(rows: DataFrame, report: Report) -> None:
    some = by_title(rows)
    report.heading("Methods")
    report.text(
        "Cost and loss are nats a sequence: penalties of the soft rules, and score below the best under the hard rules. Milliseconds are "
        "those of a sequence, and of one tau. Values of tau and weight are those chosen for the two halves."
    )

    def line(title: str, best: float, name: str, total: Series, values: Sequence[float]) -> Sequence[str]:
        count = total.sequences
        return (
            title,
            name,
            *map(percent, measures(total)),
            number(total.cost / count),
            f"{max(0.0, (best - total.score) / count):.2f}",
            number(total.milliseconds / count) if total.milliseconds else "–",
            f"{total.proved:.0f} of {count:.0f}" if name != CHOSEN_WEIGHT else "–",
            ", ".join(f"{value:g}" for value in values) or "–",
        )

    lines = [
        *(line(title, best_score(own), *one) for title, own in some.items() for one in methods_of(own)),
        *((f"published: {corpus}", name, *figures, *"–––––") for corpus, name, *figures in PUBLISHED),
    ]
    columns = "", "method", "tokens %", "span F1 %", "whole %", "cost", "loss", "ms", "proved", "values"
    report.table(columns, lines, left=2)
    f1 = [
        [headline(of(own, name))[1] for name in ("Viterbi", "one phase", "relative")] for own in some.values()
    ]
    report.text(
        f"In span F1, two phases (relative) are above one phase in {sum(two > one for _, one, two in f1)} of {len(f1)} lines of models and below it in "
        f"{sum(two < one for _, one, two in f1)}. One phase loses against Viterbi in {sum(one < none for none, one, _ in f1)}; of these, two phases "
        f"lose less in {sum(one < none and two > one for none, one, two in f1)} and more in {sum(one < none and two < one for none, one, two in f1)}."
    )
    proofs = [own[(own.kind == "method") & own.method.isin(["one phase", *TAUS])] for own in some.values()]
    proved, unchecked = (sum(one[name].sum() for one in proofs) for name in ("proved", "unchecked"))
    report.text(
        f"Of {proved:.0f} labellings of one and two phases that the engine calls optimal, "
        f"{unchecked:.0f} have a proof that is too large for the checker."
    )
