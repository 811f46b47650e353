"""The linear relaxation of all sums: multipliers and a bound, and contradictions of hard sums."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.known import Known
from ilpinfer.exact.mixtures import (
    Relaxed,
    SumTerm,
    relax,
    sums_of,
    worth,
)


def sums_within(problem: Problem, active: Sequence[MachineKey] = ()) -> list[tuple[MachineKey, SumTerm]]:
    """The sums of a linear program: all, or where they are too many, those of the active components."""
    sums = sums_of(problem)
    if len(sums) > limits.MOST_SUMS:
        chosen = frozenset(active)
        sums = [(place, term) for place, term in sums if place in chosen][: limits.MOST_SUMS]
    return sums


def relax_sums(known: Known, sums: Sequence[tuple[MachineKey, SumTerm]]) -> Relaxed:
    """The relaxation of a problem, whose labellings, bound and multipliers become known."""
    terms, value, lattice = [term for _, term in sums], known.value, known.folded.lattice
    largest = (
        spread(lattice) + 2 * sum(term.penalty for term in terms if term.penalty != HARD) / UNITS_PER_NAT
    )
    start = [known.multipliers.get(place, 0) for place, _ in sums]
    enough = None if is_forbidden(value) else value
    relaxed = relax(lattice, terms, largest, known.deadline, enough=enough, start=start)
    for path in relaxed.paths:
        known.evaluate(path)
    if is_forbidden(relaxed.bound):
        return relaxed
    multipliers = dict(zip((place for place, _ in sums), relaxed.multipliers, strict=True))
    unavoidable = {place for place, term in sums if worth(term.total, term.penalty, 0)}
    prices = {place: price << 10 for place, price in multipliers.items() if price or place in unavoidable}
    known.prove(relaxed.bound, Leaf(prices))
    one = known.ground
    priceable = {component for component, priced in zip(one.components, one.sums, strict=True) if priced}
    known.multipliers |= {place: price for place, price in multipliers.items() if place in priceable}
    return relaxed


def spread(lattice: Lattice) -> float:
    """The largest multiplier of a hard sum in nats, penalties apart: more than one token can gain."""
    total = 10.0
    for array in (lattice.node, lattice.pool):
        total += 4 * float(np.where(is_forbidden(array), 0, np.abs(array)).max(initial=0)) / UNITS_PER_NAT
    return total


def without_scores(problem: Problem) -> Problem:
    """The problem with every score 0, or forbidden where it was, and no rules."""
    lattice = problem.lattice
    node, pool = (np.where(is_forbidden(a), FORBIDDEN, 0) for a in (lattice.node, lattice.pool))
    bare = Lattice(node, pool, lattice.step)
    return Problem(bare, bare, (), problem.labels)


@dataclass(frozen=True)
class Outcome:
    """The proof that no labelling keeps the sums, or a labelling that does; neither where it stays open."""

    tree: Leaf | None = None
    path: LabelIds | None = None


def contradiction(
    problem: Problem, sums: Sequence[tuple[MachineKey, SumTerm]], deadline: Deadline
) -> Outcome:
    """A labelling that keeps these hard sums, or a proof that there is none; neither where the linear relaxation leaves that open.

    The scores are 0, so that the multipliers of a negative bound are a proof.
    """
    hard = tuple(rule if rule.hard else replace(rule, components=()) for rule in problem.rules)
    root = replace(without_scores(problem), rules=hard)
    sums = [(place, term) for place, term in sums if term.penalty == HARD]
    terms = [term for _, term in sums]
    relaxed = relax(root.fold().lattice, terms, 1.0, deadline, enough=0)
    if relaxed.bound < 0:
        named = dict(zip((place for place, _ in sums), relaxed.multipliers, strict=True))
        is_empty = not any(named.values())
        return Outcome(Leaf({place: price << 10 for place, price in named.items() if price or is_empty}))
    kept = [
        path
        for path in relaxed.paths
        if not is_forbidden(root.lattice.score(path))
        and not any(term.total.violations(path) for term in terms)
    ]
    return Outcome(path=min(kept, key=lambda path: len(root.breaks(path)), default=None))
