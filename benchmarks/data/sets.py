"""What is decoded: sequences under rules, and how much of them; planted documents, which need no files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TypeVar

import ilpinfer
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.study import Sources
from formulations import Trellis
from formulations.constraints.rule_set import RuleSet

T = TypeVar("T")
Labelled = tuple[tuple[str, ...], tuple[str, ...]]
"""Tokens and labels."""
SOLVERS = ("cbc", "cp-sat", "highs", "scip")


@dataclass(frozen=True)
class Item:
    """A sequence whose trellis is made afresh, so that nothing that a method keeps with it is timed twice."""

    key: str
    make: Callable[[], Trellis]
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class DataSet:
    """Sequences under the same rules, made when they are asked for."""

    name: str
    part: str
    items: tuple[Item, ...]
    make_rules: Callable[[], RuleSet]

    @cached_property
    def rules(self) -> RuleSet:
        return self.make_rules()

    def some(self, number: int) -> "DataSet":
        """So many of the sequences, evenly spaced."""
        return replace(self, items=spread(self.items, number))

    def under(self, name: str, change: Callable[[RuleSet], RuleSet]) -> "DataSet":
        """The same sequences under changed rules, by another name."""
        return replace(self, name=f"{self.name}, {name}", make_rules=lambda: change(self.rules))


def spread(items: tuple[T, ...], number: int) -> tuple[T, ...]:
    """So many of the items, evenly spaced, the first among them."""
    if number >= len(items):
        return items
    return tuple(items[i * len(items) // number] for i in range(number))


LENGTHS, SIZES = (60, 120, 240, 480, 960, 2000), (5, 13, 27, 60)
SEQUENCES = 20
SHARE, TOLERANCE = 0.5, 0.1
"""Of Viterbi labellings that break a rule."""
RIVALS_LENGTH, RIVALS_SIZE = 120, 27
"""Rivals run along one line of each: all lengths with so many labels, all sizes at so many tokens."""


def planted(T: int, K: int, sources: Sources) -> DataSet:
    """Documents of T tokens and K labels, as noisy as it takes for half of the Viterbi labellings to break a rule."""
    number = sources(smoke=4, sample=SEQUENCES // 2, full=SEQUENCES)
    items = tuple(Item(f"{seed}", partial(noisy_document, T, K, seed)) for seed in range(number))
    rules = partial(document_rules, labels_of_size(K))
    return DataSet(f"generator {T} {K}", "generator", items, rules)


def noisy_document(T: int, K: int, seed: int) -> Trellis:
    """One of the documents of `planted`."""
    return document(T, seed, labels_of_size(K), noise_for(T, K)[0])


@cache
def noise_for(T: int, K: int) -> tuple[float, float]:
    """Standard deviation of emissions, in nats, found by halving an interval, and the share that it leads to."""
    labels = labels_of_size(K)
    rules, low, high = document_rules(labels), 0.0, 8.0
    for _ in range(30):
        noise = (low + high) / 2
        trellises = [document(T, seed, labels, noise) for seed in range(SEQUENCES)]
        result = [ilpinfer.decode(trellis, rules, method="viterbi") for trellis in trellises]
        share = sum(any(s.violations.values()) for s in result) / SEQUENCES
        if abs(share - SHARE) <= TOLERANCE:
            break
        low, high = (noise, high) if share < SHARE else (low, noise)
    return noise, share
