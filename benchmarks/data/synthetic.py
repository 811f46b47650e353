"""References without a corpus: a planted labelling under noise, at the size of real ones."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet, Rule, RuleSet, Trellis, load_rules
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


LENGTHS: dict[str, Callable[..., Rule] | None] = {
    "numbers of runs": None,
    "and lengths of at most 1": partial(C.max_run_length, n=1),
    "and lengths of at most 2": partial(C.max_run_length, n=2),
    "and lengths of at least 2": partial(C.min_run_length, n=2),
    "and lengths of at least 3": partial(C.min_run_length, n=3),
}
"""Soft limits in a long document, with the rule on the lengths of runs of some labels."""


def limited(T: int, K: int, kind: str, steps: float, seed: int) -> tuple[Trellis, list[Rule]]:
    """Random scores, of steps with this standard deviation. Two thirds of the labels have T / 100 runs, the next sixth lengths; a nat each."""
    rng, labels = np.random.default_rng([T, K, seed]), [f"f{k}" for k in range(K)]
    trellis = Trellis.from_emissions(rng.normal(size=(T, K)), steps * rng.normal(size=(K, K)), labels=labels)
    rule, first = LENGTHS[kind], 2 * K // 3
    lengths = [] if rule is None else [rule(label, penalty=1.0) for label in labels[first : first + K // 6]]
    return trellis, [*(C.at_most_runs(label, T // 100, penalty=1.0) for label in labels[:first]), *lengths]


def _emissions(
    gold: NDArray[np.int64], K: int, noise: float, lead: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(T, K) scores in nats: noise, and a lead for the label of each token."""
    T = len(gold)
    result = noise * rng.normal(size=(T, K))
    result[np.arange(T), gold] += lead
    return result


FIELDS = load_rules("citations").fields
WORDS = ("systems", "of", "learning", "Proc", "1994", "pp", "J", "12", "editors", "the")


def labels_of_size(K: int) -> LabelSet:
    """K labels: BIO labels of citation fields and, beyond those, of numbered ones; `O` where K is odd."""
    names = [*FIELDS, *(f"field {n}" for n in range(len(FIELDS) + 1, K // 2 + 1))][: K // 2]
    labels = [f"{prefix}-{name}" for name in names for prefix in "BI"]
    return LabelSet((*labels, "O") if K % 2 else tuple(labels))


def reference(T: int, seed: int, labels: LabelSet, noise: float = 2.0) -> Trellis:
    """A trellis of T tokens: random fields of 2 to 9 tokens, punctuation at most ends, Gaussian noise on scores."""
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
    return Trellis.from_emissions(emissions, _transitions(K), labels=labels, tokens=tokens)


def document(T: int, seed: int, labels: LabelSet, noise: float) -> Trellis:
    """A trellis of T tokens whose planted labelling keeps the rules of `document_rules`, at any length."""
    rng = np.random.default_rng([T, len(labels), seed])
    K, fields = len(labels), len(labels) // 2
    runs = max(2, min(fields, T // 6))
    order = [0, 1, *(rng.permutation(fields - 2)[: runs - 2] + 2)]
    ends = [*np.sort(rng.choice(np.arange(2, T - 1, 2), runs - 1, replace=False)), T]
    tokens, planted, begin = list(rng.choice(WORDS, T)), np.empty(T, np.int64), 0
    for field, end in zip(order, ends, strict=True):
        planted[begin:end], planted[begin] = 2 * field + 1, 2 * field
        tokens[end - 1], begin = ".", end
    emissions = noise * rng.normal(size=(T, K))
    emissions[np.arange(T), planted] += 3.0
    return Trellis.from_emissions(emissions, _transitions(K), labels=labels, tokens=tokens)


def document_rules(labels: LabelSet, penalty: float = 9.210340371976182) -> RuleSet:
    """Rules that planted documents keep; the penalty, in nats, is that of the citation rules."""
    first, second = (field.name for field in labels.each_field[:2])
    return RuleSet(
        (
            C.at_most_runs(C.EACH_FIELD, 1, penalty=penalty),
            C.changes_only_after(penalty=penalty),
            C.starts_with(first, penalty=penalty),
            C.requires_before(first, second, penalty=penalty),
        )
    )


def _transitions(K: int) -> NDArray[np.float64]:
    """(K, K) scores in nats: going on within a run is likely."""
    transitions = np.full((K, K), -4.0)
    inside = np.arange(1, K, 2)
    transitions[inside, inside] = transitions[inside - 1, inside] = -0.2
    return transitions
