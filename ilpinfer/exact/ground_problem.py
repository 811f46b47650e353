"""A problem for the engine: rules folded and packed, labellings evaluated. No stage changes it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from formulations.automata.components import Agreement
from formulations.automata.lattice import Lattice
from formulations.automata.sums import Sum
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.contexts import in_contexts
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.agreement_lists import TokenList, lists_of
from ilpinfer.exact.ground import Packed, pack_problem
from ilpinfer.exact.instance import Instance
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import Tokens


@dataclass(frozen=True)
class LabellingValue:
    """The value of a labelling under all rules that do not fold, the broken machines, and the broken rules without machines."""

    value: int
    broken: tuple[int, ...]
    machineless: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GroundProblem:
    """A problem, the rules that do not fold into its scores, and their indices among all rules."""

    problem: Problem
    rules: tuple[GroundRule, ...]
    numbers: tuple[int, ...]
    deadline: Deadline
    threads: int = 1
    scores: Lattice | None = None
    """The scores with the folded rules; None to fold on first access."""
    packed: Packed | None = None
    """The problem for kernels; None to pack on first access."""
    contexts: tuple[int, ...] = ()
    """Machines of hard rules that were used to shrink the others."""

    @classmethod
    def of(
        cls, problem: Problem, deadline: Deadline, threads: int = 1, packed: Packed | None = None
    ) -> "GroundProblem":
        """With local rules folded; a packed problem is reused if its machines are exactly the machines of the other rules."""
        kept = [(place, rule) for place, rule in enumerate(problem.rules) if not rule.folds]
        numbers, rules = tuple(place for place, _ in kept), tuple(rule for _, rule in kept)
        if packed is not None:
            keys = tuple((place, m) for place, rule in kept for m in range(len(rule.machines)))
            packed = packed if packed[0].keys == keys else None
        return cls(problem, rules, numbers, deadline, threads, packed=packed)

    @classmethod
    def unfolded(cls, problem: Problem, deadline: Deadline) -> "GroundProblem":
        """With a machine for every rule."""
        numbers = tuple(range(len(problem.rules)))
        return cls(problem, problem.rules, numbers, deadline, scores=problem.lattice)

    @cached_property
    def folded(self) -> Problem:
        """The problem with the rules that do not fold; the other rules are in the scores."""
        lattice = self.problem.fold().lattice if self.scores is None else self.scores
        return replace(self.problem, lattice=lattice, rules=self.rules)

    @cached_property
    def _packed(self) -> Packed:
        return pack_problem(self.folded, self.numbers) if self.packed is None else self.packed

    @property
    def instance(self) -> Instance:
        """Scores and machines for kernels."""
        return self._packed[0]

    @property
    def tokens(self) -> Tokens:
        """The sequence for kernels."""
        return self._packed[1]

    @cached_property
    def in_contexts(self) -> "GroundProblem":
        """With machines shrunk in the context of the hard rules, if any shrink. Machines keep their indices."""
        rules, contexts = in_contexts(self.rules)
        if not contexts:
            return self
        machines = (machine for rule in self.rules for machine in rule.machines)
        places = tuple(m for m, machine in enumerate(machines) if machine in contexts)
        lattice = self.folded.lattice
        return replace(self, rules=rules, scores=lattice, packed=None, contexts=places)

    @cached_property
    def lists(self) -> list[TokenList]:
        """Lists of equal tokens, which have a decomposition."""
        return lists_of(self.rules, self.numbers)

    @cached_property
    def only_lists(self) -> bool:
        """Whether there are lists, and no other components."""
        components = (component for rule in self.rules for component in rule.components)
        return bool(self.lists) and all(isinstance(component, Agreement) for component in components)

    @cached_property
    def has_sums(self) -> bool:
        return any(isinstance(c, Sum) for rule in self.rules for c in rule.components)

    @cached_property
    def _machineless(self) -> list[tuple[int, int]]:
        """The components that have no machine, by rule and place."""
        return [
            (r, p)
            for r, rule in enumerate(self.rules)
            for p, component in enumerate(rule.components)
            if not component.machines
        ]

    @cached_property
    def _evaluations(self) -> dict[bytes, LabellingValue]:
        return {}

    def evaluate(self, path: LabelIds) -> LabellingValue:
        """Value and broken machines of a labelling, cached."""
        key = path.tobytes()
        if key not in self._evaluations:
            self._evaluations[key] = self._evaluate(path)
        return self._evaluations[key]

    def _evaluate(self, path: LabelIds) -> LabellingValue:
        one, rules = self.instance, self.rules
        score, cost, machines = kernels.value_states(one.tables, self.tokens, one.states_of(path))
        missed = [rules[r].name for r, p in self._machineless if rules[r].components[p].violations(path)]
        value = FORBIDDEN if is_forbidden(score) or is_forbidden(score - cost) else score - cost
        if missed:
            value = self.folded.value(path).score
        return LabellingValue(value, tuple(machines), tuple(dict.fromkeys(missed)))

    def broken(self, paths: Iterable[LabelIds], apart: Iterable[int] = ()) -> list[int]:
        """The machines that labellings break, except `apart`, with the other machines of the same components and marks."""
        one, known = self.instance, set(apart)
        new = {m for path in paths for m in self.evaluate(path).broken} - known
        components = {one.components[m] for m in new}
        marks = {one.sources[m].mark for m in new} - {-1}
        return [
            m
            for m, source in enumerate(one.sources)
            if m not in known and (source.component in components or source.mark in marks)
        ]

    def components_of(self, machines: Iterable[int]) -> set[MachineKey]:
        """The components of machines."""
        return {self.instance.components[m] for m in machines}

    def small_product(self, machines: Iterable[int]) -> frozenset[int]:
        """The smallest machines with a small product with the lattice, without sums and rules that count once."""
        one, inside, states = self.instance, set[int](), 1
        work = len(self.tokens.emission) * one.pass_steps
        allowed = [m for m in machines if one.sources[m].total is None and one.sources[m].mark < 0]
        for m in sorted(allowed, key=lambda m: one.states[m]):
            states *= one.states[m]
            if states > limits.MOST_INSIDE or work * states > limits.MOST_WORK:
                break
            inside.add(m)
        return frozenset(inside)
