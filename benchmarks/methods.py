"""One method on one sequence, timed; its labelling and its certificate are verified by the library."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ilpinfer
from benchmarks import optimum
from benchmarks.data.sets import DataSet, Item
from benchmarks.data.synthetic import document, labels_of_size
from benchmarks.study import Disagreement, Row
from benchmarks.timing import timed
from formulations import LabelSet, RuleSet, Trellis
from formulations import constraints as C
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.record import UNBOUNDED
from ilpinfer.comparison.running import bare_seconds
from ilpinfer.core.solution import Solution, finite


class CannotState(Exception):
    """A rule that a peer has no form for, or a problem beyond its size; the message names it."""


@dataclass(frozen=True)
class Answer:
    """Label ids (T,) of a peer, the score that it claims, whether it proves that nothing is better, and why there are none."""

    path: NDArray[np.int64] | None
    claimed: float | None
    proved: bool
    note: str = ""


PLAIN = "bare Viterbi pass"
"""The unit of times: a compiled pass over the scores without rules, tables made beforehand."""
AGAIN = "auto again"
"""`auto` on a sequence that it has decoded before under the same rule set, which has tables of the words that it has met."""
OURS: Mapping[str, tuple[str, ...]] = {
    "cbc": ("preprocess",),
    "cp-sat": (
        "cp_model_presolve",
        "cp_model_probing_level",
        "symmetry_level",
        "add_lp_constraints_lazily",
        "root_lp_iterations",
    ),
    "highs": ("presolve", "mip_heuristic_run_feasibility_jump"),
    "scip": ("presolving/maxrounds", "separating/maxroundsroot", "separating/maxrounds"),
}
"""Options of solvers that the toolkit sets to save time."""
DEFAULTS: Mapping[str, str] = {
    f"{solver}, defaults": ":".join([solver, *(f"solver_options.{name}=null" for name in names)])
    for solver, names in OURS.items()
}
"""Solvers as methods of `decode` with their own defaults for these; gaps of 0, which near ties need, are left."""
SETTINGS = (
    "Solvers run twice: with the settings of the toolkit (CBC without preprocessing; CP-SAT without presolve, probing, symmetry "
    "and lazy rows, with a long root relaxation; HiGHS without presolve; SCIP without presolve and separation), and with the "
    "solver's defaults for these. Gaps and increments are those that near ties need in both, and CBC solves the relaxation in a "
    "process of its own first, so that a bound is left when it is stopped"
)
"""For the protocols of studies."""
Worker = Callable[[Trellis, RuleSet, float], Any]
"""What runs a method, given a trellis, rules and a time limit in seconds."""
FAST, REPEATS = 0.03, 3
"""A call is repeated, and the median kept, until it has been made so often or its calls have taken so many seconds; `auto` is
called once, as words that a rule set has met before cost less."""


def side_by_side(
    data: DataSet,
    items: Sequence[Item],
    methods: Sequence[str],
    limit: float,
    peers: Mapping[str, Worker] = MappingProxyType({}),
) -> Iterator[tuple[str, Item, Callable[[], Row]]]:
    """Each method on each sequence, one method after the other, as what measures it."""
    rules = RuleSet(data.rules.items, data.rules.fields, data.rules.name)
    ilpinfer.decode(_blank(items[0].make().labels), rules)
    for method in methods:
        work = peers.get(method) or worker(method)
        if method != PLAIN:
            call_once(work)
        for item in items:
            yield method, item, partial(run, method, work, item, rules, limit)


def _blank(labels: LabelSet) -> Trellis:
    """Two tokens without scores."""
    K = len(labels)
    return Trellis.from_emissions(np.zeros((2, K)), np.zeros((K, K)), labels=labels, tokens=[".", "."])


def run(method: str, work: Worker, item: Item, rules: RuleSet, limit: float) -> Row:
    """What a method makes of a sequence; CannotState where a peer has no form for it, Disagreement where a claim is wrong."""
    trellis = item.make()
    T, K = trellis.lattice.shape
    row: Row = {"item": item.key, "method": method, "T": T, "K": K}
    if method == PLAIN:
        return {**row, "seconds": bare_seconds(trellis.lattice), "status": "without rules"}
    answer, first = timed(work, item.make(), rules, limit)
    seconds = [first]
    while method != "auto" and len(seconds) < REPEATS and sum(seconds) < FAST:
        seconds.append(timed(work, item.make(), rules, limit)[1])
    row["seconds"] = statistics.median(seconds)
    if isinstance(answer, Answer):
        return {**row, **of_peer(answer, trellis, rules)}
    return {**row, **_of_solution(answer, trellis, rules, method)}


def attempted(method: str, item: Item, row: Callable[[], Row]) -> Row:
    """What `side_by_side` measures of a peer; where the peer has no form for a sequence, or fails, what it says instead."""
    try:
        return row()
    except Disagreement:
        raise
    except Exception as error:
        if method in ("auto", PLAIN):
            raise
        T, K = item.make().lattice.shape
        stated = "cannot state", str(error)
        failed = "failed", f"{type(error).__name__}: {error}"[:200]
        status, note = stated if isinstance(error, CannotState) else failed
        return {"method": method, "item": item.key, "T": T, "K": K, "status": status, "note": note}


@cache
def call_once(work: Worker) -> None:
    """A first call on something small, which is not timed: it imports what the method needs, and starts a solver's process."""
    work(document(8, 0, labels_of_size(5), 1.0), RuleSet((C.at_most_runs(C.EACH_FIELD, 1),)), 5.0)


@cache
def worker(method: str) -> Worker:
    if method in DEFAULTS:
        return lambda trellis, rules, limit: ilpinfer.decode(
            trellis, rules, method=DEFAULTS[method], time_limit=limit
        )
    name, _, width = method.removesuffix(" again").partition(" ")
    options: dict[str, Any] = {"width": int(width)} if width.isdigit() else {}
    return lambda trellis, rules, limit: ilpinfer.decode(
        trellis, rules, method=name, time_limit=limit, **options
    )


def _of_solution(solution: Solution, trellis: Trellis, rules: RuleSet, method: str) -> Row:
    """`proved` only where the recheck proves it; a solver's word is its status."""
    proved = False
    if method in ("auto", AGAIN):
        proved = optimum.recheck(trellis, rules, solution).status == "optimal"
    if not proved:
        verdict = ilpinfer.verify(trellis, rules, solution)
        if not verdict.ok:
            raise Disagreement(f"{method}: its solution is not confirmed: {'; '.join(verdict.reasons)}")
        proved = bool(verdict.proved)
    return {
        "status": solution.status,
        "score": finite(solution.score),
        "bound": finite(solution.bound),
        "proved": proved,
        "breaks": any(solution.violations.values()),
        "certificate": solution.certificate.kind,
    }


def within(total: Any, low: int, high: int) -> Any:
    """A row of an integer program, whose sides are equal or of which one is open, as an expression of a peer."""
    if low == high:
        return total == low
    return total <= high if high < UNBOUNDED else total >= low


def of_peer(answer: Answer, trellis: Trellis, rules: RuleSet) -> Row:
    """Its score is worked out from its labels, whatever it claims."""
    if answer.path is None:
        status = "infeasible" if answer.proved else "unknown"
        return {"status": status, "score": None, "bound": None, "note": answer.note}
    value = compile_problem(trellis, rules).value(answer.path)
    score = finite(nats(value.score))
    status = "optimal" if answer.proved else "feasible"
    return {
        "status": status if score is not None else "unknown",
        "score": score,
        "bound": score if answer.proved else None,
        "breaks": any(value.violations.values()),
        "claimed": answer.claimed,
    }
