"""Means of draws, and differences of two methods on the same draws."""

from collections.abc import Mapping
from math import sqrt
from statistics import fmean, stdev

from benchmarks.report import signed

Draws = Mapping[int, float]
"""A measure by the number of the draw."""


def mean(values: Draws) -> float | None:
    """The mean over draws; None where there is none."""
    return fmean(values.values()) if values else None


def difference(values: Draws, others: Draws) -> tuple[float, float | None] | None:
    """Mean difference on the draws that both have, and its standard error, which takes two draws."""
    gains = [values[draw] - others[draw] for draw in values if draw in others]
    if not gains:
        return None
    return fmean(gains), stdev(gains) / sqrt(len(gains)) if len(gains) > 1 else None


def gain(values: Draws, others: Draws, digits: int = 1) -> str:
    """The same as text."""
    result = difference(values, others)
    if result is None:
        return "–"
    error = "" if result[1] is None else f" ± {result[1]:.{digits}f}"
    return signed(result[0], digits) + error
