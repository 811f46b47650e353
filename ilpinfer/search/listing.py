"""The best labellings under rules that are Python functions: labellings in the order of their score under the other rules."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import NONE, Certificate, Rest
from ilpinfer.core.request import MOST
from ilpinfer.core.result import NOTHING_KNOWN, Result, Task
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.exact.auto import auto
from ilpinfer.search.beam import BEAM, search
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
    """The best labellings. The list ends where one that is not on it cannot be better than those that are wanted.

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
        while self._extend(number) and not self._suffices():
            if number == most:
                self.why = f"at most {most} labellings are listed"
                return
            if number == BEAM_AFTER:
                self._look_ahead()
            number = min(most, max(FIRST, GROWTH * number, 2 * self.task.top if number == 1 else 0))

    def best(self) -> list[Ids]:
        """The wanted labellings, as far as known; equal totals by label ids."""
        feasible = (path for path, (total, _) in self.totals.items() if not is_forbidden(total))
        return sorted(feasible, key=lambda path: (-self.totals[path][0], path))[: self.task.top]

    def results(self, name: str) -> Iterator[Result]:
        """The results of the list, as those of `auto`."""
        best, cut = self.best(), self.why and f"; {self.why}"
        method = f"{name}: the best {len(self.paths)} labellings under the other rules{cut}"
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
        """The proof of the bound, which excludes the list; `last` of the last labelling that there is."""
        known = self.certificate
        tree: Leaf | Split | None = known.rest.tree if self.complete and known.rest else known.tree  # type: ignore[assignment]
        if tree is None:
            return known
        rest = Rest(-math.inf, tree) if last else None
        on_list = tuple(path for path in self.paths if path not in before)
        return replace(known, source=SOURCE, tree=tree, excluded=before, listed=on_list, rest=rest)

    def _extend(self, number: int) -> bool:
        """List a number of labellings; whether there may be more, and the list is proved to have the best ones."""
        task = replace(self.task, top=number, watch=None, start=NOTHING_KNOWN)
        results = list(auto(self.others, task, "auto"))
        found = [result for result in results if result.path is not None]
        paths = [self._value(result.path) for result in found if result.path is not None]
        if not found or number == 1:
            self.complete = results[0].proves_infeasibility
            self.bound, self.certificate = results[0].bound, results[0].certificate
            self.paths = paths if found and self._proved(found) else []
        elif self._proved(found):
            self.paths, self.bound, self.certificate = paths, found[-1].bound, found[-1].certificate
            rest = self.certificate.rest
            self.complete = rest is not None and rest.bound == -math.inf
        if self.complete or not found or self.task.deadline.passed or not self._proved(found):
            if not self.complete:
                why = "the time limit ended" if self.task.deadline.passed else "the engine has no proof for"
                self.why = f"{why} a list of {number}"
            return False
        return True

    def _proved(self, found: Sequence[Result]) -> bool:
        """Whether the results are the best labellings under the other rules, with proof."""
        return all(
            result.path is not None
            and result.certificate.tree is not None
            and result.bound <= self.others.value(result.path).score
            for result in found
        )

    def _value(self, path: LabelIds) -> Ids:
        """Value a labelling, once."""
        ids = tuple(path.tolist())
        if ids not in self.totals:
            value = self.problem.value(path)
            cost = sum(rule.finite_penalty * value.violations[rule.name] for rule in self.problem.functions)
            self.totals[ids] = value.score, cost
            self.incumbents.offer(path, value.score, self.task.deadline.elapsed, self.bound)
        return ids

    def _suffices(self) -> bool:
        """Whether no other labelling is better than those that are wanted, nor equal and before one of them by label ids."""
        best = self.best()
        if len(best) < self.task.top:
            return False
        worst = self.totals[best[-1]][0]
        if worst != self.bound:
            return worst > self.bound
        return not any(self.totals[path][1] for path in best if self.totals[path][0] == worst)

    def _look_ahead(self) -> None:
        """Value the labellings of a beam search, which uses the functions on prefixes."""
        self.task.deadline.excuse(BEAM.warm())
        for path in search(self.problem.fold(), BEAM_WIDTH, self.task.deadline).paths:
            self._value(path)
