"""The report: the thesis's tables beside ours, and how far its searches are from the optimum."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import Report, number, signed
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
from benchmarks.study import Row
from ilpinfer.evaluation.counts import f_measure, precision, recall

Documents = Mapping[int, Row]
"""The rows of one setting, by document."""
RESAMPLES = 1000
ALL = "all"


class Setting(NamedTuple):
    """What tells the rows of one decoding apart."""

    segmentation: str
    rules: str
    method: str


Settings = Mapping[Setting, Documents]


class Change(NamedTuple):
    """Differences of precision, recall and F in points, and the 95 % interval of the last."""

    precision: float
    recall: float
    f: float
    low: float
    high: float


def by_setting(rows: Iterable[Row]) -> dict[Setting, dict[int, Row]]:
    result: dict[Setting, dict[int, Row]] = {}
    for row in rows:
        key = Setting(*(row[name] for name in Setting._fields))
        result.setdefault(key, {})[row["document"]] = row
    return result


def of(settings: Settings, segmentation: str, rules: str = "none", method: str = NONE) -> Documents:
    """The documents of a setting, none if it was not run."""
    return settings.get(Setting(segmentation, rules, method), {})


def counts(documents: Documents, chosen: Sequence[int], field: str) -> Any:
    """(N, 3) predicted, gold and both characters of some documents; the field "all" is the sum of every field."""
    rows = [documents[n]["characters"] for n in chosen]
    names = sorted({name for row in rows for name in row}) if field == ALL else [field]
    each = [[row.get(name, (0, 0, 0)) for name in names] for row in rows]
    return np.array(each, np.int64).sum(axis=1)


def change(one: Documents, other: Documents, field: str = ALL) -> Change:
    """How much better one setting is than another on the documents that both have, by the paired bootstrap."""
    common = sorted(set(one) & set(other))
    a, b = (counts(documents, common, field) for documents in (one, other))
    drawn = np.random.default_rng(0).integers(len(common), size=(RESAMPLES, len(common)))
    gains = f_measure(a[drawn].sum(axis=1)) - f_measure(b[drawn].sum(axis=1))
    both = a.sum(axis=0), b.sum(axis=0)
    points = [100 * float(measure(both[0]) - measure(both[1])) for measure in (precision, recall, f_measure)]
    return Change(*points, *(100 * float(np.quantile(gains, q)) for q in (0.025, 0.975)))


def values(documents: Documents, name: str) -> list[Any]:
    return [value for n in sorted(documents) for value in documents[n][name]]


def reached(one: Documents, best: Documents) -> tuple[int, int, int, float]:
    """Items of the documents that both have, those without labelling, those at the optimum; nats below it, the mean of labellings."""
    common = sorted(set(one) & set(best))
    pairs = [pair for n in common for pair in zip(one[n]["scores"], best[n]["scores"], strict=True)]
    losses = [b - a for a, b in pairs if a is not None and b is not None]
    unsolved, optimal = sum(a is None for a, _ in pairs), sum(loss <= 1e-6 for loss in losses)
    return len(pairs), unsolved, optimal, float(np.mean(losses)) if losses else 0.0


def restricted(documents: Documents, to: Documents) -> dict[int, Row]:
    return {n: row for n, row in documents.items() if n in to}


Changes = dict[str, tuple[float, float, float]]

TAGS = ("description", "job title", "date", "organization")


def _table(*rows: tuple[float, float, float]) -> Changes:
    return dict(zip(TAGS, rows, strict=True))


TABLE_7 = _table((1.78, 0.44, 1.46), (0.16, 0.13, 0.14), (0.05, 0.00, 0.03), (0.01, 0.10, 0.04))
TABLE_9 = _table((1.38, 0.32, 1.11), (0.14, 0.20, 0.17), (0.07, 0.02, 0.04), (0.50, 0.07, 0.32))
TABLE_10 = _table((0.40, 0.20, 0.36), (0.03, 0.07, 0.05), (0.05, 0.0, 0.03), (0.02, 0.03, 0.02))
TABLE_11 = _table((0.35, 0.12, 0.30), (-0.03, 0.01, -0.01), (0.0, 0.0, 0.0), (0.02, 0.03, 0.02))
TABLE_12 = _table((4.84, 7.72, 5.95), (-3.37, -7.62, -5.36), (2.54, -2.86, 0.11), (-0.32, -3.81, -1.71))
TABLE_13 = _table((1.68, 0.62, 1.45), (0.30, 0.12, 0.22), (0.005, 0.000, 0.003), (1.31, -0.14, 0.76))
TABLE_14 = _table((0.06, 0.03, 0.05), (-0.12, 0.23, 0.04), (0.08, 0.09, 0.08), (-0.06, 0.00, -0.04))
UNSOLVED, ITEMS = 9, 312
"""Items without a labelling under the hard rule."""


TABLES = {
    "Table 7: English résumés": (TABLE_7, PREDICTED, BASE),
    "Table 9: perfect items": (TABLE_9, PERFECT, BASE),
    "Table 12: a hard constraint and heavy features": (TABLE_12, PREDICTED, HEAVY),
    "Table 13: also at most one organization": (TABLE_13, PREDICTED, ONE_ORGANIZATION),
    "Table 14: no features": (TABLE_14, PREDICTED, NO_FEATURES),
}
STRATEGIES = {
    "Table 10: mixed strategy against the evolutionary algorithm alone": (TABLE_10, "evolutionary"),
    "Table 11: mixed strategy against discrepancy search alone": (TABLE_11, "discrepancy"),
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
        for tag in TAGS:
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

        report.table(("tag", *columns), ((tag, *_published(figures[tag]), *line(tag)) for tag in TAGS))


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
        f"each token is 0. `ms an item` is the whole call, formulation included. Published: {UNSOLVED} of {ITEMS} items "
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
