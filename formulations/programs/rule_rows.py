"""Rows and σ columns of a compiled rule: a row for a sum or a local machine, a unit flow through the states of other machines."""

from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.circuit import Circuit
from formulations.automata.components import Agreement, Component
from formulations.automata.hamming import HammingDistance
from formulations.automata.machine import Machine
from formulations.automata.sums import Sum
from formulations.automata.windows import WindowCount
from formulations.dtypes import Integers
from formulations.problem.problem import GroundRule
from formulations.programs.builder import ProgramBuilder, on_edges, tokens_of_edges
from formulations.programs.circuit_rows import add_circuit
from formulations.programs.names import Owner

Emissions = tuple[
    Integers, Integers, Integers
]  # token, column and violations of each column that breaks a rule


@dataclass(frozen=True)
class _Part:
    """The owner of the rows of a component; `once` is whether the rule counts at most one violation."""

    of: Owner
    slack: int | None
    once: bool
    program: ProgramBuilder


def add_rule(rule: GroundRule, program: ProgramBuilder) -> None:
    """Add the columns and rows of a rule; each σ costs the rule's penalty, and a hard rule has no σ."""
    sums = (one.sums if isinstance(one, WindowCount) else (one,) for one in rule.components)
    components = [part for parts in sums for part in parts]
    owner, count = Owner(rule.name), len(components)
    once = program.sigma(owner, 1, rule.penalty) if rule.once else None
    for number, component in enumerate(components):
        of = owner.part(number, count)
        if isinstance(component, Circuit):
            add_circuit(component, rule, of, once, program)
            continue
        slack = once
        if not (rule.hard or rule.binary):
            slack = program.sigma(of, component.most, rule.penalty)
        _add_component(component, _Part(of, slack, rule.once, program))


def _add_component(component: Component, part: _Part) -> None:
    if isinstance(component, Sum):
        _sum(component, part)
    elif isinstance(component, Agreement):
        _emit(*_agreement(component, part), part)
    elif isinstance(component, HammingDistance) and not component.hard:
        _emit(*_hamming_distance(component, part), replace(part, once=False))
    elif isinstance(component, HammingDistance):
        for number, machine in enumerate(component.rule):
            _add_component(machine, replace(part, of=part.of.part(number, len(component.rule))))
    else:
        (machine,) = component.machines or ()
        backward = machine.automaton.backward
        if backward is not None:
            _emit(*_flow(Machine(machine.steps, backward), part, backward=True), part)
        else:
            _emit(*(_local(machine, part.program) if machine.is_local else _flow(machine, part)), part)


def _hamming_distance(component: HammingDistance, part: _Part) -> Emissions:
    """Add a second path, which keeps the rule; violations are the tokens at which the paths differ."""
    of, program, rows, columns = part.of, part.program, part.program.rows, part.program.columns
    if not component.possible:
        (constant,) = component.machines or ()
        return _flow(constant, part)
    class_of, members = component.classes
    T = component.length
    differs = columns.add(T, of.each("differ", "differ", range(T)))
    begin = rows.add(1, of.one("state", "repairs", 0, 0, token=0), lower=1, upper=1)
    arrived: dict[tuple[int, ...], int] = {component.start: int(begin[0])}
    for token in range(T):
        arcs = [(p, after) for p in arrived for after in component.repairs(token, p)]
        name = of.each("state", "repair", [token], range(len(arcs)))
        column = columns.add(len(arcs), name)
        program.put(np.array([arrived[p] for p, _ in arcs]), column)
        places = list(dict.fromkeys(after for _, after in arcs))
        if token < T - 1:
            name = of.each("state", "repairs", [token + 1], range(len(places)))
            following = rows.add(len(places), name, lower=0, upper=0)
            arrived = dict(zip(places, following.tolist(), strict=True))
            program.put(np.array([arrived[after] for _, after in arcs]), column, -1)
        agrees = rows.add(len(members), of.each("link", "link", [token], range(len(members))), lower=0)
        program.put(agrees, differs[token])
        program.put(agrees[[after[0] for _, after in arcs]], column)
        for c, of_class in enumerate(agrees.tolist()):
            program.put(of_class, program.indicator(token, (class_of == c)[None, :]), -1)
    return np.arange(T), differs, np.ones(T, np.int64)


