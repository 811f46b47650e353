"""A problem as the engine reads it: rules folded and packed, labellings evaluated. No stage changes it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from formulations.automata.components import Agreement
from formulations.automata.sums import Sum
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, HARD, is_forbidden
from formulations.problem.contexts import in_contexts
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.agreement_lists import TokenList, lists_of
from ilpinfer.exact.ground import Ground, ground, reweighted
from ilpinfer.kernels.native import kernels


@dataclass(frozen=True)
class Evaluation:
    """The value of a labelling under all rules that do not fold, the machines it breaks, and the rules without machines."""

    value: int
    broken: tuple[int, ...]
    machineless: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GroundProblem:
    """A problem, the same with local rules folded into the scores, and the place of each folded rule among all."""

    problem: Problem
    folded: Problem
    numbers: tuple[int, ...]
    deadline: Deadline
    threads: int = 1
    packed: Ground | None = None
    """Arrays of the same machines, with other scores and penalties; None to pack them anew."""
    contexts: tuple[int, ...] = ()
    """The machines in whose context others are smaller."""

    @classmethod
    def of(cls, problem: Problem, deadline: Deadline, threads: int = 1) -> "GroundProblem":
        """With local rules folded."""
        folded = problem.fold()
        places = {id(rule): place for place, rule in enumerate(problem.rules)}
        return cls(problem, folded, tuple(places[id(rule)] for rule in folded.rules), deadline, threads)

    @classmethod
    def unfolded(cls, problem: Problem, deadline: Deadline) -> "GroundProblem":
        """With a machine for every rule."""
        return cls(problem, problem, tuple(range(len(problem.rules))), deadline)

    @cached_property
    def ground(self) -> Ground:
        """The problem for kernels."""
        return (
            ground(self.folded, self.numbers) if self.packed is None else reweighted(self.packed, self.folded)
        )

    @cached_property
    def in_contexts(self) -> "GroundProblem":
        """With smaller machines in the context of the hard rules, where there are some. The places of machines stay."""
        rules, contexts = in_contexts(self.folded.rules)
        if not contexts:
            return self
        machines = (machine for rule in self.folded.rules for machine in rule.machines)
        places = tuple(m for m, machine in enumerate(machines) if machine in contexts)
        return replace(self, folded=replace(self.folded, rules=rules), packed=None, contexts=places)

    @cached_property
    def lists(self) -> list[TokenList]:
        """Lists of equal tokens, which have a decomposition."""
        return lists_of(self.folded.rules, self.numbers)

    @cached_property
    def only_lists(self) -> bool:
        """Whether there are lists, and no other components."""
        components = (component for rule in self.folded.rules for component in rule.components)
        return bool(self.lists) and all(isinstance(component, Agreement) for component in components)

    @cached_property
    def has_sums(self) -> bool:
        return any(isinstance(c, Sum) for rule in self.folded.rules for c in rule.components)

    @cached_property
    def _machineless(self) -> list[tuple[int, int]]:
        """The components that have no machine, by rule and place."""
        return [
            (r, p)
            for r, rule in enumerate(self.folded.rules)
            for p, component in enumerate(rule.components)
            if not component.machines
        ]

    @cached_property
    def _evaluations(self) -> dict[bytes, Evaluation]:
        return {}

    def evaluate(self, path: LabelIds) -> Evaluation:
        """Value and broken machines of a labelling, from a cache where it was evaluated before."""
        key = path.tobytes()
        if key not in self._evaluations:
            self._evaluations[key] = self._evaluate(path)
        return self._evaluations[key]

    def _evaluate(self, path: LabelIds) -> Evaluation:
        one, rules = self.ground, self.folded.rules
        value, cost, machines = kernels.value_states(one.tables, one.sequence, one.lattice.states_of(path))
        missed = [(r, p) for r, p in self._machineless if rules[r].components[p].violations(path)]
        if missed:
            counts = [(rule, rule.violations(path)) for rule in rules]
            cost = sum(HARD if rule.hard else rule.penalty * count for rule, count in counts if count)
        value = FORBIDDEN if is_forbidden(value) or is_forbidden(value - cost) else value - cost
        return Evaluation(int(value), tuple(machines), tuple(dict.fromkeys(rules[r].name for r, _ in missed)))

    def broken(self, paths: Iterable[LabelIds], apart: Iterable[int] = ()) -> list[int]:
        """The machines that labellings break, but for some, with the other machines of the same components and marks."""
        one, known = self.ground, set(apart)
        new = {m for path in paths for m in self.evaluate(path).broken} - known
        components = {one.components[m] for m in new}
        marks = {int(one.machines.mark[m]) for m in new} - {-1}
        return [
            m
            for m, component in enumerate(one.components)
            if m not in known and (component in components or int(one.machines.mark[m]) in marks)
        ]

    def components_of(self, machines: Iterable[int]) -> set[MachineKey]:
        """The components of machines."""
        return {self.ground.components[m] for m in machines}

    def small_product(self, machines: Iterable[int]) -> frozenset[int]:
        """The smallest machines, while their product with the lattice is small; sums and rules that count once are left out."""
        one, inside, states = self.ground, set[int](), 1
        work = one.emission.size * one.scores.edge.shape[2]
        allowed = [m for m in machines if one.plain[m].total is None and one.plain[m].mark < 0]
        for m in sorted(allowed, key=lambda m: one.plain[m].automaton.states):
            states *= one.plain[m].automaton.states
            if states > limits.MOST_INSIDE or work * states > limits.MOST_WORK:
                break
            inside.add(m)
        return frozenset(inside)
