"""The built-in methods."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any

from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task

Function = Callable[..., Any]
"""A user's decoder, `(trellis, rules, *, time_limit, seed) -> labels | ids | None`; see `register_method`."""


@dataclass(frozen=True)
class Method:
    """A way to decode.

    Parameters
    ----------
    name : str
        Name, as given to `decode`.
    exact : bool
        Whether it proves its labelling optimal, given time.
    summary : str
        Description in one line.
    runner : str
        `module:function`, imported on first use.
    options : tuple of str, optional
        Options of its own.
    parameters : str, optional
        `module:class`, a record whose fields are options too.
    function : Function, optional
        A user's decoder, which runs in the place of `runner`.
    process : bool, default False
        Whether that function runs in a process of its own, which a time limit can end.
    """

    name: str
    exact: bool
    summary: str
    runner: str
    options: tuple[str, ...] = ()
    parameters: str = ""
    function: Function | None = None
    process: bool = False

    @property
    def seeded(self) -> bool:
        """Whether it takes a seed."""
        return "seed" in self.all_options

    @cached_property
    def record(self) -> Any:
        """The class of its parameters, or None."""
        module, _, name = self.parameters.partition(":")
        return getattr(import_module(module), name) if name else None

    @property
    def all_options(self) -> tuple[str, ...]:
        """Options and parameters."""
        return (
            (*self.options, *(field.name for field in fields(self.record))) if self.record else self.options
        )

    def run(self, problem: Problem, task: Task) -> Iterator[Result]:
        """Labellings, best first."""
        module, _, function = self.runner.partition(":")
        if module not in sys.modules:
            began = time.perf_counter()
            import_module(module)
            task.deadline.excuse(time.perf_counter() - began)
        runner = getattr(sys.modules[module], function)
        result: Iterator[Result] = runner(problem, task, self.name)
        return result


WHOLE_PROGRAM = "ilpinfer.exact.programs:whole_program"

BUILT_IN = (
    Method(
        "auto",
        True,
        "folds local rules; Viterbi; multipliers and decision diagrams on what it breaks; then a solver",
        "ilpinfer.exact.auto:auto",
        ("within",),
    ),
    Method("cbc", True, "the whole integer program on CBC, through PuLP", WHOLE_PROGRAM, ("threads",)),
    Method(
        "cp-sat", True, "the whole integer program on CP-SAT, through OR-tools", WHOLE_PROGRAM, ("threads",)
    ),
    Method("highs", True, "the whole integer program on HiGHS, through highspy", WHOLE_PROGRAM, ("threads",)),
    Method("scip", True, "the whole integer program on SCIP, through OR-tools", WHOLE_PROGRAM, ("threads",)),
    Method(
        "viterbi",
        False,
        "ignores the rules; exact where none is broken",
        "ilpinfer.search.viterbi:plain_viterbi",
    ),
    Method(
        "constrained-viterbi",
        False,
        "Viterbi with the rules on single tokens and steps in its scores",
        "ilpinfer.search.viterbi:constrained_viterbi",
    ),
    Method(
        "post-correction",
        False,
        "Viterbi, then hard rules on single tokens overwrite labels",
        "ilpinfer.search.post_correction:post_correction",
    ),
    Method(
        "posterior",
        False,
        "the labelling with the most right tokens, or the best F1 of spans, to be expected under the rules",
        "ilpinfer.search.posterior:posterior",
        parameters="ilpinfer.search.posterior:Posterior",
    ),
    Method(
        "beam",
        False,
        "the best few prefixes at every token",
        "ilpinfer.search.beam:beam_search",
        ("width",),
    ),
    Method(
        "best-first",
        False,
        "the best choice for each token, turning back at hard rules",
        "ilpinfer.search.best_first:best_first",
    ),
    Method(
        "greedy",
        False,
        "the best-first or Viterbi's labelling, repaired while a change makes it better",
        "ilpinfer.search.greedy:greedy",
    ),
    Method(
        "relaxation-guided",
        False,
        "the labelling of the engine's relaxation, repaired",
        "ilpinfer.search.relaxation_guided:relaxation_guided",
    ),
    Method(
        "lds",
        False,
        "limited discrepancy search: depth first, under limits that widen; admissible or as published",
        "ilpinfer.search.discrepancy:limited_discrepancy",
        parameters="ilpinfer.search.discrepancy:Discrepancy",
    ),
    Method(
        "evolutionary",
        False,
        "an evolutionary algorithm on the runs of labellings, varied or as published",
        "ilpinfer.search.evolution:evolutionary",
        parameters="ilpinfer.search.evolution:Evolution",
    ),
    Method(
        "annealing",
        False,
        "simulated annealing on the runs of a labelling",
        "ilpinfer.search.annealing:annealing",
        parameters="ilpinfer.search.annealing:Annealing",
    ),
    Method(
        "tabu",
        False,
        "tabu search on the runs of a labelling",
        "ilpinfer.search.tabu:tabu",
        parameters="ilpinfer.search.tabu:Tabu",
    ),
    Method(
        "hybrid",
        False,
        "lds for short sequences, evolutionary for long ones, strong or as published",
        "ilpinfer.search.hybrid:hybrid",
        parameters="ilpinfer.search.hybrid:Border",
    ),
)
