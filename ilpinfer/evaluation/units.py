"""What of a field is counted: whole spans, tokens, lines or characters."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.dtypes import LabelIds
from ilpinfer.corpus import NEWLINE
from ilpinfer.evaluation.runs import FieldTable, Span

UNITS = ("spans", "tokens", "lines", "characters")

Counts = NDArray[np.int64]
"""(..., 3): how much is predicted, how much is gold, and how much is both."""


def count(
    table: FieldTable, tokens: Sequence[str], predicted: LabelIds | None, gold: LabelIds | None
) -> dict[str, Counts]:
    """For each unit the counts (F, 3) of one sequence (Stokman 2011, section 5.1).

    Spans are runs with equal field, first and last token. Lines are what lies between tokens `@newline@`, which
    have neither line nor characters; a line is a
    field's where any of its tokens is. Of characters only letters and digits count.
    """
    T = len(tokens)
    result, right = table.members(predicted, T), table.members(gold, T)
    characters = np.array([0 if t == NEWLINE else sum(map(str.isalnum, t)) for t in tokens], np.int64)
    lines = _lines(tokens)
    return {
        "spans": _of_spans(table.spans(predicted), table.spans(gold), len(table.names)),
        "tokens": _weighted(result, right, np.ones(T, np.int64)),
        "lines": _weighted(result @ lines, right @ lines, np.ones(lines.shape[1], np.int64)),
        "characters": _weighted(result, right, characters),
    }


def precision(counts: Counts) -> NDArray[np.float64]:
    """|F ∩ G| / |F|; 0 where nothing is predicted (Stokman 2011, eq. 68)."""
    return _share(counts[..., 2], counts[..., 0])


def recall(counts: Counts) -> NDArray[np.float64]:
    """|F ∩ G| / |G|; 0 where there is no gold (Stokman 2011, eq. 69)."""
    return _share(counts[..., 2], counts[..., 1])


def f_measure(counts: Counts, beta: float = 1.0) -> NDArray[np.float64]:
    """(1 + β²) P R / (β² P + R), 0 where it is not defined (Trompper 2016; for β = 1 Stokman 2011, eq. 70)."""
    predicted, gold, both = (counts[..., i] for i in range(3))
    return _share((1 + beta**2) * both, predicted + beta**2 * gold)


def overlap(counts: Counts) -> NDArray[np.float64]:
    """|F ∩ G| / |F ∪ G|, the Jaccard index; 0 where both are empty (Stokman 2011, section 5.1)."""
    predicted, gold, both = (counts[..., i] for i in range(3))
    return _share(both, predicted + gold - both)


def _share(part: Any, whole: Any) -> NDArray[np.float64]:
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _of_spans(predicted: set[Span], gold: set[Span], F: int) -> Counts:
    sets = (predicted, gold, predicted & gold)
    return np.array([np.bincount([f for f, _, _ in spans], minlength=F) for spans in sets], np.int64).T


def _weighted(predicted: NDArray[np.bool_], gold: NDArray[np.bool_], weight: NDArray[np.int64]) -> Counts:
    """Counts (F, 3) of members (F, N) that weigh (N,)."""
    return np.stack([predicted @ weight, gold @ weight, (predicted & gold) @ weight], axis=-1)


def _lines(tokens: Sequence[str]) -> NDArray[np.bool_]:
    """(T, L) whether a token is on a line."""
    breaks = np.array([token == NEWLINE for token in tokens], bool)
    line = np.cumsum(breaks)
    return (line[:, None] == np.arange(line[-1] + 1)) & ~breaks[:, None]
