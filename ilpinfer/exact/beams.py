"""Beams: better labellings by narrow searches over prefixes, each with the machines of the rules broken by the previous beam.

They apply if kernels leave a problem open. They prove nothing, but later stages prune by their labellings.
"""

from dataclasses import replace

from ilpinfer.exact import limits
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import State
from ilpinfer.kernels.native import kernels


def by_beams(state: State) -> State:
    """The state with the best labelling of all beams, and with the machines that they met."""
    problem, machines = state.problem, list(state.active)
    relaxation, deadline = Relaxation(problem.instance, problem.tokens, state.multipliers), problem.deadline
    state = replace(state.left_open("too many steps"), inside=frozenset())
    for _ in range(limits.BEAMS):
        floor = state.value
        relaxation.prune(floor)
        beam = relaxation.prefixes(
            machines, deadline, floor=floor, width=limits.BEAM, inside=kernels.MOST_JOINT
        )
        state = replace(state.with_labellings(beam.paths), relaxed=relaxation.path)
        if deadline.passed:
            return state.left_open("no time left")
        new = problem.broken(beam.paths[:1], machines)
        if not new:
            break
        machines += new
    return replace(state, active=tuple(machines))


BEAMS = Stage("beams", lambda state: state.by_machines, by_beams)
