"""Sums over documents of one setting, and their differences to another setting."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.studies.stokman.decoding import NONE
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
