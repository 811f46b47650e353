"""Machines of a check, with costs as scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, HARD, Grid, add, violation_costs
from formulations.problem.problem import GroundRule
from ilpinfer.proof.edges import values_along
from ilpinfer.proof.meter import Meter


@dataclass(frozen=True)
class ScoredMachine:
    """A machine with the costs of its violations as scores.

    Parameters
    ----------
    steps : StepTable
        The symbol of each step.
    after, gain : ndarray of int or Grid of shape (Q, C)
        Next state and score of a state and a symbol.
    final : Grid
        (Q,) score after the last token.
    shared : int or None
        The rule, where it counts once for several machines, which then pay together.
    """

    steps: StepTable
    after: Integers
    gain: Grid
    final: Grid
    shared: int | None


def scored_machine(rules: Sequence[GroundRule], key: tuple[int, int], scale: int) -> ScoredMachine:
    """A machine with its costs as scores; if violations count once, its states include whether it has paid."""
    rule, machine = rules[key[0]], rules[key[0]].machines[key[1]]
    if rule.hard:
        gain, final = (-violation_costs(x, HARD) for x in (machine.emits, machine.final))
        return ScoredMachine(machine.steps, machine.next_state, gain, final, None)
    cost = -rule.penalty * scale
    if not rule.binary:
        return ScoredMachine(
            machine.steps, machine.next_state, cost * machine.emits, cost * machine.final, None
        )
    gain, final = cost * np.minimum(machine.emits, 1), cost * np.minimum(machine.final, 1)
    if len(rule.machines) > 1:
        return ScoredMachine(machine.steps, machine.next_state, gain, final, key[0])
    paid = machine.next_state + machine.states
    after = np.concatenate([np.where(machine.emits > 0, paid, machine.next_state), paid])
    return ScoredMachine(
        machine.steps, after, np.concatenate([gain, 0 * gain]), np.concatenate([final, 0 * final]), None
    )


def potentials(
    machine: ScoredMachine, lattice: Lattice, multiplier: tuple[StepTable, int] | None, meter: Meter
) -> list[Grid]:
    """For t = 0 to T, (Q,): the best future of a machine, the charges of its sum included."""
    if machine.shared is not None:
        return [0 * machine.final] * (len(lattice.node) + 1)
    best = [machine.final]
    for t in range(len(lattice.node) - 1, -1, -1):
        meter.spend(lattice.states * lattice.pool.shape[2] + machine.gain.size)
        meter.keep(len(machine.gain))
        symbol = values_along(machine.steps, t, lattice)
        weight = multiplier[1] * values_along(multiplier[0], t, lattice) if multiplier else 0
        most = np.full(machine.gain.shape[1], FORBIDDEN)
        np.maximum.at(most, symbol, np.broadcast_to(weight, symbol.shape))
        best.append(add(most, machine.gain, best[-1][machine.after]).max(axis=1))
    return best[::-1]
