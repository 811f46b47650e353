"""Rules in the context of hard rules: machines are reduced to the states that differ on labellings that keep the hard rules."""

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from formulations import time_limits
from formulations.automata.components import Component
from formulations.automata.contexts import MOST_CONTEXT, in_context
from formulations.automata.hamming import label_classes
from formulations.automata.machine import Machine
from formulations.automata.sums import Sum
from formulations.problem.problem import GroundRule


def in_contexts(
    rules: Sequence[GroundRule], places: Container[int] | None = None
) -> tuple[tuple[GroundRule, ...], frozenset[Machine]]:
    """The rules, with smaller machines in the context of hard rules (only at `places`, if given); and the machines that were used as contexts."""
    contexts = [
        (machine, _told_apart(machine))
        for rule in rules
        if rule.hard and not rule.folds
        for component in rule.components
        if _is_small(component)
        for machine in component.machines or ()
        if 1 < machine.states <= MOST_CONTEXT
    ]
    used, result = set[Machine](), list[GroundRule]()
    for place, rule in enumerate(rules):
        skipped = places is not None and place not in places
        if skipped or rule.folds or rule.once or not contexts:
            result.append(rule)
            continue
        components = tuple(_smaller(component, contexts, used) for component in rule.components)
        same = all(one is other for one, other in zip(components, rule.components, strict=True))
        result.append(rule if same else replace(rule, components=components))
    return tuple(result), frozenset(used)


def _smaller(
    component: Component, contexts: Sequence[tuple[Machine, frozenset[int]]], used: set[Machine]
) -> Component:
    if not isinstance(component, Machine) or component.is_local:
        return component
    labels = _told_apart(component)
    for context, others in contexts:
        if context is not component and not labels.isdisjoint(others):
            made = in_context(component, context)
            if made is not None:
                component = made
                used.add(context)
    return component


def _is_small(component: Component) -> bool:
    """Whether a component may be a context: a machine, or a sum with small sides, since larger machines take long to build."""
    if not isinstance(component, Sum):
        return isinstance(component, Machine)
    return all(side is None or abs(side) < MOST_CONTEXT for side in (component.low, component.high))


def _told_apart(machine: Machine) -> frozenset[int]:
    """Labels outside the machine's largest label class; OutOfTime if a time limit has passed."""
    time_limits.check()
    classes, _ = label_classes((machine,), machine.steps.values.shape[2])
    return frozenset(np.flatnonzero(classes != np.bincount(classes).argmax()).tolist())
