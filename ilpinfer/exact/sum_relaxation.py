"""The linear relaxation of all sums: multipliers and bounds of cases, fractional rows, and contradictions of hard sums."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import Leaf, MachineKey, Split
from ilpinfer.exact.known import Known
from ilpinfer.exact.mending import mend
from ilpinfer.exact.mixtures import (
    LONG,
    Pool,
    Relaxed,
    SumTerm,
    fractional_row,
    relax,
    splice,
    sums_of,
    worth,
)
from ilpinfer.exact.product_lattice import ProductLattice
from ilpinfer.exact.rows import Row, combined_rows
from ilpinfer.exact.tree import Bound, divide, search

FEW_CASES, MOST_CASES = 20, 400
"""Cases of a contradiction before another search takes over, at first and at last."""
MOST_SUMS = 400
"""Sums of a linear program, at most."""
FEW_STEPS, MOST_STEPS, GROWTH = 2**22, 2**25, 4
"""Steps of a pass over a lattice multiplied with machines, at most: few ones, and where the lattice itself has more, `GROWTH` times those."""


@dataclass
class SumRelaxation:
    """The relaxations of one problem, before any split, and of its cases, by the sums at some places."""

    problem: Problem
    among: frozenset[MachineKey]
    pool: Pool = field(default_factory=Pool)
    inside: tuple[MachineKey, ...] = ()
    """The machines by which the lattice of a long document is multiplied, as far as there is room."""

    @property
    def is_long(self) -> bool:
        """Whether its relaxation has two rounds, the first of few steps, over a product with machines."""
        return len(self.problem.lattice.node) >= LONG

    def sums(self, problem: Problem) -> list[tuple[MachineKey, SumTerm]]:
        """The sums of a case, and the rows of its splits."""
        first = len(self.problem.rules)
        return [(at, term) for at, term in sums_of(problem) if at in self.among or at[0] >= first]

    @cached_property
    def rows(self) -> list[Row]:
        """Combinations of sums with a divisor."""
        return combined_rows([term.total for _, term in self.sums(self.problem)])

    def bound(self, problem: Problem, known: Known) -> Relaxed:
        """The relaxation of a case, whose labellings, bound and multipliers become known."""
        sums = self.sums(problem)
        terms = [term for _, term in sums]
        value, first = known.value, not self.pool.steps
        product = self._product(known, first)
        enough = None if is_forbidden(value) else value
        largest = (
            spread(product.base)
            + 2 * sum(term.penalty for term in terms if term.penalty != HARD) / UNITS_PER_NAT
        )
        start = [known.multipliers.get(place, 0) for place, _ in sums]
        relaxed = relax(product, terms, largest, self.pool, known.deadline, enough=enough, start=start)
        for path in (*relaxed.paths, *splice(relaxed, terms)):
            known.evaluate(path)
        if is_forbidden(relaxed.bound):
            return relaxed
        if terms and (first or self.is_long) and not known.deadline.passed:
            mended = mend(product, terms, np.array(relaxed.multipliers, np.int64))
            if mended is not None:
                known.evaluate(mended)
        multipliers = dict(zip((place for place, _ in sums), relaxed.multipliers, strict=True))
        unavoidable = {place for place, term in sums if worth(term.total, term.penalty, 0)}
        prices = {place: price << 10 for place, price in multipliers.items() if price or place in unavoidable}
        known.prove(relaxed.bound, Leaf(prices, self.inside))
        one = known.ground
        priceable = {component for component, priced in zip(one.components, one.sums, strict=True) if priced}
        known.multipliers |= {place: price for place, price in multipliers.items() if place in priceable}
        return relaxed

    def _product(self, known: Known, first: bool) -> ProductLattice:
        """The lattice of a case, on a long document multiplied with the machines inside; the first case chooses these."""
        one, product, inside = known.ground, ProductLattice.of(known.folded.lattice), list[MachineKey]()
        T, S = one.emission.shape
        most = min(MOST_STEPS, max(FEW_STEPS, GROWTH * T * S * S))
        chosen = [m for m, key in enumerate(one.keys) if key in self.inside]
        if first and self.is_long:
            chosen = [m for m, plain in enumerate(one.plain) if plain.total is None and plain.mark < 0]
        for m in sorted(chosen, key=lambda m: (m not in known.active, one.plain[m].automaton.states)):
            plain, index = one.plain[m], one.which[one.classes[1], m]
            steps = StepTable(plain.symbols, index)
            larger = product.times(steps, plain.automaton, plain.penalty, most)
            if larger is not None:
                product = larger
                inside.append(one.keys[m])
        self.inside = tuple(inside)
        return product

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


def sums_within(problem: Problem, active: Sequence[MachineKey] = ()) -> frozenset[MachineKey]:
    """The sums of linear programs: all, or where they are too many, those of the active components."""
    places = [place for place, _ in sums_of(problem)]
    if len(places) > MOST_SUMS:
        places = [component for component in active if component in set(places)][:MOST_SUMS]
    return frozenset(places)


def without_scores(problem: Problem) -> Problem:
    """The problem with every score 0, or forbidden where it was, and no rules."""
    lattice = problem.lattice
    node, pool = (np.where(is_forbidden(a), FORBIDDEN, 0) for a in (lattice.node, lattice.pool))
    bare = Lattice(node, pool, lattice.step)
    return Problem(bare, bare, (), problem.labels)


@dataclass(frozen=True)
class Outcome:
    """The proof that no labelling keeps the sums, or a labelling that does; neither where it stays open."""

    tree: Leaf | Split | None = None
    path: LabelIds | None = None


@dataclass
class _Case:
    problem: Problem
    relaxed: Relaxed | None = None


def contradiction(
    problem: Problem, among: frozenset[MachineKey], deadline: Deadline, most: int = FEW_CASES
) -> Outcome:
    """A labelling that keeps these hard sums, or a proof that there is none; neither after `most` cases.

    The scores are 0, so that the multipliers of a negative bound refute a case.
    """
    hard = tuple(rule if rule.hard else replace(rule, components=()) for rule in problem.rules)
    root = replace(without_scores(problem), rules=hard)
    relaxation = SumRelaxation(root, among)
    all_sums, kept = [term for _, term in relaxation.sums(root)], list[LabelIds]()

    def bound(case: _Case) -> Bound:
        if kept:
            return Bound(0, None, None)
        sums = relaxation.sums(case.problem)
        terms = [term for _, term in sums]
        case.relaxed = relax(
            ProductLattice.of(case.problem.fold().lattice), terms, 1.0, relaxation.pool, deadline, enough=0
        )
        if case.relaxed.bound < 0:
            named = dict(zip((place for place, _ in sums), case.relaxed.multipliers, strict=True))
            is_empty = not any(named.values())
            leaf = Leaf({place: price << 10 for place, price in named.items() if price or is_empty})
            return Bound(FORBIDDEN, None, leaf)
        candidates = *case.relaxed.paths, *splice(case.relaxed, all_sums)
        kept.extend(
            path
            for path in candidates
            if not is_forbidden(root.lattice.score(path))
            and not any(term.total.violations(path) for term in all_sums)
        )
        return Bound(0, None, None)

    def split(case: _Case) -> tuple[Row, int, tuple[_Case, _Case]] | None:
        row = None if kept or case.relaxed is None else relaxation.row(case.relaxed)
        if row is None:
            return None
        below, above = divide(case.problem, *row)
        return *row, (_Case(below), _Case(above))

    result = search(Known.of(root, deadline), _Case(root), bound, split, most)
    path = min(kept, key=lambda path: len(root.breaks(path)), default=None)
    return Outcome(result.tree if result.complete else None, path)
