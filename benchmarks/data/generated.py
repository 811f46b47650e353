"""Data sets that need no files: planted documents of many sizes."""

from collections.abc import Iterator
from functools import cache, partial

import ilpinfer
from benchmarks.data.sets import SOLVERS, DataSet, Item
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.study import Sources
from formulations import Trellis
from formulations.constraints.rule_set import RuleSet

LENGTHS, SIZES = (60, 120, 240, 480, 960, 2000), (5, 13, 27, 60)
SEQUENCES = 20
SHARE, TOLERANCE = 0.5, 0.1
"""Of Viterbi labellings that break a rule."""
GENERATED_COLUMNS, PULP_COLUMNS = 450_000, 200_000
"""Of a complete program on planted documents that solvers are given, and that is written in PuLP: it takes minutes."""
RIVALS_LENGTH, RIVALS_SIZE = 120, 27
"""Rivals run along one line of each: all lengths with so many labels, all sizes at so many tokens."""


def generator(sources: Sources) -> Iterator[DataSet]:
    """A data set for each length and number of labels."""
    for K in sources(smoke=(5,), sample=(5, 27), full=SIZES):
        for T in sources(smoke=(12, 24), sample=(60, 240, 960), full=LENGTHS):
            yield planted(T, K, sources)


def planted(T: int, K: int, sources: Sources) -> DataSet:
    """Documents of T tokens and K labels, as noisy as it takes for half of the Viterbi labellings to break a rule."""
    number = sources(smoke=4, sample=SEQUENCES // 2, full=SEQUENCES)
    items = tuple(Item(f"{seed}", partial(noisy_document, T, K, seed)) for seed in range(number))
    rivals: dict[str, int] = {}
    if T == RIVALS_LENGTH or K == RIVALS_SIZE or sources.scale == "smoke":
        rivals = {"toulbar2": sources(smoke=1, sample=1, full=2)} if T <= 240 else {}
        number_of_each = sources(smoke=1, sample=int(T <= 60), full=1)
        if T * K * K <= GENERATED_COLUMNS:
            rivals |= dict.fromkeys(SOLVERS, number_of_each)
        if T * K * K <= PULP_COLUMNS:
            rivals["pulp"] = number_of_each
    note = f"noise with which {SHARE:.0%} of Viterbi labellings break a rule"
    limits = sources(smoke=2, sample=2, full=5), sources(smoke=2, sample=2, full=4)
    rules = partial(_document_rules, K)
    return DataSet(f"generator {T} {K}", "generator", items, rules, rivals, *limits, note)


def noisy_document(T: int, K: int, seed: int) -> Trellis:
    """One of the documents of `planted`."""
    return document(T, seed, labels_of_size(K), noise_for(T, K)[0])


def _document_rules(K: int) -> RuleSet:
    return document_rules(labels_of_size(K))


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
