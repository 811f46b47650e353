"""Integer programs on solvers, as methods."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter

from formulations import time_limits
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN
from formulations.problem.problem import Problem
from formulations.programs.formulation import exclude_labelling, formulate
from formulations.programs.loss_bounds import best_score
from formulations.programs.record import IntegerProgram
from ilpinfer import solvers
from ilpinfer.core.certificate import VITERBI_BOUND, Certificate
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import Function
from ilpinfer.core.result import Result, Task
from ilpinfer.core.watching import Report
from ilpinfer.exact import limits
from ilpinfer.exact.solver_options import SolverOptions
from ilpinfer.solvers import outside
from ilpinfer.solvers.answer import GRACE, NO_CHOICES, Choices
from ilpinfer.solvers.outside import below
from ilpinfer.solvers.through_pulp import PulpSolver

FASTEST = "cp-sat"
"""The fastest solver on folded programs by `python -m benchmarks run engine --parts folded`."""


@dataclass(frozen=True)
class ProgramAnswer:
    """A solver's answer to a program, in terms of labellings."""

    status: str
    path: LabelIds | None
    bound: float
    certificate: Certificate
    method: str = ""
    cost_bound: int = 0
    """In two-phase inference, a lower bound on the cost of every labelling at or above the floor, grid units."""


def solve(
    solver: str,
    program: IntegerProgram,
    deadline: Deadline,
    threads: int,
    labelling: Callable[[Integers], LabelIds] | None = None,
    choices: Choices = NO_CHOICES,
    function: Function | None = None,
    heard: Callable[[ProgramAnswer], None] | None = None,
) -> ProgramAnswer:
    """Solve a program, and end before the deadline; the first start of the solver counts.

    `labelling` reads the labelling of a vector, by default as the program does; `function` is a user's solver. `heard` gets the
    current reply whenever a solver of the toolkit reports an improvement.
    """
    left = deadline.remaining
    limit = None if left is None else left - min(GRACE + limits.MARGIN, limits.MOST_MARGIN * left)

    def reply(answer: solvers.Answer) -> ProgramAnswer:
        path = None if answer.x is None else (labelling or program.labelling)(answer.x)
        certificate = Certificate("solver", answer.version, answer.settings)
        return ProgramAnswer(answer.status, path, answer.bound, certificate)

    if function is not None:
        return reply(outside.solve(solver, function, program, limit, threads, choices))
    listener = None if heard is None else lambda answer: heard(reply(answer))
    return reply(solvers.watched(solver, program, limit, threads, choices, listener))


def whole_program(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The whole program on a solver: every rule as rows, without folding."""
    options = task.parameters
    yield from best_of_program(problem, task, name, options if isinstance(options, SolverOptions) else None)


def outside_program(
    problem: Problem, task: Task, name: str, solver: Function | None = None
) -> Iterator[Result]:
    """The whole program on a user's solver, or on a solver of PuLP."""
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
    """The best labellings of a problem's program, one by one with no-good rows; `function` is a user's solver."""
    options = options or SolverOptions()
    if function is None:
        solvers.start(solver)  # loads while the program is built
    bound = float(best_score(problem.lattice))
    try:
        time_limits.check()
        program = formulate(problem).soft().shifted()
    except time_limits.OutOfTime:
        yield Result(None, bound, f"{solver}: no time left", VITERBI_BOUND)
        return

    def heard(reply: ProgramAnswer) -> None:
        assert task.watch is not None
        value = FORBIDDEN if reply.path is None else problem.value(reply.path).score
        least, certificate = min((bound, VITERBI_BOUND), (reply.bound, reply.certificate), key=itemgetter(0))
        task.watch(Report(task.deadline.elapsed, value, least, reply.path, certificate))

    for place in range(task.top):
        listener = heard if task.watch is not None and place == 0 else None
        reply = solve(solver, program, task.deadline, task.threads, None, options.choices, function, listener)
        claimed = reply.bound
        if reply.status in ("feasible", "unknown") and bound < reply.bound:
            reply = replace(reply, bound=bound, certificate=VITERBI_BOUND)
        value = FORBIDDEN if reply.path is None else problem.value(reply.path).score
        if function is not None and reply.path is not None and value > claimed:
            raise below(solver, claimed, value)
        least = value if reply.status == "optimal" else max(reply.bound, value)
        yield Result(reply.path, least, f"{solver}: {reply.status}", reply.certificate)
        if reply.path is None:
            return
        program = exclude_labelling(program, reply.path)
