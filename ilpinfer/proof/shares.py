"""Shares of a decomposition: scores that chains of equal tokens give to the lattice, and the states that they prune."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from formulations.arguments import whole
from formulations.automata.components import Agreement
from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, HARD, Grid, is_forbidden
from formulations.problem.problem import GroundRule
from ilpinfer.proof.graphs import MaxMarginals
from ilpinfer.proof.machines import add
from ilpinfer.proof.meter import Meter, need

LARGEST_SHARE = 2**56
ROUNDS = 100  # in which states are dropped with the same shares, at most
TOKEN = 200  # steps that a token of a chain costs


class Share(NamedTuple):
    """A list of n tokens of F kinds, the scores (n, F) that it gives to the lattice, and its penalty."""

    component: Agreement
    scores: Integers
    penalty: int

    @property
    def table(self) -> StepTable:
        values = np.zeros((1 + len(self.scores), 1, len(self.component.kind)), np.int64)
        values[1:, 0] = self.scores[:, self.component.kind]
        index = np.zeros(self.component.length, np.int64)
        index[self.component.tokens] = 1 + np.arange(len(self.scores))
        return StepTable(values, index)

    @property
    def largest(self) -> int:
        """No sum of its numbers is larger, in Python integers."""
        most = sum(int(np.abs(row).max()) for row in self.scores)
        return 2 * most + (0 if self.penalty == HARD else self.penalty) * len(self.scores)

    def kind(self, states: int) -> Integers:
        return self.component.kind[np.arange(states) % len(self.component.kind)]

    def through(self, node: Grid) -> Grid:
        """(n, F) the best of the chain through each kind that a state of the token (T, S) still has."""
        kind, own = self.kind(node.shape[1]), np.full(self.scores.shape, FORBIDDEN)
        for place, token in enumerate(self.component.tokens.tolist()):
            there = np.unique(kind[~is_forbidden(node[token])])
            own[place, there] = -self.scores[place, there]
        past, future = own.copy(), np.zeros_like(own)
        for place in range(1, len(own)):
            past[place] = add(self._across(past[place - 1]), own[place])
            future[-place - 1] = self._across(add(own[-place], future[-place]))
        return add(past, future)

    def _across(self, values: Grid) -> Grid:
        return values if self.penalty == HARD else np.maximum(values, values.max() - self.penalty)


def read_share(rule: GroundRule, component: Any, rows: Any, scale: int) -> Share:
    """The share of a component, checked; in units `scale` times as fine as the grid's."""
    single = isinstance(component, Agreement) and not rule.once
    need(
        single,
        f"leaf: {rule.name!r} has shares, but is not a list of tokens whose violations are counted one by one",
    )
    n, F = len(component.tokens), component.kinds
    fits = len(rows) == n and all(len(row) == F for row in rows)
    need(fits, f"leaf: the shares of {rule.name!r} are not {n} rows of {F}")
    what, most = f"leaf: a share of {rule.name!r}", LARGEST_SHARE // scale
    scores = scale * np.array([[whole(value, what, -most, most) for value in row] for row in rows], np.int64)
    return Share(component, scores, HARD if rule.hard else scale * rule.penalty)


def drop_states(
    lattice: Lattice, shares: Sequence[Share], limit: int, meter: Meter
) -> tuple[Lattice, int] | None:
    """The lattice without states that cannot pass the limit, and the sum of the chains' optima; None if nothing can."""
    (T, S), node, lists = lattice.node.shape, lattice.node.copy(), 0
    edges, tables = lattice.pool.shape[1] * lattice.pool.shape[2], [share.table for share in shares]
    for _ in range(ROUNDS):
        meter.spend(2 * T * (edges + TOKEN) + sum(len(share.scores) for share in shares) * (S + TOKEN))
        worth, lists = MaxMarginals(Lattice(node, lattice.pool, lattice.step).plus(tables)).through, 0
        best = int(worth[0].max())
        for share in shares:
            chain = share.through(node)
            most = int(chain[0].max())
            if is_forbidden(most):
                return None
            lists += most
            less = np.where(is_forbidden(chain), FORBIDDEN, chain - most)[:, share.kind(S)]
            worth[share.component.tokens] = add(worth[share.component.tokens], less)
        if best + lists <= limit:
            return None
        lost = (worth + lists <= limit) & ~is_forbidden(node)
        if not lost.any():
            break
        node[lost] = FORBIDDEN
    return Lattice(node, lattice.pool, lattice.step), lists
