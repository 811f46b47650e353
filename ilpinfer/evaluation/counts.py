"""Counts of labellings against gold for each sequence, and measures of their sums."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Booleans, Floats, Integers
from formulations.labels.schemes import OUTSIDE
from ilpinfer.corpus import NEWLINE

UNITS = ("spans", "tokens", "lines", "characters", "sequences")
COLUMNS = ("tokens", "right", "predicted", "gold", "both", "whole")
"""Totals of one sequence: tokens, tokens in the gold field, spans predicted, in gold and in both, and 1 if all spans are right."""

Span = tuple[int, int, int]
"""Field, first token, last token."""
Counts = Integers
"""(..., 3): numbers of predicted, gold and matching items."""
Totals = Integers
"""(..., 6): the counts of `COLUMNS`."""


@dataclass(frozen=True)
class FieldTable:
    """F fields of K labels, without `O`: members (F, K), and steps (F, K+1, K) that begin a run; row 0 is START, row k+1 label k.

    With hierarchical labels, every prefix path is a field. Under BIO, runs are as in the script of the CoNLL shared tasks: an
    `I-x` that follows neither `B-x` nor `I-x` begins a run.
    """

    names: tuple[str, ...]
    member: Booleans
    begins: Booleans

    @classmethod
    def of(cls, labels: LabelSet, leave_out: Iterable[str] = ()) -> "FieldTable":
        """The fields of a label set, except the fields to leave out."""
        outside = {OUTSIDE, *leave_out}
        chosen = [field for name, field in labels.fields.items() if name not in outside]
        F, K = len(chosen), len(labels)
        return cls(
            tuple(field.name for field in chosen),
            np.array([field.member for field in chosen], bool).reshape(F, K),
            np.array([field.begins for field in chosen], bool).reshape(F, K + 1, K),
        )

    def spans(self, ids: Integers) -> set[Span]:
        inside = self.member[:, ids]
        begins = self.begins[:, np.append(0, ids[:-1] + 1), ids]
        stays = np.zeros_like(inside)
        stays[:, :-1] = inside[:, 1:] & ~begins[:, 1:]
        ends = inside & ~stays
        # Both lists are ordered by field and position, and begins and ends alternate within a field.
        pairs = zip(np.argwhere(begins).tolist(), np.argwhere(ends).tolist(), strict=True)
        return {(f, first, last) for (f, first), (_, last) in pairs}


def named_spans(names: Sequence[str], scheme: str) -> set[tuple[str, int, int]]:
    """(field, first token, last token) of every run, without `O`."""
    labels = LabelSet(tuple(dict.fromkeys(names)), scheme)
    table = FieldTable.of(labels)
    return {(table.names[f], first, last) for f, first, last in table.spans(labels.ids(names))}


@dataclass(frozen=True, eq=False)
class LabelRuns:
    """T label ids, and the runs of all fields in them."""

    ids: Integers
    table: FieldTable

    @cached_property
    def spans(self) -> set[Span]:
        return self.table.spans(self.ids)


class SequenceCounts(NamedTuple):
    """Counts of one sequence: tokens, tokens with the gold field, with the gold label, whether all spans are right, and spans (F, 3)."""

    tokens: int
    right: int
    right_labels: int
    whole: bool
    spans: Counts

    def totals(self) -> list[int]:
        """The counts of `COLUMNS`."""
        return [self.tokens, self.right, *self.spans.sum(axis=0).tolist(), int(self.whole)]


class LabelCounter:
    """Counts labellings against gold; left-out fields have no span counts, but count for right tokens and whole sequences."""

    def __init__(self, labels: LabelSet, leave_out: Iterable[str] = ()) -> None:
        self.labels = labels
        self.table = FieldTable.of(labels)
        left = set(leave_out)
        self.kept = [f for f, name in enumerate(self.table.names) if name not in left]
        self.fields = tuple(self.table.names[f] for f in self.kept)
        innermost = [labels.strip(name) for name in labels.names]
        places = {name: place for place, name in enumerate(dict.fromkeys(innermost))}
        self.field_of = np.array([places[name] for name in innermost], np.int64)

    def span_confusion(self, predicted: LabelRuns | None, gold: LabelRuns) -> Integers:
        """Pairs (F+1, F+1) of gold and predicted spans that share a token, per level of hierarchical labels; last, spans without a pair."""
        sides = []
        for runs in (gold, predicted):
            spans = [] if runs is None else [span for span in sorted(runs.spans) if span[0] in self.kept]
            sides.append(np.array(spans, np.int64).reshape(-1, 3))
        (f, first, last), (g, begin, end) = sides[0].T, sides[1].T
        paths = self.labels.scheme == "paths"
        level = np.array([name.count("/") if paths else 0 for name in self.table.names], np.int64)
        shared = (first[:, None] <= end) & (begin <= last[:, None]) & (level[f][:, None] == level[g])
        place = np.full(len(self.table.names), -1)
        place[self.kept] = np.arange(len(self.kept))
        counts = np.zeros((len(self.kept) + 1, len(self.kept) + 1), np.int64)
        one, other = np.nonzero(shared)
        np.add.at(counts, (place[f[one]], place[g[other]]), 1)
        np.add.at(counts, (place[f[~shared.any(axis=1)]], -1), 1)
        np.add.at(counts, (-1, place[g[~shared.any(axis=0)]]), 1)
        return counts

    def labelling(self, names: Sequence[str]) -> LabelRuns:
        return LabelRuns(self.labels.ids(names), self.table)

    def count(self, predicted: LabelRuns | None, gold: LabelRuns) -> SequenceCounts:
        """The counts of one sequence; nothing is right without a predicted labelling."""
        T, F = len(gold.ids), len(self.table.names)
        if predicted is None:
            return SequenceCounts(T, 0, 0, False, _span_counts(set(), gold.spans, F)[self.kept])
        return SequenceCounts(
            T,
            int((self.field_of[predicted.ids] == self.field_of[gold.ids]).sum()),
            int((predicted.ids == gold.ids).sum()),
            predicted.spans == gold.spans,
            _span_counts(predicted.spans, gold.spans, F)[self.kept],
        )

    def count_names(self, predicted: Sequence[str] | None, gold: Sequence[str]) -> SequenceCounts:
        return self.count(None if predicted is None else self.labelling(predicted), self.labelling(gold))

    def count_units(
        self, tokens: Sequence[str], predicted: LabelRuns | None, gold: LabelRuns
    ) -> dict[str, Counts]:
        """Counts (F, 3) by tokens, lines (with any token of the field) and letters or digits (Stokman 2011, section 5.1)."""
        member = self.table.member[self.kept]
        right = member[:, gold.ids]
        inside = np.zeros_like(right) if predicted is None else member[:, predicted.ids]
        ones = np.ones(len(tokens), np.int64)
        characters = np.array([0 if t == NEWLINE else sum(map(str.isalnum, t)) for t in tokens], np.int64)
        lines = _lines(tokens)
        return {
            "tokens": _sums(inside, right, ones),
            "lines": _sums(inside @ lines, right @ lines, np.ones(lines.shape[1], np.int64)),
            "characters": _sums(inside, right, characters),
        }


def sequence_counts(spans: Counts) -> Counts:
    """Counts (..., 3) of sequences from span counts: with predicted spans, with gold spans, and with all spans right."""
    predicted, gold, both = (spans[..., i] for i in range(3))
    right = (both > 0) & (predicted == both) & (gold == both)
    return np.stack([predicted > 0, gold > 0, right], axis=-1).astype(np.int64)


def shares(totals: Totals, sequences: int = 1, beta: float = 1.0) -> Floats:
    """(..., 3) token accuracy, span F measure (1 if neither side has spans) and share of whole sequences from summed totals (..., 6)."""
    accuracy = _share(totals[..., 1], totals[..., 0])
    f = f_measure(totals[..., 2:5], beta, empty=1.0)
    return np.stack([accuracy, f, totals[..., 5] / sequences], axis=-1)


def precision(counts: Counts) -> Floats:
    """``|F ∩ G| / |F|`` of counts (..., 3); 0 if nothing is predicted (Stokman 2011, eq. 68)."""
    return _share(counts[..., 2], counts[..., 0])


def recall(counts: Counts) -> Floats:
    """``|F ∩ G| / |G|`` of counts (..., 3); 0 if there is no gold (Stokman 2011, eq. 69)."""
    return _share(counts[..., 2], counts[..., 1])


def f_measure(counts: Counts, beta: float = 1.0, *, empty: float = 0.0) -> Floats:
    """The F measure (1 + β²) P R / (β² P + R) (Trompper 2016; for β = 1 Stokman 2011, eq. 70).

    It is 0 if precision or recall is 0.

    Parameters
    ----------
    counts : Counts
        (..., 3) predicted, gold and both.
    beta : float, default 1.0
        Weight of recall relative to precision.
    empty : float, default 0.0
        The measure if nothing is predicted and there is no gold.

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
    return _share((1 + beta**2) * both, predicted + beta**2 * gold, empty)


