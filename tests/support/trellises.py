"""Random trellises, and rules on them, for tests that need just any."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C
from formulations.problem.problem import Problem


def random_trellis(
    seed: int = 0,
    T: int = 12,
    labels: Sequence[str] | LabelSet = ("a", "b", "O"),
    tokens: Sequence[str] | None = None,
    order: int = 1,
) -> Trellis:
    rng, K = np.random.default_rng(seed), len(labels)
    named = {"labels": labels if isinstance(labels, LabelSet) else list(labels), "tokens": tokens}
    if order == 1:
        return Trellis(rng.normal(size=K), rng.normal(size=(T - 1, K, K)), **named)
    first = rng.normal(size=(K, K)) if T > 1 else None
    return Trellis.second_order(rng.normal(size=K), first, rng.normal(size=(max(T - 2, 0), K, K, K)), **named)


def many_runs(T: int, K: int, n: int, *, seed: int = 0, **cost: float) -> tuple[Trellis, list[Rule]]:
    """Scores of T tokens and labels L0, L1, … that change often, and at most n runs of each label."""
    rng, labels = np.random.default_rng(seed), [f"L{k}" for k in range(K)]
    trellis = Trellis.from_emissions(rng.normal(size=(T, K)), rng.normal(size=(K, K)), labels=labels)
    return trellis, [C.at_most_runs(label, n, **cost) for label in labels]


def near_tie_trellis(seed: int, T: int = 4, *, order: int = 1, forbidden: float = 0.0) -> Trellis:
    """Scores of -3 to 3 grid units for labels a, b and O, some of them forbidden."""
    rng, K = np.random.default_rng(seed), 3

    def scores(*shape: int) -> np.ndarray:
        return np.where(rng.random(shape) < forbidden, -np.inf, rng.integers(-3, 4, shape) / 2**20)

    if order == 1:
        return Trellis(scores(K), scores(T - 1, K, K), labels=["a", "b", "O"])
    first, later = scores(K, K), scores(T - 2, K, K, K)
    return Trellis.second_order(scores(K), first, later, labels=["a", "b", "O"])


def valued(problem: Problem) -> list[tuple[int, tuple[int, ...]]]:
    """The value of each labelling that keeps the hard rules, best first, equal ones by label ids."""
    T, K = problem.shape
    pairs = ((problem.value(np.array(path)), path) for path in product(range(K), repeat=T))
    return sorted(((v.score, path) for v, path in pairs if v.feasible), key=lambda pair: (-pair[0], pair[1]))
