"""Exponents of cost: least squares on logarithms."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95


class Exponent(NamedTuple):
    """An exponent and half the width of its interval.

    Attributes
    ----------
    value, margin : float
    """

    value: float
    margin: float

    def text(self) -> str:
        """As one quotes it."""
        return f"{self.value:.2f} ± {self.margin:.2f}".replace("-", "−")


def exponents(sizes: Sequence[Sequence[float]], seconds: Sequence[float]) -> list[Exponent] | None:
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
