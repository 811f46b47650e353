"""Repair of the labelling of a Lagrangian relaxation."""

from collections.abc import Iterator

from formulations.dtypes import LabelIds
from formulations.grid import is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.label_setting import LABEL_SETTING
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.rounds import Round
from ilpinfer.search.repair import repair


def relaxation_guided(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The labelling of the engine's Lagrangian relaxation, repaired (Rush and Collins 2012, section 7).

    Rules that Viterbi's labelling breaks are in the product of the relaxation, or have multipliers.
    """
    task.deadline.excuse(LABEL_SETTING.warm())

    def relaxed(folded: Problem, path: LabelIds, task: Task) -> LabelIds | None:
        progress = Progress.of(problem, task.deadline)
        relaxation = Round(progress, progress.machines(progress.new_components([path], [])), 1)
        result = relaxation.guide.solve(relaxation.multipliers, task.deadline)
        if result is None or is_forbidden(result.bound):
            return None
        return relaxation.tighten(result).path if relaxation.charged else result.path

    yield from repair(problem, task, name, relaxed)
