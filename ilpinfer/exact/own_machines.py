"""Rules that look at the whole sequence: their machines are those of one sequence, and go beside the machines of compiled rules."""

from collections.abc import Mapping

import numpy as np

from formulations.automata.components import Window
from formulations.automata.machine import Machine
from formulations.grid import SPARE
from formulations.problem.folding import MACHINES
from formulations.problem.problem import GroundRule
from ilpinfer.core.explanation import Context
from ilpinfer.exact.calls import Call
from ilpinfer.exact.compiled import LARGE, Tables
from ilpinfer.kernels.counts import owners
from ilpinfer.kernels.handle import together
from ilpinfer.kernels.packing import PlainMachine, beside, pack_machines, windows_of


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
    return not rule.once and not rule.folds and all(isinstance(one, Machine) for one in rule.components)


def with_own_machines(
    tables: Tables, call: Call, n: int, rules: Mapping[int, GroundRule], time_limit: float | None
) -> Call | str:
    """A call for a sequence of another call, with the machines of rules of its own; or the reason why there is none."""
    at, entry, (scores, machines, counts) = call.place(n), call.entry, call.entry.parts
    tokens = call.tokens[at]
    T, K = len(tokens), len(tables.rules.labels)
    if not _fit(tables, T, rules):
        return LARGE
    own = [(place, n, machine) for place, rule in rules.items() for n, machine in enumerate(rule.machines)]
    plain = [PlainMachine(m.steps.values, m.automaton.early, rules[place].penalty) for place, _, m in own]
    classes = [tables.vocabulary.class_of(purpose, tokens) for purpose in range(3)]
    number = classes[MACHINES]
    for *_, machine in own:
        key = number * len(machine.steps.values) + machine.steps.index
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
    which = np.stack([machine.steps.index[first] for *_, machine in own], axis=1)
    machines = beside(machines, classes[MACHINES][first], pack_machines(plain, which, K, K, 0))
    keys = [*entry.keys, *(key[:2] for key in own)]
    windows = windows_of([*classes[:MACHINES], number])
    handle = together(windows, scores, machines, counts._replace(owner=owners(keys)))
    components = [*entry.components, *keys[len(entry.keys) :]]
    entry = entry._replace(handle=handle, keys=keys, components=components, own=tuple(rules))
    steps = call.steps[at] if len(call.steps) else call.steps
    order = np.arange(T)
    return Call(entry, [0, T], order, order, steps, call.emission[call.rows[at]], call.top, time_limit)
