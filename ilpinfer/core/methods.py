"""The built-in methods."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any

from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task

Function = Callable[..., Any]
"""A user's decoder or solver; see `register_method` and `register_solver`."""


@dataclass(frozen=True)
class Method:
    name: str
    exact: bool  # whether it proves its labelling optimal, given time
    summary: str  # one line
    runner: str  # `module:function`, imported on first use
    options: tuple[str, ...] = ()
    parameters: str = ""  # `module:class`, a record whose fields are options too
    function: Function | None = None  # a user's decoder, which runs in the place of `runner`
    solver: Function | None = None  # a user's solver, to which `runner` gives the program
    process: bool = False  # whether the decoder runs in a process of its own, which a time limit can end
    functions: str | None = (
        ""  # runner under rules that are Python functions, if another; None if it takes none
    )

    @property
    def seeded(self) -> bool:
        return "seed" in self.all_options

    @cached_property
    def record(self) -> Any:
        """The class of its parameters, or None."""
        module, _, name = self.parameters.partition(":")
        return getattr(import_module(module), name) if name else None

    @property
    def all_options(self) -> tuple[str, ...]:
        return (
            (*self.options, *(field.name for field in fields(self.record))) if self.record else self.options
        )

    def run(self, problem: Problem, task: Task) -> Iterator[Result]:
        """Labellings, best first."""
        chosen = self.functions if self.functions and problem.functions else self.runner
        module, _, function = chosen.partition(":")
        runner = getattr(import_module(module), function)  # waits where another thread imports it
        given = () if self.solver is None else (self.solver,)
        result: Iterator[Result] = runner(problem, task, self.name, *given)
        return result


WHOLE_PROGRAM = "ilpinfer.exact.programs:whole_program"
OUTSIDE_PROGRAM = "ilpinfer.exact.programs:outside_program"
"""The runner of users' solvers and solvers of PuLP."""
PULP = "pulp:"
"""Prefix of methods that are solvers of PuLP."""


def _solver(name: str, library: str) -> Method:
    return solver_method(name, f"the whole integer program on {library}", WHOLE_PROGRAM)


def solver_method(
    name: str, summary: str, runner: str = OUTSIDE_PROGRAM, solver: Function | None = None
) -> Method:
    record = "ilpinfer.exact.solver_options:SolverOptions"
    return Method(name, True, summary, runner, ("threads",), record, solver=solver, functions=None)


def _search(
    name: str,
    function: str,
    summary: str,
    parameters: str = "",
    *options: str,
    functions: str | None = "",
) -> Method:
    runner = f"ilpinfer.search.{function}"
    record = parameters and f"{runner.partition(':')[0]}:{parameters}"
    return Method(name, False, summary, runner, options, record, functions=functions)


BUILT_IN = (
    Method(
        "auto",
        True,
        "Viterbi with local rules in its scores; multipliers and automata for the rules that it breaks; then a solver",
        "ilpinfer.exact.auto:auto",
        ("within",),
        functions="ilpinfer.search.listing:listed",
    ),
    _solver("cbc", "CBC, through PuLP"),
    _solver("cp-sat", "CP-SAT, through OR-tools"),
    _solver("highs", "HiGHS, through highspy"),
    _solver("scip", "SCIP, through OR-tools"),
    _search("viterbi", "viterbi:plain_viterbi", "Viterbi without rules; exact where it breaks none"),
    _search(
        "constrained-viterbi",
        "viterbi:constrained_viterbi",
        "Viterbi with the rules on single tokens and steps in its scores; ignores all other rules",
    ),
    _search(
        "post-correction",
        "viterbi:post_correction",
        "Viterbi; then hard rules on single tokens correct its labels",
    ),
    _search(
        "posterior",
        "posterior:posterior",
        "the labelling with the highest expected number of correct tokens, or expected F1 of spans, under the rules",
        "Posterior",
        functions=None,
    ),
    _search(
        "beam", "beam:beam_search", "beam search: keeps the best few prefixes at each token", "", "width"
    ),
    _search(
        "greedy-spans",
        "greedy_spans:greedy_spans",
        "takes candidate spans without overlaps, most probable first; ignores the rules",
    ),
    _search(
        "lds",
        "discrepancy:limited_discrepancy",
        "limited discrepancy search: depth first, under limits that are raised step by step; variant admissible, textbook or published",
        "Discrepancy",
    ),
    _search(
        "evolutionary",
        "evolution:evolutionary",
        "an evolutionary algorithm that changes the runs of labellings; variant varied or published",
        "Evolution",
    ),
    _search(
        "hybrid",
        "evolution:hybrid",
        "lds for short sequences, evolutionary for long ones; variant strong or published",
        "Border",
    ),
)
