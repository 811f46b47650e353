"""Discrepancy search for short sequences, and the evolutionary algorithm for long ones (Stokman 2011, section 4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.search.discrepancy import Discrepancy, limited_discrepancy
from ilpinfer.search.evolution import Evolution, evolutionary
from ilpinfer.search.parameters import Parameters, one_of, parameters_of, within


@dataclass(frozen=True)
class Border(Parameters):
    """Parameters of the hybrid; the border is that of Stokman 2011, Table 6.

    "strong" has admissible discrepancy search that goes on, and the varied evolutionary algorithm; "published" both as
    published (section 4.2).
    """

    variant: str = one_of("strong", "published")
    border: int = within(60, 0, 1e9)  # tokens up to which discrepancy search is used
    zero: str = one_of("score", "best")  # of discrepancy search, where it is the published one
    seed: int = within(0, 0, 2**63 - 1)


def hybrid(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """Discrepancy search up to a number of tokens, else the evolutionary algorithm, each with the parameters of its variant."""
    border = parameters_of(task, Border)
    depth_first, breeding = ("published",) * 2 if border.variant == "published" else ("admissible", "varied")
    if problem.shape[0] <= border.border:
        short = replace(task, parameters=Discrepancy(depth_first, zero=border.zero))
        yield from limited_discrepancy(problem, short, f"{name}: lds")
    else:
        long = replace(task, parameters=Evolution(breeding, seed=border.seed))
        yield from evolutionary(problem, long, f"{name}: evolutionary")
