"""Exponents of cost: least squares on logarithms."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from pandas import DataFrame
from scipy.special import stdtrit

CONFIDENCE = 0.95
LEAST_LENGTH = 120
"""Tokens from which on exponents are fitted where there are at least three such lengths; below, fixed costs dominate."""


class Exponent(NamedTuple):
    """An exponent and half the width of its interval."""

    value: float
    margin: float

    def text(self) -> str:
        return f"{self.value:.2f} ± {self.margin:.2f}".replace("-", "−")


def exponents(sizes: ArrayLike, seconds: ArrayLike) -> list[Exponent] | None:
    """One for each column of sizes (n, m), of seconds (n,) = c · Π size^exponent; None where they are not determined."""
    logs = np.log(np.asarray(sizes, float))
    X = np.column_stack([np.ones(len(logs)), logs])
    freedom = len(X) - X.shape[1]
    if freedom < 1 or np.linalg.matrix_rank(X) < X.shape[1]:
        return None
    y = np.log(seconds)
    coefficients = np.linalg.lstsq(X, y, rcond=None)[0]
    variance = np.sum((y - X @ coefficients) ** 2) / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.inv(X.T @ X)))
    margins = errors * stdtrit(freedom, (1 + CONFIDENCE) / 2)
    return [Exponent(*pair) for pair in zip(coefficients[1:].tolist(), margins[1:].tolist(), strict=True)]


def fit(frame: DataFrame, *, exact: bool) -> tuple[DataFrame, int, Sequence[Exponent]] | None:
    """Documents, how many are left out since an exact method had no optimum in time, and exponents of T and K together."""
    usable = fitted(frame)
    ended = usable[usable.status == "optimal"] if exact else usable
    result = exponents(ended[["T", "K"]], ended.seconds)
    return None if result is None else (ended, len(usable) - len(ended), result)


def fitted(frame: DataFrame) -> DataFrame:
    """Rows of documents that are long enough, or all where too few lengths are."""
    long = frame[frame["T"] >= LEAST_LENGTH]
    return long if long["T"].nunique() > 2 else frame
