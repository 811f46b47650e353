"""A problem as plain tables: scores with all that folds, and automata for the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.machine import Automaton, Machine
from formulations.errors import InferenceError
from formulations.grid import FORBIDDEN, Grid, is_forbidden
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.certificate import MachineKey

Plain = Mapping[str, Any]


class NoTables(InferenceError, ValueError):
    """A rule that no automaton of the allowed size counts, so that tables cannot state it."""


@dataclass(frozen=True)
class Tables:
    """A problem as plain values.

    Parameters
    ----------
    plain : the `tables` of a reference
    places : by rule and machine of the problem, the rule and machine of the tables
    components : likewise by rule and component, for components with one machine
    """

    plain: Plain
    places: Mapping[MachineKey, MachineKey]
    components: Mapping[MachineKey, MachineKey]


def plain_lattice(lattice: Lattice) -> dict[str, Any]:
    """Scores in grid units, None for what is forbidden."""
    return {"node": _plain(lattice.node), "pool": _plain(lattice.pool), "step": lattice.step.tolist()}


def lattice_of(plain: Plain) -> Lattice:
    """The lattice of plain scores.

    Raises
    ------
    ValueError
        for other values than those of `plain_lattice`.
    """

    def array(values: Any, dimensions: int) -> Grid:
        numbers = np.array(values, object)
        result: Grid = np.where(numbers == np.array(None), FORBIDDEN, numbers).astype(np.int64)
        if result.ndim != dimensions:
            raise ValueError(f"scores have {result.ndim} dimensions; expected {dimensions}")
        return result

    node = array(plain["node"], 2)
    pool = array(plain["pool"], 3) if plain["pool"] else np.zeros((0, 0, 0), np.int64)
    return Lattice(node, pool, np.array(plain["step"], np.int64))


def tables_of(problem: Problem) -> Tables:
    """The tables of a problem whose rules have not been folded.

    Raises
    ------
    NoTables
        for a rule that no automaton counts.
    """
    lattice = problem.fold().lattice
    automata: dict[int, int] = {}
    kept, plain_automata, rules = list[Automaton](), list[Any](), list[Any]()
    places: dict[MachineKey, MachineKey] = {}
    components: dict[MachineKey, MachineKey] = {}
    for number, rule in enumerate(problem.rules):
        if rule.folds:
            continue
        machines = _machines(rule)
        begin = 0
        for place, component in enumerate(rule.components):
            count = len(component.machines or ())
            if count == 1:
                components[number, place] = len(rules), begin
            begin += count
        for place, machine in enumerate(machines):
            places[number, place] = len(rules), place
            if id(machine.automaton) not in automata:
                automata[id(machine.automaton)] = len(kept)
                kept.append(machine.automaton)
                plain_automata.append(_automaton(machine.automaton))
        rules.append(
            {
                "name": rule.name,
                "penalty": None if rule.hard else rule.penalty,
                "once": rule.once and len(machines) > 1,
                "machines": [{"automaton": automata[id(m.automaton)], **_steps(m.steps)} for m in machines],
            }
        )
    plain = {
        "second": lattice.order == 2,
        **plain_lattice(lattice),
        "automata": plain_automata,
        "rules": rules,
    }
    return Tables(plain, places, components)


def _machines(rule: GroundRule) -> tuple[Machine, ...]:
    """The machines whose violations are the rule's."""
    if rule.machineless:
        raise NoTables(
            f'rule "{rule.name}" needs an automaton with too many states for a reference; leave it out, or split it'
        )
    machines = rule.machines
    return tuple(m.once for m in machines) if rule.once and len(machines) == 1 else machines


def _steps(steps: StepTable) -> dict[str, Any]:
    return {"values": steps.values.tolist(), "index": steps.index.tolist()}


def _automaton(automaton: Automaton) -> dict[str, Any]:
    return {
        "next": automaton.next_state.tolist(),
        "emits": automaton.emits.tolist(),
        "final": automaton.final.tolist(),
    }


def _plain(units: Grid) -> Any:
    forbidden = is_forbidden(units)
    if not forbidden.any():
        return units.tolist()
    values = units.astype(object)
    values[forbidden] = None
    return values.tolist()
