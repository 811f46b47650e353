"""The state of an exact search: incumbent, bound, and proof of the bound."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from formulations.automata.lattice import Lattice
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, HARD, Grid, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import Leaf, MachineKey, Split
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.incumbents import Improvement
from ilpinfer.exact.guide import all_domains, prune
from ilpinfer.exact.rule_machines import RuleMachine, rule_machines
from ilpinfer.kernels.guide import Domains

Watch = Callable[[float, int, float], None]


@dataclass(frozen=True)
class Evaluation:
    """The value of a labelling under all rules that do not fold.

    Parameters
    ----------
    value : int
        Grid units, `FORBIDDEN` where a hard rule is broken.
    broken : tuple of MachineKey
        The rule and the component of it that it breaks, by place.
    """

    value: int
    broken: tuple[MachineKey, ...]


@dataclass
class Progress:
    """Anytime results of one problem.

    Parameters
    ----------
    folded : Problem
        The problem, local rules in its lattice.
    numbers : list of int
        Numbers for each of its rules, the place among those before folding.
    deadline, watch : Deadline or Watch
        As in a task.
    path, value : ndarray of int or int, optional
        The best labelling so far.
    bound, tree : float or Leaf or Split, optional
        On every labelling, grid units, and its proof.
    fixed : bool, default False
        Whether `value` stays as it is, since labellings below a better one are wanted too.
    floor : int, default FORBIDDEN
        Grid units that each of several labellings has to reach.
    completion : Grid, optional
        (T, S) the best that follows a state, rules apart.
    domains : Domains, optional
        The states that are left.
    charged : tuple of (Lattice, int), optional
        Scores of a relaxation of all labellings as good as the best one, and its bound.
    multipliers : dict of MachineKey to int, optional
        Multipliers so far, grid units.
    relaxed : ndarray of int, optional
        The labelling of the last relaxation.
    rung : int, default 0
        Number of widths of label setting that were too narrow.
    near : list of ndarray of int, optional
        Labellings next to the best of the last round.
    active : list of RuleMachine, optional
        The machines of active rules.
    improvements : list of Improvement, optional
        The best labellings so far, in order.
    """

    folded: Problem
    numbers: list[int]
    deadline: Deadline
    watch: Watch | None = None
    path: LabelIds | None = None
    value: int = FORBIDDEN
    bound: float = float("inf")
    tree: Leaf | Split | None = None
    fixed: bool = False
    floor: int = FORBIDDEN
    completion: Grid | None = None
    domains: Domains | None = None
    charged: tuple[Lattice, int] | None = None
    multipliers: dict[MachineKey, int] = field(default_factory=dict)
    relaxed: LabelIds | None = None
    rung: int = 0
    near: list[LabelIds] = field(default_factory=list)
    active: list[RuleMachine] = field(default_factory=list)
    improvements: list[Improvement] = field(default_factory=list)
    _evaluations: dict[bytes, Evaluation] = field(default_factory=dict)
    _machines: dict[int, list[list[RuleMachine]]] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, deadline: Deadline, watch: Watch | None = None) -> "Progress":
        """The initial state, with local rules folded into the lattice."""
        folded = problem.fold()
        places = {id(rule): place for place, rule in enumerate(problem.rules)}
        return cls(folded, [places[id(rule)] for rule in folded.rules], deadline, watch)

    def evaluate(self, path: LabelIds) -> Evaluation:
        """Value and broken components of a labelling. The best labelling is stored."""
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
        value, broken = self.folded.lattice.score(path), []
        for r, rule in enumerate(self.folded.rules):
            total = 0
            for p, component in enumerate(rule.components):
                violations = component.violations(path)
                if violations:
                    total += violations
                    broken.append((r, p))
            if total:
                cost = HARD if rule.hard else rule.penalty * (1 if rule.binary else total)
                value = FORBIDDEN if is_forbidden(value - cost) else value - cost
        return Evaluation(value, tuple(broken))

    def prove(self, bound: float, tree: Leaf | Split | None) -> None:
        """Update bound and proof by a lower bound on every labelling."""
        if bound < self.bound:
            self.bound, self.tree = bound, tree
            self._report()

    def new_components(
        self, paths: Iterable[LabelIds], active: Iterable[RuleMachine]
    ) -> tuple[MachineKey, ...]:
        """Inactive components with machines that labellings break, by the places of their rules after folding."""
        known = {machine.component for machine in active}
        broken = {place for path in paths for place in self.evaluate(path).broken}
        result = [(r, p) for r, p in sorted(broken) if (self.numbers[r], p) not in known]
        return tuple((r, p) for r, p in result if self.folded.rules[r].components[p].machines)

    def machineless(self, path: LabelIds) -> list[str]:
        """The rules that a labelling breaks in a component without a machine."""
        broken = self.evaluate(path).broken
        return [
            self.folded.rules[r].name for r, p in broken if not self.folded.rules[r].components[p].machines
        ]

    def machines(self, broken: Iterable[MachineKey]) -> list[RuleMachine]:
        """The machines of broken components."""
        result: list[RuleMachine] = []
        for r, p in broken:
            if r not in self._machines:
                self._machines[r] = rule_machines(self.folded.rules[r], self.numbers[r])
            result += self._machines[r][p]
        return result

    def drop(self) -> None:
        """Prune the states whose max-marginals, rules apart, are below the incumbent."""
        lattice = self.folded.lattice
        if self.path is None or self.completion is None:
            return
        domains = all_domains(lattice) if self.domains is None else self.domains
        self.domains = prune(lattice, domains, self.completion, self.value)

    def _report(self) -> None:
        if self.watch is not None:
            self.watch(self.deadline.elapsed, self.value, self.bound)
