"""Compiled rules for all sequences: scores of classes of tokens, and machines of rules that do not fold."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.automata.components import FIRST, LAST, Component, Condition, StepChoice, UnboundComponent
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, TooManyStates
from formulations.automata.sums import Sum
from formulations.blocks import mapped
from formulations.dtypes import Integers
from formulations.grid import Grid, add, is_forbidden
from formulations.problem.compiled_rules import CompiledFeature, CompiledRule, CompiledRules
from formulations.problem.problem import GroundRule, Priorities
from formulations.problem.vocabulary import Vocabulary

NODES, EDGES, MACHINES = range(3)
"""The purposes of token classes: scores of tokens, scores of steps, and symbols of machines."""

FEATURES, MODEL = -1, -2
"""Sources of scores other than rules: features, and scores of the model for every sequence."""

Truth = tuple[bool, ...]  # truth of each condition of a purpose at the tokens of a class


@dataclass(frozen=True)
class Table:
    """Grid scores (1 or 2, K) of tokens or (1 or 2, K, K) of steps; the second table applies where the condition holds."""

    values: Grid
    condition: Condition
    source: int  # the number of the rule, `FEATURES` or `MODEL`
    amounts: Integers  # shape of `values`: violations of a rule, or grid units
    first: bool = False  # for the first token only


class ClassScores(NamedTuple):
    """Scores at the tokens of a class, or on steps into them; see `Table`."""

    total: Grid  # (K,) at tokens, (K, K) on steps [previous, next]
    parts: list[tuple[int, Integers]]  # source and amounts of each part of the total
    overruled: bool  # whether a rule has priority over another there


class RuleMachine(NamedTuple):
    """A machine of a rule that does not fold; it emits violations as early as they are certain, unless searches need the original."""

    key: tuple[int, int]  # numbers of the rule, and of the machine in the rule
    component: tuple[int, int]  # numbers of the rule, and of the component in the rule
    symbols: Integers  # (P, 1, S) by entered state, or (P, K+1, K) by labels, START first
    automaton: Automaton
    penalty: int  # grid units a violation; `HARD` for a hard rule
    total: Sum | None = None  # the sum that the machine counts, if each violation counts
    mark: int = -1  # number of a rule that counts at most once over several machines; -1 for other rules
    condition: Condition = ()  # for compiled rules: tokens with the second table of symbols


class Folding:
    """Compiled rules as tables; `first` and `last` (K,) are the model's scores of the first and last label."""

    def __init__(self, rules: CompiledRules, first: Grid | None = None, last: Grid | None = None) -> None:
        self.rules = rules
        self.excluded: dict[int, str] = {}  # numbers of rules that the tables do not include, and the reasons
        self._nodes: list[Table] = []
        self._edges: list[Table] = []
        self._classes: dict[tuple[int, Truth], ClassScores] = {}
        self._machine_rules: list[tuple[int, CompiledRule, tuple[UnboundComponent, ...]]] = []
        place = 0
        for item in rules.items:
            if isinstance(item, CompiledFeature):
                self._add(item.steps, FEATURES, item.steps.values)
            else:
                self._enter(item, place)
                place += 1
        self._demand_rules = [(p, rule) for p, rule in enumerate(rules.rules) if rule.demands]
        demands = [demand.condition for _, rule in self._demand_rules for demand in rule.demands]
        self.independent = sum(rule.demands_by_sequence for rule in rules.rules) == 0 or (
            sum(bool(rule.demands or rule.demands_by_sequence) for rule in rules.rules) < 2
        )
        for scores, end in ((first, FIRST), (last, LAST)):
            if scores is not None:
                both = np.stack([np.zeros_like(scores), scores])
                self._nodes.append(Table(both, (end,), MODEL, both))
        self.reads_tokens = any(item.reads_tokens for item in rules.items)
        self.ignores_tokens = not self.reads_tokens and not self.excluded
        if len(self._demand_rules) < 2:
            self._demand_rules, demands = [], []
        self.weight = sum(
            int(np.abs(table.values).max(where=~is_forbidden(table.values), initial=0))
            for table in [*self._nodes, *self._edges]
        )
        self.weight += sum(
            rule.rule.units * sum(map(_most, components))
            for _, rule, components in self._machine_rules
            if not rule.rule.hard
        )
        begins = [(FIRST,)] if any(table.first for table in self._nodes) else []
        steps = [component.steps for _, _, components in self._machine_rules for component in components]
        self.conditions = [
            _distinct([*(table.condition for table in self._nodes), *demands, *begins]),
            _distinct([*(table.condition for table in self._edges), *(demands if self._edges else ())]),
            _distinct(choice.condition for choice in steps),
        ]

    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.conditions)

    def _enter(self, rule: CompiledRule, place: int) -> None:
        components = rule.components
        if components is None or rule.demands_by_sequence:
            self.excluded[place] = "it looks at the whole sequence"
            return
        ground = GroundRule(rule.name, rule.rule.units, rule.binary, tuple(map(_sampled, components)))
        once = rule.binary and not rule.rule.hard
        if ground.machineless:
            self.excluded[place] = "its machine depends on the length"
        elif once and len(ground.machines) > 1:
            self.excluded[place] = "it counts once over several machines"
        elif all(component.is_local for component in ground.components) and not once:
            made = zip(components, ground.machines, ground.as_scores(), strict=True)
            for component, machine, scores in made:
                counts = mapped(machine.emits[0].__getitem__, machine.steps.values)
                self._add(StepChoice(scores.values, component.steps.condition), place, counts)
        elif rule.demands:
            self.excluded[place] = "others may have priority over its machines"
        else:
            self._machine_rules.append((place, rule, components))

    def _add(self, scores: StepChoice, source: int, amounts: Integers) -> None:
        """Add scores of tokens or steps. Scores of steps from START are scores of the first token."""
        values, condition = scores.values, scores.condition
        if values.shape[1] == 1:
            self._nodes.append(Table(values[:, 0], condition, source, amounts[:, 0]))
            return
        self._edges.append(Table(values[:, 1:], condition, source, amounts[:, 1:]))
        if values[:, 0].any():
            self._nodes.append(Table(values[:, 0], condition, source, amounts[:, 0], first=True))

    def of_class(self, purpose: int, truth: Truth) -> ClassScores:
        """Scores of rules and features at tokens of a class of `NODES`, or of steps into tokens of a class of `EDGES`."""
        known = self._classes.get((purpose, truth))
        if known is None:
            known = self._classes[purpose, truth] = self._class_scores(purpose, truth)
        return known

    def _class_scores(self, purpose: int, truth: Truth) -> ClassScores:
        holds, K = dict(zip(self.conditions[purpose], truth, strict=True)), len(self.rules.labels)
        tables = self._nodes if purpose == NODES else self._edges
        overruled = self._overruled(holds) if tables or purpose == NODES else set[int]()
        total: Grid = np.zeros((K,) if purpose == NODES else (K, K), np.int64)
        scores, parts = [total], list[tuple[int, Integers]]()
        for table in tables:
            if table.source not in overruled and (holds[(FIRST,)] if table.first else True):
                chosen = int(holds[table.condition]) if len(table.values) > 1 else 0
                scores.append(table.values[chosen])
                parts.append((table.source, table.amounts[chosen]))
        return ClassScores(add(*scores), parts, bool(overruled))

    def _overruled(self, holds: dict[Condition, bool]) -> set[int]:
        """Numbers of rules that are overruled at the tokens of a class."""
        priorities, lost = Priorities(), set[int]()
        for place, rule in self._demand_rules:
            demands = [([0], demand.wanted) for demand in rule.demands if holds[demand.condition]]
            if priorities.overruled(rule.name, demands):
                lost.add(place)
        return lost

    def machines(self, length: int) -> list[RuleMachine]:
        """The machines of rules that do not fold, for at most `length` tokens; TooManyStates if one is too large."""
        result = []
        for place, rule, components in self._machine_rules:
            once, count = rule.binary and not rule.rule.hard, 0
            for number, component in enumerate(components):
                sampled = _sampled(component, length)
                machines, total = sampled.machines, sampled if isinstance(sampled, Sum) and not once else None
                if machines is None:
                    raise TooManyStates(f"{rule.name}: too many states for {length} tokens")
                for machine in machines:
                    automaton = machine.automaton.once if once else machine.automaton
                    result.append(
                        RuleMachine(
                            key=(place, count),
                            component=(place, number),
                            symbols=machine.steps.values,
                            automaton=automaton.early,
                            penalty=rule.rule.units,
                            total=total,
                            condition=component.steps.condition,
                        )
                    )
                    count += 1
        return result


def _sampled(component: UnboundComponent, length: int = 8) -> Component:
    """The component on a sequence without true conditions."""
    return component.make(StepTable(component.steps.values, np.zeros(length, np.int64)))


def _most(component: UnboundComponent) -> int:
    """An upper bound on the violations at a token."""
    machines = _sampled(component).machines or ()
    return sum(int(m.emits.max(initial=0) + m.final.max(initial=0)) for m in machines)


def _distinct(conditions: Iterable[Condition]) -> list[Condition]:
    return list(dict.fromkeys(conditions))
