"""The search for a Pareto frontier: corners of its hull, points between them, and a solver for open gaps."""

import math
from collections.abc import Iterator, Sequence

from formulations import Trellis
from formulations.grid import nats
from formulations.problem.problem import Problem
from formulations.programs.loss_bounds import best_score
from formulations.time_limits import OutOfTime
from ilpinfer.core.request import deadline_for
from ilpinfer.core.rule_compiler import Rules, stated
from ilpinfer.decoding.frontier import Frontier, FrontierPoint
from ilpinfer.decoding.two_phase_search import TwoPhaseSearch
from ilpinfer.exact.frontier import FrontierSearch, Gap
from ilpinfer.exact.programs import ProgramAnswer
from ilpinfer.exact.weighted_search import Weight


def decode_frontier(trellis: Trellis, rules: Rules, *, time_limit: float | None = None) -> Frontier:
    """All Pareto-optimal pairs of score and violation cost, with a labelling for each.

    A labelling is Pareto-optimal if no other one that keeps the hard rules has at least the same score at a lower cost, or a
    better score at the same cost. Score is model_score + feature_score, and cost is Σ c·σ of the soft rules: the objective
    and the floor of two-phase inference (Fersini et al. 2014, eq. 22-29). For every floor, and so for every tau, the labelling
    of two-phase inference is a point of the frontier. One-phase decoding with weighted penalties finds only the points on the
    convex hull. These are found by halving (Aneja and Nair 1979), and the points between them by label setting with cost as
    the second criterion (Raith and Ehrgott 2009, section 3), or by a solver if that takes too many prefixes.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules
        Rules and features, or a rule set; hard rules stay hard.
    time_limit : float, optional
        Time limit in seconds. If it is reached, the best of the labellings found so far are returned, and
        `complete` is false.

    Returns
    -------
    Frontier
        The points, ordered by cost.

    Raises
    ------
    ValueError
        For numbers out of range, and for anything that `decode` refuses.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> frontier = decode_frontier(trellis, [C.requires_present("a", "b", penalty=0.75)])
    >>> [(point.score, point.cost) for point in frontier.points]
    [(-0.5, 0.0), (0.0, 0.75)]
    """
    compiler, deadline = stated(rules, "a frontier"), deadline_for(time_limit)
    search, complete = None, False
    try:
        with deadline.as_limit():
            phases = TwoPhaseSearch(compiler.problem(trellis), "auto", deadline, 1)
            first = phases.first
            if not len(trellis):
                none = dict.fromkeys((rule.name for rule in phases.problem.rules), 0)
                point = FrontierPoint(0.0, 0.0, none, ())
                return Frontier((point,), True, deadline.elapsed)
            if first.path is not None:
                search = FrontierSearch(phases.base, deadline, first.path)
                search.bounds.append((Weight(0, 1), _best_score(first, phases.base)))
                search.run()
                _close(search, phases)
                complete = True
            elif first.status == "infeasible":
                return Frontier((), True, deadline.elapsed, "no labelling keeps the hard rules")
    except OutOfTime:
        pass
    if search is None:
        return Frontier((), False, deadline.elapsed, "no time left")
    gaps: list[Gap] = [*search.open] if complete else [(-1, None)]
    if first.status != "optimal":
        gaps.append((search.points[-1].cost - 1, None))
    reason = ""
    if gaps:
        reason = "no time left" if deadline.passed else "a solver gave no answer"
    points = _points(search, gaps, phases.problem, trellis.labels.names)
    return Frontier(tuple(points), not reason, deadline.elapsed, reason)


def _best_score(first: ProgramAnswer, problem: Problem) -> int:
    """An upper bound on the score of every labelling, grid units."""
    return math.floor(min(first.bound, best_score(problem.lattice)))


def _close(search: FrontierSearch, phases: TwoPhaseSearch) -> None:
    """Search the open gaps with a solver by successive least costs at a floor, from the best score on."""
    gaps, search.open = search.open, []
    for low, high in gaps:
        if phases.deadline.passed or not _fill(search, phases, low, high):
            search.open.append((low, high))


def _fill(search: FrontierSearch, phases: TwoPhaseSearch, low: int, high: int) -> bool:
    """Whether all points with costs between two numbers are found."""
    floor = None
    if low >= 0:
        floor = max(point.score for point in search.points if point.cost <= low) + 1
    while True:
        reply = phases.at_floor(floor)
        if reply is None or reply.path is None or reply.status != "optimal":
            return False
        point = search.add(reply.path)
        if point is None or point.cost >= high:
            return True
        floor = point.score + 1


def _points(
    search: FrontierSearch, gaps: Sequence[Gap], problem: Problem, names: Sequence[str]
) -> Iterator[FrontierPoint]:
    """The points as public records."""
    for point in search.points:
        value = problem.value(point.path)
        yield FrontierPoint(
            nats(value.model + value.features),
            nats(value.penalty),
            value.violations,
            tuple(names[k] for k in point.path.tolist()),
            not search.may_be_dominated(point, gaps),
        )
