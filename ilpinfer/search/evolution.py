"""The evolutionary algorithm of Stokman 2011, section 4.2.3, and the hybrid with discrepancy search, section 4.2."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.messages import counted
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.viterbi import completions, viterbi
from ilpinfer.search.discrepancy import VALUES, Discrepancy, DiscrepancySearch, limited_discrepancy, run_time
from ilpinfer.search.parameters import Parameters, one_of, parameters_of, within
from ilpinfer.search.population import GENERATION, VALUED, Evolution, Population

_MOST_NODES = 200_000
"""Nodes of the best-first labelling without a time limit, so that it is the same on every machine."""
_FEW_NODES = 2_000
"""The same under rules that are Python functions, which take far longer."""


def best_first_labelling(folded: Problem, deadline: Deadline) -> LabelIds | None:
    """The first labelling of depth-first search that takes the best choice for each token and turns back at hard rules, ids (T,).

    None where the time does not suffice.
    """
    try:
        search = DiscrepancySearch(folded, Task(deadline), Discrepancy("published", branching=1_000_000))
    except OutOfTime:
        return None
    if is_forbidden(search.best):
        return None
    most = _FEW_NODES if folded.functions else _MOST_NODES
    search.most = most if deadline.remaining is None else 2**62
    search.completion = completions(folded.lattice)
    search.round(np.array([2 * FORBIDDEN, FORBIDDEN, folded.lattice.pool.shape[2]]), -1, VALUES, first=True)
    return search.incumbents.path


def evolutionary(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of all generations that keeps the hard rules."""
    parameters, folded = parameters_of(task, Evolution), problem.fold()
    bound, path = viterbi(folded.lattice)
    if is_forbidden(bound):
        yield Result(None, FORBIDDEN, f"{name}: no labelling is possible", VITERBI_BOUND)
        return
    if not parameters.iterations:
        task = replace(task, deadline=run_time(task.deadline))
    first: LabelIds | None = None
    try:
        first = path if parameters.start == "viterbi" else best_first_labelling(folded, task.deadline)
        if first is None:
            yield Result(None, bound, f"{name}: no first labelling in time", VITERBI_BOUND)
            return
        population = Population(folded, task, parameters, first, bound)
    except OutOfTime:
        kept = None if first is None or not folded.value(first).feasible else first
        yield Result(kept, bound, f"{name}: no time left", VITERBI_BOUND)
        return
    population.run()
    generations, valued = (int(population.counts[n]) for n in (GENERATION, VALUED))
    done = f"{counted(generations, 'generation')}, {counted(valued, 'labelling')}"
    yield population.incumbents.best(bound, f"{name}: {done}")


@dataclass(frozen=True)
class Border(Parameters):
    """Parameters of the hybrid: "strong" has the admissible and the varied search, "published" both as in Stokman 2011, section 4.2."""

    variant: str = one_of("strong", "published")
    border: int = within(60, 0, 1e9)  # tokens up to which discrepancy search is used (Stokman 2011, Table 6)
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
