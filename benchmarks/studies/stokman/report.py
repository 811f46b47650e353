"""The report: the thesis's tables beside ours, and how far its searches are from the optimum."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.report import Report, number, signed
from benchmarks.studies.stokman import published as P
from benchmarks.studies.stokman.corpora import PERFECT, PREDICTED
from benchmarks.studies.stokman.decoding import (
    BASE,
    HARD,
    HEAVY,
    METHODS,
    MIXED,
    NO_FEATURES,
    NONE,
    ONE_ORGANIZATION,
    OPTIMUM,
    RULES,
)
from benchmarks.studies.stokman.totals import (
    Change,
    Documents,
    Settings,
    by_setting,
    change,
    of,
    reached,
    restricted,
    values,
)
from benchmarks.study import Row

TABLES = {
    "Table 7: English résumés": (P.TABLE_7, PREDICTED, BASE),
    "Table 9: perfect items": (P.TABLE_9, PERFECT, BASE),
    "Table 12: a hard constraint and heavy features": (P.TABLE_12, PREDICTED, HEAVY),
    "Table 13: also at most one organization": (P.TABLE_13, PREDICTED, ONE_ORGANIZATION),
    "Table 14: no features": (P.TABLE_14, PREDICTED, NO_FEATURES),
}
STRATEGIES = {
    "Table 10: mixed strategy against the evolutionary algorithm alone": (P.TABLE_10, "evolutionary"),
    "Table 11: mixed strategy against discrepancy search alone": (P.TABLE_11, "discrepancy"),
}


def report(rows: Sequence[Row], report: Report) -> None:
    settings = by_setting(rows)
    _tables(settings, report)
    _strategies(settings, report)
    _searches(settings, report)


def _points(one: Change) -> list[str]:
    return [signed(value, 2) for value in one[:3]]


def _published(points: Sequence[float]) -> list[str]:
    return [f"{value:+g}".replace("-", "−") for value in points]


def _tables(settings: Settings, report: Report) -> None:
    for title, (figures, segmentation, rules) in TABLES.items():
        base = of(settings, segmentation)
        best, mixed = (of(settings, segmentation, rules, method) for method in (OPTIMUM, MIXED))
        if not base or not best:
            continue
        report.heading(title)
        same = f", the mixed strategy as published of the first {len(values(mixed, 'scores'))}, beside the optimum of the same"
        report.text(
            f"{segmentation.capitalize()} segmentation, rules `{rules}`. Changes against Viterbi in points, characters. "
            f"The optimum is of {len(values(best, 'scores'))} items{same if mixed else ''}."
        )
        rows = []
        for tag in P.TAGS:
            own = change(best, base, tag)
            ours = [*_points(own), f"{signed(own.low, 2)} to {signed(own.high, 2)}"]
            both = (mixed, restricted(best, mixed)) if mixed else ()
            ours += [signed(change(one, base, tag).f, 2) for one in both] or ["–", "–"]
            rows.append((tag, *_published(figures[tag]), *ours))
        columns = (f"{kind} {name}" for kind in ("published", "optimum") for name in "PRF")
        report.table(("tag", *columns, "95 % of F", "mixed F", "optimum F, same items"), rows)


def _strategies(settings: Settings, report: Report) -> None:
    kinds = {"published": "here, as published", "strong": "here, strong"}
    for title, (figures, other) in STRATEGIES.items():
        pairs = {
            kind: [of(settings, PREDICTED, BASE, f"{name}, {kind}") for name in ("mixed", other)]
            for kind in kinds
        }
        if not any(map(all, pairs.values())):
            continue
        report.heading(title)
        report.text(
            "Differences in points, characters; searches as published, and as strong as this library has them."
        )
        columns = (f"{kind} {name}" for kind in ("published", *kinds.values()) for name in "PRF")

        def line(tag: str, pairs: dict[str, list[Documents]] = pairs) -> list[str]:
            both = (_points(change(a, b, tag)) if a and b else ["–"] * 3 for a, b in pairs.values())
            return [cell for cells in both for cell in cells]

        report.table(("tag", *columns), ((tag, *_published(figures[tag]), *line(tag)) for tag in P.TAGS))


def _searches(settings: Settings, report: Report) -> None:
    base, lines = of(settings, PREDICTED), []

    def line(rules: str, method: str, one: Documents, best: Documents) -> tuple[Any, ...]:
        items, unsolved, optimal, below = reached(one, best)
        gain, spent = signed(change(one, base).f, 2), number(float(np.mean(values(one, "decoding"))))
        return rules, method, items, unsolved, optimal, number(below), gain, spent

    for rules in RULES:
        best = of(settings, PREDICTED, rules, OPTIMUM)
        others = [method for method in METHODS if method not in (NONE, OPTIMUM)]
        some = {method: one for method in others if (one := of(settings, PREDICTED, rules, method))}
        lines += [line(rules, method, one, best) for method, one in some.items()]
        if best and some:
            same = restricted(best, next(iter(some.values())))
            lines.append(line(rules, OPTIMUM, same, same))
    if not lines:
        return
    report.heading("Searches and the optimum")
    report.text(
        "Generated items, predicted segmentation. As published, the floor of discrepancy search is on what is lost to the best "
        "choices, as the text of the thesis has it; “floor on scores” is its pseudocode, which presumes that the best score of "
        f"each token is 0. `ms an item` is the whole call, formulation included. Published: {P.UNSOLVED} of {P.ITEMS} items "
        f"without a labelling under `{HARD}`."
    )
    columns = ("rules", "method", "items", "without labelling", "at the optimum")
    report.table((*columns, "nats below, mean", "change of F, all tags", "ms an item"), lines, 2)
    exact = [documents for key, documents in settings.items() if key.method == OPTIMUM]
    proved = sum(row["optimal"] for one in exact for row in one.values())
    report.text(
        f"The engine proves {proved} of {sum(len(values(one, 'scores')) for one in exact)} optima of this part; the slowest takes "
        f"{number(max(value for one in exact for value in values(one, 'decoding')))} ms."
    )
