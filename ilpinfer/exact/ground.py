"""The packer of ground rules: one sequence as an instance for kernels."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import Lattice
from formulations.automata.sums import Sum
from formulations.dtypes import Integers
from formulations.problem.folding import RuleMachine
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.exact import limits
from ilpinfer.exact.instance import Instance
from ilpinfer.kernels.joint_states import Symbols
from ilpinfer.kernels.packing import lattice_scores, pack_machines, with_penalties
from ilpinfer.kernels.tables import WIDTH, Tokens

Packed = tuple[Instance, Tokens]
"""An instance and its sequence."""


def pack_lattice(lattice: Lattice) -> Packed:
    """A lattice without rules."""
    return _packed(lattice, (), np.zeros((1, 0), np.int64), np.zeros(len(lattice.node), np.int64))


def pack_problem(problem: Problem, numbers: Sequence[int] | None = None, *, forced: bool = False) -> Packed:
    """A folded problem; `numbers` are the indices of its rules before folding, and forced rules may emit late."""
    numbers = range(len(problem.rules)) if numbers is None else numbers
    lattice, sources, tables, marks = problem.lattice, list[RuleMachine](), list[Integers](), 0
    for rule, number in zip(problem.rules, numbers, strict=True):
        marked = rule.once and len(rule.machines) > 1
        for source, index in machines_of(rule, number, lattice, late=forced and rule.forced):
            sources.append(source._replace(mark=marks) if marked else source)
            tables.append(index)
        marks += marked
    T = len(lattice.node)
    time_limits.check(limits.SECONDS_AN_ENTRY * T * len(sources))
    return _packed(lattice, sources, *distinct_rows(np.array(tables, np.int64).reshape(-1, T).T))


def _packed(lattice: Lattice, sources: Sequence[RuleMachine], which: Integers, classes: Integers) -> Packed:
    """Machines that read symbol tables by the class (T,) of each token."""
    machines = pack_machines(sources, which, lattice.states, lattice.shape[1])
    instance = Instance(lattice_scores(lattice), machines, tuple(sources))
    edges = np.append(0, lattice.step).astype(np.int64)
    return instance, Tokens(np.ascontiguousarray(lattice.node), edges, classes)


def reweighted(packed: Packed, problem: Problem) -> Packed:
    """A problem with the machines of a packed problem, but other scores and penalties of soft rules."""
    (before, tokens), lattice = packed, problem.lattice
    penalties = [rule.penalty for rule in problem.rules for _ in rule.machines]
    sources = tuple(s._replace(penalty=own) for s, own in zip(before.sources, penalties, strict=True))
    machines = with_penalties(before.machines, sources)
    instance = replace(before, scores=lattice_scores(lattice), machines=machines, sources=sources)
    return instance, tokens._replace(emission=np.ascontiguousarray(lattice.node))


def distinct_rows(rows: Integers) -> tuple[Integers, Integers]:
    """The distinct rows, in the order of first occurrence, and the index of each row in them."""
    numbers = dict[bytes, int]()
    which = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int64)
    return np.ascontiguousarray(rows[np.unique(which, return_index=True)[1]]), which


def machines_of(
    rule: GroundRule, place: int, lattice: Lattice, *, late: bool = False
) -> Iterator[tuple[RuleMachine, Integers]]:
    """The machines of a rule, and the index of the symbol table that each machine reads at each token (T,)."""
    alone = rule.once and len(rule.machines) < 2
    count = 0
    for p, component in enumerate(rule.components):
        time_limits.check()
        total = component if isinstance(component, Sum) and not rule.once else None
        for machine in component.machines or ():
            automaton = machine.automaton.once if alone else machine.automaton
            steps = lattice.on_states(machine.steps)
            automaton = automaton if late else automaton.early
            yield (
                RuleMachine((place, count), (place, p), steps.values, automaton, rule.penalty, total),
                steps.index,
            )
            count += 1


def joint_symbols(instance: Instance, classes: Integers) -> Symbols:
    """Joint symbols of each step for all machines together; most of them occur."""
    scores, every = instance.scores, np.arange(len(instance.machines.table))
    to = np.concatenate([[0], scores.base])[:, None] + np.arange(scores.labels)
    code, kinds = np.zeros((len(every), *to.shape), np.int64), 1
    read: list[Integers] = []
    for m, X in enumerate(instance.machines.layout[:, WIDTH].tolist()):
        steps = instance.steps(m, every)
        which = steps.values[steps.index]
        code = code * X + (which[:, 0][:, to] if which.shape[1] == 1 else which)
        read = [np.repeat(digits, X) for digits in read] + [np.tile(np.arange(X), kinds)]
        kinds *= X
        if kinds > limits.MOST_SYMBOLS:
            used = np.bincount(code.reshape(-1), minlength=kinds) > 0
            code, read = (np.cumsum(used) - 1)[code], [digits[used] for digits in read]
            kinds = int(used.sum())
    shape = len(instance.sources), kinds
    return Symbols(code.astype(np.int32), classes, np.array(read, np.int32).reshape(shape))
