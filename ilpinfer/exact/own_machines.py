"""Rules that look at the whole sequence: their machines are those of one sequence, and go beside the machines of compiled rules."""

from collections.abc import Mapping

import numpy as np

from formulations.automata.components import Window
from formulations.automata.machine import Machine
from formulations.automata.windows import WindowCount
from formulations.grid import SPARE
from formulations.problem.problem import GroundRule
from ilpinfer.core.explanation import Context
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact.calls import Call
from ilpinfer.exact.compiled import LARGE, Tables
from ilpinfer.kernels.beside import beside


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
    tokens, handle = call.tokens[at], entry.handle
    T = len(tokens)
    if not _fit(tables, T, rules):
        return LARGE
    order = np.arange(T)
    for place, rule in rules.items():
        for number, machine in enumerate(rule.machines):
            automaton, symbols = machine.automaton.early, machine.steps.values
            _, before, K = symbols.shape
            shape = before * K, K if before > 1 else 0, automaton.emits.shape[1]
            arrays = symbols, machine.steps.index, automaton.next_state, automaton.emits, automaton.final
            flat = [np.array(array, np.int64).reshape(-1) for array in arrays]
            handle = beside(handle, tokens, *flat, shape, rule.penalty, place)
            tokens = order
            keys.append((place, number))
    every, components = entry.keys + keys, entry.components + keys
    entry = entry._replace(handle=handle, keys=every, components=components, own=tuple(rules))
    steps = call.steps[at] if len(call.steps) else call.steps
    return Call(entry, [0, T], tokens, order, steps, call.emission[call.rows[at]], call.top, time_limit)
