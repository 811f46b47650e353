"""Claims of backends, their exact check, and checked answers."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import floor, inf
from typing import Any

import numpy as np

from formulations.dtypes import Floats, Integers
from formulations.errors import InferenceError
from formulations.messages import brief, suggestion
from formulations.programs.record import IntegerProgram

GRACE = 0.03  # seconds after the deadline before a request is stopped


class SolverError(InferenceError, RuntimeError):
    """Error of a solver that cannot be started or breaks down."""


class SolverOptionError(InferenceError, ValueError):
    """Error for an option or value that a solver refuses."""


@dataclass(frozen=True)
class Choices:
    """A user's settings of a solver: options by the solver's own names, None for its default, and the log file."""

    options: Mapping[str, Any] = field(default_factory=dict)
    log: str = ""

    def over(self, ours: Mapping[str, Any], reserved: Mapping[str, str]) -> dict[str, Any]:
        """The toolkit's settings `ours`, replaced by the user's options; SolverOptionError for `reserved` ones, which options of `decode` set."""
        for name in self.options:
            if name in reserved:
                raise SolverOptionError(
                    f"solver option {name!r} is set by {reserved[name]}; give that instead"
                )
        both = {**ours, **self.options}
        return {name: value for name, value in both.items() if value is not None}

    def unknown(self, solver: str, name: str, names: Iterable[str]) -> SolverOptionError:
        return SolverOptionError(f"{solver} has no option {name!r}{suggestion(name, names)}")

    def refused(self, solver: str, name: str, why: str = "") -> SolverOptionError:
        value = brief(self.options.get(name))
        return SolverOptionError(
            f"{solver} does not accept {value} for its option {name!r}{why and f': {why}'}"
        )


NO_CHOICES = Choices()


@dataclass(frozen=True)
class Claim:
    """A backend's result, not yet checked."""

    status: str
    x: Floats | None  # (n,)
    objective: float | None  # claimed value of x, grid units; None without x
    bound: float  # claimed upper bound on the objective, grid units
    version: str  # of the solver, and its package
    settings: dict[str, Any]  # passed to the solver


@dataclass(frozen=True)
class Progress:
    """A report during the solve: a vector, a bound, or both."""

    x: Floats | Integers | None = None  # (n,)
    bound: float = inf  # upper bound on the objective, grid units

    def followed_by(self, later: "Progress") -> "Progress":
        """Merge with a later report: its vector, if it has one, and the lower bound."""
        return Progress(self.x if later.x is None else later.x, min(self.bound, later.bound))


Report = Callable[[Progress], None]  # a function that receives progress reports of a solver


@dataclass(frozen=True)
class Answer:
    """A solver's claim after an exact check; `x` keeps every row in integer arithmetic.

    Parameters
    ----------
    status : str
        "optimal" | "feasible" | "infeasible" | "unknown".
    x : ndarray of int or None
        (n,) int64 or None.
    bound : float
        Upper bound on the objective, grid units; inf if unknown, -inf if infeasible.
    version : str
        Solver, its version, and its package.
    settings : dict of str to object
        Parameters of the solver.

    Examples
    --------
    >>> from ilpinfer import Trellis, formulate
    >>> from ilpinfer import solvers
    >>> answer = solvers.solve("highs", formulate(Trellis([0.0, -1.0], [], labels=["a", "b"])).integer)
    >>> answer.status, answer.x.tolist()
    ('optimal', [1, 0, 1, 0])
    """

    status: str
    x: Integers | None
    bound: float
    version: str
    settings: dict[str, Any]


def check_claim(
    claim: Claim, program: IntegerProgram, *, gaps: bool = False
) -> tuple[str, Integers | None, float]:
    """Status, x and bound of a claim after an exact check of x; an infeasible x is dropped.

    With `gaps`, user options may allow a gap: "optimal" then also requires that the bound meets the value of x.
    """
    x = exact_solution(claim.x, program)
    if claim.status == "infeasible":
        return ("infeasible", None, -inf) if x is None else ("feasible", x, inf)
    constant = program.constant or 0
    slack = max(1.0, 1e-9 * abs(claim.bound - constant)) if np.isfinite(claim.bound) else 0.0
    bound = _floor(claim.bound) + slack
    if x is None:
        return "unknown", None, bound
    value = program.value(x)
    if claim.status == "optimal" and claim.objective is not None:
        tolerance = max(0.5, 1e-9 * abs(value - constant))
        meets = bound <= value + 2 * max(1.0, slack) or not gaps
        if meets and abs(claim.objective - value) <= tolerance:
            return "optimal", x, float(value)
    return "feasible", x, max(bound, float(value))


def _floor(bound: float) -> float:
    """Round a bound down to the grid; inf for NaN and infinities."""
    return float(floor(bound)) if np.isfinite(bound) else inf


def with_progress(claim: Claim, progress: Progress, program: IntegerProgram) -> Claim:
    """The claim, combined with earlier reports of the solver if these are better."""
    claim = replace(claim, bound=min(claim.bound, progress.bound))
    if progress.x is None:
        return claim
    x = exact_solution(claim.x, program)
    if x is not None and program.value(x) >= program.value(progress.x.astype(np.int64)):
        return claim
    return replace(claim, x=progress.x.astype(float))


def exact_solution(x: Floats | Integers | None, program: IntegerProgram) -> Integers | None:
    """The rounded vector, (n,) int64, if it satisfies every row; else None."""
    if x is None or len(x) != program.n_columns or not np.all(np.isfinite(x)):
        return None
    rounded = np.rint(x).astype(np.int64)
    return rounded if program.satisfied_by(rounded) else None


def solver_seconds(deadline: float, late: float) -> float:
    """The time limit for a solver that may stop `late` seconds after its limit; at least 70 % of the remaining time."""
    remaining = deadline - time.monotonic()
    return max(remaining - min(late, 0.3 * remaining), 0.01)
