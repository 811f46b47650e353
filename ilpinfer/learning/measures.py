"""How good labellings are, sequence by sequence: tokens, spans and whole sequences, on fields."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Floats, Integers
from formulations.labels import schemes
from formulations.messages import suggestion
from ilpinfer.evaluation.counts import FieldTable, Span

MEASURES = ("tokens", "spans", "sequences", "all")
"""What can be aimed at: token accuracy, span F1, the share of whole sequences, or the mean of the three."""
COLUMNS = ("tokens", "right", "predicted", "gold", "both", "whole")
"""The counts of one sequence: tokens and right ones, spans predicted, of gold and both, and 1 where all tokens are right."""

Counts = Integers
"""(..., 6): the counts of `COLUMNS`."""


def check_measure(name: str) -> str:
    """The name of a measure; ValueError for another."""
    if name not in MEASURES:
        raise ValueError(f"no measure {name!r}{suggestion(name, MEASURES)}")
    return name


@dataclass(frozen=True)
class Scale:
    """Token accuracy, span F1 and whole sequences of a corpus, in percent."""

    tokens: float
    spans: float
    sequences: float

    @classmethod
    def of(cls, counts: Counts) -> "Scale":
        """From the counts (N, 6) of N sequences."""
        return cls(*(100 * shares(counts.sum(axis=0), len(counts))).tolist())

    def value(self, measure: str) -> float:
        """One measure, or the mean of the three for "all"."""
        if measure == "all":
            return (self.tokens + self.spans + self.sequences) / 3
        return float(getattr(self, measure))

    def __str__(self) -> str:
        return f"{self.tokens:.2f} / {self.spans:.2f} / {self.sequences:.2f}"


def shares(total: Counts, sequences: int) -> Floats:
    """(3,) token accuracy, span F1 and whole sequences, from 0 to 1, of summed counts (6,)."""
    tokens, right, predicted, gold, both, whole = total.astype(float)
    f1 = 2 * both / (predicted + gold) if predicted + gold else 1.0
    return np.array([right / tokens, f1, whole / sequences])


def losses(counts: Counts, measure: str) -> Floats:
    """(N,) what each sequence lacks in a measure, from 0 to 1, by its counts (N, 6)."""
    c = counts.astype(float)
    spans = c[:, 2] + c[:, 3]
    f1 = np.divide(2 * c[:, 4], spans, out=np.ones_like(spans), where=spans > 0)
    parts = {"tokens": c[:, 1] / c[:, 0], "spans": f1, "sequences": c[:, 5]}
    return np.asarray(1 - (parts[measure] if measure in parts else sum(parts.values()) / 3))


class Judge:
    """Compares labellings with gold on fields, whatever the scheme of the labels.

    Parameters
    ----------
    labels : all labels that occur on either side
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
