"""Repair of the labelling of a Lagrangian relaxation."""

from collections.abc import Iterator

from formulations.dtypes import LabelIds
from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import LABEL_SETTING, Relaxation, price_sums
from ilpinfer.kernels.decoding import MOST_JOINT
from ilpinfer.search.repair import repair


def relaxation_guided(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The labelling of the engine's Lagrangian relaxation, repaired (Rush and Collins 2012, section 7).

    Rules that Viterbi's labelling breaks have multipliers, or lead a beam of one prefix through the product with their machines.
    """
    task.deadline.excuse(LABEL_SETTING.warm())

    def relaxed(folded: Problem, path: LabelIds, task: Task) -> LabelIds | None:
        known = Known.of(problem, task.deadline)
        price_sums(known)
        relaxation, broken = Relaxation(known), known.broken([path])
        beam = relaxation.prefixes(broken, task.deadline, width=1, inside=MOST_JOINT)
        return next(iter(beam.paths), relaxation.path if beam.complete else None)

    yield from repair(problem, task, name, relaxed)
