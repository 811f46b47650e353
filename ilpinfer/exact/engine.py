"""The engine: stages that lower the bound and improve the labelling of a ground problem until both meet.

Cheap stages come first. The second of two stages with the same name runs if multipliers are new, or if a solver has found a
labelling that still needs a proof.
"""

from collections.abc import Sequence

from ilpinfer.exact.agreements import DECOMPOSITION
from ilpinfer.exact.beams import BEAMS
from ilpinfer.exact.branch import BRANCH_AND_BOUND
from ilpinfer.exact.kernel_stage import KERNEL_CALL
from ilpinfer.exact.large_products import PRODUCT_IN_CONTEXTS, PRODUCT_OF_SUMS
from ilpinfer.exact.solver import SOLVER
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import State
from ilpinfer.exact.sum_relaxation import CONTRADICTIONS, RELAXED_SUMS

PROVING = (
    DECOMPOSITION,
    KERNEL_CALL,
    BEAMS,
    PRODUCT_IN_CONTEXTS,
    CONTRADICTIONS,
    RELAXED_SUMS,
    PRODUCT_OF_SUMS,
    KERNEL_CALL,
    BEAMS,
    BRANCH_AND_BOUND,
)
"""The stages that prove their results."""
STAGES = (*PROVING, SOLVER, KERNEL_CALL)


def best(state: State, stages: Sequence[Stage] = STAGES) -> State:
    """Improve bound and labelling, stage by stage, until they meet or time is over."""
    for stage in stages:
        if stage.name not in state.tried and stage.applies(state):
            state = stage.run(state)
        if state.closed or state.problem.deadline.passed:
            break
    return state
