"""One method on one instance, timed; scores are recomputed from labels, and certificates rechecked."""

import contextlib
import statistics
import time
from importlib.metadata import version

import ilpinfer
from benchmarks.data.hard import Instance
from benchmarks.data.hard_files import FOLDER
from benchmarks.optimum import recheck
from benchmarks.studies.hard import toulbar2
from benchmarks.study import Disagreement, Row
from formulations.errors import InferenceError
from ilpinfer.core.certificate import TooManyCases
from ilpinfer.core.solution import Solution, finite

ENGINE = "engine"
SOLVERS = ("cbc", "cp-sat", "highs", "scip")
RIVALS = (*SOLVERS, "toulbar2")
METHODS = (ENGINE, *RIVALS)
REPEATS = 5
"""Of bare Viterbi, whose median counts."""


def viterbi_seconds(one: Instance) -> float:
    """Seconds of bare Viterbi."""
    seconds = []
    for _ in range(REPEATS + 1):
        trellis, began = one.trellis(), time.perf_counter()
        ilpinfer.decode(trellis, method="viterbi")
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])


def answer(method: str, one: Instance, limit: float) -> Row:
    """Status, score, bound and path of a method, and its seconds without warming up."""
    if method == "toulbar2":
        return toulbar2.answer(one, limit)
    trellis, began = one.trellis(), time.perf_counter()
    try:
        solution = ilpinfer.decode(
            trellis, one.rules, method="auto" if method == ENGINE else method, time_limit=limit
        )
    except (InferenceError, MemoryError) as error:
        return {"status": "failed", "note": f"{type(error).__name__}: {error}"}
    row = {"seconds": time.perf_counter() - began - solution.warm_up_seconds, **_values(solution)}
    return row if method != ENGINE else {**row, **_proof(one, solution)}


def _values(solution: Solution) -> Row:
    return {
        "status": str(solution.status),
        "score": finite(solution.score),
        "bound": finite(solution.bound),
        "path": solution.ids.tolist() if solution.score > float("-inf") else None,
        "route": solution.method.partition(": ")[2],
        "by": f"ilpinfer {version('ilpinfer')}",
    }


def _proof(one: Instance, solution: Solution) -> Row:
    """What the engine's certificate is; it is rechecked, and written beside the instance."""
    kind = solution.certificate.kind
    if kind == "exact":
        recheck(one.trellis(), one.rules, solution)
    verdict = ilpinfer.verify(one.trellis(), one.rules, solution)
    if not verdict.ok:
        raise Disagreement(f"{one.name}: the engine's solution is refused: {'; '.join(verdict.reasons)}")
    solution.save(FOLDER / f"{one.name}.solution.json.gz")
    row = {"certificate": kind, "certified": verdict.proved, "leaves": None}
    if kind == "exact":
        with contextlib.suppress(TooManyCases):
            row["leaves"] = solution.certificate.cost.leaves
    return row
