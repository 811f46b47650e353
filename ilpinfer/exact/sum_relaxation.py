"""The linear relaxation of all sums: multipliers and a bound, and contradictions of hard sums.

Both stages apply to sums that kernels, beams and a large product leave open; contradictions are searched for if there is no labelling. The
multipliers are new, so products, kernels and beams run again.
"""

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
from ilpinfer.exact.mixtures import SumTerm, relax, sums_of, worth
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import State


def sums_within(problem: Problem, active: Sequence[MachineKey] = ()) -> list[tuple[MachineKey, SumTerm]]:
    """The sums of a linear program: all, or, if there are too many, the sums of active components."""
    sums = sums_of(problem)
    if len(sums) > limits.MOST_SUMS:
        chosen = frozenset(active)
        sums = [(place, term) for place, term in sums if place in chosen][: limits.MOST_SUMS]
    return sums


def relax_sums(state: State) -> State:
    """The state with the labellings, the bound and the multipliers of the linear relaxation."""
    problem, value, lattice = state.problem, state.value, state.problem.folded.lattice
    sums, state = _sums(state), replace(state, tried=frozenset())
    terms = [term for _, term in sums]
    soft = sum(term.penalty for term in terms if term.penalty != HARD)
    relaxed = relax(
        lattice,
        terms,
        spread(lattice) + 2 * soft / UNITS_PER_NAT,
        problem.deadline,
        enough=None if is_forbidden(value) else value,
        start=[state.multipliers.get(place, 0) for place, _ in sums],
    )
    state = state.with_labellings(relaxed.paths)
    if is_forbidden(relaxed.bound):
        return state
    multipliers = dict(zip((place for place, _ in sums), relaxed.multipliers, strict=True))
    unavoidable = {place for place, term in sums if worth(term.total, term.penalty, 0)}
    prices = {place: price << 10 for place, price in multipliers.items() if price or place in unavoidable}
    state, one = state.proved(relaxed.bound, Leaf(prices)), problem.instance
    priceable = {component for component, priced in zip(one.components, one.sums, strict=True) if priced}
    multipliers = {place: price for place, price in multipliers.items() if place in priceable}
    return replace(state, multipliers={**state.multipliers, **multipliers})


def refute(state: State) -> State:
    """The state with a labelling that keeps the hard sums, or with the proof that there is none."""
    outcome = contradiction(state.problem.problem, _sums(state), state.problem.deadline)
    if outcome.path is not None:
        state = state.with_labelling(outcome.path)
    if outcome.tree is None:
        return state
    return state.proved(FORBIDDEN, outcome.tree).closed_by("the hard sums contradict each other")


def _sums(state: State) -> list[tuple[MachineKey, SumTerm]]:
    return sums_within(state.problem.problem, sorted(state.problem.components_of(state.active)))


def spread(lattice: Lattice) -> float:
    """The largest multiplier of a hard sum without penalties, nats: more than the possible gain of one token."""
    total = 10.0
    for array in (lattice.node, lattice.pool):
        total += 4 * float(np.where(is_forbidden(array), 0, np.abs(array)).max(initial=0)) / UNITS_PER_NAT
    return total


def without_scores(problem: Problem) -> Problem:
    """The problem without rules, with all scores 0 except forbidden ones."""
    lattice = problem.lattice
    node, pool = (np.where(is_forbidden(a), FORBIDDEN, 0) for a in (lattice.node, lattice.pool))
    bare = Lattice(node, pool, lattice.step)
    return Problem(bare, bare, (), problem.labels)


@dataclass(frozen=True)
class SumFeasibility:
    """The proof that no labelling keeps the sums, or a labelling that keeps them; neither if undecided."""

    tree: Leaf | None = None
    path: LabelIds | None = None


def contradiction(
    problem: Problem, sums: Sequence[tuple[MachineKey, SumTerm]], deadline: Deadline
) -> SumFeasibility:
    """A labelling that keeps these hard sums, or a proof that there is none; neither if the linear relaxation does not decide.

    Scores are 0, so that multipliers with a negative bound are a proof.
    """
    hard = tuple(rule if rule.hard else replace(rule, components=()) for rule in problem.rules)
    root = replace(without_scores(problem), rules=hard)
    sums = [(place, term) for place, term in sums if term.penalty == HARD]
    terms = [term for _, term in sums]
    relaxed = relax(root.fold().lattice, terms, 1.0, deadline, enough=0)
    if relaxed.bound < 0:
        named = dict(zip((place for place, _ in sums), relaxed.multipliers, strict=True))
        is_empty = not any(named.values())
        return SumFeasibility(
            Leaf({place: price << 10 for place, price in named.items() if price or is_empty})
        )
    kept = [
        path
        for path in relaxed.paths
        if not is_forbidden(root.lattice.score(path))
        and not any(term.total.violations(path) for term in terms)
    ]
    return SumFeasibility(path=min(kept, key=lambda path: len(root.breaks(path)), default=None))


def _applies(state: State) -> bool:
    return state.by_machines and state.problem.has_sums and not state.problem.lists


CONTRADICTIONS = Stage("contradictions", lambda state: _applies(state) and state.path is None, refute)
RELAXED_SUMS = Stage("sums", _applies, relax_sums)
