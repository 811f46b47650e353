"""A small conditional random field from the textbook, an oracle for the fast one: matrices of a chain, gradients,
scaling.

States are K labels with `start` before and `stop` after them (Stokman 2011, section 3.2.1). Sequences are dense: features
g of a token (T, F) are numbers of any size, each paired with each label; those of an edge are its two labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Sample = tuple[Floats, NDArray[np.int64]]
"""Features (T, F) and label ids (T,)."""


@dataclass(frozen=True)
class Parameters:
    """Weights (K, K) λ of pairs of labels and (F, K) μ of features at labels; counts have the same shape."""

    edges: Floats
    vertices: Floats

    @classmethod
    def zero(cls, features: int, labels: int) -> "Parameters":
        return cls(np.zeros((labels, labels)), np.zeros((features, labels)))

    def __add__(self, other: "Parameters") -> "Parameters":
        return Parameters(self.edges + other.edges, self.vertices + other.vertices)

    def scaled(self, factor: float) -> "Parameters":
        return Parameters(factor * self.edges, factor * self.vertices)

    def __sub__(self, other: "Parameters") -> "Parameters":
        return self + other.scaled(-1.0)

    def flat(self) -> Floats:
        return np.concatenate([self.edges.ravel(), self.vertices.ravel()])

    def shaped(self, flat: Floats) -> "Parameters":
        """The entries as weights of this shape."""
        edges, vertices = np.split(flat, [self.edges.size])
        return Parameters(edges.reshape(self.edges.shape), vertices.reshape(self.vertices.shape))


def matrices(parameters: Parameters, x: Floats) -> list[Floats]:
    """M_1 … M_{n+1}, (K+2, K+2) over the labels, start and stop (Stokman 2011, eq. 18; its u_k is μ_k)."""
    K = parameters.edges.shape[0]
    result = []
    for t, at in enumerate(np.exp(x @ parameters.vertices)):
        M = np.zeros((K + 2, K + 2))
        if t == 0:
            M[K, :K] = at
        else:
            M[:K, :K] = np.exp(parameters.edges) * at
        result.append(M)
    last = np.zeros((K + 2, K + 2))
    last[:K, K + 1] = 1.0
    return [*result, last]


def partition(steps: Sequence[Floats]) -> float:
    """Z: the entry of start and stop in the product of the matrices (eq. 19, a matrix product)."""
    product = np.linalg.multi_dot(steps) if len(steps) > 2 else steps[0] @ steps[1]
    return float(product[-2, -1])


def probability(parameters: Parameters, x: Floats, y: NDArray[np.int64]) -> float:
    """P(y | x): the product along the labelling, over Z (eq. 20)."""
    steps, K = matrices(parameters, x), parameters.edges.shape[0]
    path = [K, *y.tolist(), K + 1]
    along = np.prod([M[i, j] for M, i, j in zip(steps, path, path[1:], strict=False)])
    return float(along / partition(steps))


def forward_backward(steps: Sequence[Floats]) -> tuple[list[Floats], list[Floats]]:
    """α_0 … α_{n+1} and β_0 … β_{n+1}, each over the K+2 states (eq. 29-32)."""
    alpha, beta = [np.eye(len(steps[0]))[-2]], [np.eye(len(steps[0]))[-1]]
    for M in steps:
        alpha.append(alpha[-1] @ M)
    for M in reversed(steps):
        beta.append(M @ beta[-1])
    return alpha, beta[::-1]


def expected(parameters: Parameters, x: Floats) -> Parameters:
    """Expected counts of edges and vertices under P(y | x) (eq. 35 and 36 for one sequence)."""
    steps, K = matrices(parameters, x), parameters.edges.shape[0]
    alpha, beta = forward_backward(steps)
    Z = partition(steps)
    at = np.array([a[:K] * b[:K] / Z for a, b in zip(alpha[1:-1], beta[1:-1], strict=True)])
    between = [
        np.outer(a[:K], b[:K]) * M[:K, :K] / Z
        for a, M, b in zip(alpha[1:-2], steps[1:-1], beta[2:-1], strict=True)
    ]
    return Parameters(np.sum(between, axis=0) if between else np.zeros((K, K)), x.T @ at)


def counted(shape: Parameters, x: Floats, y: NDArray[np.int64]) -> Parameters:
    K = shape.edges.shape[0]
    edges, at = np.zeros((K, K)), np.eye(K)[y]
    np.add.at(edges, (y[:-1], y[1:]), 1.0)
    return Parameters(edges, x.T @ at)


def likelihood(parameters: Parameters, samples: Sequence[Sample], variance: float = np.inf) -> float:
    """Σ log P(y | x) - Σ w²/(2σ²), nats (Fersini et al. 2014, eq. 6; without a variance Stokman 2011, eq. 21)."""
    total = sum(np.log(probability(parameters, x, y)) for x, y in samples)
    return float(total - (parameters.flat() ** 2).sum() / (2 * variance))


def gradient(parameters: Parameters, samples: Sequence[Sample], variance: float = np.inf) -> Parameters:
    """Gradient of the likelihood: counts less expected counts less w/σ²."""
    total = parameters.scaled(-1.0 / variance)
    for x, y in samples:
        total = total + counted(parameters, x, y) - expected(parameters, x)
    return total


def maximised(start: Parameters, samples: Sequence[Sample], variance: float) -> Parameters:
    """The weights of the highest penalised likelihood, by L-BFGS."""
    from scipy.optimize import minimize

    def loss(flat: Floats) -> tuple[float, Floats]:
        here = start.shaped(flat)
        return -likelihood(here, samples, variance), -gradient(here, samples, variance).flat()

    options = {"maxiter": 1000, "gtol": 1e-8, "ftol": 1e-14}
    return start.shaped(minimize(loss, start.flat(), jac=True, method="L-BFGS-B", options=options).x)


def scaled_iteratively(
    start: Parameters, samples: Sequence[Sample], rounds: int, watch: Callable[[float], None] | None = None
) -> Parameters:
    """Generalised iterative scaling: δ = 1/S · log(Ẽ / E) for every weight (Stokman 2011, eq. 23-34).

    Counts must not be negative. S is the largest number of features that any labelling has (eq. 28: S >= max T); the
    slack feature that fills the rest gets no weight, and each step is an improvement without it (Curran and Clark 2003).
    Features that do not occur in the sample have no best weight, and keep their weight.
    `watch` is called with the likelihood after each round, nats.
    """
    most = max(float(x.sum()) + len(x) - 1 for x, _ in samples)
    shown = Parameters.zero(len(start.vertices), len(start.edges))
    for x, y in samples:
        shown = shown + counted(start, x, y)
    result = start
    for _ in range(rounds):
        model = Parameters.zero(len(start.vertices), len(start.edges))
        for x, _y in samples:
            model = model + expected(result, x)
        ratio = np.where(shown.flat() > 0, shown.flat(), 1.0) / np.where(shown.flat() > 0, model.flat(), 1.0)
        result = result + result.shaped(np.log(ratio) / most)
        if watch is not None:
            watch(likelihood(result, samples))
    return result
