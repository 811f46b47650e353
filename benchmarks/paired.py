"""Measures of draws, and differences of two methods on the same draws."""

from typing import Any

from pandas import DataFrame, Series

from benchmarks.report import signed


def draws_of(frame: DataFrame, measure: str = "tokens", /, **wanted: object) -> Series:
    """A measure by draw, of the rows with these values."""
    some: Any = frame
    for name, value in wanted.items():
        some = some[some[name] == value]
    return some.set_index("draw")[measure]


def difference(values: Series, others: Series) -> Series:
    """On the draws that both have."""
    return (values - others).dropna()


def gain(values: Series, others: Series, digits: int = 1) -> str:
    """Mean difference and its standard error, which takes two draws."""
    gains = difference(values, others)
    error = f" ± {gains.sem():.{digits}f}" if len(gains) > 1 else ""
    return signed(gains.mean(), digits) + error
