"""Multipliers and bounds of cases by the linear relaxation of all sums, and its fractional rows."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.grid import HARD, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact.known import Known
from ilpinfer.exact.mixtures import RELAXATION, Pool, Relaxed, SumTerm, fractional_row, relax, splice, sums_of
from ilpinfer.exact.rows import Row, combined_rows


@dataclass
class SumRelaxation:
    """The relaxations of one problem and of its cases.

    Parameters
    ----------
    problem : Problem
        Before any split.
    among : frozenset of MachineKey
        The places of the sums that are looked at.
    pool : Pool, optional
        Labellings found so far.
    """

    problem: Problem
    among: frozenset[MachineKey]
    pool: Pool = field(default_factory=Pool)

    def sums(self, problem: Problem) -> list[tuple[MachineKey, SumTerm]]:
        """The sums of a case, and the rows of its splits."""
        first = len(self.problem.rules)
        return [(at, term) for at, term in sums_of(problem) if at in self.among or at[0] >= first]

    @cached_property
    def rows(self) -> list[Row]:
        """Combinations of sums with a divisor."""
        return combined_rows([term.total for _, term in self.sums(self.problem)], self.problem.shape)

    def bound(self, problem: Problem, known: Known) -> Relaxed:
        """The relaxation of a case, whose labellings, bound and multipliers become known."""
        known.deadline.excuse(RELAXATION.warm())
        sums = self.sums(problem)
        terms = [term for _, term in sums]
        lattice, value = known.folded.lattice, known.value
        enough = None if is_forbidden(value) else value
        largest = (
            spread(lattice) + 2 * sum(term.penalty for term in terms if term.penalty != HARD) / UNITS_PER_NAT
        )
        relaxed = relax(lattice, terms, largest, self.pool, known.deadline, enough=enough)
        for path in (*relaxed.paths, *splice(relaxed, terms)):
            known.evaluate(path)
        if is_forbidden(relaxed.bound):
            return relaxed
        multipliers = dict(zip((place for place, _ in sums), relaxed.multipliers, strict=True))
        known.prove(
            relaxed.bound,
            Leaf({place: multiplier << 10 for place, multiplier in multipliers.items() if multiplier}),
        )
        one = known.ground
        priceable = {component for component, priced in zip(one.components, one.sums, strict=True) if priced}
        known.multipliers |= {place: price for place, price in multipliers.items() if place in priceable}
        return relaxed

    def divided(self, relaxed: Relaxed) -> bool:
        """Whether a combination of sums with a divisor is fractional, so that no multipliers close the gap."""
        row = self.row(relaxed)
        return row is not None and row[0] in self.rows

    def row(self, relaxed: Relaxed) -> tuple[Row, int] | None:
        """A row by which the mixture is fractional, and the whole number below."""
        return fractional_row(relaxed, self.rows, self.problem.shape)


def spread(lattice: Lattice) -> float:
    """The largest multiplier of a hard sum in nats, penalties apart: more than one token can gain."""
    total = 10.0
    for array in (lattice.node, lattice.pool):
        total += 4 * float(np.where(is_forbidden(array), 0, np.abs(array)).max(initial=0)) / UNITS_PER_NAT
    return total
