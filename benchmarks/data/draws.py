"""Documents drawn by exact arithmetic from `random.Random.random`: the same in every version and on every machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.synthetic import WORDS, labels_of_size
from formulations import LabelSet

Item = TypeVar("Item")
Floats = NDArray[np.float64]
GRAIN, TERMS = 4096, 12
"""A nearly normal number is the sum of twelve uniform ones."""
PLANTED, NAMED = 3.0, 2.0
"""Nats that a token's planted label is worth, in documents of citation fields and of names."""
KINDS = ("person", "place", "firm", "work")
NAMES = LabelSet((*(f"{prefix}-{kind}" for kind in KINDS for prefix in "BI"), "O"), "bio")


@dataclass(frozen=True)
class Document:
    """Tokens and scores in nats: emissions (T, K), transitions (K, K), start (K,); -inf forbids."""

    tokens: tuple[str, ...]
    labels: LabelSet
    emissions: Floats
    transitions: Floats
    start: Floats

    @property
    def fields(self) -> list[str]:
        return [field.name for field in self.labels.each_field]


def below(random: Random, end: int) -> int:
    return int(random.random() * end)


def pick(random: Random, options: Sequence[Item]) -> Item:
    return options[below(random, len(options))]


def permutation(random: Random, options: Sequence[Item]) -> list[Item]:
    keys = [random.random() for _ in options]
    return [options[i] for i in sorted(range(len(keys)), key=keys.__getitem__)]


def nats(random: Random, low: float, high: float) -> float:
    """A penalty between the two, in steps of 1/64."""
    return low + below(random, round(64 * (high - low)) + 1) / 64


def normal(random: Random, *shape: int) -> Floats:
    """Multiples of 1/4096 with mean 0 and variance 1."""
    draws = [below(random, GRAIN) for _ in range(int(np.prod(shape)) * TERMS)]
    sums = np.array(draws).reshape(*shape, TERMS).sum(-1)
    result: Floats = (sums - TERMS * (GRAIN - 1) // 2) / GRAIN
    return result


def citation(random: Random, T: int, K: int, noise: float) -> Document:
    """One run of each field, in a random order and as long as T asks for, planted under noise."""
    fields, planted = K // 2, np.empty(T, np.int64)
    runs = max(2, min(fields, T // 6))
    begins = [0, *sorted(permutation(random, range(1, T))[: runs - 1])]
    tokens = [pick(random, WORDS) for _ in range(T)]
    for field, (begin, end) in zip(permutation(random, range(fields)), pairwise([*begins, T]), strict=False):
        planted[begin:end], planted[begin] = 2 * field + 1, 2 * field
        tokens[end - 1] = "."
    return _noisy(random, tokens, labels_of_size(K), planted, noise)


def _noisy(
    random: Random, tokens: Sequence[str], labels: LabelSet, planted: NDArray[np.int64], noise: float
) -> Document:
    """A planted labelling under noise; BIO labels in pairs, then `O`."""
    K = len(labels)
    emissions = noise * normal(random, len(tokens), K)
    emissions[np.arange(len(tokens)), planted] += PLANTED
    steps, inside = np.full((K, K), -4.0), np.arange(1, K, 2)
    steps[inside, inside] = steps[inside - 1, inside] = -0.25
    return Document(tuple(tokens), labels, emissions, steps, np.zeros(K))


def stretches(random: Random, runs: Sequence[tuple[str, Sequence[str]]], noise: float) -> Document:
    """Runs of named fields, or of `O`, with their tokens, planted under noise; the fields are those of the runs, in order."""
    fields = sorted({field for field, _ in runs} - {"O"})
    labels = LabelSet((*(f"{prefix}-{field}" for field in fields for prefix in "BI"), "O"))
    tokens = [word for _, words in runs for word in words]
    names = [
        field if field == "O" else f"{'I' if place else 'B'}-{field}"
        for field, words in runs
        for place, _ in enumerate(words)
    ]
    return _noisy(random, tokens, labels, labels.ids(names), noise)


def near_ties(random: Random, T: int, K: int, unit: float) -> Document:
    """Every score is a whole number of units from -3 to 3."""
    numbers = np.array([below(random, 7) - 3 for _ in range((T + K) * K)]) * unit
    tokens = tuple(pick(random, (*WORDS, ".")) for _ in range(T))
    emissions, steps = numbers[: T * K].reshape(T, K), numbers[T * K :].reshape(K, K)
    return Document(tokens, labels_of_size(K), emissions, steps, np.zeros(K))


def names(random: Random, T: int, noise: float) -> Document:
    """About two names in five tokens: a name is one or two words, which come up to 20 times, in one field mostly."""
    text = [word for _, word in zip(range(T), _text(random, T), strict=False)]
    emissions = noise * normal(random, T, len(NAMES))
    emissions[np.arange(T), NAMES.ids([label for _, label in text])] += NAMED
    wrong, _ = NAMES.invalid
    steps = np.where(wrong[1:], -np.inf, 0.5 * normal(random, len(NAMES), len(NAMES)))
    return Document(
        tuple(word for word, _ in text), NAMES, emissions, steps, np.where(wrong[0], -np.inf, 0.0)
    )


def _text(random: Random, T: int) -> Iterator[tuple[str, str]]:
    """Words and their labels, T or more."""
    mentions, number = list[tuple[tuple[str, ...], str]](), 0
    while len(mentions) < T // 4:
        name = tuple(f"Name{number + i}" for i in range(1 + below(random, 2)))
        number += len(name)
        mentions += [(name, pick(random, KINDS))] * (2 + below(random, 19))
    for name, usual in permutation(random, mentions)[: T // 4]:
        kind = usual if random.random() < 0.9 else pick(random, KINDS)
        yield from ((word, f"{'I' if i else 'B'}-{kind}") for i, word in enumerate(name))
        yield from ((f"word{below(random, 10 * T)}", "O") for _ in range(2 + below(random, 2)))
    yield from (("word", "O") for _ in range(T))
