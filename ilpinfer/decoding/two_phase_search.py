"""Both phases of two-phase inference over one problem."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from formulations.dtypes import LabelIds
from formulations.problem.problem import Problem, Value, cost_unit, hard_only
from formulations.programs.formulation import Formulation, exclude_labelling, formulate
from formulations.programs.record import IntegerProgram
from ilpinfer.core.certificate import Certificate, Phases, proof
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.core.trees import Leaf
from ilpinfer.exact.programs import FASTEST, ProgramAnswer, solve


@dataclass
class TwoPhaseSearch:
    """Both phases over one problem: by the engine if the method is auto and the engine reaches a proof, else by programs."""

    problem: Problem
    method: str
    deadline: Deadline
    threads: int

    def __post_init__(self) -> None:
        self.solver = FASTEST if self.method == "auto" else self.method
        self.base = self.problem.fold(soft=False) if self.method == "auto" else self.problem

    @cached_property
    def formulation(self) -> Formulation:
        """Built on first use."""
        return formulate(self.base)

    @cached_property
    def first(self) -> ProgramAnswer:
        """Z* and a labelling with that score, by the engine if it reaches a proof, else by an integer program.

        Its method begins the description of both phases.
        """
        words = ""
        if not self.problem.shape[0]:
            certificate = proof("empty sequence", Phases(Leaf()))
            return ProgramAnswer("optimal", np.zeros(0, np.int64), 0, certificate, "empty sequence")
        if self.method == "auto":
            from ilpinfer.exact.auto import auto

            result = next(auto(hard_only(self.problem), Task(self.deadline), "auto"))
            certificate = _as_both_phases(result)
            if result.proves_infeasibility:
                return ProgramAnswer(
                    "infeasible", None, -math.inf, certificate, "auto: no labelling is possible"
                )
            if result.path is not None and self.score(result.path) >= result.bound:
                return ProgramAnswer(
                    "optimal", result.path, result.bound, certificate, f"{result.method}, then "
                )
            words = "auto: "
        reply = solve(self.solver, self.formulation.best_score(), self.deadline, self.threads)
        return replace(reply, method=words)

    @property
    def best(self) -> int:
        """An upper bound on Z*, grid units, given a labelling of the first phase."""
        assert self.first.path is not None
        return int(max(self.first.bound, self.score(self.first.path)))

    def score(self, path: LabelIds) -> int:
        """Score of a labelling, model and features, grid units."""
        value = self.problem.value(path)
        return value.model + value.features

    def run(self, floor: int | None, top: int) -> list[ProgramAnswer]:
        """Labellings at or above a floor by cost, then score; at least one entry."""
        first = self.first
        if self.method == "auto" and first.status == "optimal" and (cheapest := self._cheapest(floor, top)):
            return cheapest
        answers, paths = list[ProgramAnswer](), list[LabelIds]()
        while len(answers) < top and (answer := self.at_floor(floor, paths)):
            answers.append(answer)
            paths += [] if answer.path is None else [answer.path]
        return answers or [replace(first, path=None, status="unknown")]

    def _cheapest(self, floor: int | None, top: int) -> list[ProgramAnswer] | None:
        """The cheapest labellings by the engine, with their proofs; None if it does not reach a proof."""
        from ilpinfer.exact.least_cost import LeastCostSearch

        assert self.first.path is not None
        cheapest = LeastCostSearch(self.base, self.deadline, self.first.path).cheapest(floor, top)
        if cheapest is None:
            return None
        paths, leaf, weight = cheapest
        tree, best = self.first.certificate.tree, self.score(self.first.path)
        result, before = list[ProgramAnswer](), list[tuple[int, ...]]()
        for path in paths:
            value = self.problem.value(path)
            phases = tree if isinstance(tree, Phases) else None  # a solver has no proof of the first phase
            if phases is not None and (value.penalty or self.score(path) != best):
                phases = replace(phases, least=leaf, weight=weight)
            certificate = proof("every prefix that could cost less was followed", phases, tuple(before))
            words = "auto: label setting"
            result.append(ProgramAnswer("optimal", path, value.score, certificate, words, value.penalty))
            before.append(tuple(path.tolist()))
        return result

    def at_floor(self, floor: int | None, excluded: Sequence[LabelIds] = ()) -> ProgramAnswer | None:
        """The least cost at or above a floor, and the best score at that cost, by a solver; None without an answer."""
        least, cost_bound = self._least_cost(floor, excluded)
        if least.path is None:
            return None
        cost, score, best = self.problem.value(least.path).penalty, self.score(least.path), self.best
        proved = least.status == "optimal"
        cost_bound = cost if proved else min(cost_bound, cost)
        if score == best:
            reply = replace(least, status="optimal", bound=best)
        else:
            program = self.formulation.best_score(cost_ceiling=cost)
            reply = self._until(program, excluded, lambda value: value.penalty <= cost)
        if reply.path is None or self.score(reply.path) < score:
            reply = replace(reply, path=least.path, status="feasible")
        limit = min(float(best), reply.bound) if proved else float(best)
        all_proved = proved and self.first.status == reply.status == "optimal"
        status, words = "optimal" if all_proved else "feasible", self.first.method + self.solver
        return replace(reply, status=status, bound=limit - cost_bound, method=words, cost_bound=cost_bound)

    def _least_cost(self, floor: int | None, excluded: Sequence[LabelIds]) -> tuple[ProgramAnswer, int]:
        """A labelling of least cost at or above the floor, and a lower bound on that cost; grid units."""
        first = self.first
        if first.path is not None and not excluded and not self.problem.value(first.path).penalty:
            return replace(first, status="optimal", bound=0), 0
        reply = self._until(
            self.formulation.least_cost(floor),
            excluded,
            lambda value: floor is None or value.model + value.features >= floor,
        )
        step = cost_unit(self.problem.rules)
        cost_bound = 0 if math.isinf(reply.bound) else max(0, -step * math.floor(reply.bound / step))
        if first.path is not None and not excluded and reply.status != "infeasible":
            reply = self._better(reply, first.path)
        return reply, cost_bound

    def _better(self, reply: ProgramAnswer, incumbent: LabelIds) -> ProgramAnswer:
        """The reply, with the incumbent instead of a labelling of higher cost, or of equal cost and lower score."""
        own = self.problem.value(incumbent).penalty, -self.score(incumbent)
        if reply.path is None:
            return replace(reply, path=incumbent, status="feasible")
        cost = self.problem.value(reply.path).penalty
        if (cost, -self.score(reply.path)) <= own:
            return reply
        return replace(reply, path=incumbent, status=reply.status if cost == own[0] else "feasible")

    def _until(
        self, program: IntegerProgram, excluded: Sequence[LabelIds], accepts: Callable[[Value], bool]
    ) -> ProgramAnswer:
        """Solve until an answer is accepted; an answer that only a tolerance allows gets a no-good row."""
        for path in excluded:
            program = exclude_labelling(program, path)
        while True:
            reply = solve(self.solver, program, self.deadline, self.threads)
            if reply.path is None:
                return reply
            value = self.problem.value(reply.path)
            if value.feasible and accepts(value):
                return reply
            program = exclude_labelling(program, reply.path)


def _as_both_phases(result: Result) -> Certificate:
    """The certificate of the first phase as one for both phases, which is valid if the second adds nothing."""
    tree = result.certificate.tree
    if tree is None or isinstance(tree, Phases):
        return result.certificate
    witness = () if result.path is None else tuple(result.path.tolist())
    return replace(result.certificate, tree=Phases(tree, witness))
