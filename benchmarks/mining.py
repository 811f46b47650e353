"""Soft rules counted from labelled sequences: every penalty is the log odds of the rule being kept."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from formulations import LabelSet, Rule
from formulations import constraints as C

Labelled = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class MinedRule:
    """A rule with what was counted.

    Parameters
    ----------
    rule : its penalty is the log odds, in nats
    support : occasions at which it could have been broken
    """

    rule: Rule
    support: int

    @property
    def evidence(self) -> float:
        """Nats times occasions: what the rules are ordered by."""
        return self.support * self.rule.penalty


def log_odds(holding: int, occasions: int) -> float:
    """Log odds of keeping a rule, half a count added to both sides."""
    return math.log((holding + 0.5) / (occasions - holding + 0.5))


class Counts:
    """Runs, presence and order of fields in labelled sequences."""

    def __init__(self, sequences: Iterable[Labelled], labels: LabelSet) -> None:
        fields = {field.name: field for field in labels.each_field}
        self.present: Counter[str] = Counter()
        self.once: Counter[str] = Counter()
        self.together: Counter[tuple[str, str]] = Counter()
        self.runs: Counter[str] = Counter()
        self.before: Counter[tuple[str, str]] = Counter()
        self.number = 0
        for _, gold in sequences:
            ids = labels.ids(gold)
            before = np.concatenate([[0], ids[:-1] + 1])
            runs = {name: np.flatnonzero(field.begins[before, ids]) for name, field in fields.items()}
            starts = {name: result.tolist() for name, result in runs.items() if len(result)}
            self.number += 1
            self.present.update(list(starts))
            self.once.update(name for name, result in starts.items() if len(result) == 1)
            self.together.update(permutations(starts, 2))
            self.runs.update({name: len(result) for name, result in starts.items()})
            for earlier, later in permutations(starts, 2):
                self.before[earlier, later] += sum(start > starts[earlier][0] for start in starts[later])
        self.names = sorted(self.present)


def mine(
    sequences: Iterable[Labelled], labels: LabelSet, *, support: int = 20, odds: float = 1.0
) -> list[MinedRule]:
    """Every rule of four kinds with enough support and a penalty of at least `odds` nats, strongest evidence first.

    At most one run of a field; a field asks for another; two fields never together; a field only after another.
    Fields of which one is a part of the other are not paired.
    """
    counts = Counts(sequences, labels)
    result = [*_once(counts), *_presence_rules(counts), *_apart(counts), *_order_rules(counts)]
    holding = [m for m in result if m.support >= support and m.rule.penalty >= odds]
    return sorted(holding, key=lambda m: (-m.evidence, m.rule.title))


def implications(sequences: Iterable[Labelled], labels: LabelSet, number: int) -> list[Rule]:
    """The implications that say most beyond how common the required field is anyway.

    Weighed by their log odds less those of the required field, times the square root of the support.
    """
    counts = Counts(sequences, labels)

    def surprise(m: MinedRule) -> float:
        required = m.rule.statement.required  # type: ignore[attr-defined]
        return (m.rule.penalty - log_odds(counts.present[required], counts.number)) * math.sqrt(m.support)

    result = [m for m in _presence_rules(counts) if m.support >= 5]
    return [m.rule for m in sorted(result, key=lambda m: (-surprise(m), m.rule.title))[:number]]


def _once(counts: Counts) -> list[MinedRule]:
    holding = ((a, counts.once[a], counts.present[a]) for a in counts.names)
    return [
        MinedRule(C.at_most_runs(a, 1, penalty=odds), n)
        for a, k, n in holding
        if (odds := log_odds(k, n)) > 0
    ]


def _presence_rules(counts: Counts) -> list[MinedRule]:
    return [
        MinedRule(C.requires_present(a, b, penalty=odds), counts.present[a])
        for a, b in _pairs(counts)
        if (odds := log_odds(counts.together[a, b], counts.present[a])) > 0
    ]


def _apart(counts: Counts) -> list[MinedRule]:
    """Support is how often both would be expected, were they independent."""
    result = []
    for a, b in combinations(counts.names, 2):
        expected = round(counts.present[a] * counts.present[b] / counts.number)
        odds = log_odds(max(0, expected - counts.together[a, b]), expected)
        if odds > 0 and not _contains(a, b):
            result.append(MinedRule(C.never_together(a, b, penalty=odds), expected))
    return result


def _order_rules(counts: Counts) -> list[MinedRule]:
    return [
        MinedRule(C.requires_before(a, b, penalty=odds), counts.runs[b])
        for a, b in _pairs(counts)
        if (odds := log_odds(counts.before[a, b], counts.runs[b])) > 0
    ]


def _pairs(counts: Counts) -> list[tuple[str, str]]:
    return [(a, b) for a, b in permutations(counts.names, 2) if not _contains(a, b)]


def _contains(a: str, b: str) -> bool:
    return a.startswith(b + "/") or b.startswith(a + "/")
