"""Predicted labellings against gold: accuracy, fields by several units, whole sequences, confusion."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from formulations import LabelSet
from formulations.arguments import choice, names
from formulations.dtypes import Booleans, Floats, Integers
from formulations.errors import RuleNotice, stack_level
from formulations.labels.schemes import OUTSIDE
from formulations.messages import counted
from ilpinfer.corpus.helper_labels import (
    at_places,
    counted_labels,
    tell_helpers,
)
from ilpinfer.evaluation.alike import Side, read_alike
from ilpinfer.evaluation.counts import (
    UNITS,
    Counts,
    LabelCounter,
    f_measure,
    overlap,
    precision,
    recall,
    sequence_counts,
)


@dataclass(frozen=True)
class Pair:
    """A sequence with predicted and gold labels.

    Parameters
    ----------
    tokens : tuple of str
        T texts.
    predicted : tuple of str or None
        T label names; None if no labelling was found.
    gold : tuple of str
        T label names.
    metadata : mapping of str to object, optional
        Notes about the sequence, which conditions of rules read.

    Examples
    --------
    >>> Pair(("Ada", "1815"), ("name", "name"), ("name", "year")).gold
    ('name', 'year')
    """

    tokens: tuple[str, ...]
    predicted: tuple[str, ...] | None
    gold: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Evaluation:
    """Counts of N sequences with F fields and K labels, from which all measures are computed.

    `accuracy` and `whole_sequences` compare fields, so that models with different schemes can be compared. Prefixes matter
    only where they separate runs.

    Parameters
    ----------
    labels : LabelSet
        Labels of both sides.
    fields : tuple of str
        F names.
    tokens, correct : ndarray of int, shape (N,)
        Number of tokens, and of tokens with the gold field; with hierarchical labels, with the whole gold path.
    correct_labels : ndarray of int, shape (N,)
        Number of tokens with the gold label including its prefix.
    whole : ndarray of bool, shape (N,)
        Whether the spans of all fields equal the gold spans.
    counts : mapping of str to Counts
        (N, F, 3) predicted, gold and both, by unit.
    confusion : ndarray of int, shape (K, K)
        Tokens [gold, predicted].
    missing : int
        Number of sequences without a prediction; all of their tokens count as wrong.
    overlaps : ndarray of int, shape (F+1, F+1)
        Pairs of spans [gold, predicted] that share a token, on one level of hierarchical labels; the last row and column are for
        spans without a pair.

    Examples
    --------
    >>> result = evaluate([Pair(("Ada", "1815"), ("name", "name"), ("name", "year"))])
    >>> result.accuracy, result.whole_sequences
    (0.5, 0.0)
    """

    labels: LabelSet
    fields: tuple[str, ...]
    tokens: Integers
    correct: Integers
    correct_labels: Integers
    whole: Booleans
    counts: Mapping[str, Counts]
    confusion: Integers
    missing: int
    overlaps: Integers

    @property
    def accuracy(self) -> float:
        """Share of tokens in the gold field."""
        return float(self.correct.sum() / max(self.tokens.sum(), 1))

    @property
    def label_accuracy(self) -> float:
        """Share of tokens with the gold label including its prefix; for comparison of models with the same scheme."""
        return float(self.correct_labels.sum() / max(self.tokens.sum(), 1))

    @property
    def whole_sequences(self) -> float:
        """Share of sequences in which the spans of all fields equal the gold spans."""
        return float(self.whole.mean())

    def __repr__(self) -> str:
        return f"Evaluation({counted(len(self.tokens), 'sequence')}, {counted(len(self.fields), 'field')}, accuracy {self.accuracy:.4f})"

    def of_field(self, name: str, unit: str = "spans") -> Counts:
        """Counts of a field over the corpus.

        Parameters
        ----------
        name : str
            The field.
        unit : str, default "spans"
            "spans", "tokens", "lines", "characters" or "sequences", in which all spans of the field are right.

        Returns
        -------
        Counts
            (3,) predicted, gold and both.

        Raises
        ------
        ValueError
            For an unknown field.
        """
        if name not in self.fields:
            raise ValueError(f"no field {name!r}; choose from {', '.join(self.fields)}")
        return np.asarray(self.counts[unit][:, self.fields.index(name)].sum(axis=0))

    def of_all(self, unit: str = "spans") -> Counts:
        """Counts of all fields over the corpus.

        Parameters
        ----------
        unit : str, default "spans"
            "spans", "tokens", "lines", "characters" or "sequences", in which all spans of the field are right.

        Returns
        -------
        Counts
            (3,) predicted, gold and both.
        """
        return np.asarray(self.counts[unit].sum(axis=(0, 1)))

    def field_confusion(self, unit: str = "tokens") -> tuple[tuple[str, ...], Integers]:
        """Confusion matrix of fields.

        Parameters
        ----------
        unit : str, default "tokens"
            "tokens", by innermost field, or "spans", for pairs of spans that share a token.

        Returns
        -------
        tuple of str
            F+1 field names, `O` last for tokens outside of all fields, or for no span.
        ndarray of int, shape (F+1, F+1)
            Counts [gold, predicted].

        Raises
        ------
        ValueError
            For another unit.

        Examples
        --------
        >>> result = evaluate([Pair(("Ada", "1815"), ("B-name", "I-name"), ("B-name", "B-year"))])
        >>> names, counts = result.field_confusion()
        >>> names, counts.tolist()
        (('name', 'year', 'O'), [[1, 0, 0], [1, 0, 0], [0, 0, 0]])
        """
        if choice(unit, "unit", ("tokens", "spans")) == "spans":
            return (*self.fields, OUTSIDE), self.overlaps
        innermost = [self.labels.strip(name) for name in self.labels.names]
        names = (*(name for name in dict.fromkeys(innermost) if name != OUTSIDE), OUTSIDE)
        belongs = np.array([[own == name for own in innermost] for name in names], np.int64)
        return names, belongs @ self.confusion @ belongs.T

    def to_dict(self, beta: float = 1.0) -> dict[str, Any]:
        """Every measure as plain values.

        Parameters
        ----------
        beta : float, default 1.0
            Weight of recall in the F measure.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        return {
            "sequences": len(self.tokens),
            "tokens": int(self.tokens.sum()),
            "accuracy": self.accuracy,
            "label_accuracy": self.label_accuracy,
            "whole_sequences": self.whole_sequences,
            "missing": self.missing,
            "beta": beta,
            "all": {unit: measures(self.counts[unit].sum(axis=1), beta) for unit in UNITS},
            "fields": {
                name: {unit: measures(self.counts[unit][:, f], beta) for unit in UNITS}
                for f, name in enumerate(self.fields)
            },
            "confusion": {"labels": list(self.labels.names), "counts": self.confusion.tolist()},
            "field_confusion": {
                unit: {"fields": list(names), "counts": counts.tolist()}
                for unit in ("tokens", "spans")
                for names, counts in [self.field_confusion(unit)]
            },
        }


