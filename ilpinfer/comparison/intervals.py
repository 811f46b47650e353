"""Bootstrap intervals over sequences, with the same resamples for every method."""

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from formulations.dtypes import Floats
from ilpinfer.evaluation.counts import f_measure

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES, SEED = 9999, 0
"""Number of resamples and seed of the bootstrap."""
BATCH = 500
"""Number of resamples drawn at once."""
ENDS = (0.025, 0.975)
GOLD = ["gold_tokens", "correct", "predicted_fields", "gold_fields", "matching_fields"]
"""Counts that determine accuracy and F1."""
MEASURES, SUFFIXES = ("accuracy", "f1"), ("", "_low", "_high")


def gap_intervals(lines: "pd.DataFrame") -> dict[str, "pd.Series"]:
    """Intervals of the mean of the column `capped`: `mean_gap_low` and `mean_gap_high` by method."""
    gaps = lines.pivot_table(index="sequence", columns="method", values="capped")
    sums, counts = resample(np.stack([gaps.fillna(0.0), gaps.notna()]))
    low, high = _ends(_ratio(sums, counts))
    series = type(lines.method)
    return {
        "mean_gap_low": series(low, gaps.columns, float),
        "mean_gap_high": series(high, gaps.columns, float),
    }


def gold_intervals(lines: "pd.DataFrame", reference: str | None) -> "pd.DataFrame":
    """Accuracy and F1 by method with intervals, and their losses against the reference, on sequences on which neither failed."""
    if lines.empty:
        names = [name + lost + end for lost in ("", "_loss") for name in MEASURES for end in SUFFIXES]
        return type(lines)(columns=names, dtype=float)
    table = lines.pivot_table(index="sequence", columns="method", values=GOLD, aggfunc="sum")
    methods = list(table[GOLD[0]])
    counts = np.stack([table[name].to_numpy(float) for name in GOLD])  # (5, N, M)
    there = ~np.isnan(counts[0])
    counts = np.where(there, counts, 0.0)
    place = methods.index(reference) if reference in methods else 0
    both = there & there[:, [place]]
    values = np.stack([counts, counts[:, :, [place]] * both, counts * both])
    known, drawn = _measures(values.sum(axis=2)), _measures(resample(values))
    without = [reference not in methods or method == reference for method in methods]
    result = dict[str, Any]()
    for name, value, draws in zip(MEASURES, known, drawn, strict=True):
        own = [value[0], *_ends(draws[0])]
        lost = np.where(without, np.nan, [value[1] - value[2], *_ends(draws[1] - draws[2])])
        for number, end in enumerate(SUFFIXES):
            result[name + end], result[f"{name}_loss{end}"] = own[number], lost[number]
    return type(lines)(result, index=methods)


def resample(values: Floats) -> Floats:
    """Sums (..., R, M) of values (..., N, M) over N sequences drawn with replacement; draws depend on N only."""
    from scipy import stats

    *more, N, M = values.shape
    flat = np.moveaxis(values, -2, 0).reshape(N, math.prod(more) * M)

    def sums(drawn: Any, axis: int) -> Any:
        rows = drawn.reshape(-1, N)
        cells = (rows + N * np.arange(len(rows))[:, None]).ravel()
        return (np.bincount(cells, minlength=rows.size).reshape(-1, N) @ flat).T

    if N < 2:
        found = np.repeat(flat.sum(axis=0)[:, None], RESAMPLES, axis=1)
    else:
        drawn = stats.bootstrap(
            (np.arange(N),),
            sums,
            n_resamples=RESAMPLES,
            batch=BATCH,
            vectorized=True,
            method="percentile",
            rng=SEED,
        )
        found = drawn.bootstrap_distribution
    return np.swapaxes(np.reshape(found, (*more, M, RESAMPLES)), -1, -2)


def _ends(drawn: Floats) -> Floats:
    """(2, M) ends of the percentile intervals (Efron and Tibshirani 1993) of draws (R, M); NaN draws are left out."""
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # for columns of NaN
        return np.nanquantile(drawn, ENDS, axis=0).reshape(2, -1)


def _measures(sums: Any) -> tuple[Floats, Floats]:
    """Token accuracy and F1 from sums of the counts `GOLD` (5, ...); NaN without tokens."""
    tokens, correct = sums[:, 0], sums[:, 1]
    f1 = f_measure(np.moveaxis(sums[:, 2:], 1, -1), empty=1.0)
    return _ratio(correct, tokens), np.where(tokens > 0, f1, np.nan)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
