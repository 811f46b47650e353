"""Intervals by the bootstrap over sequences, with the same draws for every method."""

from typing import TYPE_CHECKING

import numpy as np

from formulations.dtypes import Floats
from ilpinfer.evaluation.counts import shares

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES, SEED = 9999, 0
"""Of the bootstrap."""
BATCH = 500
"""Resamples that are drawn at once."""
ENDS = (0.025, 0.975)
GOLD = ["gold_tokens", "correct", "predicted_fields", "gold_fields", "matching_fields"]
"""Counts of which accuracy and F1 are made."""
MEASURES = ("accuracy", "f1")


def gap_intervals(gaps: "pd.DataFrame") -> "pd.DataFrame":
    """Intervals of the mean of gaps (sequence, method), NaN where the method failed: `mean_gap_low` and `mean_gap_high` by method."""
    sums = resample(np.stack([gaps.fillna(0.0), gaps.notna()], axis=-1))
    low, high = _ends(_ratio(sums[..., 0], sums[..., 1]))
    return type(gaps)({"mean_gap_low": low, "mean_gap_high": high}, index=gaps.columns)


def gold_intervals(lines: "pd.DataFrame", reference: str | None) -> "pd.DataFrame":
    """Accuracy and F1 by method with intervals, and their losses against the reference on the sequences on which neither failed."""
    import pandas as pd

    table = lines.groupby(["sequence", "method"])[GOLD].sum().unstack()
    if not len(table):
        names = [end for lost in ("", "_loss") for name in MEASURES for end in _names(name + lost)]
        return pd.DataFrame(columns=names, dtype=float)
    methods = list(table[GOLD[0]].columns)
    counts = np.stack([table[name].to_numpy(float) for name in GOLD], axis=-1)  # (N, M, 5)
    there = ~np.isnan(counts[..., :1])
    counts = np.where(there, counts, 0.0)
    place = methods.index(reference) if reference in methods else 0
    both = there & there[:, [place]]
    values = np.stack([counts, counts[:, [place]] * both, counts * both], axis=1)  # (N, 3, M, 5)
    known, drawn = _shares(values.sum(axis=0)), _shares(resample(values))
    result = dict[str, Floats]()
    for name, value, draws in zip(MEASURES, known, drawn, strict=True):
        result.update(zip(_names(name), (value[0], *_ends(draws[:, 0])), strict=True))
    without = [reference not in methods or method == reference for method in methods]
    for name, value, draws in zip(MEASURES, known, drawn, strict=True):
        lost = value[1] - value[2], *_ends(draws[:, 1] - draws[:, 2])
        result.update(zip(_names(f"{name}_loss"), np.where(without, np.nan, lost), strict=True))
    return pd.DataFrame(result, index=methods)


def resample(values: Floats) -> Floats:
    """Sums (R, ...) of values (N, ...) over N sequences that are drawn with replacement; equal N have equal draws."""
    N, rng = len(values), np.random.default_rng(SEED)
    if not N:
        return np.zeros((RESAMPLES, *np.shape(values)[1:]))
    flat = np.asarray(values, float).reshape(N, -1)
    sizes = (min(BATCH, RESAMPLES - begin) for begin in range(0, RESAMPLES, BATCH))
    parts = [rng.multinomial(N, np.full(N, 1 / N), size) @ flat for size in sizes]
    return np.concatenate(parts).reshape(RESAMPLES, *np.shape(values)[1:])


def _names(measure: str) -> list[str]:
    return [measure, f"{measure}_low", f"{measure}_high"]


def _ends(drawn: Floats) -> Floats:
    """(2, M) ends of the percentile intervals (Efron and Tibshirani 1993) of draws (R, M); resamples without any value are left out."""
    known = [column[~np.isnan(column)] for column in drawn.T]
    return (
        np.array([np.quantile(each, ENDS) if len(each) else [np.nan] * 2 for each in known]).reshape(-1, 2).T
    )


def _shares(totals: Floats) -> tuple[Floats, Floats]:
    """Token accuracy and F1 of sums (..., 5) of the counts of `GOLD`; NaN where there are no tokens."""
    each = shares(np.concatenate([totals, np.zeros_like(totals[..., :1])], axis=-1))  # no whole sequences
    known = totals[..., 0] > 0
    return np.where(known, each[..., 0], np.nan), np.where(known, each[..., 1], np.nan)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
