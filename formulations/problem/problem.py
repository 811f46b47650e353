"""A trellis with compiled rules, the common input of programs, searches and reports.

The order of hard token rules is their priority (Liao et al. 2009, section 3.1: "no matter what the context is").
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np

from formulations import grid
from formulations.automata.circuit import Circuit
from formulations.automata.components import Component, Condition, FunctionCount
from formulations.automata.hamming import HammingDistance
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.machine import Machine
from formulations.automata.sums import WindowSums, together
from formulations.automata.windows import WindowCount
from formulations.blocks import entries
from formulations.dtypes import Booleans, LabelIds
from formulations.grid import FORBIDDEN, HARD, is_forbidden, violation_costs
from formulations.labels.label_set import LabelSet
from formulations.messages import counted


@dataclass(frozen=True)
class GroundRule:
    """A rule on one sequence. Its violations are the sum over its components."""

    name: str
    penalty: int  # grid units a violation; `HARD` for a hard rule
    binary: bool  # whether the rule counts at most one violation
    components: tuple[Component, ...]
    forced: bool = False  # whether searches evaluate it on prefixes even if solutions are lost
    overruled: tuple[
        int, ...
    ] = ()  # tokens at which an earlier rule has priority, so that this rule does not count

    @property
    def hard(self) -> bool:
        return self.penalty == HARD

    @property
    def finite_penalty(self) -> int:
        """Grid units a violation; 0 for a hard rule."""
        return 0 if self.hard else self.penalty

    @property
    def once(self) -> bool:
        """Whether the rule is soft and counts at most one violation."""
        return self.binary and not self.hard

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """Machines of all components that have machines."""
        return tuple(machine for component in self.components for machine in component.machines or ())

    @cached_property
    def machineless(self) -> tuple[Component, ...]:
        """Components without machines; searches evaluate them on whole labellings only."""
        return tuple(component for component in self.components if component.machines is None)

    @cached_property
    def _parts(self) -> list[Component | WindowSums]:
        """The components, with sums over windows combined."""
        return together(self.components)

    @property
    def functions(self) -> list[FunctionCount]:
        return [component for component in self.components if isinstance(component, FunctionCount)]

    def violations(self, path: LabelIds) -> int:
        result = sum(part.violations(path) for part in self._parts)
        return min(result, 1) if self.binary else result

    @cached_property
    def folds(self) -> bool:
        """Whether the rule is a sum over single steps, so that it can be added to the scores of the lattice."""
        if not all(component.is_local for component in self.components):
            return False
        if not self.once:
            return True
        return sum(int(machine.fires_at.sum()) for machine in self.machines) <= 1

    def as_scores(self) -> list[StepTable]:
        """The scores of steps for folding, in grid units."""
        emits = [np.minimum(m.emits[0], 1) if self.binary else m.emits[0] for m in self.machines]
        costs = (-violation_costs(each, self.penalty) for each in emits)
        return [m.steps.map(cost) for m, cost in zip(self.machines, costs, strict=True)]

    def with_penalty(self, penalty: int) -> "GroundRule":
        """The rule with a finite penalty in grid units; unlike those of a hard rule, its components count all violations."""
        components = tuple(part for component in self.components for part in _counting(component))
        return replace(self, penalty=penalty, components=components)

    @cached_property
    def most(self) -> int:
        return 1 if self.binary else sum(part.most for part in self._parts)


def _counting(component: Component) -> tuple[Component, ...]:
    if isinstance(component, HammingDistance):
        return (replace(component, hard=False),)
    if isinstance(component, WindowCount):
        return replace(component, once=False).parts
    return (replace(component, once=False) if isinstance(component, Circuit) else component,)


@dataclass(frozen=True)
class Value:
    """Score and violations of a labelling, recomputed from scratch; grid units."""

    model: int
    features: int
    penalty: int
    violations: dict[str, int]
    feasible: bool

    @property
    def score(self) -> int:
        """model + features - penalty, `FORBIDDEN` if a hard rule is broken or a step is forbidden."""
        return self.model + self.features - self.penalty if self.feasible else FORBIDDEN


@dataclass(frozen=True)
class Problem:
    """Scores and ground rules of one sequence."""

    model: Lattice  # the original scores
    lattice: Lattice  # the scores with features; after folding, also with folded rules
    rules: tuple[GroundRule, ...]  # rules that are not folded
    labels: LabelSet

    def __repr__(self) -> str:
        T, K = self.shape
        order = "" if self.lattice.order == 1 else ", second order"
        return f"Problem({counted(T, 'token')}, {counted(K, 'label')}, {counted(len(self.rules), 'rule')}{order})"

    @property
    def shape(self) -> tuple[int, int]:
        return self.model.shape

    @cached_property
    def functions(self) -> tuple[GroundRule, ...]:
        return tuple(rule for rule in self.rules if rule.functions)

    def without_functions(self) -> "Problem":
        """The same problem with Python functions that count nothing; numbers of rules are unchanged."""
        kept = (replace(rule, components=()) if rule.functions else rule for rule in self.rules)
        return replace(self, rules=tuple(kept))

    def value(self, path: LabelIds) -> Value:
        model, total = self.model.score(path), self.lattice.score(path)
        violations = {rule.name: rule.violations(path) for rule in self.rules}
        kept = not any(violations[rule.name] for rule in self.rules if rule.hard)
        penalty = sum(rule.finite_penalty * violations[rule.name] for rule in self.rules)
        possible = not is_forbidden(model)
        return Value(model, total - model if possible else 0, penalty, violations, kept and possible)

    def breaks(self, path: LabelIds) -> list[str]:
        return [rule.name for rule in self.rules if rule.violations(path)]

    def fold(self, *, soft: bool = True) -> "Problem":
        """Move rules on single tokens and edges, or only hard ones, exactly into the lattice."""
        kept, tables = list[GroundRule](), list[StepTable]()
        for rule in self.rules:
            if rule.folds and (soft or rule.hard):
                tables += rule.as_scores()
            else:
                kept.append(rule)
        if len(kept) == len(self.rules):
            return self
        return replace(self, lattice=self.lattice.plus(tables), rules=tuple(kept))


def check_totals(model: Lattice, tables: list[StepTable], rules: list[GroundRule]) -> None:
    """Raise ValueError if weights and penalties could exceed 2^31 nats in total."""
    weights = sum(int(np.abs(entries(t.values)).max(axis=1)[t.index].sum()) for t in tables)
    costs = [(rule.finite_penalty * rule.most, rule) for rule in rules]
    for cost, rule in costs:
        if cost > grid.LIMIT:
            raise ValueError(
                f"rule {rule.name!r}: {rule.most} violations of {rule.penalty / grid.UNITS_PER_NAT:g} nats pass 2^31 "
                f"nats: lower the penalty, or leave it out to make the rule hard (penalty = {math.inf})"
            )
    cost, dearest = max(costs, key=lambda pair: pair[0], default=(0, None))
    cause = "most of it is weights of features: lower them"
    if dearest is not None and sum(each for each, _ in costs) >= weights:
        cause = (
            f"rule {dearest.name!r} alone can cost {dearest.most} violations of {dearest.penalty / grid.UNITS_PER_NAT:g} nats: "
            f"lower its penalty, or leave it out to make the rule hard (penalty = {math.inf})"
        )
    extra = max(0, weights + sum(each for each, _ in costs) - grid.SPARE)
    grid.check_total(model.terms(), extra, cause)


def hard_only(problem: Problem) -> Problem:
    return replace(problem, rules=tuple(rule for rule in problem.rules if rule.hard))


def cost_unit(rules: Iterable[GroundRule]) -> int:
    """The greatest common divisor of the penalties, grid units; 1 without penalties."""
    return math.gcd(*(rule.finite_penalty for rule in rules)) or 1


def lowest_score(problem: Problem) -> int:
    """A lower bound on the model scores of feasible labellings, grid units."""
    tables = (problem.lattice.node, problem.lattice.pool)
    least = (np.where(is_forbidden(x), 0, x).min(initial=0) for x in tables)
    return len(problem.lattice.node) * sum(map(int, least))


@dataclass(frozen=True)
class Demand:
    """Tokens that must have one of the labels `wanted` (K,) by a hard rule."""

    condition: Condition
    wanted: Booleans


class Priorities:
    """The labels that hard token rules leave at each token; a later rule that leaves none is overruled there."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[str, Booleans]] = {}

    def overruled(self, name: str, demands: Iterable[tuple[Iterable[int], Booleans]]) -> list[int]:
        """Tokens at which an earlier rule forbids the demands of this rule; demands are tokens and their required labels (K,)."""
        lost = []
        for tokens, wanted in demands:
            for t in tokens if wanted.any() else ():
                whose, left = self._left.setdefault(t, (name, wanted))
                if (left & wanted).any():
                    self._left[t] = whose, left & wanted
                elif whose != name:
                    lost.append(t)
        return lost


def mask_tokens(component: Component, tokens: Sequence[int]) -> Component:
    """The local machine without emissions at some tokens."""
    assert isinstance(component, Machine)
    values = np.concatenate([component.steps.values, np.zeros_like(component.steps.values[:1])])
    index = component.steps.index.copy()
    index[list(tokens)] = len(values) - 1
    return replace(component, steps=StepTable(values, index))


class NoTokens(ValueError):
    """A rule or feature that looks at tokens, on a sequence without tokens; `way` says how to give tokens."""

    def __init__(self, rule: str, way: str = "give it tokens, or leave the rule out") -> None:
        super().__init__(rule, way)
        self.rule, self.way = rule, way

    def __str__(self) -> str:
        return f"{self.rule}: it looks at tokens, but the sequence has none; {self.way}"


class MissingTokens(tuple[str, ...]):
    """Empty texts in place of tokens that record whether one was read."""

    seen: bool = False

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        self.seen = True
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[str]:
        self.seen = True
        return super().__iter__()
