"""Two-phase inference: first the best score, then the least violation near it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, overload

from formulations import Trellis, time_limits
from formulations.arguments import instance, whole
from formulations.arguments import number as real_number
from formulations.dtypes import LabelIds
from formulations.grid import UNITS_PER_NAT, nats
from formulations.plain_values import choice, number
from formulations.problem.problem import Value, cost_unit, hard_only
from formulations.problem.trellis import Given
from formulations.programs.formulation import Formulation, exclude_labelling, formulate, score_floor
from formulations.programs.record import IntegerProgram
from ilpinfer.core.certificate import NONE, Certificate, Phases, proof
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.request import MOST, deadline_for
from ilpinfer.core.result import Result, Task
from ilpinfer.core.rule_compiler import Rules, stated
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.decoding.reporting import solution_of, with_reasons
from ilpinfer.exact.programs import FASTEST, Reply, solve
from ilpinfer.exact.viterbi import VITERBI
from ilpinfer.solvers import SOLVERS
from ilpinfer.system.posix import require_posix

Floor = Literal["relative", "odds"]
"""Definition of the floor; see `decode_two_phase`."""


@dataclass(frozen=True, eq=False)
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
    >>> from formulations import Trellis, constraints as C
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
    """The labelling of least violation cost among those with a score near the best.

    minimise Σ c·σ subject to score >= floor (Fersini et al. 2014, eq. 22-29), then maximise the score at that cost. The
    floor applies to model_score + feature_score. Z* is the best such score of a labelling that keeps the hard rules.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules
        Rules and features, or a rule set.
    tau : float, default 0.9
        Parameter of the floor from 0 to 1; 1 accepts optimal scores only.
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
        The floor itself, nats, in place of tau and bound; rounded up to the grid.
    given : mapping of int to str or int, optional
        Known labels, names or ids, by position; see `Trellis.with_given`.

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
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> rules = [C.starts_with("b", penalty=2.0)]
    >>> decode_two_phase(trellis, rules, floor=-0.6).labels, decode_two_phase(trellis, rules, tau=1).labels
    (['b', 'b'], ['a', 'a'])
    """
    score_floor(0, tau, bound)
    lowest = None if floor is None else floor_units(floor)
    check_method(method)
    wanted = 1 if top is None else whole(top, "top", 1, MOST["top"])
    trellis = instance(trellis, Trellis, "trellis", "a Trellis").with_given(given)
    compiler, deadline, threads = (
        stated(rules, "two-phase inference"),
        deadline_for(time_limit),
        whole(threads, "threads", 1, MOST["threads"]),
    )
    options = {"tau": tau, "bound": bound, "method": method, "time_limit": time_limit, "threads": threads}
    options["floor"] = floor
    context = Context(compiler, trellis, partial(decode_two_phase, trellis, **options))
    try:
        with time_limits.time_limit(lambda: deadline.passed, lambda: deadline.remaining):
            context = replace(context, known_problem=compiler.problem(trellis))
            solutions = TwoPhaseSearch(context, method, deadline, threads).run(tau, bound, wanted, lowest)
    except time_limits.OutOfTime:
        nothing = Reply("unknown", None, math.inf, NONE)
        solutions = [_solution(nothing, context, deadline, "no time left")]
    if top is not None:
        return [s for s in solutions if s.has_labelling]
    return with_reasons(solutions[0], deadline)


@dataclass
class TwoPhaseSearch:
    """Both phases over one problem: by the engine where the method is auto and it reaches a proof, else by programs."""

    context: Context
    method: str
    deadline: Deadline
    threads: int
    words: str = ""  # on the first phase
    figures: dict[str, Any] = field(default_factory=dict)  # of all solutions

    def __post_init__(self) -> None:
        self.problem = self.context.problem
        self.solver = FASTEST if self.method == "auto" else self.method
        self.base = self.problem.fold(soft=False) if self.method == "auto" else self.problem

    @cached_property
    def formulation(self) -> Formulation:
        """Built on first use."""
        return formulate(self.base)

    @cached_property
    def first(self) -> Reply:
        """Z* and a labelling with that score, by the engine if it reaches a proof, else by an integer program."""
        if self.method == "auto":
            from ilpinfer.exact.auto import auto

            self.deadline.excuse(VITERBI.warm())
            result = next(auto(hard_only(self.problem), Task(self.deadline), "auto"))
            certificate = _first_phase(result)
            if result.proves_infeasibility:
                self.words = "auto: no labelling is possible"
                return Reply("infeasible", None, -math.inf, certificate)
            if result.path is not None and self._score(result.path) >= result.bound:
                self.words = f"{result.method}, then "
                return Reply("optimal", result.path, result.bound, certificate)
            self.words = "auto: "
        return solve(self.solver, self.formulation.best_score(), self.deadline, self.threads)

    @property
    def best(self) -> int:
        """An upper bound on Z*, grid units, given a labelling of the first phase."""
        assert self.first.path is not None
        return int(max(self.first.bound, self._score(self.first.path)))

    def run(self, tau: float, bound: str, top: int, given: int | None = None) -> list[TwoPhaseSolution]:
        """Labellings by cost, then score; at least one entry. A floor that is given, grid units, wins over tau."""
        first = self.first
        if first.path is None:
            return [self._report(first, self.words)]
        score = self._score(first.path)
        floor = score_floor(score, tau, bound) if given is None else given
        if given is not None and given > self.best:
            what = f"floor is {nats(given):g}, above the best score {nats(self.best):g}"
            raise ValueError(f"{what}: give a floor of at most that")
        self.figures = {
            "best_score": nats(score),
            "floor": -math.inf if floor is None else nats(floor),
            "tau": float(tau) if given is None else 1.0,
            "floor_kind": bound if given is None else "score",
        }
        if self.method == "auto" and first.status == "optimal" and (closed := self._cheapest(floor, top)):
            return closed
        found: list[TwoPhaseSolution] = []
        while len(found) < top and (solution := self.at_floor(floor, [each.ids for each in found])):
            found.append(solution)
        return found or [self._report(replace(first, path=None, status="unknown"), self.words)]

    def _cheapest(self, floor: int | None, top: int) -> list[TwoPhaseSolution] | None:
        """The cheapest labellings by the engine, with their proofs; None if it does not reach a proof."""
        from ilpinfer.exact.frontier import FrontierSearch

        assert self.first.path is not None
        found = FrontierSearch(self.base, self.deadline, self.first.path).cheapest(floor, top)
        if found is None:
            return None
        paths, leaf, weight = found
        result, before, best = list[TwoPhaseSolution](), list[tuple[int, ...]](), self._score(self.first.path)
        for path in paths:
            value, tree = self.problem.value(path), self.first.certificate.tree
            phases = (
                tree if isinstance(tree, Phases) else None
            )  # None where a solver has no proof of the first
            if phases is not None and (value.penalty or self._score(path) != best):
                phases = replace(phases, least=leaf, weight=weight)
            certificate = proof("every prefix that could cost less was followed", phases, tuple(before))
            reply, cost = Reply("optimal", path, value.score, certificate), nats(value.penalty)
            result.append(self._report(reply, "auto: label setting", cost_bound=cost))
            before.append(tuple(path.tolist()))
        return result

    def at_floor(self, floor: int | None, excluded: Sequence[LabelIds] = ()) -> TwoPhaseSolution | None:
        """The least cost at or above a floor, and the best score at that cost, by a solver; None where there is no answer."""
        least, cost_bound = self._least_cost(floor, excluded)
        if least.path is None:
            return None
        cost, score, best = self.problem.value(least.path).penalty, self._score(least.path), self.best
        proved = least.status == "optimal"
        cost_bound = cost if proved else min(cost_bound, cost)
        if score == best:
            reply = replace(least, status="optimal", bound=best)
        else:
            program = self.formulation.best_score(cost_ceiling=cost)
            reply = self._until(program, excluded, lambda value: value.penalty <= cost)
        if reply.path is None or self._score(reply.path) < score:
            reply = replace(reply, path=least.path, status="feasible")
        limit = min(float(best), reply.bound) if proved else float(best)
        all_proved = proved and self.first.status == reply.status == "optimal"
        reply = replace(reply, status="optimal" if all_proved else "feasible", bound=limit - cost_bound)
        return self._report(reply, self.words + self.solver, cost_bound=nats(cost_bound))

    def _least_cost(self, floor: int | None, excluded: Sequence[LabelIds]) -> tuple[Reply, int]:
        """A labelling of least cost at or above the floor, and a lower bound on that cost; grid units."""
        first = self.first
        if first.path is not None and not excluded and not self.problem.value(first.path).penalty:
            return replace(first, status="optimal", bound=0), 0
        reply = self._until(
            self.formulation.least_cost(floor),
            excluded,
            lambda value: floor is None or value.model + value.features >= floor,
        )
        step = cost_unit(self.problem.rules)
        cost_bound = 0 if math.isinf(reply.bound) else max(0, -step * math.floor(reply.bound / step))
        if first.path is not None and not excluded and reply.status != "infeasible":
            reply = self._better(reply, first.path)
        return reply, cost_bound

    def _better(self, reply: Reply, incumbent: LabelIds) -> Reply:
        """The reply, with the incumbent in place of a labelling that costs more, or as much for a lower score."""
        own = self.problem.value(incumbent).penalty, -self._score(incumbent)
        if reply.path is None:
            return replace(reply, path=incumbent, status="feasible")
        cost = self.problem.value(reply.path).penalty
        if (cost, -self._score(reply.path)) <= own:
            return reply
        return replace(reply, path=incumbent, status=reply.status if cost == own[0] else "feasible")

    def _until(
        self, program: IntegerProgram, excluded: Sequence[LabelIds], accepts: Callable[[Value], bool]
    ) -> Reply:
        """Solve, with a no-good row for every answer that a tolerance let through, until one is accepted."""
        for path in excluded:
            program = exclude_labelling(program, path)
        while True:
            reply = solve(self.solver, program, self.deadline, self.threads)
            if reply.path is None:
                return reply
            value = self.problem.value(reply.path)
            if value.feasible and accepts(value):
                return reply
            program = exclude_labelling(program, reply.path)

    def _score(self, path: LabelIds) -> int:
        value = self.problem.value(path)
        return value.model + value.features

    def _report(self, reply: Reply, method: str, **own: Any) -> TwoPhaseSolution:
        return _solution(reply, self.context, self.deadline, method, **self.figures, **own)


def floor_units(floor: float) -> int:
    """A floor in grid units, rounded up; ValueError unless it is finite."""
    if not math.isfinite(real_number(floor, "floor", more=" of nats, or None for tau's")):
        raise ValueError(f"floor is {floor!r}; expected a finite number of nats, or None for tau's")
    return math.ceil(Fraction(float(floor)) * UNITS_PER_NAT)


def _solution(
    reply: Reply, context: Context, deadline: Deadline, method: str, **own: object
) -> TwoPhaseSolution:
    """A solution of both phases; a reply without a labelling is infeasible or unknown."""
    bound = -math.inf if reply.status == "infeasible" else reply.bound
    result = Result(reply.path, bound, f"two-phase: {method}", _as_far_as_proved(reply))
    status = Status.OPTIMAL if reply.status == "optimal" else Status.FEASIBLE
    return solution_of(TwoPhaseSolution, result, context, deadline, status, **own)


def _first_phase(result: Result) -> Certificate:
    """The certificate of the first phase as one of both, which holds where the second adds nothing."""
    tree = result.certificate.tree
    if tree is None or isinstance(tree, Phases):
        return result.certificate
    witness = () if result.path is None else tuple(result.path.tolist())
    return replace(result.certificate, tree=Phases(tree, witness))


def _as_far_as_proved(reply: Reply) -> Certificate:
    """The reply's certificate; none if it does not prove the whole claim."""
    certificate = reply.certificate
    if reply.status == "unknown":
        return Certificate("none", certificate.source)
    if reply.status == "feasible" and certificate.kind == "exact":
        return Certificate("none", f"{certificate.source}; the second phase is open")
    return certificate
