"""References without a corpus: a planted labelling under noise, at the size of real ones."""

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet, RuleSet, Trellis, load_rules
from formulations import constraints as C

FIELDS = load_rules("citations").fields
WORDS = ("systems", "of", "learning", "Proc", "1994", "pp", "J", "12", "editors", "the")


def labels_of_size(K: int) -> LabelSet:
    """K labels: BIO labels of citation fields and, beyond those, of numbered ones; `O` where K is odd."""
    names = [*FIELDS, *(f"field {n}" for n in range(len(FIELDS) + 1, K // 2 + 1))][: K // 2]
    labels = [f"{prefix}-{name}" for name in names for prefix in "BI"]
    return LabelSet((*labels, "O") if K % 2 else tuple(labels))


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
