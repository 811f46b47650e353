"""Plain tables of a problem: scores, which include the rules that fold, and automata of the other rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.automata.machine import Automaton, Machine
from formulations.errors import InferenceError
from formulations.grid import FORBIDDEN, Grid, is_forbidden, violation_costs
from formulations.problem.contexts import in_contexts
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.trees import MachineKey
from ilpinfer.references.form import check_scores

Plain = Mapping[str, Any]


class NoTables(InferenceError, ValueError):
    """Error for a rule whose automaton would have too many states for the tables of a reference."""


@dataclass(frozen=True)
class ReferenceTables:
    """The `tables` of a reference, and the numbers there of machines and of each component's first machine."""

    plain: Plain
    places: Mapping[MachineKey, int]
    components: Mapping[MachineKey, int]


def plain_lattice(lattice: Lattice) -> dict[str, Any]:
    """Scores in grid units, None for forbidden labels and steps."""
    return {"node": _plain(lattice.node), "pool": _plain(lattice.pool), "step": lattice.step.tolist()}


def lattice_of(plain: Plain, T: int, K: int, *, second: bool = False) -> Lattice:
    """The lattice of plain scores; ValueError for values that are not of the form for T tokens and K labels."""
    check_scores(plain, "scores", T, K, second)

    def array(values: Any, *shape: int) -> Grid:
        numbers = np.array(values, object).reshape(shape)
        result: Grid = np.where(numbers == np.array(None), FORBIDDEN, numbers).astype(np.int64)
        return result

    S = (K + 1) * K if second else K
    pool = array(plain["pool"], len(plain["pool"]), S, K)
    return Lattice(array(plain["node"], T, S), pool, np.array(plain["step"], np.int64))


def tables_of(problem: Problem) -> ReferenceTables:
    """The tables of a problem without folded rules, in the context of its hard rules; NoTables for a rule whose automaton is too large."""
    lattice, machines = problem.fold().lattice, list[Any]()
    places: dict[MachineKey, int] = {}
    components: dict[MachineKey, int] = {}
    for number, rule in enumerate(in_contexts(problem.rules)[0]):
        if rule.folds:
            continue
        if rule.machineless:
            why = "is a Python function" if rule.functions else "needs an automaton with too many states"
            raise NoTables(f'rule "{rule.name}" {why}, which a reference cannot hold; leave it out')
        begin = len(machines)
        for place, component in enumerate(rule.components):
            components[number, place] = len(machines)
            machines += _machines(rule, component.machines or (), number)
        places |= {(number, place): begin + place for place in range(len(machines) - begin)}
    return ReferenceTables(
        {"second": lattice.order == 2, **plain_lattice(lattice), "machines": machines}, places, components
    )


def _machines(rule: GroundRule, machines: Sequence[Machine], number: int) -> list[dict[str, Any]]:
    """The machines of a component as tables. Machines of a rule that counts at most once form a group."""
    alone = len(rule.machines) == 1
    group = number if rule.once and not alone else None
    machines = [machine.once for machine in machines] if rule.once and alone else machines
    return [
        {
            "rule": rule.name,
            "group": group,
            "values": machine.steps.values.tolist(),
            "table": machine.steps.index.tolist(),
            **_automaton(machine.automaton, rule.penalty, group is not None),
        }
        for machine in machines
    ]


def _automaton(automaton: Automaton, penalty: int, once: bool) -> dict[str, Any]:
    """Next states and costs; the last column is for the end."""
    counts = np.concatenate([automaton.emits, automaton.final[:, None]], axis=1)
    costs = -violation_costs(np.minimum(counts, 1) if once else counts, penalty)
    ends = np.arange(automaton.states)[:, None]
    moves = np.concatenate([automaton.next_state, ends], axis=1)
    return {"next": moves.tolist(), "cost": _plain(costs, -1)}


def _plain(units: Grid, sign: int = 1) -> Any:
    forbidden = is_forbidden(units)
    if not forbidden.any():
        return (sign * units).tolist()
    values = (sign * units).astype(object)
    values[forbidden] = None
    return values.tolist()
