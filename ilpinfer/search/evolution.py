"""The evolutionary algorithm of Stokman 2011, section 4.2.3, and the hybrid."""

from collections.abc import Iterator
from dataclasses import replace

from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.search.discrepancy import limited_discrepancy
from ilpinfer.search.parameters import Border, Discrepancy, Evolution
from ilpinfer.search.population import Path, Population, searched
from ilpinfer.search.starting import best_first


def evolutionary(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling that keeps the hard rules, of all that were ever bred."""
    parameters = task.parameters or Evolution()
    assert isinstance(parameters, Evolution)

    def begin(folded: Problem, path: Path, task: Task) -> Path | None:
        return best_first(folded, task.deadline) if parameters.start == "best-first" else path

    def run(population: Population) -> str:
        population.run()
        return f"{population.generations} generations, {population.valued} labellings"

    yield from searched(problem, task, name, (), parameters, begin, run)


def hybrid(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """Discrepancy search for short sequences, the evolutionary algorithm for long ones, each with its usual parameters."""
    border = task.parameters or Border()
    assert isinstance(border, Border)
    if problem.shape[0] <= border.border:
        short = replace(task, parameters=Discrepancy(zero=border.zero))
        yield from limited_discrepancy(problem, short, f"{name}: lds")
    else:
        long = replace(task, parameters=Evolution(seed=border.seed))
        yield from evolutionary(problem, long, f"{name}: evolutionary")
