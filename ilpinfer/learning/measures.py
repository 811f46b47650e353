"""Measures of labellings for each sequence: tokens, spans and whole sequences, on fields."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Floats, Integers
from formulations.labels import schemes
from formulations.messages import suggestion
from ilpinfer.evaluation.counts import FieldTable, Span, f_measure
from ilpinfer.evaluation.evaluation import Evaluation

MEASURES = ("tokens", "spans", "sequences", "all")
"""Measures to maximise: token accuracy, span F1, the share of whole sequences, or the mean of the three."""
COLUMNS = ("tokens", "right", "predicted", "gold", "both", "whole")
"""The counts of one sequence: tokens and right ones, spans predicted, of gold and both, and 1 where all tokens are right."""

Counts = Integers
"""(..., 6): the counts of `COLUMNS`."""


def check_measure(name: str) -> str:
    """The name of a measure; ValueError for another."""
    if name not in MEASURES:
        raise ValueError(f"no measure {name!r}{suggestion(name, MEASURES)}")
    return name


class Measures(NamedTuple):
    """Measures of labellings of a corpus, as shares from 0 to 1.

    Parameters
    ----------
    accuracy : float
        Share of tokens with the gold field.
    f1 : float
        F1 of spans.
    whole : float
        Share of sequences in which all spans are those of gold.

    Examples
    --------
    >>> Measures(0.9, 0.8, 0.5).value("spans")
    0.8
    """

    accuracy: float
    f1: float
    whole: float

    @classmethod
    def of_counts(cls, counts: Counts) -> "Measures":
        """The measures of the counts of N sequences.

        Parameters
        ----------
        counts : Counts
            (N, 6) counts.

        Returns
        -------
        Measures
            The measures.
        """
        return cls.of_sums(counts.sum(axis=0), len(counts))

    @classmethod
    def of_sums(cls, sums: Counts, sequences: int) -> "Measures":
        """The measures of sums of counts.

        Parameters
        ----------
        sums : Counts
            (6,) counts over all sequences.
        sequences : int
            Number of sequences.

        Returns
        -------
        Measures
            The measures.
        """
        tokens, right, predicted, gold, both, whole = sums.tolist()
        f1 = 2 * both / (predicted + gold) if predicted + gold else 1.0
        return cls(right / tokens, f1, whole / sequences)

    @classmethod
    def of(cls, evaluation: Evaluation) -> "Measures":
        """The measures of an evaluation; F1 is that of all fields.

        Parameters
        ----------
        evaluation : Evaluation
            The evaluation.

        Returns
        -------
        Measures
            The measures.
        """
        f1 = float(f_measure(evaluation.of_all("spans")))
        return cls(evaluation.accuracy, f1, evaluation.whole_sequences)

    def value(self, measure: str) -> float:
        """One measure of `MEASURES`.

        Parameters
        ----------
        measure : str
            A name from `MEASURES`.

        Returns
        -------
        float
            The share.
        """
        known = dict(zip(MEASURES, self, strict=False))
        return known[measure] if measure in known else sum(self) / len(self)

    def __str__(self) -> str:
        return " / ".join(f"{100 * share:.2f}" for share in self)


def losses(counts: Counts, measure: str) -> Floats:
    """(N,) loss of each sequence in a measure, from 0 to 1, by its counts (N, 6)."""
    c = counts.astype(float)
    spans = c[:, 2] + c[:, 3]
    f1 = np.divide(2 * c[:, 4], spans, out=np.ones_like(spans), where=spans > 0)
    parts = {"tokens": c[:, 1] / c[:, 0], "spans": f1, "sequences": c[:, 5]}
    return np.asarray(1 - (parts[measure] if measure in parts else sum(parts.values()) / 3))


class Judge:
    """Compares labellings with gold labels on fields, in any scheme.

    Parameters
    ----------
    labels : LabelSet
        All labels that occur on either side.
    """

    def __init__(self, labels: LabelSet) -> None:
        self.labels = labels
        self.table = FieldTable.of(labels)
        fields = [schemes.strip(name, labels.scheme) for name in labels.names]
        places = {name: place for place, name in enumerate(dict.fromkeys(fields))}
        self.field_of = np.array([places[name] for name in fields])

    def counts(self, predicted: Sequence[str] | None, gold: "Gold") -> list[int]:
        """The counts of one labelling; nothing is right where there is none."""
        if predicted is None:
            return [len(gold.ids), 0, 0, len(gold.spans), 0, 0]
        ids = self.labels.ids(predicted)
        right = int((self.field_of[ids] == self.field_of[gold.ids]).sum())
        spans = self.table.spans(ids)
        whole = right == len(ids) and spans == gold.spans
        return [len(ids), right, len(spans), len(gold.spans), len(spans & gold.spans), int(whole)]

    def gold(self, names: Sequence[str]) -> "Gold":
        """A gold labelling, ready to compare with."""
        return Gold(self.labels.ids(names), self.table)


@dataclass(frozen=True, eq=False)
class Gold:
    """A gold labelling: T label ids, and its spans."""

    ids: Integers
    table: FieldTable

    @cached_property
    def spans(self) -> set[Span]:
        """Every run of every field."""
        return self.table.spans(self.ids)
