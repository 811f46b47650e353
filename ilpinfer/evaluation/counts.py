"""Counts of fields by spans, tokens, lines and characters, and the measures that are made of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Booleans, Floats, Integers
from formulations.labels.schemes import OUTSIDE
from ilpinfer.corpus import NEWLINE

UNITS = ("spans", "tokens", "lines", "characters")

Ids = Integers | None
"""Label ids (T,), or None where nothing was predicted."""
Span = tuple[int, int, int]
"""Field, first token, last token."""
Counts = Integers
"""(..., 3): how much is predicted, how much is gold, and how much is both."""


@dataclass(frozen=True)
class FieldTable:
    """F fields of K labels, `O` left out.

    Runs begin and end by the labels' scheme. Under BIO this is the rule that the script of the CoNLL shared tasks
    does with labels in any order: an `I-x` that follows neither `B-x` nor `I-x` begins a run.

    Parameters
    ----------
    names : tuple of str
        F names; with hierarchical labels every prefix path is one.
    member : ndarray of bool, shape (F, K)
        Whether a label belongs to a field.
    begins : ndarray of bool, shape (F, K+1, K)
        Whether a step [previous, next] begins a run; row 0 is START, row k+1 label k.
    """

    names: tuple[str, ...]
    member: Booleans
    begins: Booleans

    @classmethod
    def of(cls, labels: LabelSet, leave_out: Iterable[str] = ()) -> "FieldTable":
        """The fields of a label set, without those that are to be left out."""
        outside = {OUTSIDE, *leave_out}
        chosen = [field for name, field in labels.fields.items() if name not in outside]
        F, K = len(chosen), len(labels)
        return cls(
            tuple(field.name for field in chosen),
            np.array([field.member for field in chosen], bool).reshape(F, K),
            np.array([field.begins for field in chosen], bool).reshape(F, K + 1, K),
        )

    def members(self, ids: Ids, T: int) -> Booleans:
        """(F, T) whether a token belongs to a field."""
        return np.zeros((len(self.names), T), bool) if ids is None else self.member[:, ids]

    def spans(self, ids: Ids) -> set[Span]:
        """Every run."""
        if ids is None:
            return set()
        inside = self.member[:, ids]
        begins = self.begins[:, np.append(0, ids[:-1] + 1), ids]
        stays = np.zeros_like(inside)
        stays[:, :-1] = inside[:, 1:] & ~begins[:, 1:]
        ends = inside & ~stays
        # Both lists go field by field and from left to right, and within a field begins and ends alternate.
        pairs = zip(np.argwhere(begins).tolist(), np.argwhere(ends).tolist(), strict=True)
        return {(f, first, last) for (f, first), (_, last) in pairs}


def named_spans(names: Sequence[str], scheme: str) -> set[tuple[str, int, int]]:
    """(field, first token, last token) of every run, `O` left out.

    Examples
    --------
    >>> sorted(named_spans(["B-name", "I-name", "O", "B-year"], "bio"))
    [('name', 0, 1), ('year', 3, 3)]
    """
    labels = LabelSet(tuple(dict.fromkeys(names)), scheme)
    table = FieldTable.of(labels)
    return {(table.names[f], first, last) for f, first, last in table.spans(labels.ids(names))}


def count(table: FieldTable, tokens: Sequence[str], predicted: Ids, gold: Ids) -> dict[str, Counts]:
    """For each unit the counts (F, 3) of one sequence (Stokman 2011, section 5.1).

    Spans are runs with equal field, first and last token. Tokens `@newline@` separate lines; they belong to no line and
    have no characters. A line is a field's where any of its tokens is. Of characters only letters and digits count.
    """
    T = len(tokens)
    inside, right = table.members(predicted, T), table.members(gold, T)
    characters = np.array([0 if t == NEWLINE else sum(map(str.isalnum, t)) for t in tokens], np.int64)
    lines = _lines(tokens)
    return {
        "spans": _span_counts(table.spans(predicted), table.spans(gold), len(table.names)),
        "tokens": _sums(inside, right, np.ones(T, np.int64)),
        "lines": _sums(inside @ lines, right @ lines, np.ones(lines.shape[1], np.int64)),
        "characters": _sums(inside, right, characters),
    }


def precision(counts: Counts) -> Floats:
    """``|F ∩ G| / |F|``; 0 where nothing is predicted (Stokman 2011, eq. 68).

    Parameters
    ----------
    counts : Counts
        (..., 3) predicted, gold and both.

    Returns
    -------
    ndarray of float
        Precision, without the last axis.

    Examples
    --------
    >>> float(precision(np.array([4, 2, 1])))
    0.25
    """
    return _share(counts[..., 2], counts[..., 0])


def recall(counts: Counts) -> Floats:
    """``|F ∩ G| / |G|``; 0 where there is no gold (Stokman 2011, eq. 69).

    Parameters
    ----------
    counts : Counts
        (..., 3) predicted, gold and both.

    Returns
    -------
    ndarray of float
        Recall, without the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> float(recall(np.array([4, 2, 1])))
    0.5
    """
    return _share(counts[..., 2], counts[..., 1])


def f_measure(counts: Counts, beta: float = 1.0) -> Floats:
    """The F measure (1 + β²) P R / (β² P + R) (Trompper 2016; for β = 1 Stokman 2011, eq. 70).

    It is 0 where precision and recall are undefined or 0.

    Parameters
    ----------
    counts : Counts
        (..., 3) predicted, gold and both.
    beta : float, default 1.0
        Weight of recall relative to precision.

    Returns
    -------
    ndarray of float
        The measure, without the last axis.

    Examples
    --------
    >>> float(f_measure(np.array([1, 3, 1])))
    0.5
    """
    predicted, gold, both = (counts[..., i] for i in range(3))
    return _share((1 + beta**2) * both, predicted + beta**2 * gold)


def overlap(counts: Counts) -> Floats:
    """``|F ∩ G| / |F ∪ G|``, the Jaccard index; 0 where both are empty (Stokman 2011, section 5.1)."""
    predicted, gold, both = (counts[..., i] for i in range(3))
    return _share(both, predicted + gold - both)


def _share(part: Any, whole: Any) -> Floats:
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.asarray(np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0))


def _span_counts(predicted: set[Span], gold: set[Span], F: int) -> Counts:
    sets = (predicted, gold, predicted & gold)
    return np.array([np.bincount([f for f, _, _ in spans], minlength=F) for spans in sets], np.int64).T


def _sums(predicted: Booleans, gold: Booleans, weight: Integers) -> Counts:
    """Counts (F, 3) of members (F, N) that weigh (N,)."""
    return np.stack([predicted @ weight, gold @ weight, (predicted & gold) @ weight], axis=-1)


def _lines(tokens: Sequence[str]) -> Booleans:
    """(T, L) whether a token is on a line."""
    breaks = np.array([token == NEWLINE for token in tokens], bool)
    line = np.cumsum(breaks)
    return np.asarray((line[:, None] == np.arange(line[-1] + 1)) & ~breaks[:, None])
