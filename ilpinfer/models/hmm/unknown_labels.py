"""Hidden Markov models of sequences with unknown labels, by expectation-maximisation (Dempster, Laird, Rubin 1977)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from formulations import Trellis
from formulations.dtypes import Floats, Integers
from formulations.messages import brief
from ilpinfer.models.forward_backward import by_label, sums
from ilpinfer.models.sequences import UNKNOWN

LEAST_GAIN = 1e-4
"""Nats that the mean log-likelihood of a token has to gain for a further iteration, in sequences that have unknown labels."""
Weighted = tuple[Integers, Floats, Floats]
"""Words (T,) of a sequence, weights of its labels (T, K), and of its steps in the shape of a model's transitions."""


class CountModel(Protocol):
    """A model of counts, as `CountedHMM`."""

    def trellis(self, tokens: Sequence[str]) -> Trellis: ...
    @staticmethod
    def shape(K: int) -> tuple[int, ...]: ...
    @staticmethod
    def steps(ids: Integers) -> tuple[Integers, ...]: ...


Model = TypeVar("Model", bound=CountModel)


def maximised(
    make: Callable[[Iterable[Weighted]], Model],
    kind: type[CountModel],
    texts: Sequence[Sequence[str]],
    rows: Sequence[Integers],
    ids: Sequence[Integers],
    K: int,
    iterations: int,
) -> Model:
    """The model of the last iteration; ValueError where it has no labelling with the known labels of a sequence."""
    counted = [counts_of_known(kind, y, K) for y in ids]
    model = make((words, *counts) for words, counts in zip(rows, counted, strict=True))
    open_ = [n for n, y in enumerate(ids) if (y == UNKNOWN).any()]
    tokens = sum(len(ids[n]) for n in open_)
    before = -np.inf
    for _ in range(iterations):
        likelihood = 0.0
        for n in open_:
            counted[n], own = expected_counts(model, texts[n], ids[n])
            if own == -np.inf:
                raise ValueError(
                    f"the sequence {brief(texts[n])} has no labelling with its known labels, by the counts of the others; smooth the "
                    "counts, or label more tokens"
                )
            likelihood += own
        model = make((words, *counts) for words, counts in zip(rows, counted, strict=True))
        if likelihood - before < LEAST_GAIN * tokens:
            break
        before = likelihood
    return model


def counts_of_known(kind: type[CountModel], ids: Integers, K: int) -> tuple[Floats, Floats]:
    """(T, K) counts of known labels, and counts of the steps of which all labels are known."""
    known = np.flatnonzero(ids != UNKNOWN)
    nodes, steps = np.zeros((len(ids), K)), np.zeros(kind.shape(K))
    nodes[known, ids[known]] = 1
    labels = kind.steps(np.where(ids == UNKNOWN, K + 1, ids))
    inside = np.all([axis < size for axis, size in zip(labels, kind.shape(K), strict=True)], axis=0)
    np.add.at(steps, tuple(axis[inside] for axis in labels), 1)
    return nodes, steps


def expected_counts(
    model: CountModel, tokens: Sequence[str], ids: Integers
) -> tuple[tuple[Floats, Floats], float]:
    """Expected counts of labels and steps given the known labels, and the log-likelihood of tokens and known labels, nats."""
    known = {t: int(k) for t, k in enumerate(ids) if k != UNKNOWN}
    trellis = model.trellis(tokens).with_given(known)
    K = len(trellis.labels)
    result = sums(trellis)
    if result.log_partition == -np.inf:
        return (np.zeros((len(ids), K)), np.zeros(model.shape(K))), -np.inf
    steps = result.edges().sum(axis=0).reshape(model.shape(K))
    return (by_label(result.states(), trellis.lattice), steps), result.log_partition
