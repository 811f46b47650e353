"""What a method had in hand while it ran: its incumbents, valued when somebody asks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from formulations.grid import nats

if TYPE_CHECKING:
    from ilpinfer.solution import Solution


@dataclass(frozen=True)
class Improvement:
    """A labelling better than all before it, as a method passes it.

    Parameters
    ----------
    seconds : since the start, warming up left out
    value : grid units
    path : label ids (T,)
    """

    seconds: float
    value: int
    path: NDArray[np.int64]


@dataclass(frozen=True)
class Incumbent:
    """A labelling better than all before it, as it is reported.

    Parameters
    ----------
    seconds : since the start, warming up left out
    score : nats, penalties taken off
    violations : how often it breaks each rule, zeros included
    """

    seconds: float
    score: float
    violations: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with None for a score that is not finite."""
        score = None if np.isinf(self.score) else self.score
        return {"seconds": self.seconds, "score": score, "violations": self.violations}


def incumbents(solution: "Solution") -> tuple[Incumbent, ...]:
    """The incumbents of the method that found a solution, valued from scratch; the last one is the solution itself.

    Raises
    ------
    ValueError
        where there are some, and the trellis and the rules are not known any more.
    """
    if not solution.found:
        return ()
    reached = [p.seconds for p in solution.improvements if nats(p.value) == solution.score]
    last = Incumbent(min(reached, default=solution.seconds), solution.score, solution.violations)
    before = [p for p in solution.improvements if nats(p.value) < solution.score]
    if not before:
        return (last,)
    if solution.context is None:
        raise ValueError("only incumbents of a solution that was decoded here can be valued")
    problem = solution.context.problem
    values = [(p.seconds, problem.value(p.path)) for p in before]
    return (*(Incumbent(at, nats(value.score), value.violations) for at, value in values), last)
