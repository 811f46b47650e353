"""The best labellings under rules that are Python functions: labellings in the order of their score under the other rules."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import is_forbidden
from formulations.messages import counted
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import NONE, Certificate, Phases, Rest, proof
from ilpinfer.core.request import MOST
from ilpinfer.core.result import NOTHING_KNOWN, Result, Task
from ilpinfer.exact.auto import auto
from ilpinfer.exact.best_few import best_few
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.state import State
from ilpinfer.search.beam import search
from ilpinfer.search.incumbents import Incumbents

FIRST, GROWTH = 8, 4
"""Labellings of the second list, after one of a single labelling, and how many times as many the next one has."""
MOST_CELLS = 4_000_000
"""Labels of all labellings of a list, at most."""
BEAM_AFTER, BEAM_WIDTH = 32, 30
"""The length of a list after which a beam search looks for a labelling once, and its width."""
SOURCE = "no labelling that is not listed is better; verify needs the Python functions of the rules"
Ids = tuple[int, ...]


def listed(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings. The list ends when no labelling outside it can be better than the wanted ones.

    An incomplete list leaves the best totals and a bound that it proves.
    """
    if task.within is not None:
        rule = problem.functions[0].name
        raise ValueError(
            f"within is not for rules that are Python functions, such as {rule!r}: ask for top alone"
        )
    if task.top > MOST["top"] // 2:
        raise ValueError(
            f"top is {task.top}; expected at most {MOST['top'] // 2} with rules that are Python functions"
        )
    listing = Listing(problem, task)
    listing.run()
    yield from listing.results(name)


@dataclass
class Listing:
    """The list so far; `bound` is the value under the other rules, in grid units, that no labelling passes which is not on it."""

    problem: Problem
    task: Task
    paths: list[Ids] = field(default_factory=list)
    totals: dict[Ids, tuple[int, int]] = field(default_factory=dict)  # of all labellings met; and their costs
    bound: float = math.inf
    certificate: Certificate = NONE
    complete: bool = False  # whether all labellings that keep the other rules are on the list
    why: str = ""  # why it ended early

    def __post_init__(self) -> None:
        self.others = self.problem.without_functions()
        self.incumbents = Incumbents(self.problem, self.task)

    def run(self) -> None:
        """Make the list longer until it suffices, or to its limits."""
        number, T = 1, self.problem.shape[0]
        most = min(MOST["top"], max(FIRST, MOST_CELLS // T))
        deadline, began = self.task.deadline, 0.0
        while self._extend(number) and not self._suffices():
            if number == most:
                self.why = f"at most {most} labellings are listed"
                return
            took, left = deadline.elapsed - began, deadline.remaining
            if number == BEAM_AFTER:
                self._look_ahead()
            number = min(most, max(FIRST, GROWTH * number, 2 * self.task.top if number == 1 else 0))
            if left is not None and number > FIRST and GROWTH * took > left:
                self.why = f"the time limit leaves no time for a list of {number}"
                return
            began = deadline.elapsed

    def best(self) -> list[Ids]:
        """The wanted labellings, as far as known; equal totals by label ids."""
        feasible = (path for path, (total, _) in self.totals.items() if not is_forbidden(total))
        return sorted(feasible, key=lambda path: (-self.totals[path][0], path))[: self.task.top]

    def results(self, name: str) -> Iterator[Result]:
        """The results of the list, as those of `auto`."""
        best, cut = self.best(), self.why and f"; {self.why}"
        method = f"{name}: the best {counted(len(self.paths), 'labelling')} under the other rules{cut}"
        for place, path in enumerate(best):
            total = self.totals[path][0]
            bound = total if self.complete else max(total, self.bound)
            last = self.complete and place == len(best) - 1 < self.task.top - 1
            certificate = self._certificate(tuple(best[:place]), last=last)
            improvements = () if place else tuple(self.incumbents.improvements)
            yield Result(np.array(path, np.int64), bound, method, certificate, improvements, total)
        if len(best) < self.task.top:
            bound = -math.inf if self.complete else self.bound
            yield Result(None, bound, method, self._certificate(()))

    def _certificate(self, before: tuple[Ids, ...], *, last: bool = False) -> Certificate:
        """The proof of the bound, which leaves out the list; `last` of the last labelling that there is."""
        known = self.certificate
        if known.tree is None:
            return known
        assert not isinstance(known.tree, Phases)
        rest = Rest(-math.inf, known.tree) if last else None
        on_list = tuple(path for path in self.paths if path not in before)
        return replace(known, source=SOURCE, excluded=before, listed=on_list, rest=rest)

    def _extend(self, number: int) -> bool:
        """List a number of labellings with proof; whether there may be more."""
        if number == 1:
            task = replace(self.task, top=1, watch=None, start=NOTHING_KNOWN)
            first = next(auto(self.others, task, "auto"))
            self.bound, self.certificate = first.bound, first.certificate
            self.complete = first.proves_infeasibility
            if first.path is None:
                return False
            path, value = self._value(first.path), self.others.value(first.path).score
            self.paths = [path] if first.bound <= value and first.certificate.tree is not None else []
            return self._continues(number, proved=bool(self.paths))
        end = best_few(State.of(GroundProblem.of(self.others, self.task.deadline)), number)
        proved = end.answer is not None and all(map(self._in_time, end.answer))
        if end.answer is not None and proved:
            self.paths = [self._value(path) for path in end.answer]
            self.certificate = proof(end.words, end.proof)
            self.bound = self.others.value(end.answer[-1]).score
            self.complete = len(end.answer) < number
        return self._continues(number, proved=proved)

    def _continues(self, number: int, *, proved: bool) -> bool:
        if self.complete:
            return False
        late = self.task.deadline.passed
        if late or not proved:
            what = "the time limit passed at" if late else "the engine leaves open"
            self.why = f"{what} a list of {number}"
        return not self.why

    def _in_time(self, path: LabelIds) -> bool:
        """Value a labelling; whether the deadline has not passed."""
        self._value(path)
        return not self.task.deadline.passed

    def _value(self, path: LabelIds) -> Ids:
        """Value a labelling, once."""
        ids = tuple(path.tolist())
        if ids not in self.totals:
            value = self.problem.value(path)
            cost = sum(rule.finite_penalty * value.violations[rule.name] for rule in self.problem.functions)
            self.totals[ids] = value.score, cost
            if value.score > self.incumbents.value:
                seconds, certificate = self.task.deadline.elapsed, self._certificate(())
                self.incumbents.offer(path, value.score, seconds, self.bound, certificate)
        return ids

    def _suffices(self) -> bool:
        """Whether no other labelling is better than those that are wanted, nor equal and before one of them by label ids."""
        best = self.best()
        if len(best) < self.task.top:
            return False
        worst = self.totals[best[-1]][0]
        if worst != self.bound:
            return worst > self.bound
        listed = set(self.paths)
        equal = (path for path in best if self.totals[path][0] == worst)
        return all(path in listed and not self.totals[path][1] for path in equal)

    def _look_ahead(self) -> None:
        """Value the labellings of a beam search, which uses the functions on prefixes."""
        for path in search(self.problem.fold(), BEAM_WIDTH, self.task.deadline).paths:
            self._value(path)