def measures(counts: Counts, beta: float = 1.0) -> dict[str, Any]:
    """Measures of counts (N, 3) over the corpus, and means over the sequences with a nonzero count."""
    total = counts.sum(axis=0)
    there = counts[counts[:, :2].any(axis=1)]
    sums = dict(zip(("predicted", "gold", "both"), total.tolist(), strict=True))
    means = {name: float(np.mean(x)) for name, x in _each(there, beta).items()} if len(there) else None
    return {
        **sums,
        **{name: float(x) for name, x in _each(total, beta).items()},
        "by_sequence": None if means is None else {"sequences": len(there), **means},
    }


def _each(counts: Counts, beta: float) -> dict[str, Floats]:
    result = {"precision": precision(counts), "recall": recall(counts), "f1": f_measure(counts)}
    if beta != 1.0:
        result["f_beta"] = f_measure(counts, beta)
    return {**result, "overlap": overlap(counts)}


def evaluate(
    pairs: Iterable[Pair],
    *,
    scheme: str = "",
    leave_out: Sequence[str] = (),
    never: Iterable[str] = (),
    labels: LabelSet | None = None,
) -> Evaluation:
    """Compare predicted labellings with gold labellings.

    For BIO and IOBES, spans are counted as in the script of the CoNLL shared tasks. With hierarchical labels, every level has
    its own spans, and "all" counts every level.

    Parameters
    ----------
    pairs : iterable of Pair
        N sequences, at least one.
    scheme : str, optional
        Scheme to which the labels of both sides are converted; "plain" removes prefixes. If not given, sides in
        different schemes are converted to a common notation, as by `ilpinfer evaluate`, with a notice.
    leave_out : sequence of str, optional
        Fields that are not counted, like `O`; their tokens count for accuracy.
    never : iterable of str, optional
        Helper labels, such as `[PAD]` or `X`. Tokens with such a gold label are ignored, with a notice; a helper label that is
        predicted for another token counts as `O`.
    labels : LabelSet, optional
        Labels of both sides; if given, labels are not converted.

    Returns
    -------
    Evaluation
        The counts.

    Raises
    ------
    ValueError
        For no sequences, different lengths, labels that do not fit the scheme, and an unknown field to leave out.

    Examples
    --------
    >>> result = evaluate([Pair(("Ada", "1815"), ("B-name", "O"), ("B-name", "B-year"))])
    >>> result.accuracy, result.of_all("spans").tolist()
    (0.5, [1, 2, 1])
    """
    pairs = without_helper_gold(pairs, never)
    if not pairs:
        raise ValueError("no sequences to evaluate")
    if labels is None:
        pairs, labels = alike_pairs(pairs, scheme)
    unknown = [name for name in leave_out if name not in labels.fields]
    if unknown:
        raise ValueError(f"no field {unknown[0]!r} to leave out; choose from {', '.join(labels.fields)}")
    counter, K = LabelCounter(labels, leave_out), len(labels)
    confusion = np.zeros((K, K), np.int64)
    rows, units, overlaps = [], [], []
    _check_lengths(pairs)
    for pair in pairs:
        gold = counter.labelling(pair.gold)
        predicted = None if pair.predicted is None else counter.labelling(pair.predicted)
        if predicted is not None:
            np.add.at(confusion, (gold.ids, predicted.ids), 1)
        row = counter.count(predicted, gold)
        rows.append(row)
        own = {"spans": row.spans, "sequences": sequence_counts(row.spans)}
        units.append({**own, **counter.count_units(pair.tokens, predicted, gold)})
        overlaps.append(counter.span_confusion(predicted, gold))
    return Evaluation(
        labels,
        counter.fields,
        np.array([row.tokens for row in rows]),
        np.array([row.right for row in rows]),
        np.array([row.right_labels for row in rows]),
        np.array([row.whole for row in rows]),
        {unit: np.stack([each[unit] for each in units]) for unit in UNITS},
        confusion,
        sum(pair.predicted is None for pair in pairs),
        np.sum(overlaps, axis=0),
    )


