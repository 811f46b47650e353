"""Rows and σ columns of a compiled rule.

A sum is one row; a local machine one row, or one a token where the rule counts at most once; tokens that agree a column
for each pair; any other machine a unit flow through its states, linked to the path by the symbols that the path's edges carry; a circuit a
column for each gate.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from formulations.automata.agreement import Agreement
from formulations.automata.circuit import Circuit
from formulations.automata.component import Component
from formulations.automata.hamming import HammingDistance
from formulations.automata.machine import Machine
from formulations.automata.sums import Sum
from formulations.dtypes import Integers
from formulations.problem.problem import GroundRule
from formulations.programs.builder import ProgramBuilder, on_edges, tokens_of_edges
from formulations.programs.circuit_rows import add_circuit
from formulations.programs.names import Meaning, Owner


def add_rule(rule: GroundRule, program: ProgramBuilder) -> None:
    """Add the columns and rows of a rule; each σ costs the rule's penalty, and a hard rule has no σ."""
    owner, count, once = Owner(rule.name), len(rule.components), None
    if rule.once:
        once = program.columns.add(np.ones(1, np.int64), owner.one("sigma", "sigma"), cost=rule.penalty)[0]
    for number, component in enumerate(rule.components):
        of = owner.part(number, count)
        if isinstance(component, Circuit):
            add_circuit(component, rule, of, once, program)
            continue
        slack = once
        if not (rule.hard or rule.binary):
            name = of.one("sigma", "sigma")
            slack = program.columns.add(np.array([component.most]), name, cost=rule.penalty)[0]
        _add_component(component, of, slack, rule.once, program)


def _add_component(
    component: Component, of: Owner, slack: int | None, once: bool, program: ProgramBuilder
) -> None:
    if isinstance(component, Sum):
        _sum(component, of, slack, once, program)
        return
    if isinstance(component, Agreement):
        _emit(*_agreement(component, of, program), of, slack, once, program)
        return
    if isinstance(component, HammingDistance):
        if component.hard:
            for number, machine in enumerate(component.rule):
                _add_component(machine, of.part(number, len(component.rule)), slack, once, program)
        else:
            _hamming_distance(component, of, slack, program)
        return
    (machine,) = component.machines or ()
    if machine.backward is not None:
        _emit(*_flow(machine.backward, of, program, backward=True), of, slack, once, program)
    elif machine.is_local:
        _emit(*_local(machine, program), of, slack, once, program)
    else:
        _emit(*_flow(machine, of, program), of, slack, once, program)


def _hamming_distance(
    component: HammingDistance, of: Owner, slack: int | None, program: ProgramBuilder
) -> None:
    """A second path, which keeps the rule, and σ >= the number of tokens at which the two differ."""
    rows, columns = program.rows, program.columns
    if not component.possible:
        (constant,) = component.machines or ()
        _emit(*_flow(constant, of, program), of, slack, False, program)
        return
    class_of, members = component.classes
    differs = columns.add(np.ones(component.length, np.int64), partial(_by_token, of, component.length))
    begin = rows.add(1, of.one("state", "repairs", 0, 0, token=0), 1, 1)
    arrived: dict[tuple[int, ...], int] = {component.repairs.start: int(begin[0])}
    for token in range(component.length):
        arcs = [(p, after) for p in arrived for after in component.repairs.after(token, p)]
        column = columns.add(
            np.ones(len(arcs), np.int64), partial(_items, of, "state", "repair", token, len(arcs))
        )
        rows.put(np.array([arrived[p] for p, _ in arcs]), column)
        places = list(dict.fromkeys(after for _, after in arcs))
        if token < component.length - 1:
            names = partial(_items, of, "state", "repairs", token + 1, len(places))
            arrived = dict(zip(places, rows.add(len(places), names, 0, 0).tolist(), strict=True))
            rows.put(np.array([arrived[after] for _, after in arcs]), column, -1)
        agrees = rows.add(len(members), partial(_items, of, "link", "link", token, len(members)), lower=0)
        rows.put(agrees, differs[token])
        rows.put(agrees[[after[0] for _, after in arcs]], column)
        for c, of_class in enumerate(agrees.tolist()):
            rows.put(of_class, program.indicator(token, (class_of == c)[None, :]), -1)
    row = rows.add(1, of.one("rule", "rule"), upper=0)
    rows.put(row, differs)
    if slack is not None:
        rows.put(row, slack, -1)


def _sum(component: Sum, of: Owner, slack: int | None, once: bool, program: ProgramBuilder) -> None:
    """low <= Σ weights <= high, each side relaxed by σ; where the rule counts once, σ weighs the largest excess."""
    rows, (least, greatest) = program.rows, component.reach
    sides = [
        (component.high is not None and greatest > component.high, 1),
        (component.low is not None and least < component.low, -1),
    ]
    if not any(needed for needed, _ in sides):
        return
    at, weights = program.weighted_columns(component.steps)
    for needed, sign in sides:
        if not needed:
            continue
        side = component.high if sign > 0 else component.low
        assert side is not None
        which = ("high" if sign > 0 else "low",) if all(needed for needed, _ in sides) else ()
        name = of.one("rule", "rule", *which)
        row = rows.add(1, name, upper=side) if sign > 0 else rows.add(1, name, lower=side)
        rows.put(row, at, weights)
        if slack is not None:
            excess = greatest - side if sign > 0 else side - least
            rows.put(row, slack, -sign * (excess if once else 1))


