"""What it costs the searches to read the clock and to record labellings, as a share of their processor time."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

from benchmarks.data.synthetic import document, document_rules, labels_of_size
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.kernels.native import kernels
from ilpinfer.search.discrepancy import Discrepancy, Search
from ilpinfer.search.evolution import Evolution, run_generations
from ilpinfer.search.population import Individuals, Population, Weights

CALLS = 1000
"""That do nothing."""
LENGTH, LABELS, NOISE = 480, 27, 3.0
SEARCHES = ("lds", "evolutionary")
"""That keep records."""
Run = Callable[[], object]


class Problem:
    """A planted document, on which searches can be set up."""

    def __init__(self, length: int = LENGTH) -> None:
        labels = labels_of_size(LABELS)
        rules = document_rules(labels)
        self.folded = compile_problem(document(length, 0, labels, NOISE), rules).fold()
        self.bound, self.path = viterbi(self.folded.lattice)

    def population(self, individuals: Individuals, limit: float | None) -> Population:
        deadline = Deadline() if limit is None else Deadline(limit)
        return Population(self.folded, Task(deadline), individuals, self.path, self.bound)

    def run(self, search: str, limit: float) -> Run:
        if search == "lds":
            deep = Discrepancy(variant="textbook", keep_going=True)
            return Search(self.folded, Task(Deadline(limit)), deep).run
        return partial(run_generations, self.population(Evolution().individuals, limit), Evolution())

    def hand_over(self) -> float:
        """Seconds for a call into a kernel that has nothing to do."""
        p = self.population(Evolution().individuals, None)
        arguments = p.breeding, p.places, Weights(0, 0), p.records, 0
        began = time.process_time()
        for _ in range(CALLS):
            kernels.evolve(*arguments)
        return (time.process_time() - began) / CALLS


KERNELS = {"lds": "dive", "evolutionary": "evolve"}


def cost(search: str, seconds: float, length: int = LENGTH) -> float:
    """The share of its processor time that a search spends outside its kernel, which a single long call would not."""
    problem, name = Problem(length), KERNELS[search]
    kernel, inside = getattr(kernels, name), list[float]()

    def timed(*arguments: Any) -> Any:
        began = time.process_time()
        result = kernel(*arguments)
        inside.append(time.process_time() - began)
        return result

    problem.run(search, seconds / 10)()
    run = problem.run(search, seconds)
    with mock.patch.object(kernels, name, timed):
        began = time.process_time()
        run()
        whole = time.process_time() - began
    return 1 - (sum(inside) - len(inside) * problem.hand_over()) / whole