def without_helper_gold(pairs: Iterable[Pair], never: Iterable[str]) -> list[Pair]:
    """Pairs without the tokens whose gold label is a helper label; predicted helper labels become `O`."""
    pairs, helpers = list(pairs), names(never, "never")
    if not helpers:
        return pairs
    _check_lengths(pairs)
    golden = [pair.gold for pair in pairs]
    tell_helpers(golden, helpers, absent=True)
    places, golden, [predicted] = counted_labels(golden, [[pair.predicted for pair in pairs]], helpers)
    return [*map(Pair, at_places([pair.tokens for pair in pairs], places), predicted, golden)]


def _check_lengths(pairs: Sequence[Pair]) -> None:
    for number, pair in enumerate(pairs):
        own = pair.gold if pair.predicted is None else pair.predicted
        if not len(pair.tokens) == len(pair.gold) == len(own):
            raise ValueError(
                f"sequence {number} has {counted(len(pair.tokens), 'token')}, {len(pair.predicted or ())} predicted and "
                f"{counted(len(pair.gold), 'gold label')}; expected as many of each"
            )


def alike_pairs(pairs: Sequence[Pair], scheme: str) -> tuple[list[Pair], LabelSet]:
    """Pairs with both sides in one notation, and their labels; notices become warnings."""
    given: list[Side] = [[pair.gold for pair in pairs], [pair.predicted for pair in pairs]]
    (gold, predicted), labels, notices = read_alike(given, scheme)
    for text in notices:
        warnings.warn(text, RuleNotice, stacklevel=stack_level())
    alike = [
        Pair(pair.tokens, found, right or (), pair.metadata)
        for pair, found, right in zip(pairs, predicted, gold, strict=True)
    ]
    return alike, labels or LabelSet((OUTSIDE,))
