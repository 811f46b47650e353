"""Precision, recall and F1 of each field, with the rules and without."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ilpinfer.evaluation.counts import f_measure, precision, recall
from ilpinfer.system.checkpoint import Row

FieldCounts = Mapping[str, Sequence[int]]
"""By field: fields predicted, gold, and both."""
COUNTS = ("predicted", "gold", "both")
BEFORE = tuple(f"{name}_before" for name in COUNTS)
"""The same without rules."""
NONE = (0, 0, 0)
MEASURES = (precision, recall, f_measure)


@dataclass(frozen=True)
class FieldGain:
    """A field under one method, against Viterbi without rules on the same sequences; `failed` is a mean over seeds."""

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


def field_gains(rows: Iterable[Row], without_rules: Sequence[FieldCounts]) -> list[FieldGain]:
    """Every method and field, methods in the order in which they first appear; with several seeds, sums over them."""
    import pandas as pd

    lines, failed, seeds = [], dict[str, int](), dict[str, set[int | None]]()
    for row in rows:
        method, sequence = row["method"], row["sequence"]
        failed[method] = failed.get(method, 0) + bool(row.get("error"))
        seeds.setdefault(method, set()).add(row["seed"])
        if row["gold"] is not None:
            own, before = row["gold"]["fields"], without_rules[sequence]
            for name in {**own, **before}:
                counts = *own.get(name, NONE), *before.get(name, NONE)
                lines.append((method, name, sequence, name in own, *counts))
    frame = pd.DataFrame(lines, columns=["method", "field", "sequence", "counted", *COUNTS, *BEFORE])
    keys = ["method", "field"]
    groups = frame.groupby(keys)
    sums = groups[[*COUNTS, *BEFORE]].sum()[groups.counted.any()]
    gold = frame.drop_duplicates([*keys, "sequence"]).groupby(keys).gold.sum()
    order = {method: place for place, method in enumerate(seeds)}
    result = []
    for method, field in sorted(sums.index, key=lambda key: (order[key[0]], key[1])):
        own, before = (sums.loc[(method, field), list(names)].to_numpy() for names in (COUNTS, BEFORE))
        p, r, f1 = (float(measure(own)) for measure in MEASURES)
        p0, r0, f0 = (float(measure(before)) for measure in MEASURES)
        share = failed[method] / len(seeds[method])
        total = int(gold[method, field])
        result.append(FieldGain(method, field, total, p, r, f1, p - p0, r - r0, f1 - f0, share))
    return result


def f1_without_rules(without_rules: Sequence[FieldCounts]) -> float | None:
    """F1 of Viterbi without rules on all sequences with gold; None without any."""
    counts = [three for fields in without_rules for three in fields.values()]
    return float(f_measure(np.sum(counts, axis=0))) if counts else None
