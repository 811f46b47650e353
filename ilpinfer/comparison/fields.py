"""Precision, recall and F1 of each field, with the rules and without."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from formulations.dtypes import Integers
from ilpinfer.evaluation.counts import f_measure, precision, recall
from ilpinfer.system.checkpoint import Row

FieldCounts = Mapping[str, Sequence[int]]
"""By field: fields predicted, gold, and both."""


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
    failed : float
        Sequences on which the method failed, which are left out; a mean over seeds.
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
    failed: float


def add_counts(sums: dict[str, Integers], counts: Mapping[str, Iterable[int]]) -> None:
    """Add the counts of a sequence to sums by field."""
    for name, three in counts.items():
        sums[name] = sums.get(name, np.zeros(3, np.int64)) + np.array(list(three), np.int64)


@dataclass
class _Sums:
    """Of one method: its fields, those of Viterbi on the same sequences, and gold's, each sequence once."""

    own: dict[str, Integers] = field(default_factory=dict)
    before: dict[str, Integers] = field(default_factory=dict)
    gold: Counter[str] = field(default_factory=Counter)
    seeds: set[int | None] = field(default_factory=set)
    sequences: set[int] = field(default_factory=set)
    failed: int = 0

    def add(self, row: Row, without_rules: FieldCounts) -> None:
        self.seeds.add(row["seed"])
        self.failed += bool(row.get("error"))
        if row["gold"] is None:
            return
        add_counts(self.own, row["gold"]["fields"])
        add_counts(self.before, without_rules)
        if row["sequence"] not in self.sequences:
            self.gold.update({name: three[1] for name, three in row["gold"]["fields"].items()})
        self.sequences.add(row["sequence"])


def field_gains(rows: Iterable[Row], without_rules: Sequence[FieldCounts]) -> list[FieldGain]:
    """Every method and field, methods in the order in which they first appear; with several seeds, sums over them.

    Parameters
    ----------
    rows : iterable of Row
        Of all methods. Failures are left out, and counted.
    without_rules : sequence of FieldCounts
        Of Viterbi without rules on each sequence.
    """
    return [
        _gain(method, name, sums)
        for method, sums in _sums(rows, without_rules).items()
        for name in sorted(sums.own)
    ]


def f1_without_rules(rows: Iterable[Row], without_rules: Sequence[FieldCounts], method: str) -> float | None:
    """F1 of Viterbi without rules on the sequences on which a method has not failed; None without gold."""
    before = _sums((row for row in rows if row["method"] == method), without_rules)[method].before
    return float(f_measure(sum(before.values(), np.zeros(3, np.int64)))) if before else None


def _sums(rows: Iterable[Row], without_rules: Sequence[FieldCounts]) -> dict[str, _Sums]:
    sums: dict[str, _Sums] = defaultdict(_Sums)
    for row in rows:
        sums[row["method"]].add(row, without_rules[row["sequence"]])
    return sums


def _gain(method: str, name: str, sums: _Sums) -> FieldGain:
    own, before = sums.own[name], sums.before.get(name, np.zeros(3, np.int64))
    p, r, f1 = (float(measure(own)) for measure in (precision, recall, f_measure))
    p0, r0, f0 = (float(measure(before)) for measure in (precision, recall, f_measure))
    failed = sums.failed / len(sums.seeds)
    return FieldGain(method, name, sums.gold[name], p, r, f1, p - p0, r - r0, f1 - f0, failed)