def _local(machine: Machine, program: ProgramBuilder) -> tuple[Integers, Integers, Integers]:
    """Token, column and violations of each edge that breaks the rule."""
    emits = machine.emits[0, on_edges(machine.steps, program.shape, program.states)]
    at = np.flatnonzero(emits)
    return tokens_of_edges(program.shape, program.states)[at], at, emits[at]


def _agreement(
    component: Agreement, of: Owner, program: ProgramBuilder
) -> tuple[Integers, Integers, Integers]:
    """Add d, 1 where a token and the one before it differ: for each kind, d >= [it has the kind] - [the other has it].

    Returns token, column and violations of each d.
    """
    rows, kinds = program.rows, np.arange(component.kinds)
    has = np.array(
        [
            [program.indicator(t, (component.kind == f)[None, :]) for f in kinds]
            for t in component.tokens.tolist()
        ]
    )
    tokens = component.tokens[1:].tolist()

    def columns() -> Iterator[Meaning]:
        return (of.means("differ", "differ", t, token=t) for t in tokens)

    def links() -> Iterator[Meaning]:
        return (of.means("link", "link", t, f, token=t) for t in tokens for f in range(len(kinds)))

    differ = program.columns.add(np.ones(component.most, np.int64), columns)
    row = rows.add(component.most * len(kinds), links, lower=0).reshape(component.most, -1)
    rows.put(row, differ[:, None])
    rows.put(row, has[1:], -1)
    rows.put(row, has[:-1])
    return component.tokens[1:], differ, np.ones(component.most, np.int64)


def _flow(
    machine: Machine, of: Owner, program: ProgramBuilder, *, backward: bool = False
) -> tuple[Integers, Integers, Integers]:
    """Add w[t, q, s], 1 where the machine is in state q and reads symbol s at token t.

    Flow through the states, and for each symbol but one: Σ_q w[t, q, s] = Σ of the edges that carry s.
    Returns token, column and violations of each w that emits; those at the end count for the last token read.
    """
    rows, shape = program.rows, program.shape
    T, (Q, S) = shape[0], machine.emits.shape
    read = range(T - 1, -1, -1) if backward else range(T)

    def columns() -> Iterator[Meaning]:
        return (
            of.means("state", "state", t, q, s, token=t) for t in range(T) for q in range(Q) for s in range(S)
        )

    def states() -> Iterator[Meaning]:
        return (of.means("state", "flow", t, q, token=t) for t in read for q in range(Q))

    def links() -> Iterator[Meaning]:
        return (of.means("link", "link", t, s, token=t) for t in range(T) for s in linked.tolist())

    w = program.columns.add(np.ones(T * Q * S, np.int64), columns).reshape(T, Q, S)
    in_order = w[::-1] if backward else w
    state = rows.add(T * Q, states, 0, 0).reshape(T, Q)
    rows.put(state[:, :, None], in_order)
    rows.put(state[1:][:, machine.next_state], in_order[:-1], -1)
    rows.lower[-1] = rows.upper[-1] = (np.arange(T * Q) == 0).astype(np.int64)
    symbol = on_edges(machine.steps, shape, program.states)
    common = int(np.bincount(symbol, minlength=S).argmax())
    linked = np.delete(np.arange(S), common)
    link = np.full((T, S), -1)
    link[:, linked] = rows.add(T * (S - 1), links, 0, 0).reshape(T, S - 1)
    rows.put(link[:, None, linked], w[:, :, linked])
    at = np.flatnonzero(symbol != common)
    rows.put(link[tokens_of_edges(shape, program.states)[at], symbol[at]], at, -1)
    emits = np.broadcast_to(machine.emits, (T, Q, S)).copy()
    emits[-1] += machine.final[machine.next_state]
    t, q, s = np.nonzero(emits)
    return (T - 1 - t if backward else t), in_order[t, q, s], emits[t, q, s]


def _emit(
    token: Integers,
    at: Integers,
    amount: Integers,
    of: Owner,
    slack: int | None,
    once: bool,
    program: ProgramBuilder,
) -> None:
    """Σ violations <= σ, in one row; or, where the rule counts once, a row for each token."""
    if not len(at):
        return
    rows = program.rows
    if not once:
        row = rows.add(1, of.one("rule", "rule"), upper=0)
        rows.put(row, at, amount)
    else:
        tokens, which = np.unique(token, return_inverse=True)
        row = rows.add(
            len(tokens),
            lambda: (of.means("rule", "rule", t, token=t) for t in tokens.tolist()),
            upper=0,
        )
        rows.put(row[which.reshape(-1)], at)
    if slack is not None:
        rows.put(row, slack, -1)


def _by_token(of: Owner, count: int) -> Iterator[Meaning]:
    return (of.means("differ", "differ", t, token=t) for t in range(count))


def _items(of: Owner, kind: str, word: str, token: int, count: int) -> Iterator[Meaning]:
    """Numbered columns or rows at one token."""
    return (of.means(kind, word, token, number, token=token) for number in range(count))
