"""One method on one sequence, timed, with its score recomputed by the library."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import ilpinfer
from benchmarks.data.sets import SOLVERS, DataSet, Item
from benchmarks.engine.peers import Answer, CannotState
from benchmarks.data.synthetic import document, labels_of_size
from formulations import Trellis
from formulations import constraints as C
from formulations.constraints.rule_set import RuleSet
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.solution import Solution, finite

Row = dict[str, Any]

BASIC = ("auto", "viterbi", "beam 10", "beam 50", "beam 200")
"""Methods that run on every sequence."""
MOST_COLUMNS = 2_000_000
"""Of a complete program; a rival is not asked for more."""
FAST, REPEATS = 0.03, 3
"""A call is repeated, and the median kept, until it has been made so often or its calls have taken so many seconds."""


def run(method: str, data: DataSet, item: Item) -> Row:
    """What one method makes of one sequence.

    Raises
    ------
    CannotState
        where a rival has no form for a rule, or the problem is too large for it.
    """
    trellis = item.make()
    T, K = trellis.lattice.shape
    columns = T * K * K
    if method in (*SOLVERS, "pulp", "conin") and columns > MOST_COLUMNS:
        raise CannotState(f"{columns / 1e6:.1f} million columns")
    answer, seconds = timed(method, item, data)
    while len(seconds) < REPEATS and sum(seconds) < FAST:
        seconds += timed(method, item, data)[1]
    row = {"data": data.name, "item": item.key, "method": method, "T": T, "K": K}
    row["seconds"] = statistics.median(seconds)
    if isinstance(answer, Solution):
        return {**row, **_of_solution(answer, trellis, data.rules)}
    return {**row, **_of_rival(answer, trellis, data.rules)}


def warm_up(method: str, data: DataSet) -> None:
    """Compile and load whatever the method needs: the library's methods on the data, rivals on something small."""
    if method in BASIC:
        timed(method, data.items[0], data)
        return
    labels = labels_of_size(5)
    worker(method)(document(8, 0, labels, 1.0), RuleSet((C.at_most_runs(C.EACH_FIELD, 1),)), 5.0)


def timed(method: str, item: Item, data: DataSet) -> tuple[Solution | Answer, list[float]]:
    """The answer on a fresh trellis, and seconds without warming up."""
    trellis, work = item.make(), worker(method)
    began = time.perf_counter()
    answer = work(trellis, data.rules, data.limit)
    seconds = time.perf_counter() - began
    return answer, [seconds - (answer.warm_up_seconds if isinstance(answer, Solution) else 0.0)]


def worker(method: str) -> Callable[[Trellis, RuleSet, float], Any]:
    """What runs a method, given a trellis, rules and a time limit in seconds."""
    if method == "pulp":
        from benchmarks.engine import newcomer

        return newcomer.decode
    if method == "toulbar2":
        from benchmarks.engine import weighted_csp

        return weighted_csp.decode
    if method == "cpmpy":
        from benchmarks.engine import constraint_program

        return constraint_program.decode
    if method.startswith("conin"):
        from benchmarks.engine import constrained_hmm

        return constrained_hmm.search if method == "conin a-star" else constrained_hmm.decode
    name, _, width = method.partition(" ")
    options = {"width": int(width)} if width else {}
    return lambda trellis, rules, limit: ilpinfer.decode(
        trellis, rules, method=name, time_limit=limit, **options
    )


def _of_solution(solution: Solution, trellis: Trellis, rules: RuleSet) -> Row:
    row: Row = {
        "status": solution.status,
        "score": finite(solution.score),
        "bound": finite(solution.bound),
        "breaks": any(solution.violations.values()),
        "route": solution.method,
        "certificate": solution.certificate.kind,
    }
    if hasattr(ilpinfer, "verify") and solution.method.startswith("auto"):
        began = time.perf_counter()
        verdict = ilpinfer.verify(trellis, rules, solution)
        row["verified"] = bool(verdict.ok and verdict.proved)
        row["verify_seconds"] = time.perf_counter() - began
        row["reasons"] = list(verdict.reasons)
    return row


def _of_rival(answer: Answer, trellis: Trellis, rules: RuleSet) -> Row:
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
