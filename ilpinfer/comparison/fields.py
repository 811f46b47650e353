"""Precision, recall and F1 of each field, with the rules and without."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Integers
from ilpinfer.evaluation.counts import f_measure, precision, recall
from ilpinfer.system.checkpoint import Row

FieldCounts = Mapping[str, Integers]
"""By field (3,): fields predicted, gold, and both."""


@dataclass(frozen=True)
class FieldGain:
    """A field under one method, against Viterbi without rules on the same sequences.

    Parameters
    ----------
    method, field : str
        Names.
    gold : int
        Fields of that name, a sum over sequences.
    precision, recall, f1 : float
        Of whole fields; missing labellings count as wrong.
    precision_gain, recall_gain, f1_gain : float
        Less those of Viterbi without rules.
    """

    method: str
    field: str
    gold: int
    precision: float
    recall: float
    f1: float
    precision_gain: float
    recall_gain: float
    f1_gain: float


def add_counts(sums: dict[str, Integers], counts: Mapping[str, Iterable[int]]) -> None:
    """Add the counts of a sequence to sums by field."""
    for name, three in counts.items():
        sums[name] = sums.get(name, np.zeros(3, np.int64)) + np.array(list(three), np.int64)


def field_gains(rows: Iterable[Row], without_rules: FieldCounts) -> list[FieldGain]:
    """Every method and field, methods in the order in which they first appear; with several seeds, sums over them."""
    sums: dict[str, dict[str, Integers]] = defaultdict(dict)
    for row in rows:
        if row["gold"] is not None:
            add_counts(sums[row["method"]], row["gold"]["fields"])
    none = np.zeros(3, np.int64)
    return [
        _gain(method, name, counts, without_rules.get(name, none))
        for method, own in sums.items()
        for name, counts in sorted(own.items())
    ]


def _gain(method: str, name: str, counts: Integers, before: Integers) -> FieldGain:
    measures = (precision, recall, f_measure)
    values = [float(measure(counts)) for measure in measures]
    gains = [value - float(measure(before)) for value, measure in zip(values, measures, strict=True)]
    return FieldGain(method, name, int(before[1]), *values, *gains)
