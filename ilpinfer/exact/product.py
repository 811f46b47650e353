"""The product of a lattice with its rules' machines: joint states that are reached, and sums over their paths."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import Lattice
from formulations.compiled.machine import TooManyStates
from formulations.compiled.problem import GroundRule, Problem
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, is_forbidden
from ilpinfer.exact.viterbi import completions
from ilpinfer.kernels import marginals, product
from ilpinfer.kernels.packed import HARD, Packed, pack
from ilpinfer.kernels.readings import group_rows, number_readings

Floats = NDArray[np.float64]

_NAMED = 3


@dataclass(frozen=True, eq=False)
class Product:
    """Every joint state of a problem, a label with a state for each machine, and log sums of what follows it.

    Parameters
    ----------
    packed : the machines
    readings, steps, joint : arrays of `product.expand`
    scores : node (T, K), pool (P, K, K), exp(pool - largest), largest (P, K); nats
    tail : (V, K) nats, each token shifted
    log_sum : log Σ exp(score) over labellings that keep the hard rules, nats; -inf where there are none
    """

    packed: Packed
    readings: tuple[Any, ...]
    steps: tuple[Any, ...]
    joint: tuple[Any, ...]
    scores: tuple[Floats, ...]
    tail: Floats
    log_sum: float

    @property
    def shape(self) -> tuple[int, int]:
        """(T, K)."""
        T, K = self.scores[0].shape
        return T, K

    def probabilities(self, *, edges: bool) -> tuple[Floats, Floats, Floats]:
        """Of labels (T, K), of edges (T-1, K, K) if wanted, and violations expected of each rule (R,)."""
        T, K = self.shape
        labels, pairs = np.empty((T, K)), np.empty((T - 1 if edges else 0, K, K))
        mass, ended = np.empty(len(self.joint[4])), np.empty(len(self.tail))
        shared = self.joint, self.readings, self.steps, self.scores, self.tail
        marginals.forward(*shared, labels, pairs, mass, ended)
        expected = np.zeros(len(self.packed.penalty))
        if (self.packed.penalty != HARD).any():
            product.expected_counts(self.packed, self.readings, self.joint, mass, ended, expected)
        return labels, pairs, expected

    def draw(self, uniform: Floats) -> NDArray[np.int64]:
        """Label ids (n, T) from numbers (n, T) in [0, 1)."""
        ids = np.empty(uniform.shape, np.int64)
        marginals.draw(self.joint, self.readings, self.scores, self.steps[-1], self.tail, uniform, ids)
        return ids


def product_of(problem: Problem, budget: int) -> Product:
    """The product of a problem's lattice with the machines of the rules that the lattice does not hold.

    Raises
    ------
    TooManyStates
        where a rule has no machine, or the product more than `budget` joint states.
    """
    for rule in problem.rules:
        if rule.unseen:
            raise TooManyStates(
                f"rule {rule.name!r} has no machine that is small enough, so that nothing can be summed over "
                "exactly: leave it out, or state it with a simpler template"
            )
    problem = replace(problem, rules=tuple(_unforced(rule) for rule in problem.rules))
    lattice, packed = problem.lattice, pack(problem)
    readings, steps = _read(lattice, packed)
    node, pool = _nats(lattice.node), _nats(lattice.pool)
    possible = ~is_forbidden(lattice.node) & ~is_forbidden(completions(lattice))
    joint = product.expand(packed, readings, steps, possible, lattice.pool, budget)
    if joint[-1] < len(node):
        raise TooManyStates(_refusal(problem, joint[1], joint[-1], budget))
    scaled, largest = np.empty_like(pool), np.empty(pool.shape[:2])
    marginals.scale(pool, scaled, largest)
    scores = node, pool, scaled, largest
    tail = np.empty(joint[2].shape)
    log_sum = marginals.backward(joint, readings, steps, scores, tail)
    return Product(packed, readings, steps, joint, scores, tail, float(log_sum))


def _unforced(rule: GroundRule) -> GroundRule:
    return replace(rule, forced=False) if rule.forced else rule


def _nats(units: NDArray[np.int64]) -> Floats:
    return np.where(is_forbidden(units), -np.inf, np.maximum(units, FORBIDDEN) / UNITS_PER_NAT)


def _read(lattice: Lattice, packed: Packed) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Readings and steps, as `product.expand` takes them."""
    T, K = lattice.shape
    kinds, kind = _distinct(packed.table, T)
    number, symbols, begin = number_readings(packed, kinds, K)
    pairs, pair = _distinct(np.stack([lattice.step, kind[1:]]), T - 1)
    alike, possible = group_rows(number, lattice.pool, pairs)
    return (number, symbols, begin, kind), (alike, possible, pair, lattice.step.astype(np.int64))


def _distinct(columns: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different columns, and which of them each column is."""
    if not columns.size:
        return np.zeros((len(columns), 1 if count else 0), np.int64), np.zeros(count, np.int64)
    distinct, which = np.unique(columns, axis=1, return_inverse=True)
    return np.ascontiguousarray(distinct), which.reshape(-1).astype(np.int64)


def _refusal(problem: Problem, states: NDArray[np.int32], token: int, budget: int) -> str:
    """Which rules make the product large."""
    T, _ = problem.shape
    owner = np.array([r for r, rule in enumerate(problem.rules) for _ in rule.machines])
    sizes = {rule.name: len(np.unique(states[:, owner == r], axis=0)) for r, rule in enumerate(problem.rules)}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_NAMED]
    named = ", ".join(f"{name!r} with {sizes[name]}" for name in largest) or "none, only labels"
    return (
        f"labels and rules take more than {budget} joint states within {token + 1} of {T} tokens; rules with "
        f"the most states so far: {named}. Leave out rules, or give a larger budget"
    )
