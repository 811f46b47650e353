"""The figures that the study claims: shares, losses, and ratios of times taken on the same sequences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import PLAIN
from benchmarks.studies.engine.fits import Exponent, exponents
from benchmarks.study import Row

LEAST_LENGTH = 120
"""From which on exponents are fitted, where there are at least three such lengths; below, fixed costs dominate."""


class Pair(NamedTuple):
    """A row of a method, and that of `auto` on the same sequence in the same cell."""

    row: Row
    auto: Row


def pairs(rows: Iterable[Row], method: str) -> list[Pair]:
    """Of one method on all its sequences; the rows of `auto` itself are those of the largest group of methods."""
    rows = list(rows)
    auto = {_place(row): row for row in rows if row["method"] == "auto"}
    group = next((row["methods"] for row in rows if row["method"] == "auto"), "")
    own = [row for row in rows if row["method"] == method and (method != "auto" or row["methods"] == group)]
    return [Pair(row, auto[_place(row)]) for row in own]


def _place(row: Row) -> tuple[str, ...]:
    return row["data"], row["methods"], row["item"]


def milliseconds(rows: Iterable[Row]) -> NDArray[np.float64]:
    """Of each row."""
    return np.array([1000 * row["seconds"] for row in rows])


def multiple(both: Sequence[Pair]) -> float | None:
    """Total time as a multiple of `auto`'s; None without rows."""
    if not both:
        return None
    return float(sum(pair.row["seconds"] for pair in both) / sum(pair.auto["seconds"] for pair in both))


def passes(rows: Sequence[Row], method: str) -> float | None:
    """The median over sequences of a method's time in bare Viterbi passes of the same cell; None without rows."""
    unit = {_place(pair.row): pair.row["seconds"] for pair in pairs(rows, PLAIN)}
    times = {_place(pair.row): pair.row["seconds"] for pair in pairs(rows, method)}
    multiples = [times[place] / unit[place] for place in times if place in unit]
    return float(np.median(multiples)) if multiples else None


def share(values: Sequence[bool]) -> float | None:
    """Of true values; None without any."""
    return sum(values) / len(values) if values else None


class Loss(NamedTuple):
    """What a heuristic loses on sequences whose optimum is known.

    Attributes
    ----------
    optima, missed, without : int
        Known optima, those that it misses, and those for which it has no labelling that keeps the hard rules.
    mean, largest : float or None
        Nats, over the labellings that there are.
    """

    optima: int
    missed: int
    without: int
    mean: float | None
    largest: float | None


def loss(both: Sequence[Pair]) -> Loss:
    """Of a method."""
    known = [
        (pair.auto["score"], pair.row["score"])
        for pair in both
        if pair.auto["proved"] and pair.auto["score"] is not None
    ]
    gaps = [best - score for best, score in known if score is not None]
    return Loss(
        len(known),
        len(known) - sum(gap <= 0 for gap in gaps),
        len(known) - len(gaps),
        float(np.mean(gaps)) if gaps else None,
        float(np.max(gaps)) if gaps else None,
    )


def prefixes(both: Sequence[Pair]) -> float:
    """Prefixes that a beam keeps in a second: width times tokens over all sequences."""
    width = int(both[0].row["method"].split()[1])
    return float(width * sum(pair.row["T"] for pair in both) / sum(pair.row["seconds"] for pair in both))


class Fit(NamedTuple):
    """Exponents of one method.

    Attributes
    ----------
    documents, left_out : int
        Documents fitted, and those without an optimum in time.
    lengths, sizes : tuple of int
        T and K of the documents.
    of_length, of_size : Exponent
    """

    documents: int
    left_out: int
    lengths: tuple[int, ...]
    sizes: tuple[int, ...]
    of_length: Exponent
    of_size: Exponent


def fit(rows: Sequence[Row], *, exact: bool) -> Fit | None:
    """Exponents of T and K together; an exact method's calls that ended without an optimum are left out."""
    usable = fitted(rows)
    ended = [row for row in usable if not exact or row["status"] == "optimal"]
    result = (
        exponents([(row["T"], row["K"]) for row in ended], [row["seconds"] for row in ended])
        if ended
        else None
    )
    if result is None:
        return None
    lengths, sizes = (tuple(sorted({row[name] for row in ended})) for name in "TK")
    return Fit(len(ended), len(usable) - len(ended), lengths, sizes, *result)


def fitted(rows: Sequence[Row]) -> list[Row]:
    """Rows of documents that are long enough, or all where too few lengths are."""
    long = [row for row in rows if row["T"] >= LEAST_LENGTH]
    return long if len({row["T"] for row in long}) > 2 else list(rows)


def of_lengths(rows: Sequence[Row]) -> Mapping[int, Exponent]:
    """The exponent of T for each K."""
    result = {}
    for K in sorted({row["K"] for row in rows}):
        some = fitted([row for row in rows if row["K"] == K])
        if line := exponents([(row["T"],) for row in some], [row["seconds"] for row in some]):
            result[K] = line[0]
    return result