def overlap(counts: Counts) -> Floats:
    """``|F ∩ G| / |F ∪ G|``, the Jaccard index; 0 if both are empty (Stokman 2011, section 5.1)."""
    predicted, gold, both = (counts[..., i] for i in range(3))
    return _share(both, predicted + gold - both)


def _share(part: Any, whole: Any, empty: float = 0.0) -> Floats:
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.asarray(np.divide(part, whole, out=np.full_like(whole, empty), where=whole > 0))


def _span_counts(predicted: set[Span], gold: set[Span], F: int) -> Counts:
    sets = (predicted, gold, predicted & gold)
    return np.array([np.bincount([f for f, _, _ in spans], minlength=F) for spans in sets], np.int64).T


def _sums(predicted: Booleans, gold: Booleans, weight: Integers) -> Counts:
    """Counts (F, 3) of members (F, N) with weights (N,)."""
    return np.stack([predicted @ weight, gold @ weight, (predicted & gold) @ weight], axis=-1)


def _lines(tokens: Sequence[str]) -> Booleans:
    """(T, L) whether a token is on a line."""
    breaks = np.array([token == NEWLINE for token in tokens], bool)
    line = np.cumsum(breaks)
    return np.asarray((line[:, None] == np.arange(line[-1] + 1 if len(line) else 0)) & ~breaks[:, None])
