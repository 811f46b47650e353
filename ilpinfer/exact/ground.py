"""One sequence with its ground rules as arrays for kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import Lattice
from formulations.automata.sums import Sum
from formulations.dtypes import Booleans, Integers
from formulations.grid import HARD
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.kernels.counts import NO_COUNTS
from ilpinfer.kernels.joint_states import Symbols
from ilpinfer.kernels.native import Tables
from ilpinfer.kernels.packing import (
    PlainMachine,
    lattice_scores,
    pack_machines,
    room_of,
    with_penalties,
)
from ilpinfer.kernels.tables import Chain, Machines, Rules, Scores, Windows

NO_WINDOWS = Windows(
    np.zeros((0, 3, 3), np.int32), np.zeros(3, np.int64), np.zeros((3, 3), np.int64), np.zeros(0, np.int32)
)


@dataclass(frozen=True, eq=False)
class Ground:
    """A lattice of T tokens and S states, and the M machines of rules that do not fold."""

    lattice: Lattice
    scores: Scores
    machines: Machines
    classes: Integers
    which: Integers
    plain: tuple[PlainMachine, ...]
    keys: tuple[MachineKey, ...]
    components: tuple[MachineKey, ...]

    @cached_property
    def emission(self) -> Integers:
        """(T, S)"""
        return np.ascontiguousarray(self.lattice.node)

    def room(self) -> tuple[Integers, Integers]:
        """Room for completions and tails (T, W) of the backward recursion."""
        size = len(self.lattice.node), room_of(self.scores)
        return np.empty(size, np.int64), np.empty(size, np.int64)

    @cached_property
    def tables(self) -> Tables:
        """The arrays as one object."""
        return Tables(NO_WINDOWS, self.scores, self.machines, NO_COUNTS)

    @property
    def sequence(self) -> tuple[Integers, Integers, Integers]:
        """Emission, rows of the scores of steps, and classes for machines, as kernels read them."""
        return self.emission, self.classes[0], self.classes[1]

    @property
    def chain(self) -> Chain:
        """The scores for searches, without padding."""
        lattice = self.lattice
        return Chain(lattice.node, lattice.pool, lattice.step, lattice.base)

    @property
    def rules(self) -> Rules:
        """The machines for searches."""
        return Rules(self.machines, self.classes[1])

    @cached_property
    def sums(self) -> Booleans:
        """(M,) which machines are sums that may have a multiplier."""
        return np.asarray(self.machines.sums[:, 2] < self.machines.sums[:, 3])

    @cached_property
    def hard(self) -> Booleans:
        """(M,) which machines are of hard rules."""
        return np.asarray(self.machines.penalty == HARD)


def plain_ground(lattice: Lattice) -> Ground:
    """The arrays of a lattice without rules."""
    T, S = lattice.node.shape
    which = np.zeros((1, 0), np.int64)
    machines = pack_machines((), which, S, lattice.shape[1])
    classes = np.stack([np.append(0, lattice.step), np.zeros(T, np.int64)]).astype(np.int64)
    return Ground(lattice, lattice_scores(lattice), machines, classes, which, (), (), ())


def ground(problem: Problem, numbers: Sequence[int] | None = None, *, forced: bool = False) -> Ground:
    """The arrays of a folded problem; `numbers` are the places of its rules before, and forced rules may emit late."""
    numbers = range(len(problem.rules)) if numbers is None else numbers
    lattice, plain, tables = problem.lattice, list[PlainMachine](), list[Integers]()
    keys, components, marks = list[MachineKey](), list[MachineKey](), 0
    for rule, number in zip(problem.rules, numbers, strict=True):
        marked, late = rule.once and len(rule.machines) > 1, forced and rule.forced
        marks += marked
        for count, (p, machine, index) in enumerate(_plain(rule, marks - 1 if marked else -1, lattice, late)):
            plain.append(machine)
            tables.append(index)
            keys.append((number, count))
            components.append((number, p))
    T, S = lattice.node.shape
    time_limits.check(limits.SECONDS_AN_ENTRY * T * len(plain))
    which, classes = _distinct(np.array(tables, np.int64).reshape(-1, T).T)
    machines = pack_machines(plain, which, S, lattice.shape[1])
    both = np.stack([np.append(0, lattice.step), classes]).astype(np.int64)
    scores = lattice_scores(lattice)
    return Ground(lattice, scores, machines, both, which, tuple(plain), tuple(keys), tuple(components))


def reweighted(one: Ground, problem: Problem) -> Ground:
    """The arrays of a problem with the machines of another one, but other scores and penalties of soft rules."""
    lattice = problem.lattice
    penalties = [rule.penalty for rule in problem.rules for _ in rule.machines]
    plain = tuple(m._replace(penalty=penalty) for m, penalty in zip(one.plain, penalties, strict=True))
    scores, machines = lattice_scores(lattice), with_penalties(one.machines, plain)
    return replace(one, lattice=lattice, scores=scores, machines=machines, plain=plain)


def _distinct(rows: Integers) -> tuple[Integers, Integers]:
    """The different rows, in the order of their first ones, and which of them each row is."""
    numbers = dict[bytes, int]()
    which = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows])
    return np.ascontiguousarray(rows[np.unique(which, return_index=True)[1]]), which


def _plain(
    rule: GroundRule, mark: int, lattice: Lattice, late: bool
) -> list[tuple[int, PlainMachine, Integers]]:
    """The component of each machine of a rule, the machine, and which of its tables of symbols each token has (T,)."""
    result = []
    for p, component in enumerate(rule.components):
        time_limits.check()
        total = component if isinstance(component, Sum) and not rule.once else None
        for machine in component.machines or ():
            automaton = machine.automaton.once if rule.once and mark < 0 else machine.automaton
            steps = lattice.on_states(machine.steps)
            automaton = automaton if late else automaton.early
            plain = PlainMachine(steps.values, automaton, rule.penalty, total, mark)
            result.append((p, plain, steps.index))
    return result


def joint_symbols(one: Ground) -> Symbols:
    """Joint symbols of each step for all machines together; most of them occur."""
    lattice, classes = one.lattice, one.classes[1]
    B = lattice.shape[1]
    to = np.concatenate([[0], lattice.base])[:, None] + np.arange(B)
    code, kinds = np.zeros((len(one.which), *to.shape), np.int64), 1
    read: list[Integers] = []
    for m, machine in enumerate(one.plain):
        values, X = machine.symbols, machine.automaton.emits.shape[1]
        which = values[one.which[:, m]]
        code = code * X + (which[:, 0][:, to] if values.shape[1] == 1 else which)
        read = [np.repeat(digits, X) for digits in read] + [np.tile(np.arange(X), kinds)]
        kinds *= X
        if kinds > limits.MOST_SYMBOLS:
            used = np.bincount(code.reshape(-1), minlength=kinds) > 0
            code, read = (np.cumsum(used) - 1)[code], [digits[used] for digits in read]
            kinds = int(used.sum())
    shape = len(one.plain), kinds
    return Symbols(code.astype(np.int32), classes, np.array(read, np.int32).reshape(shape))
