"""The state of an exact search: the best labelling, a bound with its proof, and the machines that it follows."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from formulations.automata.lattice import Lattice
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, HARD, is_forbidden
from formulations.problem.contexts import in_contexts
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.incumbents import Improvement
from ilpinfer.core.result import Start
from ilpinfer.core.trees import Leaf, MachineKey, Split
from ilpinfer.exact import limits
from ilpinfer.exact.ground import Ground, ground
from ilpinfer.kernels.native import kernels

Watch = Callable[[float, int, float], None]


@dataclass(frozen=True)
class Evaluation:
    """The value of a labelling under all rules that do not fold."""

    value: int
    broken: tuple[int, ...]
    machineless: tuple[str, ...] = ()


@dataclass
class Known:
    """The state of an exact search of one problem."""

    folded: Problem
    numbers: list[int]
    """For each folded rule, its place among those before folding."""
    deadline: Deadline
    watch: Watch | None = None
    path: LabelIds | None = None
    value: int = FORBIDDEN
    bound: float = float("inf")
    tree: Leaf | Split | None = None
    fixed: bool = False
    """Whether `value` stays as it is, since labellings below a better one are wanted too."""
    active: list[int] = field(default_factory=list)
    inside: frozenset[int] = frozenset()
    """The active machines that the lattice is multiplied with."""
    multipliers: dict[MachineKey, int] = field(default_factory=dict)
    relaxed: LabelIds | None = None
    charged: tuple[Lattice, int] | None = None
    """The lattice with the scores that lists of equal tokens give to it, and its bound."""
    contexts: tuple[int, ...] = ()
    """The machines in whose context others are smaller, while they are."""
    tried: bool = False
    """Whether the kernels have done their share of work with these machines and multipliers."""
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds of each stage of the search."""
    improvements: list[Improvement] = field(default_factory=list)
    _evaluations: dict[bytes, Evaluation] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, deadline: Deadline, watch: Watch | None = None) -> "Known":
        """The initial state, with local rules folded into the lattice."""
        folded = problem.fold()
        places = {id(rule): place for place, rule in enumerate(problem.rules)}
        return cls(folded, [places[id(rule)] for rule in folded.rules], deadline, watch)

    def begin(self, start: Start) -> None:
        """Take over what is known. The machines of a proof that fold here are left out."""
        if start.path is not None:
            self.evaluate(start.path)
        if start.proof is not None:
            self.prove(start.bound, start.proof)
        if start.proof is not None and start.tried:
            self.tried = True
            places = {key: m for m, key in enumerate(self.ground.keys)}
            followed = (start.proof.product, *start.proof.stages)
            self.active = sorted(places[key] for keys in followed for key in keys if key in places)
            self.inside = frozenset(places[key] for key in start.proof.product if key in places)
            self.multipliers = {c: price >> 10 for c, price in start.proof.multipliers.items()}

    @classmethod
    def unfolded(cls, problem: Problem, deadline: Deadline) -> "Known":
        """A state of a problem whose rules all stay machines, and whose value is never changed."""
        return cls(problem, list(range(len(problem.rules))), deadline, fixed=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of a stage to that of its earlier turns; the last stage is the last of `stages`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.pop(name, 0.0) + time.perf_counter() - began

    @cached_property
    def ground(self) -> Ground:
        """The problem for kernels."""
        return ground(self.folded, self.numbers)

    @contextmanager
    def smaller_machines(self) -> Iterator[None]:
        """For a while, machines that are smaller in the context of the hard rules; the places of machines stay."""
        plain, (rules, contexts) = self.ground, in_contexts(self.folded.rules)
        if not contexts:
            yield
            return
        machines = [machine for rule in self.folded.rules for machine in rule.machines]
        self.contexts = tuple(m for m, machine in enumerate(machines) if machine in contexts)
        self.__dict__["ground"] = ground(replace(self.folded, rules=rules), self.numbers)
        self._evaluations.clear()
        try:
            yield
        finally:
            self.contexts, self.__dict__["ground"] = (), plain
            self._evaluations.clear()

    @cached_property
    def machineless(self) -> list[tuple[int, int]]:
        """The components that have no machine, by rule and place."""
        rules = self.folded.rules
        return [
            (r, p)
            for r, rule in enumerate(rules)
            for p, component in enumerate(rule.components)
            if not component.machines
        ]

    def evaluate(self, path: LabelIds) -> Evaluation:
        """Value and broken machines of a labelling. The best labelling is stored."""
        key = path.tobytes()
        if key not in self._evaluations:
            result = self._evaluations[key] = self._evaluate(path)
            better = result.value > self.value or (self.path is None and not is_forbidden(result.value))
            if better and not self.fixed:
                self.path, self.value = path, result.value
                self.improvements.append(Improvement(self.deadline.elapsed, result.value, path))
                self._report()
        return self._evaluations[key]

    def _evaluate(self, path: LabelIds) -> Evaluation:
        one, rules = self.ground, self.folded.rules
        states = one.lattice.states_of(path)
        value, cost, machines = kernels.value_states(one.tables, *one.sequence, states)
        missed = [(r, p) for r, p in self.machineless if rules[r].components[p].violations(path)]
        if missed:
            cost = sum(
                HARD if rule.hard else rule.penalty * rule.violations(path)
                for rule in rules
                if rule.violations(path)
            )
        value = FORBIDDEN if is_forbidden(value) or is_forbidden(value - cost) else value - cost
        return Evaluation(int(value), tuple(machines), tuple(dict.fromkeys(rules[r].name for r, _ in missed)))

    def prove(self, bound: float, tree: Leaf | Split | None) -> None:
        """Keep an upper bound on every labelling, with its proof, if it is lower than the one before."""
        if bound < self.bound:
            self.bound, self.tree = bound, tree
            self._report()

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

    def priced(self, done: Iterable[int]) -> list[int]:
        """Sums with multipliers that are not followed yet."""
        one, known = self.ground, set(done)
        priced = (m for m, c in enumerate(one.components) if self.multipliers.get(c) and one.sums[m])
        return [m for m in priced if m not in known]

    def machines_of(self, components: Iterable[MachineKey]) -> list[int]:
        """The machines of components, by the places of their rules before folding."""
        wanted = set(components)
        return [m for m, component in enumerate(self.ground.components) if component in wanted]

    @property
    def active_components(self) -> set[MachineKey]:
        """The components of the active machines."""
        return {self.ground.components[m] for m in self.active}

    @property
    def mostly_sums(self) -> bool:
        """Whether at least half of the active machines are sums that may have multipliers."""
        return 2 * int(self.ground.sums[self.active].sum()) >= len(self.active)

    def product_of(self, machines: Iterable[int]) -> frozenset[int]:
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

    def leaf(self, machines: Iterable[int]) -> Leaf:
        """The proof that machines give, at the multipliers so far."""
        one = self.ground
        stage = tuple(one.keys[m] for m in machines if m not in self.inside)
        return Leaf(
            {c: price << 10 for c, price in self.multipliers.items() if price},
            tuple(one.keys[m] for m in sorted(self.inside)),
            (stage,) if stage else (),
        )

    def impossible(self, machines: Iterable[int]) -> Leaf:
        """The proof that no labelling keeps the hard rules. A multiplier of 0 names a sum that no labelling attains."""
        one, priced = self.ground, {c for c, price in self.multipliers.items() if price}
        followed = {*machines, *(m for m, c in enumerate(one.components) if c in priced)}
        hard = [m for m in sorted(followed) if one.hard[m]]
        stage = tuple(one.keys[m] for m in hard if m not in self.inside)
        return Leaf(
            {one.components[m]: 0 for m in hard if one.sums[m] and m not in self.inside},
            tuple(one.keys[m] for m in hard if m in self.inside),
            (stage,) if stage else (),
        )

    def _report(self) -> None:
        if self.watch is not None:
            self.watch(self.deadline.elapsed, self.value, self.bound)


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    paths: list[LabelIds]
    why: str
    complete: bool
    tree: Leaf | Split | None = None
    machineless: tuple[str, ...] = ()
