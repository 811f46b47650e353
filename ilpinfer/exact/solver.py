"""A solver: an integer program of the open part of a problem, without the steps that labelling and bound exclude.

It applies to all problems that other stages leave open, and to rules without a machine. Its answer is a claim. If its labelling attains the
claimed bound, the kernels run again to prove it.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from formulations.programs.formulation import TooLarge, formulate
from formulations.programs.loss_bounds import reduce
from formulations.time_limits import OutOfTime
from ilpinfer.core.watching import Report
from ilpinfer.exact import limits
from ilpinfer.exact.programs import FASTEST, ProgramAnswer, solve
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import KERNELS, State
from ilpinfer.solvers.answer import GRACE
from ilpinfer.system.posix import missing_posix


def by_solver(state: State) -> State:
    """The state with a solver's labelling and claim."""
    if missing := missing_posix():
        return state.left_open(f"no solver without {missing}")

    def heard(reply: ProgramAnswer) -> None:
        nonlocal state
        if reply.path is not None:
            state = state.with_labelling(reply.path)
        if state.progress.watch is not None:
            bound, certificate = max(reply.bound, float(state.value)), reply.certificate
            report = Report(state.problem.deadline.elapsed, state.value, bound, state.path, certificate)
            state.progress.watch(report)

    try:
        reply = _solved(state, heard)
    except TooLarge:
        return state.left_open("too large for a solver")
    except OutOfTime:
        return state.left_open("no time left for a solver")
    if reply is None:
        return state
    bound = reply.bound
    if reply.path is not None:
        state = state.with_labelling(reply.path)
        bound = max(bound, state.problem.evaluate(reply.path).value)
    state = replace(state, claim=(bound, reply.certificate))
    state = state.left_open(f"reduced program on {FASTEST}: {reply.status}")
    attained = state.path is not None and state.value >= bound
    return replace(state, tried=state.tried - {KERNELS}) if attained else state


def _solved(state: State, heard: Callable[[ProgramAnswer], None]) -> ProgramAnswer | None:
    """The reply to the program of the remaining steps; None if time is short."""
    problem, folded = state.problem, state.problem.folded
    left, columns = (
        problem.deadline.remaining,
        math.prod(folded.lattice.pool.shape[1:]) * len(folded.lattice.node),
    )
    if left is not None and left < 2 * GRACE + columns * limits.SECONDS_A_COLUMN:
        return None
    program = formulate(folded).soft()
    lattice, most = state.charged or (folded.lattice, None)
    reduced = reduce(program, lattice, state.path, state.value, most)
    return solve(
        FASTEST,
        reduced.program,
        problem.deadline,
        problem.threads,
        lambda x: program.labelling(reduced.expand(x)),
        heard=heard,
    )


SOLVER = Stage("solver", lambda state: True, by_solver)
