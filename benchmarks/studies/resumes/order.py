"""The order of fields: which follows which, whatever tokens of O stand between them, as features and soft rules."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from formulations import LabelSet, Rule, RuleSet
from formulations import constraints as C
from formulations.labels.reading import Reading
from ilpinfer.models.sequences import Labelled

SMOOTHING = 1.0
"""Added to the count of each pair."""

Weights = Mapping[tuple[str, str], float]
"""Nats for each (field, next field)."""


def field_order(labels: LabelSet, gold: Sequence[str]) -> list[str]:
    reading = Reading(gold, gold, labels)
    return [field for _, field in sorted((t, f) for f in reading.fields for t in reading.run_starts(f))]


def transition_log_odds(
    orders: Iterable[Sequence[str]], fields: Sequence[str]
) -> dict[tuple[str, str], float]:
    """ln p(B | A) - ln p(B) for consecutive fields A, B; p(B) is that of any pair's second field."""
    counts = Counter(pair for order in orders for pair in pairwise(order))
    table = np.array([[counts[a, b] + SMOOTHING for b in fields] for a in fields])
    odds = np.log(table / table.sum(axis=1, keepdims=True)) - np.log(table.sum(axis=0) / table.sum())
    return {(a, b): float(odds[i, j]) for i, a in enumerate(fields) for j, b in enumerate(fields)}


def fields_and_log_odds(pairs: Sequence[Labelled]) -> tuple[list[str], dict[tuple[str, str], float]]:
    labels = LabelSet(tuple(sorted({label for _, gold in pairs for label in gold})))
    fields = [field.name for field in labels.each_field]
    return fields, transition_log_odds((field_order(labels, gold) for _, gold in pairs), fields)


def rules_of(fields: Sequence[str], reward: float, weights: Weights) -> RuleSet:
    """Features and soft rules that add up to a reward for each run and the weight of each pair of consecutive fields."""
    rewards, rules = dict.fromkeys(fields, reward), list[Rule]()
    for (a, b), weight in weights.items():
        if weight < 0:
            rules.append(C.next_field(a, C.other_than(b), penalty=-weight))
        elif weight > 0:
            rules.append(C.next_field(a, b, required=True, penalty=weight))
            rewards[a] += weight
    begins = [C.feature(label=f"B-{field}", weight=nats) for field, nats in rewards.items() if nats]
    return RuleSet((C.valid_scheme(), *begins, *rules), tuple(fields))
