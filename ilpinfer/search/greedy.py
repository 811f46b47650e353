"""Greedy repair of the better of two first labellings."""

from collections.abc import Iterator

from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.search.best_first import better_first_labelling
from ilpinfer.search.repair import repair


def greedy(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The better of Viterbi's and the best-first labelling, repaired: a token, a run or a border changed while that helps."""
    yield from repair(problem, task, name, better_first_labelling)