def _sum(component: Sum, part: _Part) -> None:
    """low <= Σ weights <= high, each side relaxed by σ; if the rule counts once, the coefficient of σ is the largest excess."""
    program, (least, greatest) = part.program, component.reach
    sides: list[tuple[str, int, int]] = []
    if component.high is not None and greatest > component.high:
        sides.append(("high", component.high, greatest - component.high))
    if component.low is not None and least < component.low:
        sides.append(("low", component.low, component.low - least))
    if not sides:
        return
    at, weights = program.weighted_columns(component.steps)
    for which, side, excess in sides:
        name = part.of.one("rule", "rule", *((which,) if len(sides) > 1 else ()))
        row = program.rows.add(1, name, **{"upper" if which == "high" else "lower": side})
        program.put(row, at, weights)
        if part.slack is not None:
            program.put(row, part.slack, (-1 if which == "high" else 1) * (excess if part.once else 1))


def _local(machine: Machine, program: ProgramBuilder) -> Emissions:
    emits = machine.emits[0, on_edges(machine.steps, program.shape, program.states)]
    at = np.flatnonzero(emits)
    return tokens_of_edges(program.shape, program.states)[at], at, emits[at]


def _agreement(component: Agreement, part: _Part) -> Emissions:
    """Add d >= [token has the kind] - [previous token has the kind] for each token and kind."""
    program, kinds = part.program, range(component.kinds)
    tables = [(component.kind == f)[None, :] for f in kinds]
    has = np.array([[program.indicator(t, table) for table in tables] for t in component.tokens.tolist()])
    count, tokens = component.most, component.tokens[1:].tolist()
    differ = program.columns.add(count, part.of.each("differ", "differ", tokens))
    row = program.rows.add(count * len(kinds), part.of.each("link", "link", tokens, kinds), lower=0)
    row = row.reshape(count, -1)
    program.put(row, differ[:, None])
    program.put(row, has[1:], -1)
    program.put(row, has[:-1])
    return component.tokens[1:], differ, np.ones(count, np.int64)


def _flow(machine: Machine, part: _Part, *, backward: bool = False) -> Emissions:
    """Add w[t, q, s], 1 if the machine is in state q and reads symbol s at token t.

    Flow conservation in the states, and for all symbols except one: Σ_q w[t, q, s] = Σ of the edges with symbol s.
    """
    of, program, rows = part.of, part.program, part.program.rows
    T, (Q, S) = program.shape[0], machine.emits.shape
    read = range(T - 1, -1, -1) if backward else range(T)
    name = of.each("state", "state", range(T), range(Q), range(S))
    w = program.columns.add(T * Q * S, name).reshape(T, Q, S)
    in_order = w[::-1] if backward else w
    name, first = of.each("state", "flow", read, range(Q)), np.arange(T * Q) == 0
    state = rows.add(T * Q, name, lower=first, upper=first).reshape(T, Q)
    program.put(state[:, :, None], in_order)
    program.put(state[1:][:, machine.next_state], in_order[:-1], -1)
    symbol = on_edges(machine.steps, program.shape, program.states)
    common = int(np.bincount(symbol, minlength=S).argmax())
    linked = np.delete(np.arange(S), common)
    name = of.each("link", "link", range(T), linked.tolist())
    link = np.full((T, S), -1)
    link[:, linked] = rows.add(T * (S - 1), name, lower=0, upper=0).reshape(T, S - 1)
    program.put(link[:, None, linked], w[:, :, linked])
    at = np.flatnonzero(symbol != common)
    program.put(link[tokens_of_edges(program.shape, program.states)[at], symbol[at]], at, -1)
    emits = np.broadcast_to(machine.emits, (T, Q, S)).copy()
    emits[-1] += machine.final[machine.next_state]
    t, q, s = np.nonzero(emits)
    return (T - 1 - t if backward else t), in_order[t, q, s], emits[t, q, s]


def _emit(token: Integers, at: Integers, amount: Integers, part: _Part) -> None:
    """Add Σ violations <= σ, in one row; if the rule counts once, a row for each token."""
    if not len(at):
        return
    program, rows = part.program, part.program.rows
    if not part.once:
        row = rows.add(1, part.of.one("rule", "rule"), upper=0)
        program.put(row, at, amount)
    else:
        tokens, which = np.unique(token, return_inverse=True)
        row = rows.add(len(tokens), part.of.each("rule", "rule", tokens.tolist()), upper=0)
        program.put(row[which.reshape(-1)], at)
    if part.slack is not None:
        program.put(row, part.slack, -1)
