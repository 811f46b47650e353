"""Incumbents of a search, with their times, and the certificate of a complete search."""

from dataclasses import dataclass, field

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import VITERBI_BOUND, Certificate, proof
from ilpinfer.core.incumbents import Improvement
from ilpinfer.core.result import Result, Task
from ilpinfer.core.trees import Leaf
from ilpinfer.core.watching import Report


@dataclass
class Incumbents:
    """The incumbents of one search; each is reported to the task's `watch`."""

    folded: Problem
    task: Task
    improvements: list[Improvement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.blind = any(rule.machineless for rule in self.folded.rules)

    @property
    def value(self) -> int:
        """Value of the best labelling so far, grid units; `FORBIDDEN` for none."""
        return self.improvements[-1].value if self.improvements else FORBIDDEN

    @property
    def path(self) -> LabelIds | None:
        return self.improvements[-1].path if self.improvements else None

    def best(self, bound: float, method: str, certificate: Certificate = VITERBI_BOUND) -> Result:
        """The result with the best labelling and those before it; `bound` in grid units."""
        return Result(self.path, bound, method, certificate, tuple(self.improvements))

    def offer(
        self,
        path: LabelIds,
        value: int,
        seconds: float,
        bound: float,
        certificate: Certificate = VITERBI_BOUND,
    ) -> None:
        """Record a labelling if it is better than the incumbent. If a rule has no machine, the labelling is evaluated again."""
        if self.blind:
            value = self.folded.value(path).score
        if is_forbidden(value) or value <= self.value:
            return
        self.improvements.append(Improvement(seconds, value, path))
        if self.task.watch is not None:
            self.task.watch(Report(seconds, value, bound, path, certificate))


def complete_search(
    problem: Problem, source: str, *, feasible: bool, excluded: tuple[tuple[int, ...], ...] = ()
) -> Certificate:
    """A leaf in which every machine follows, given the problem before folding; no proof where a rule has no machine."""
    rules = [(r, rule) for r, rule in enumerate(problem.rules) if not rule.folds]
    if any(rule.machineless for _, rule in rules):
        return Certificate("none", source)
    named = ((r, rule) for r, rule in rules if feasible or rule.hard)
    machines = tuple((r, m) for r, rule in named for m in range(len(rule.machines)))
    return proof(source, Leaf(stages=(machines,) if machines else ()), excluded)
