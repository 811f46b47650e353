"""Two-phase inference: first the best score, then the least violation cost near it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal, overload

from formulations import Trellis
from formulations.arguments import number as real_number
from formulations.arguments import whole
from formulations.dtypes import LabelIds
from formulations.grid import UNITS_PER_NAT, nats
from formulations.plain_values import choice, number
from formulations.problem.known_labels import Given
from formulations.programs.formulation import score_floor
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import NONE, Certificate
from ilpinfer.core.context import Context
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.request import MOST, deadline_for
from ilpinfer.core.result import Result
from ilpinfer.core.rule_compiler import Rules, stated
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.decoding.explaining import Searches
from ilpinfer.decoding.reporting import solution_of, with_reasons
from ilpinfer.decoding.two_phase_search import TwoPhaseSearch
from ilpinfer.exact.programs import ProgramAnswer
from ilpinfer.solvers import SOLVERS
from ilpinfer.system.posix import require_posix

Floor = Literal["relative", "odds"]
"""Definition of the floor; see `decode_two_phase`."""


@dataclass(frozen=True, eq=False, repr=False)
class TwoPhaseSolution(Solution):
    """A solution with the figures of both phases.

    Parameters
    ----------
    best_score : float, default -math.inf
        Z*, the best model_score + feature_score among labellings that keep the hard rules, nats.
    floor : float, default -math.inf
        The lowest such score that is accepted, nats, on the score grid; -inf if there is no floor.
    cost_bound : float, default 0.0
        Proved lower bound on the penalty of every labelling at or above the floor, nats.
    tau, floor_kind : float or str, optional
        Parameters of the floor, as given to `decode_two_phase`; `floor_kind` is its `bound`, or "score" with
        a tau of 1 if the floor itself was given.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> solution = ilpinfer.decode_two_phase(trellis, [C.starts_with("b", penalty=2.0)], floor=-0.6)
    >>> solution.labels, solution.best_score, round(solution.floor, 3), solution.cost_bound
    (['b', 'b'], 0.0, -0.6, 0.0)
    """

    best_score: float = -math.inf
    floor: float = -math.inf
    cost_bound: float = 0.0
    tau: float = 0.9
    floor_kind: str = "relative"
    FURTHER: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {
        "best_score": partial(number, null=-math.inf),
        "floor": partial(number, null=-math.inf),
        "cost_bound": number,
        "tau": number,
        "floor_kind": partial(choice, options=("relative", "odds", "score")),
    }

    def _lines(self) -> list[str]:
        """With the floor instead of a score bound, which two-phase solutions do not have."""
        first, *others = super()._lines()
        if self.path is None:
            return [first, *others]
        phases = f"cost {self.penalty:.6g} nats, at least {self.cost_bound:.6g}; score {self.score + self.penalty:.6g}"
        return [f"{self.status}: {phases}, floor {self.floor:.6g}, best {self.best_score:.6g}", *others]


def check_method(method: str) -> None:
    """Raise ValueError for a method that is not exact, and MissingPosix for a solver that this system cannot run."""
    if not isinstance(method, str) or method not in ("auto", *SOLVERS):
        raise ValueError(
            f"two-phase inference needs an exact method: auto, {', '.join(SOLVERS)}; not {method!r}"
        )
    if method != "auto":
        require_posix(f"method {method}", "choose the method auto")


@overload
def decode_two_phase(
    trellis: Trellis,
    rules: Rules,
    tau: float = 0.9,
    bound: Floor = "relative",
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: None = None,
    threads: int = 1,
    floor: float | None = None,
    given: Given | None = None,
) -> TwoPhaseSolution: ...


@overload
def decode_two_phase(
    trellis: Trellis,
    rules: Rules,
    tau: float = 0.9,
    bound: Floor = "relative",
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int,
    threads: int = 1,
    floor: float | None = None,
    given: Given | None = None,
) -> list[TwoPhaseSolution]: ...


def decode_two_phase(
    trellis: Trellis,
    rules: Rules,
    tau: float = 0.9,
    bound: Floor = "relative",
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
    threads: int = 1,
    floor: float | None = None,
    given: Given | None = None,
) -> TwoPhaseSolution | list[TwoPhaseSolution]:
    """The labelling with the lowest violation cost among those whose score is close to the best score.

    minimise Σ c·σ subject to score >= floor (Fersini et al. 2014, eq. 22-29), then maximise the score at that cost. The
    floor applies to model_score + feature_score. Z* is the best such score of a labelling that keeps the hard rules.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules
        Rules and features, or a rule set.
    tau : float, default 0.9
        Parameter of the floor from 0 to 1; 1 accepts only optimal scores.
    bound : Floor, default "relative"
        "relative" for the floor Z* - (1 - tau)·`abs(Z*)`, or "odds" for the floor Z* + log tau; rounded up to the
        grid.
    method : str, default "auto"
        "auto", "cbc", "cp-sat", "highs" or "scip".
    time_limit : float, optional
        Time limit in seconds, both phases together.
    top : int, optional
        Number of different labellings to return, as a list.
    threads : int, default 1
        Threads of the solver.
    floor : float, optional
        The floor itself, nats, instead of tau and bound; rounded up to the grid.
    given : mapping of int to str, int or set, optional
        Known labels by position, names or ids, or sets of allowed ones; see `Trellis.with_given`.

    Returns
    -------
    TwoPhaseSolution or list of TwoPhaseSolution
        A list if `top` is a number, ordered by cost, then by score.

    Raises
    ------
    ValueError
        For a tau, bound or method out of range, and for a floor above the best score.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> rules = [C.starts_with("b", penalty=2.0)]
    >>> decode_two_phase(trellis, rules, floor=-0.6).labels, decode_two_phase(trellis, rules, tau=1).labels
    (['b', 'b'], ['a', 'a'])
    """
    score_floor(0, tau, bound)
    lowest = None if floor is None else floor_units(floor)
    check_method(method)
    number = 1 if top is None else whole(top, "top", 1, MOST["top"])
    compiler, deadline = stated(rules, "two-phase inference"), deadline_for(time_limit)
    trellis = compiler.fit(trellis).with_given(given)
    threads = whole(threads, "threads", 1, MOST["threads"])
    options = {"tau": tau, "bound": bound, "method": method, "time_limit": time_limit, "threads": threads}
    again = partial(decode_two_phase, trellis, **options, floor=floor)
    context, figures = Context(compiler, trellis, again, Searches(time_limit)), dict[str, Any]()
    try:
        with deadline.as_limit():
            context = replace(context, known_problem=compiler.problem(trellis))
            search = TwoPhaseSearch(context.problem, method, deadline, threads)
            if search.first.path is None:
                answers = [search.first]
            else:
                least, figures = _floor(search, search.first.path, tau, bound, lowest)
                answers = search.run(least, number) if len(trellis) else [search.first]
    except OutOfTime:
        answers, figures = [ProgramAnswer("unknown", None, math.inf, NONE, "no time left")], {}
    solutions = [_solution(each, context, deadline, figures) for each in answers]
    if top is not None:
        return [s for s in solutions if s.has_labelling]
    return with_reasons(solutions[0], deadline)


def _floor(
    search: TwoPhaseSearch, best: LabelIds, tau: float, kind: str, given: int | None
) -> tuple[int | None, dict[str, Any]]:
    """The floor in grid units, and its parameters; a given floor has priority over tau."""
    score = search.score(best)
    floor = score_floor(score, tau, kind) if given is None else given
    if given is not None and given > search.best:
        what = f"floor is {nats(given):g}, above the best score {nats(search.best):g}"
        raise ValueError(f"{what}: give a floor of at most that")
    return floor, {
        "best_score": nats(score),
        "floor": -math.inf if floor is None else nats(floor),
        "tau": float(tau) if given is None else 1.0,
        "floor_kind": kind if given is None else "score",
    }


def floor_units(floor: float) -> int:
    """A floor in grid units, rounded up; ValueError unless it is finite."""
    if not math.isfinite(real_number(floor, "floor", more=" of nats, or None for tau's")):
        raise ValueError(f"floor is {floor!r}; expected a finite number of nats, or None for tau's")
    return math.ceil(Fraction(float(floor)) * UNITS_PER_NAT)


def _solution(
    reply: ProgramAnswer, context: Context, deadline: Deadline, figures: dict[str, Any]
) -> TwoPhaseSolution:
    """A solution of both phases; a reply without a labelling is infeasible or unknown."""
    bound = -math.inf if reply.status == "infeasible" else reply.bound
    result = Result(reply.path, bound, f"two-phase: {reply.method}", _as_far_as_proved(reply))
    status = Status.OPTIMAL if reply.status == "optimal" else Status.FEASIBLE
    figures = {**figures, "cost_bound": nats(reply.cost_bound)}
    return solution_of(TwoPhaseSolution, result, context, deadline, status, **figures)


def _as_far_as_proved(reply: ProgramAnswer) -> Certificate:
    """The certificate of the reply; none if it does not prove the whole claim."""
    certificate = reply.certificate
    if reply.status == "unknown":
        return Certificate("none", certificate.source)
    if reply.status == "feasible" and certificate.kind == "exact":
        return Certificate("none", f"{certificate.source}; the second phase is open")
    return certificate
