"""Problems with many labels, solved on few: first on the best labels of each token, then on all labels that a better labelling can have.

The second step leaves out labels by their max-marginals, the best scores of labellings through them without machines (A* and beam
filters alike: Rush and Petrov 2012), and is exact.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from formulations import LabelSet, time_limits
from formulations.automata.components import Component
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.machine import Machine
from formulations.automata.sums import Sum
from formulations.automata.windows import WindowCount
from formulations.blocks import taken
from formulations.dtypes import Integers
from formulations.labels.schemes import OUTSIDE
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import NONE
from ilpinfer.core.incumbents import Improvement
from ilpinfer.core.result import Result, Start, Task
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.core.watching import Report
from ilpinfer.exact import limits
from ilpinfer.exact.ground import pack_lattice
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import DEAD


def can_be_reduced(problem: Problem) -> bool:
    """Whether all components read only steps, so that labels can be left out."""
    return problem.lattice.order == 1 and all(
        isinstance(component, Machine | Sum | WindowCount)
        for rule in problem.rules
        for component in rule.components
    )


def best_labels(problem: Problem) -> Integers:
    """The best few labels of each token by its own scores, and `O`."""
    node, K = problem.lattice.node, problem.lattice.states
    best = np.argpartition(-node, min(limits.FIRST_LABELS, K - 1), axis=1)[:, : limits.FIRST_LABELS]
    outside = [k for k, name in enumerate(problem.labels.names) if name == OUTSIDE]
    return np.unique(np.concatenate([best.reshape(-1), np.array(outside, np.int64)]))


def check_time(lattice: Lattice) -> None:
    """Raise OutOfTime if no time is left for a pass over all labels."""
    T, K = lattice.shape
    time_limits.check(limits.SECONDS_A_STEP * K * K * (T + limits.PREPARING_PASSES))


def better_labels(lattice: Lattice, floor: int) -> Integers:
    """The labels of labellings whose score without machines reaches a floor."""
    instance, tokens = pack_lattice(lattice)
    emission, completion = tokens.emission.copy(), instance.complete(tokens)[2]
    kernels.prune(instance.scores, emission, tokens.edges, completion, floor)
    return np.flatnonzero((emission > DEAD).any(axis=0))


def on_labels(problem: Problem, kept: Integers) -> Problem:
    """A problem on some of its labels, by their ids."""
    names = tuple(problem.labels.names[k] for k in kept.tolist())
    rules = (
        replace(rule, components=tuple(_on_labels(component, kept) for component in rule.components))
        for rule in problem.rules
    )
    labels = LabelSet(names, problem.labels.scheme, problem.labels.optional_fields)
    model, lattice = (_lattice_on(each, kept) for each in (problem.model, problem.lattice))
    return Problem(model, lattice, tuple(rules), labels)


def _lattice_on(lattice: Lattice, kept: Integers) -> Lattice:
    node, pool = lattice.node[:, kept], lattice.pool[:, kept[:, None], kept]
    return Lattice(np.ascontiguousarray(node), np.ascontiguousarray(pool), lattice.step)


def _on_labels(component: Component, kept: Integers) -> Component:
    time_limits.check()
    assert isinstance(component, Machine | Sum | WindowCount)
    steps = component.steps
    before = np.append(0, kept + 1) if steps.values.shape[1] > 1 else np.zeros(1, np.int64)
    return replace(component, steps=StepTable(taken(steps.values, before, kept), steps.index))


Solve = Callable[[Problem, Task], Iterator[Result]]


def on_few_labels(problem: Problem, task: Task, solve: Solve) -> Result | None:
    """The result of a problem solved on few of its labels; None without a labelling. The bound is inf if nothing is proved."""
    kept = best_labels(problem)
    first = _solved(problem, task, kept, solve)
    if first.path is None:
        return None
    floor, result = problem.value(first.path).score, first
    unproved = replace(first, bound=math.inf, certificate=NONE)
    try:
        check_time(problem.lattice)
        wanted = better_labels(problem.fold().lattice, floor)
        if first.bound > floor or not np.isin(wanted, kept).all():
            if len(wanted) == len(problem.labels):
                return unproved
            place = np.searchsorted(wanted, first.path)
            result = _solved(problem, replace(task, start=Start(place)), wanted, solve)
    except time_limits.OutOfTime:
        return unproved
    tree = result.certificate.tree
    if not isinstance(tree, Leaf):
        return unproved
    improvements = (*first.improvements, *result.improvements)
    if result.path is None or problem.value(result.path).score < floor:
        result = replace(result, path=first.path, value=floor)
    certificate = replace(result.certificate, tree=with_priced_machines(tree, problem))
    return replace(
        result, bound=max(result.bound, floor), certificate=certificate, improvements=_rising(improvements)
    )


def _rising(improvements: Iterable[Improvement]) -> tuple[Improvement, ...]:
    result = list[Improvement]()
    for each in improvements:
        if not result or each.value > result[-1].value:
            result.append(each)
    return tuple(result)


def _solved(problem: Problem, task: Task, kept: Integers, solve: Solve) -> Result:
    """The first result on some labels, converted to the ids of all labels."""
    watch = task.watch

    def heard(report: Report) -> None:
        assert watch is not None
        path = None if report.path is None else kept[report.path]
        watch(report._replace(path=path, bound=math.inf, certificate=NONE))

    task = replace(task, watch=None if watch is None else heard)
    result = next(solve(on_labels(problem, kept), task))
    improvements = tuple(
        Improvement(each.seconds, each.value, kept[each.path]) for each in result.improvements
    )
    return replace(result, path=None if result.path is None else kept[result.path], improvements=improvements)


def with_priced_machines(leaf: Leaf, problem: Problem) -> Leaf:
    """A proof that also follows the sums with multipliers; it is then also valid for the omitted labels, which have lower scores."""
    priced = [key for key, price in leaf.multipliers.items() if price]
    followed = {*leaf.product, *(key for stage in leaf.stages for key in stage)}
    machines = (_first_machine(problem, *component) for component in priced)
    more = tuple(key for key in machines if key not in followed)
    if not more:
        return leaf
    *before, last = leaf.stages or ((),)
    return replace(leaf, stages=(*before, (*last, *more)))


def _first_machine(problem: Problem, rule: int, component: int) -> MachineKey:
    """The key of a component's first machine; the machines of earlier components of the rule come first."""
    return rule, sum(len(each.machines or ()) for each in problem.rules[rule].components[:component])
