"""Rules on the whole sequence: their machines are made per sequence and added to the machines of compiled rules."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from formulations.automata.components import Window
from formulations.automata.lattice import Lattice
from formulations.automata.machine import Machine
from formulations.automata.windows import WindowCount
from formulations.dtypes import Integers
from formulations.grid import SPARE
from formulations.problem.problem import GroundRule
from ilpinfer.core.context import Context
from ilpinfer.exact.calls import Call
from ilpinfer.exact.compiled import LARGE, RuleTables
from ilpinfer.exact.ground import distinct_rows, machines_of
from ilpinfer.kernels.packing import pack_beside
from ilpinfer.kernels.tables import MACHINES, Windows


def left_out(tables: RuleTables, call: Call, context: Context) -> dict[int, GroundRule]:
    """The rules of a sequence that the tables of a call leave out, by index."""
    held = {place for place, _ in call.instance.keys}
    rules = {p: tables.rules.rules[p] for p in tables.folding.excluded if p not in held}
    if all(rule.stands_alone for rule in rules.values()):
        window = Window(context.trellis.tokens)
        ground = {place: rule.ground(window, ()) for place, rule in rules.items()}
        if _fit(tables, len(window.tokens), ground):
            return ground
    every = context.problem.rules
    return {place: every[place] for place in rules}


def _fit(tables: RuleTables, T: int, rules: Mapping[int, GroundRule]) -> bool:
    """Whether sums of scores and of these penalties need no check."""
    return T * tables.weight + sum(rule.finite_penalty * rule.most for rule in rules.values()) <= SPARE


def has_own_machines(rule: GroundRule) -> bool:
    """Whether the rule's machines can be added to others. Sums, circuits and lists of equal tokens have better methods."""
    return (
        not rule.once
        and not rule.folds
        and all(isinstance(one, Machine | WindowCount) for one in rule.components)
    )


def with_own_machines(
    tables: RuleTables,
    call: Call,
    n: int,
    lattice: Lattice,
    rules: Mapping[int, GroundRule],
    time_limit: float | None,
) -> Call | str:
    """A call for a sequence of another call, with added machines of whole-sequence rules; or the reason why there is none."""
    at, known, classes = call.place(n), call.instance, call.classes(n)
    T = at.stop - at.start
    if not _fit(tables, T, rules):
        return LARGE
    own = [pair for place, rule in rules.items() for pair in machines_of(rule, place, lattice)]
    sources = tuple(source for source, _ in own)
    read = np.stack([classes[MACHINES], *(index for _, index in own)], axis=1)
    which, classes[MACHINES] = distinct_rows(read)
    owner = np.append(known.counts.owner, np.array([s.key[0] for s in sources], np.int32))
    instance = replace(
        known,
        machines=pack_beside(known.machines, sources, which, lattice.states),
        sources=known.sources + sources,
        windows=_windows(classes),
        counts=known.counts._replace(owner=owner),
    )
    steps, order = call.steps[at] if len(call.steps) else call.steps, np.arange(T)
    return Call(instance, [0, T], order, order, steps, call.emission[call.rows[at]], call.top, time_limit)


def _windows(classes: Integers) -> Windows:
    """The windows of tokens numbered from 0 with classes (3, T)."""
    numbers, shape = np.zeros((classes.shape[1], 3, 3), np.int32), np.ones((3, 3), np.int64)
    numbers[:, :, 1] = classes.T + 1
    shape[:, 1] = classes.max(axis=1, initial=-1) + 2
    return Windows(numbers, np.zeros(3, np.int64), shape, np.arange(-1, shape.max() - 1, dtype=np.int32))
