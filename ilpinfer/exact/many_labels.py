"""Problems with many labels and a rule on each field: a component has machines once a labelling breaks it.

A problem in which the other components count nothing is a relaxation, and its bound is valid. If its best labellings break none of
these components, they are the best labellings of the problem (cutting planes: Riedel and Clarke 2006).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from formulations import blocks
from formulations.automata.components import Component
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine
from formulations.automata.sums import Sum
from formulations.automata.windows import WindowCount
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import GroundRule, Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.incumbents import Improvement
from ilpinfer.core.result import NOTHING_KNOWN, Result, Start, Task
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.core.watching import Report
from ilpinfer.exact import limits
from ilpinfer.exact.few_labels import can_be_reduced, check_time, on_few_labels
from ilpinfer.exact.ground_problem import GroundProblem

IDLE = Automaton(np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64), np.zeros(1, np.int64))


class Idle(Machine):
    """Placeholder for each machine of a component that no labelling has broken so far; other machines keep their indices."""

    is_local = False  # so that the same rules fold as with their own components


@dataclass(frozen=True, eq=False)
class IdleComponent:
    machines: tuple[Machine, ...]
    is_local = False
    most = 0

    def violations(self, path: LabelIds) -> int:
        return 0


def has_many(labels: int, tables: Iterable[int]) -> bool:
    """Whether step tables for this many labels have too many entries to keep all."""
    return labels**2 >= blocks.LARGE and sum(tables) > limits.MOST_ENTRIES


def needs_rounds(rules: CompiledRules) -> bool:
    """Whether compiled rules have too many step-table entries to keep all."""
    components = (one for rule in rules.rules for one in rule.components or ())
    return has_many(len(rules.labels), (one.steps.values.size for one in components))


def problem_has_many(problem: Problem) -> bool:
    """As `needs_rounds`, for a problem."""
    return has_many(len(problem.labels), (_size(one) for rule in problem.rules for one in rule.components))


def _size(component: Component) -> int:
    return component.steps.values.size if isinstance(component, Machine | Sum | WindowCount) else 0


Solve = Callable[[GroundProblem, Task, Mapping[str, float]], Iterator[Result]]


@dataclass
class Rounds:
    """A problem whose components get machines when a labelling breaks them."""

    problem: Problem
    task: Task
    solve: Solve
    met: set[MachineKey] = field(default_factory=set)
    best: Improvement | None = None
    improvements: list[Improvement] = field(default_factory=list)

    def _prepare(self) -> None:
        self._ground = GroundProblem.of(self.problem, self.task.deadline, self.task.threads)
        self._rules = list(zip(self._ground.numbers, self._ground.rules, strict=True))
        (T, _), K = self.problem.shape, len(self.problem.labels)
        machine = Idle(StepTable(np.zeros((1, 1, K), np.int64), np.zeros(T, np.int64)), IDLE)
        self._idle = {
            (number, place): IdleComponent((machine,) * len(component.machines or ()))
            for number, rule in self._rules
            for place, component in enumerate(rule.components)
            if _size(component) and component.machines
        }

    def run(self) -> Iterator[Result]:
        """Results on few labels if these suffice, otherwise on all."""
        known: Result | None = None
        if self.task.top == 1 and self.task.within is None and can_be_reduced(self.problem):
            task = replace(self.task, start=NOTHING_KNOWN)
            known = on_few_labels(self.problem, task, self._on_few)
        if known is None:
            yield from self._on_all()
        elif known.bound < math.inf or self.task.deadline.passed:
            yield known
        else:
            yield from self._from(known)

    def _from(self, known: Result) -> list[Result]:
        """Results on all labels, if time is left."""
        self.task = replace(self.task, start=Start(known.path))
        try:
            return list(self._on_all())
        except OutOfTime:
            return [known]

    def _on_few(self, problem: Problem, task: Task) -> Iterator[Result]:
        return Rounds(problem, task, self.solve)._on_all()

    def _on_all(self) -> Iterator[Result]:
        """Results of the last round, in which labellings break no idle component or time is over."""
        check_time(self.problem.lattice)
        self._prepare()
        seconds, start = dict[str, float](), self.task.start
        listed = self.task.top > 1 or self.task.within is not None
        if start.path is not None:
            self._meet([start.path])
        while True:
            results = list(self._round(start, seconds))
            seconds = dict(results[0].stages)
            paths = [result.path for result in results if result.path is not None]
            if not self._meet(paths):
                break
            if self.task.deadline.passed:
                results = self._in_time(results)
                break
            if not listed:
                start = self._next(results[0])
        yield replace(results[0], improvements=tuple(self.improvements))
        yield from results[1:]

    def _round(self, start: Start, seconds: Mapping[str, float]) -> Iterator[Result]:
        at = {number: self._restricted(number, rule) for number, rule in self._rules}
        rules = tuple(at.get(n, rule) for n, rule in enumerate(self.problem.rules))
        restricted = replace(
            self._ground,
            problem=replace(self.problem, rules=rules),
            rules=tuple(at.values()),
            scores=self._ground.folded.lattice,
        )
        return self.solve(restricted, replace(self.task, start=start, watch=self._watch), seconds)

    def _restricted(self, number: int, rule: GroundRule) -> GroundRule:
        parts = (
            component if (number, place) in self.met else self._idle.get((number, place), component)
            for place, component in enumerate(rule.components)
        )
        return replace(rule, components=tuple(parts))

    def _meet(self, paths: Iterable[LabelIds]) -> bool:
        """Give machines to the components that labellings break; whether any is new. The best labelling is kept."""
        new = set[MachineKey]()
        for path in paths:
            broken = set(self._broken(path))
            new |= broken
            if not broken or self.task.top == 1:
                self._offer(path)
        self.met |= new
        return bool(new)

    def _broken(self, path: LabelIds) -> Iterator[MachineKey]:
        for number, rule in self._rules:
            for place, component in enumerate(rule.components):
                key = number, place
                if key in self._idle and key not in self.met and component.violations(path):
                    yield key

    def _offer(self, path: LabelIds) -> None:
        value = self.problem.value(path)
        if value.feasible and (self.best is None or value.score > self.best.value):
            self.best = Improvement(self.task.deadline.elapsed, value.score, path)
            self.improvements.append(self.best)

    def _next(self, result: Result) -> Start:
        """The start of the next round: bounds of a relaxation stay valid."""
        leaf = result.certificate.tree
        if not isinstance(leaf, Leaf):
            return Start(result.path)
        return Start(result.path, result.bound, leaf)

    def _in_time(self, results: list[Result]) -> list[Result]:
        """The best labelling so far with the bound of the last round, if its labellings break components without machines."""
        path, value = (None, None) if self.best is None else (self.best.path, self.best.value)
        return [replace(results[0], path=path, value=value, method=f"{results[0].method}; no time left")]

    def _watch(self, report: Report) -> None:
        """Report bounds, and labellings by their value under all rules."""
        if self.task.watch is not None:
            value, path = (FORBIDDEN, None) if self.best is None else (self.best.value, self.best.path)
            self.task.watch(report._replace(value=value, path=path))
