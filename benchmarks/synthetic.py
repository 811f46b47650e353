"""References without a corpus: a planted labelling under noise, at the size of real ones."""

import numpy as np

from formulations import LabelSet, Trellis, load_rules

FIELDS = load_rules("citations").fields
WORDS = ("systems", "of", "learning", "Proc", "1994", "pp", "J", "12", "editors", "the")


def label_set(fields: int = len(FIELDS)) -> LabelSet:
    """BIO labels of the first so many citation fields."""
    return LabelSet(tuple(f"{prefix}-{field}" for field in FIELDS[:fields] for prefix in "BI"))


def reference(T: int, seed: int, labels: LabelSet, noise: float = 2.0) -> Trellis:
    """A trellis of T tokens: random fields of 2 to 9 tokens, punctuation at most ends, Gaussian noise on scores.

    A planted label scores 3 nats more than the rest; `noise` is the standard deviation of every emission.
    """
    rng = np.random.default_rng(seed)
    K = len(labels)
    planted, tokens = np.empty(T, np.int64), list(rng.choice(WORDS, T))
    t = 0
    while t < T:
        field, end = rng.integers(K // 2), min(T, t + int(rng.integers(2, 10)))
        planted[t:end] = 2 * field + 1
        planted[t] = 2 * field
        if rng.random() < 0.9:
            tokens[end - 1] = "."
        t = end
    emissions = rng.normal(scale=noise, size=(T, K))
    emissions[np.arange(T), planted] += 3.0
    transitions = np.full((K, K), -4.0)
    inside = np.arange(1, K, 2)
    transitions[inside, inside] = transitions[inside - 1, inside] = -0.2
    return Trellis.from_emissions(emissions, transitions, labels=labels, tokens=tokens)
