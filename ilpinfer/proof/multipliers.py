"""The rules that a leaf names, and its multipliers on sums."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.sums import Sum
from formulations.grid import HARD, Grid, is_forbidden
from formulations.problem.problem import GroundRule
from ilpinfer.core.certificate import MachineKey
from ilpinfer.proof.meter import CheckFailure, whole_numbers

FINE = 2**10
"""Units of multipliers in a grid unit."""


@dataclass(frozen=True)
class Multiplier:
    """A multiplier on a sum.

    Parameters
    ----------
    rule : int
        Its place.
    component : Sum
        The sum.
    machine : MachineKey or None
        Its place among the machines named by a leaf, if it has one.
    value : int
        Fine units a unit of weight.
    constant : int or None
        Its term of the dual function, fine units; None where no labelling keeps a hard rule.
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
    machine = rule, first_machine(ground, place)
    return Multiplier(
        rule,
        component,
        machine if component.machines else None,
        value,
        _constant(component, value, ground.penalty),
    )


def _constant(component: Sum, value: int, penalty: int) -> int | None:
    """max over N of value · N less the cost of N, which is concave: at a side or at an end of the sum's reach."""
    low, high = component.reach
    sums = {
        low,
        high,
        *(side for side in (component.low, component.high) if side is not None and low <= side <= high),
    }
    kept = [total for total in sums if penalty != HARD or not component.away(total)]
    return max(
        (
            value * total - FINE * (penalty if penalty != HARD else 0) * component.away(total)
            for total in kept
        ),
        default=None,
    )


def largest(values: Grid) -> int:
    return int(np.where(is_forbidden(values), 0, np.abs(values)).max(initial=0))


def charges(multipliers: list[Multiplier], scale: int) -> list[StepTable]:
    return [
        StepTable(
            -(multiplier.value * scale // FINE) * multiplier.component.steps.values,
            multiplier.component.steps.index,
        )
        for multiplier in multipliers
    ]


def constants(multipliers: list[Multiplier], scale: int) -> int:
    return sum(multiplier.constant or 0 for multiplier in multipliers) * scale // FINE


def charge_of(multipliers: list[Multiplier], key: MachineKey, scale: int) -> tuple[StepTable, int] | None:
    result = [
        (multiplier.component.steps, multiplier.value * scale // FINE)
        for multiplier in multipliers
        if multiplier.machine == key
    ]
    return result[0] if result else None


def check_account(rules: Sequence[GroundRule], multipliers: list[Multiplier]) -> None:
    """Refuse a multiplier whose machine does not follow, as its cost would be missing in the account."""
    for multiplier in multipliers:
        if not rules[multiplier.rule].hard:
            raise CheckFailure(
                f"leaf: {rules[multiplier.rule].name!r} has a multiplier, but does not follow where account is kept"
            )
