"""Sequences of fields in runs, seen through noise."""

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C


def one_run_each(T: int, seed: int, labels: LabelSet, noise: float) -> Trellis:
    """One run of each label in a random order; the planted label scores 3 nats more than the rest."""
    rng, K = np.random.default_rng([T, len(labels), seed]), len(labels)
    ends = np.sort(rng.choice(np.arange(1, T), K - 1, replace=False))
    gold = np.repeat(rng.permutation(K), np.diff([0, *ends, T]))
    transitions = np.where(np.eye(K, dtype=bool), -0.2, -4.0)
    return Trellis.from_emissions(_emissions(gold, K, noise, 3.0, rng), transitions, labels=labels)


def repeated(ids: NDArray[np.int64]) -> int:
    """How many labels have more than one run."""
    begins = ids[np.concatenate([[True], ids[1:] != ids[:-1]])]
    return int((np.bincount(begins) > 1).sum())


def ruled(T: int, K: int, noise: float, seed: int = 0) -> tuple[Trellis, list[Rule]]:
    """K labels in runs of one length, with random transitions and rules on some of the labels."""
    rng = np.random.default_rng(seed)
    labels = [*(f"f{k}" for k in range(K - 1)), "O"]
    gold = np.repeat(rng.permutation(K), -(-T // K))[:T]
    emissions = _emissions(gold, K, noise, 4.0, rng)
    transitions = rng.normal(size=(K, K)) - 4.0
    transitions[np.arange(K), np.arange(K)] = -0.2
    trellis = Trellis.from_emissions(emissions, transitions, labels=labels, tokens=["w"] * T)
    runs = [C.at_most_runs(f"f{k}", 1, penalty=1.5) for k in range(8)]
    order = C.requires_before("f1", "f2", penalty=2.0), C.requires_present("f3", "f4", penalty=1.0)
    return trellis, [*runs, *order]


def _emissions(
    gold: NDArray[np.int64], K: int, noise: float, lead: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(T, K) scores in nats: noise, and a lead for the label of each token."""
    T = len(gold)
    result = noise * rng.normal(size=(T, K))
    result[np.arange(T), gold] += lead
    return result
