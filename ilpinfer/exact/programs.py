"""Integer programs on solvers, as methods."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from formulations import time_limits
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN
from formulations.problem.problem import Problem
from formulations.programs.formulation import exclude_labelling, formulate
from formulations.programs.loss_bounds import best_score
from formulations.programs.record import IntegerProgram
from ilpinfer import solvers
from ilpinfer.core.certificate import VITERBI_BOUND, Certificate, proof
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import Function
from ilpinfer.core.result import Result, Task
from ilpinfer.exact import limits
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.kernel_stage import by_kernels
from ilpinfer.exact.solver_options import Beginning, SolverOptions, beginning, share_of
from ilpinfer.exact.state import State
from ilpinfer.solvers import outside
from ilpinfer.solvers.answer import GRACE, NO_CHOICES, Choices
from ilpinfer.solvers.outside import below
from ilpinfer.solvers.through_pulp import PulpSolver

FASTEST = "cp-sat"
"""The solver measured fastest on folded programs: `python -m benchmarks run engine --parts folded`."""


@dataclass(frozen=True)
class Reply:
    """A solver's answer to a program, in terms of labellings."""

    status: str
    path: LabelIds | None
    bound: float
    certificate: Certificate


def solve(
    solver: str,
    program: IntegerProgram,
    deadline: Deadline,
    threads: int,
    labelling: Callable[[Integers], LabelIds] | None = None,
    choices: Choices = NO_CHOICES,
    function: Function | None = None,
) -> Reply:
    """Solve a program, and end before the deadline; the first start of the solver counts.

    `labelling` reads the labelling of a vector, by default that of the program; `function` is a user's solver.
    """
    left = deadline.remaining
    limit = None if left is None else left - min(GRACE + limits.MARGIN, limits.MOST_MARGIN * left)
    if function is None:
        answer = solvers.solve(
            solver, program, time_limit=limit, threads=threads, options=choices.options, log=choices.log
        )
    else:
        answer = outside.solve(solver, function, program, limit, threads, choices)
    path = None if answer.x is None else (labelling or program.labelling)(answer.x)
    certificate = Certificate("solver", answer.version, answer.settings)
    return Reply(answer.status, path, answer.bound, certificate)


def whole_program(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The whole program on a solver: every rule as rows, without folding."""
    options = task.parameters
    yield from best_of_program(problem, task, name, options if isinstance(options, SolverOptions) else None)


def outside_program(
    problem: Problem, task: Task, name: str, solver: Function | None = None
) -> Iterator[Result]:
    """The whole program on a user's solver, or on that of PuLP."""
    options = task.parameters
    assert isinstance(options, SolverOptions)
    yield from best_of_program(problem, task, name, options, solver or PulpSolver.of(name))


def best_of_program(
    problem: Problem,
    task: Task,
    solver: str,
    options: SolverOptions | None = None,
    function: Function | None = None,
) -> Iterator[Result]:
    """The best labellings of a problem's program, one after the other by no-good rows; `function` is a user's solver."""
    options, begun, root = options or SolverOptions(), Beginning(), ""
    if function is None:
        solvers.start(solver)  # loads while the program is stated
    bound, certificate = float(best_score(problem.lattice)), VITERBI_BOUND
    try:
        time_limits.check()
        if options.root_bound:
            root = "; root bound of the engine"
            with share_of(task.deadline) as share:
                bound, certificate = _root_bound(problem, share)
        begun = beginning(options, problem, task)
        program = formulate(problem).soft().shifted().starting_with(begun.path)
    except time_limits.OutOfTime:
        yield Result(begun.path, bound, f"{solver}: no time left{begun.words}{root}", certificate)
        return
    for _ in range(task.top):
        found = solve(solver, program, task.deadline, task.threads, None, options.choices, function)
        reply = _not_below(found, begun, problem)
        if reply.status in ("feasible", "unknown") and bound < reply.bound:
            reply = replace(reply, bound=bound, certificate=certificate)
        value = FORBIDDEN if reply.path is None else problem.value(reply.path).score
        if function is not None and found.path is reply.path is not None and value > found.bound:
            raise below(solver, found.bound, value)
        least = value if reply.status == "optimal" else max(reply.bound, value)
        words = f"{solver}: {reply.status}{begun.words}{root}"
        yield Result(reply.path, least, words, reply.certificate, begun.improvements)
        if reply.path is None:
            return
        program, begun = exclude_labelling(program, reply.path).starting_with(None), Beginning()


def _root_bound(problem: Problem, deadline: Deadline) -> tuple[float, Certificate]:
    """The bound of the engine's kernels, before branch and bound, with its proof."""
    state = by_kernels(State.of(GroundProblem.of(problem, deadline)))
    return state.bound, proof("root bound of the engine", state.proof)


def _not_below(reply: Reply, begun: Beginning, problem: Problem) -> Reply:
    """The reply; where its labelling is worse than that of the beginning, that one, and the claim is not believed."""
    if begun.path is None or (reply.path is not None and problem.value(reply.path).score >= begun.value):
        return reply
    bound = reply.bound if reply.status in ("feasible", "unknown") else math.inf
    return replace(reply, status="feasible", path=begun.path, bound=bound)
