"""Data sets that need no files: planted documents of many sizes, and a family that is meant to hurt."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise

import numpy as np

import ilpinfer
from benchmarks.data.sets import SOLVERS, DataSet, Item
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.study import Sources
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.constraints.rule_set import RuleSet
from formulations.grid import UNITS_PER_NAT

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


def hard(sources: Sources) -> Iterator[DataSet]:
    """Near ties, gaps, interacting implications, Hamming distances and exact counts."""
    number, smoke = sources(smoke=1, sample=3, full=SEQUENCES), sources.scale == "smoke"
    one = sources(smoke=1, sample=1, full=2)
    limits = sources(smoke=2, sample=2, full=5), sources(smoke=5, sample=4, full=20)
    for name, T, K, rules, note in (
        ("ties", 40, 13, _ties, "scores of -3 to 3 grid units, penalties of 2 and 3, hard order"),
        ("gaps", 60, 13, _gaps, "hard sums with coefficients 3, 5 and 7 that noise does not fit"),
        ("implications", 60, 27, _implications, "60 soft implications between 13 fields, drawn at random"),
        (
            "hamming",
            30,
            7,
            _hamming,
            "soft Hamming distances to one run, and to runs of at least three tokens",
        ),
        ("counts", 60, 13, _counts, "hard exact numbers of tokens and runs for every field"),
    ):
        length, labels = 10 if smoke else T, labels_of_size(5 if smoke else K)
        noisy = _near_ties if name == "ties" else _noise
        items = tuple(Item(f"{seed}", partial(noisy, length, seed, labels)) for seed in range(number))
        rivals = {"toulbar2": one, "cp-sat": one}
        yield DataSet(f"hard {name}", "hard", items, partial(rules, labels, length), rivals, *limits, note)


def _near_ties(T: int, seed: int, labels: LabelSet) -> Trellis:
    """Every score is a whole number of grid units from -3 to 3."""
    rng, K = np.random.default_rng([T, len(labels), seed]), len(labels)
    node, pool = (rng.integers(-3, 4, size=shape) / UNITS_PER_NAT for shape in ((T, K), (K, K)))
    return Trellis.from_emissions(node, pool, labels=labels, tokens=document(T, seed, labels, 0.0).tokens)


def _noise(T: int, seed: int, labels: LabelSet) -> Trellis:
    """A planted document under noise that hides most of it."""
    return document(T, seed, labels, 2.5)


def _ties(labels: LabelSet, T: int) -> RuleSet:
    names = [field.name for field in labels.each_field]
    unit = 1 / UNITS_PER_NAT
    order = [C.requires_before(a, b) for a, b in pairwise(names)]
    once = C.at_most_runs(C.EACH_FIELD, 2, penalty=3 * unit)
    return RuleSet((once, C.changes_only_after(penalty=2 * unit), *order))


def _gaps(labels: LabelSet, T: int) -> RuleSet:
    names = [field.name for field in labels.each_field]
    chosen = [names[i % len(names)] for i in range(3)]
    text = " + ".join(f"{weight}*tokens({name})" for weight, name in zip((3, 5, 7), chosen, strict=True))
    total = 2 * T + 1
    sums = [C.linear(f"{text} {sign} {total}") for sign in ("<=", ">=")]
    return RuleSet((*sums, C.at_most_runs(C.EACH_FIELD, 2), C.changes_only_after(penalty=4.0)))


def _implications(labels: LabelSet, T: int) -> RuleSet:
    rng = np.random.default_rng(len(labels))
    names = [field.name for field in labels.each_field]
    pairs = [(a, b) for a in names for b in names if a != b]
    chosen = rng.permutation(len(pairs))[:60]
    costs = rng.uniform(0.5, 4.0, size=len(chosen)).tolist()
    rules = [C.requires_present(*pairs[i], penalty=cost) for i, cost in zip(chosen, costs, strict=True)]
    return RuleSet((*rules, C.at_most_runs(C.EACH_FIELD, 1, penalty=3.0)))


def _hamming(labels: LabelSet, T: int) -> RuleSet:
    names = [field.name for field in labels.each_field]
    once = [C.at_most_runs(name, 1, penalty=1.5, distance="hamming") for name in names]
    long = [C.min_run_length(name, 3, penalty=0.7, distance="hamming") for name in names]
    return RuleSet((*once, *long))


def _counts(labels: LabelSet, T: int) -> RuleSet:
    names = [field.name for field in labels.each_field]
    number = T // (len(names) + 1)
    tokens = [C.exactly_tokens(name, number) for name in names]
    return RuleSet((*tokens, *(C.exactly_runs(name, 2) for name in names)))
