"""Rules that look at the whole sequence: their machines are those of one sequence, and go beside the machines of compiled rules."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.automata.components import Window
from formulations.automata.machine import Machine
from formulations.automata.windows import WindowCount
from formulations.dtypes import Integers
from formulations.grid import SPARE, violation_costs
from formulations.problem.problem import GroundRule
from ilpinfer.core.explanation import Context
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact.calls import Call
from ilpinfer.exact.compiled import LARGE, Tables
from ilpinfer.kernels.native import Tables as KernelTables
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.packing import OPEN
from ilpinfer.kernels.tables import MACHINES, Machines, Windows


def left_out(tables: Tables, call: Call, context: Context) -> dict[int, GroundRule]:
    """The rules that the tables of a call leave out, by their places, on a sequence."""
    rules = {p: tables.rules.rules[p] for p in tables.folding.excluded if p not in call.entry.own}
    if all(rule.stands_alone for rule in rules.values()):
        window = Window(context.trellis.tokens)
        ground = {place: rule.ground(window, ()) for place, rule in rules.items()}
        if _fit(tables, len(window.tokens), ground):
            return ground
    every = context.problem.rules
    return {place: every[place] for place in rules}


def _fit(tables: Tables, T: int, rules: Mapping[int, GroundRule]) -> bool:
    """Whether sums of scores and of these penalties need no check."""
    return T * tables.weight + sum(rule.finite_penalty * rule.most for rule in rules.values()) <= SPARE


def has_own_machines(rule: GroundRule) -> bool:
    """Whether its machines can go beside others. Sums, circuits, and lists of equal tokens have better ways."""
    return (
        not rule.once
        and not rule.folds
        and all(isinstance(one, Machine | WindowCount) for one in rule.components)
    )


def with_own_machines(
    tables: Tables, call: Call, n: int, rules: Mapping[int, GroundRule], time_limit: float | None
) -> Call | str:
    """A call for a sequence of another call, with the machines of rules of its own; or the reason why there is none."""
    at, entry, keys = call.place(n), call.entry, list[MachineKey]()
    T = at.stop - at.start
    if not _fit(tables, T, rules):
        return LARGE
    shared, classes = entry.handle, np.empty((3, T), np.int64)
    kernels.classify(shared, call.tokens[at], classes)
    scores, machines, counts = entry.parts
    for place, rule in rules.items():
        for number, machine in enumerate(rule.machines):
            machines = _beside(machines, classes[MACHINES], machine, rule.penalty)
            counts = counts._replace(owner=np.append(counts.owner, np.int32(place)))
            keys.append((place, number))
    parts = scores, machines, counts
    handle = KernelTables(_windows(classes), *parts)
    every, components = entry.keys + keys, entry.components + keys
    entry = entry._replace(handle=handle, parts=parts, keys=every, components=components, own=tuple(rules))
    steps, order = call.steps[at] if len(call.steps) else call.steps, np.arange(T)
    return Call(entry, [0, T], order, order, steps, call.emission[call.rows[at]], call.top, time_limit)


def _beside(machines: Machines, classes: Integers, machine: Machine, penalty: int) -> Machines:
    """The machines and one more, which is no sum and has no mark; without events. Its tables of symbols are by token.

    Known classes (T,) become numbers of the pairs of a class and a table of symbols.
    """
    automaton, symbols = machine.automaton.early, machine.steps.values
    _, before, K = symbols.shape
    known = np.flatnonzero(classes >= 0)
    pairs, number = np.unique(
        np.stack([classes[known], machine.steps.index[known]]), axis=1, return_inverse=True
    )
    table = np.empty((pairs.shape[1], len(machines.mark) + 1), np.int64)
    table[:, :-1], table[:, -1] = machines.table[pairs[0]], len(machines.symbols) + pairs[1] * before * K
    classes[known] = number.reshape(-1)
    sizes = (
        *(len(machines.cost), automaton.emits.shape[1], K if before > 1 else 0),
        *(len(machines.final), len(automaton.final), len(machines.weight)),
    )
    added = Machines(
        symbols=symbols.astype(np.int16).reshape(-1),
        table=machines.table[:0],
        layout=np.array([sizes]),
        next_state=automaton.next_state.astype(np.int32).reshape(-1),
        cost=violation_costs(automaton.emits.reshape(-1), penalty),
        final=violation_costs(automaton.final, penalty),
        begin=np.zeros(0, np.int32),
        event=np.zeros((0, 2), np.int16),
        owing=np.full(int(automaton.final[0] > 0), len(machines.mark)),
        weight=np.zeros(automaton.emits.shape[1], np.int64),
        sums=np.array([[-OPEN, OPEN, 0, 0]]),
        charged=np.zeros(1, bool),
        mark=np.full(1, -1),
        penalty=np.full(1, penalty),
        violations=automaton.emits.reshape(-1),
        last=automaton.final,
    )
    pairs_of_arrays: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(machines, added, strict=True)
    joined = (np.concatenate([old, np.asarray(new, old.dtype)]) for old, new in pairs_of_arrays)
    return Machines(*joined)._replace(table=table, begin=np.zeros(1, np.int32), event=added.event)


def _windows(classes: Integers) -> Windows:
    """The windows of tokens that are numbered from 0 on and have classes (3, T)."""
    numbers, shape = np.zeros((classes.shape[1], 3, 3), np.int32), np.ones((3, 3), np.int64)
    numbers[:, :, 1] = classes.T + 1
    shape[:, 1] = classes.max(axis=1, initial=-1) + 2
    return Windows(numbers, np.zeros(3, np.int64), shape, np.arange(-1, shape.max() - 1, dtype=np.int32))
