"""The rules that a leaf names, and its multipliers on sums."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.sums import Sum
from formulations.grid import HARD, Grid, add, is_forbidden
from formulations.problem.problem import GroundRule
from ilpinfer.core.certificate import MachineKey
from ilpinfer.proof.meter import CheckFailure, Meter, whole_numbers
from ilpinfer.proof.scored_machines import ScoredMachine, scored_machine

FINE = 2**10
"""Units of multipliers in a grid unit."""


@dataclass(frozen=True)
class Multiplier:
    """A multiplier on a sum, in fine units, or in those of the leaf's bound.

    Parameters
    ----------
    rule : int
        Its place.
    component : Sum
        The sum.
    machine : MachineKey or None
        Its place among the machines named by a leaf, if it has one.
    value : int
        Score a unit of weight.
    constant : int or None
        Its term of the dual function: the largest of value · N less the cost of N, over the sums N of all labellings;
        None where no labelling keeps a hard rule.
    """

    rule: int
    component: Sum
    machine: MachineKey | None
    value: int
    constant: int | None


def first_machine(rule: GroundRule, component: int) -> int:
    """The place of a component's first machine among the rule's."""
    return sum(len(before.machines or ()) for before in rule.components[:component])


def is_shared(rule: GroundRule) -> bool:
    """Whether it counts once for several machines."""
    return rule.once and len(rule.machines) > 1


def key_of(rules: Sequence[GroundRule], key: Any, what: str) -> MachineKey:
    """The key of a rule's component or machine, which must exist."""
    if not isinstance(key, tuple) or len(key) != 2:
        raise CheckFailure(f"leaf: {key!r} is not a pair of a rule and one of its {what}")
    (rule,) = whole_numbers(key[:1], len(rules), "rule")
    if rules[rule].folds:
        raise CheckFailure(f"leaf: {rules[rule].name!r} has folded into the scores, and has no {what} left")
    (place,) = whole_numbers(
        key[1:], len(getattr(rules[rule], what)), f"place among the {what} of {rules[rule].name!r}"
    )
    return rule, place


def read_multiplier(rules: Sequence[GroundRule], key: Any, value: Any) -> Multiplier:
    """A checked multiplier; 0 for a rule whose penalty is 0."""
    rule, place = key_of(rules, key, "components")
    ground, component = rules[rule], rules[rule].components[place]
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise CheckFailure(f"leaf: the multiplier of {ground.name!r} is {value!r}, which is no whole number")
    if not isinstance(component, Sum) or ground.once:
        raise CheckFailure(
            f"leaf: {ground.name!r} has a multiplier, but is no sum whose violations count singly"
        )
    value = int(value) if ground.penalty != 0 else 0
    if (value > 0 and component.high is None) or (value < 0 and component.low is None):
        raise CheckFailure(
            f"leaf: the multiplier of {ground.name!r} is {value}: the wrong sign, as that side is open"
        )
    if abs(value) > FINE * ground.penalty:
        raise CheckFailure(f"leaf: the multiplier of {ground.name!r} is {value}, more than the penalty")
    machine = (rule, first_machine(ground, place)) if component.machines else None
    return Multiplier(rule, component, machine, value, 0)


def with_constant(
    multiplier: Multiplier, rules: Sequence[GroundRule], scale: int, meter: Meter
) -> Multiplier:
    """The multiplier and its constant, in units of which a grid unit has `scale`."""
    value = multiplier.value * scale // FINE
    if multiplier.machine is None:
        constant = _corner(multiplier.component, value, scale * rules[multiplier.rule].penalty)
    else:
        machine = scored_machine(rules, multiplier.machine, scale)
        constant = _best_future(multiplier.component, value, machine, meter)
    return replace(multiplier, value=value, constant=constant)


def _best_future(component: Sum, value: int, machine: ScoredMachine, meter: Meter) -> int | None:
    """The largest gain of a sum's machine with `value` added for each unit of weight; None where all are forbidden."""
    steps, weights = machine.steps, component.weights
    symbols = [np.unique(values) for values in steps.values]
    best, settled = machine.final, -1
    for place in steps.index[::-1].tolist():
        if place == settled:
            continue
        read = symbols[place]
        meter.spend(len(best) * len(read))
        gain = add(machine.gain[:, read], value * weights[read])
        before = add(gain, best[machine.after[:, read]]).max(axis=1)
        settled = place if np.array_equal(before, best) else -1
        best = before
    return None if is_forbidden(best[0]) else int(best[0])


def _corner(component: Sum, value: int, penalty: int) -> int | None:
    """The constant of a sum that is too large for a machine: at a corner of the cost, which is convex in the sum."""
    low, high = component.reach
    sides = [side for side in (component.low, component.high) if side is not None and low <= side <= high]
    kept = [total for total in (low, high, *sides) if penalty < HARD or not component.away(total)]
    return max((value * total - penalty * component.away(total) for total in kept), default=None)


def largest(values: Grid) -> int:
    return int(np.where(is_forbidden(values), 0, np.abs(values)).max(initial=0))


def charges(multipliers: list[Multiplier]) -> list[StepTable]:
    return [
        StepTable(-multiplier.value * multiplier.component.steps.values, multiplier.component.steps.index)
        for multiplier in multipliers
    ]


def constants(multipliers: list[Multiplier]) -> int:
    return sum(multiplier.constant or 0 for multiplier in multipliers)


def charge_of(multipliers: list[Multiplier], key: MachineKey) -> tuple[StepTable, int] | None:
    for multiplier in multipliers:
        if multiplier.machine == key:
            return multiplier.component.steps, multiplier.value
    return None


def check_account(rules: Sequence[GroundRule], multipliers: list[Multiplier]) -> None:
    """Refuse a multiplier whose machine does not follow, as its cost would be missing in the account."""
    for multiplier in multipliers:
        if not rules[multiplier.rule].hard:
            raise CheckFailure(
                f"leaf: {rules[multiplier.rule].name!r} has a multiplier, but does not follow where account is kept"
            )
