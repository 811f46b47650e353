"""Random trellises, and rules on them, for tests that need just any."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from formulations import LabelSet, Rule, Trellis
from formulations import constraints as C
from formulations.problem.problem import Problem, Value


def random_trellis(
    seed: int = 0,
    T: int = 12,
    labels: Sequence[str] | LabelSet = ("a", "b", "O"),
    tokens: Sequence[str] | None = None,
    order: int = 1,
    *,
    scale: float = 1.0,
    forbidden: float = 0.0,
) -> Trellis:
    """Normal scores, some of them forbidden."""
    rng = np.random.default_rng(seed)

    def scores(*shape: int) -> np.ndarray:
        drawn = rng.normal(scale=scale, size=shape)
        return np.where(rng.random(shape) < forbidden, -np.inf, drawn) if forbidden else drawn

    return _of_scores(scores, T, labels, tokens, order)


def _of_scores(
    scores: Callable[..., np.ndarray],
    T: int,
    labels: Sequence[str] | LabelSet,
    tokens: Sequence[str] | None,
    order: int,
) -> Trellis:
    K, named = (
        len(labels),
        {"labels": labels if isinstance(labels, LabelSet) else list(labels), "tokens": tokens},
    )
    if order == 1:
        return Trellis(scores(K), scores(T - 1, K, K), **named)
    first = scores(K, K) if T > 1 else None
    return Trellis.second_order(scores(K), first, scores(max(T - 2, 0), K, K, K), **named)


def many_runs(T: int, K: int, n: int, *, seed: int = 0, **cost: float) -> tuple[Trellis, list[Rule]]:
    """Scores of T tokens and labels L0, L1, … that change often, and at most n runs of each label."""
    rng, labels = np.random.default_rng(seed), [f"L{k}" for k in range(K)]
    trellis = Trellis.from_emissions(rng.normal(size=(T, K)), rng.normal(size=(K, K)), labels=labels)
    return trellis, [C.at_most_runs(label, n, **cost) for label in labels]


def near_tie_trellis(seed: int, T: int = 4, *, order: int = 1, forbidden: float = 0.0) -> Trellis:
    """Scores of -3 to 3 grid units for labels a, b and O, some of them forbidden."""
    rng = np.random.default_rng(seed)

    def scores(*shape: int) -> np.ndarray:
        return np.where(rng.random(shape) < forbidden, -np.inf, rng.integers(-3, 4, shape) / 2**20)

    return _of_scores(scores, T, ("a", "b", "O"), None, order)


def feasible(problem: Problem) -> Iterator[tuple[tuple[int, ...], Value]]:
    """Each labelling that keeps the hard rules, and what it is worth."""
    T, K = problem.shape
    worths = ((path, problem.value(np.array(path))) for path in product(range(K), repeat=T))
    return ((path, worth) for path, worth in worths if worth.feasible)


def valued(problem: Problem) -> list[tuple[int, tuple[int, ...]]]:
    """The value of each labelling that keeps the hard rules, best first, equal ones by label ids."""
    return sorted(
        ((worth.score, path) for path, worth in feasible(problem)), key=lambda each: (-each[0], each[1])
    )
