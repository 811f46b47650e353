"""Machines of rules that do not fold, with the costs of their violations."""

from collections.abc import Sequence
from dataclasses import dataclass

from formulations.automata.lattice import Lattice
from formulations.automata.machine import Machine
from formulations.automata.sums import Sum
from formulations.dtypes import Integers
from formulations.grid import HARD, violation_costs
from formulations.problem.problem import GroundRule
from ilpinfer.core.certificate import MachineKey
from ilpinfer.kernels.packed import Packed, pack_machines

_LARGEST = 2**56
"""The largest total of a hard rule's multiplier, grid units."""


@dataclass(frozen=True, eq=False)
class RuleMachine(Machine):
    """A machine of a rule, with the costs of its violations.

    It emits each violation as early as it is certain, and once only where the rule counts at most once.

    Parameters
    ----------
    key : MachineKey
        The rule among those before folding, and the machine among the rule's.
    component : MachineKey
        The rule, and the component among the rule's.
    penalty : int
        Grid units a violation; `HARD` for a hard rule.
    shared : bool, default False
        Whether the rule counts at most once over several machines.
    total : Sum, optional
        The sum that the machine counts, where its violations count singly.
    """

    key: MachineKey
    component: MachineKey
    penalty: int
    shared: bool = False
    total: Sum | None = None

    @property
    def hard(self) -> bool:
        """Whether no labelling may break the rule."""
        return self.penalty == HARD

    @property
    def cost(self) -> Integers:
        """(Q, X) grid units for reading each symbol."""
        return violation_costs(self.emits, self.penalty)

    @property
    def final_cost(self) -> Integers:
        """(Q,) grid units at the end."""
        return violation_costs(self.final, self.penalty)

    @property
    def multipliers(self) -> tuple[int, int]:
        """The least and the greatest multiplier of its sum, grid units a unit of weight."""
        assert self.total is not None
        weight = max(1, *(abs(side) for side in self.total.reach))
        most = _LARGEST // weight if self.hard else self.penalty
        return (0 if self.total.low is None else -most), (0 if self.total.high is None else most)


def rule_machines(rule: GroundRule, number: int) -> list[list[RuleMachine]]:
    """The machines of each of a rule's components.

    Parameters
    ----------
    number : int
        The place of the rule among those before folding.
    """
    shared = rule.once and len(rule.machines) > 1
    result: list[list[RuleMachine]] = []
    count = 0
    for p, component in enumerate(rule.components):
        group = []
        for machine in component.machines or ():
            early = (machine.once if rule.once and not shared else machine).early
            total = component if isinstance(component, Sum) and not rule.once else None
            key = number, count
            group.append(
                RuleMachine(early.steps, early.automaton, key, (number, p), rule.penalty, shared, total)
            )
            count += 1
        result.append(group)
    return result


def pack_rule_machines(machines: Sequence[RuleMachine], lattice: Lattice) -> Packed:
    """Flat arrays of the machines, for kernels."""
    once = [machine.key[0] if machine.shared else None for machine in machines]
    return pack_machines(machines, [machine.penalty for machine in machines], once, lattice)
