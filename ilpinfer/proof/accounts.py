"""A pass with an account of costs: for the least cost at a floor, and the best score at that cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Booleans, Integers
from formulations.grid import Grid
from ilpinfer.proof.stages import StagePass, row_keys


@dataclass(frozen=True)
class Account:
    """A claim of least cost: no labelling at or above the floor is cheaper, and none of the same cost is better.

    Values of a pass are scores less costs. All numbers are in the units of the pass.

    Parameters
    ----------
    budget : int
        The cost that is claimed to be the least.
    unit : int
        The greatest common divisor of all penalties.
    floor : int
        The least score that counts.
    score : int
        The score that is claimed to be the best at that cost.
    """

    budget: int
    unit: int
    floor: int
    score: int

    @property
    def limit(self) -> int:
        """Every counterexample has a value above this."""
        better = self.score + 1 - self.budget
        cheaper = self.floor - (self.budget - self.unit)
        return (min(better, cheaper) if self.budget else better) - 1

    @property
    def largest(self) -> int:
        """No sum of its numbers is larger."""
        return self.budget + self.unit + abs(self.floor) + abs(self.score) + 1

    def scale_by(self, scale: int) -> "Account":
        """In units `scale` times as fine, where scores are multiples of `scale`."""
        score = (self.score + 1) * scale - 1
        return Account(self.budget * scale, self.unit * scale, self.floor * scale, score)

    def holds(self, value: Grid, spent: Integers) -> Booleans:
        """Whether labellings of that value and cost are counterexamples."""
        score = value + spent
        cheaper = (spent < self.budget) & (score >= self.floor)
        return cheaper | ((spent <= self.budget) & (score > self.score))


@dataclass(frozen=True)
class ResourcePass(StagePass):
    """A pass whose prefixes have a cost too. Of prefixes with the same key, only those survive that no other one beats in
    both cost and score.

    Parameters
    ----------
    account : Account
        The labellings that must not be there.
    """

    account: Account

    def remains(self) -> bool:
        """Whether the pass leaves a counterexample."""
        rows, value, spent = self.start(), np.zeros(1, np.int64), np.zeros(1, np.int64)
        for t in range(len(self.lattice.node)):
            steps, rows, value = self.extend(t, rows, value)
            spent = spent[steps.source] - steps.penalty
            kept = np.flatnonzero(spent <= self.account.budget)
            kept = kept[_pareto(row_keys(rows[kept]), value[kept] + spent[kept], spent[kept])]
            rows, value, spent = rows[kept], value[kept], spent[kept]
        ends = self.ends(rows)
        return bool(self.account.holds(value + ends + self.constant, spent - ends).any())

    def ends(self, rows: Integers) -> Grid:
        """Charges of machines after the last token."""
        T = len(self.lattice.node)
        own: Sequence[Grid] = [p[T][q] for p, q in zip(self.potentials, rows.T[2:], strict=False)]
        result: Grid = np.asarray(sum(own, self.base.ahead(T)[rows[:, 0]]))
        return result


def _pareto(key: Integers, score: Grid, spent: Integers) -> Integers:
    """The places of prefixes that no other one with the same key beats in both score and cost."""
    order = np.lexsort((-score, spent, key))
    _, rank = np.unique(score, return_inverse=True)
    height = key[order] * (len(order) + 1) + rank[order]
    before = np.append(-1, np.maximum.accumulate(height)[:-1])
    result: Integers = order[height > before] if len(order) else order
    return result
