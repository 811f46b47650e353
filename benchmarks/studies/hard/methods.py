"""One method on an instance, timed; scores are recomputed from labels, and certificates rechecked."""

from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec

import formulations
import ilpinfer
from benchmarks.data.hard import Instance
from benchmarks.data.sets import SOLVERS
from benchmarks.methods import DEFAULTS, CannotState, Worker, of_peer
from benchmarks.optimum import recheck
from benchmarks.studies.peers import weighted_csp
from benchmarks.study import Disagreement, Row
from benchmarks.timing import timed
from formulations.errors import InferenceError
from formulations.grid import nats
from ilpinfer.comparison.running import bare_pass, bare_seconds
from ilpinfer.core.solution import Solution, finite

MOST_STEPS = 12_000
"""(T - 1) K² of an instance whose program is made: those of the largest ones have millions of entries."""


def size(one: Instance) -> Row:
    """Columns and rows of the integer program, where it is small."""
    if (one.level.T - 1) * one.level.K**2 > MOST_STEPS:
        return {"columns": None, "rows": None}
    program = formulations.formulate(one.trellis(), one.rules).integer
    return {"columns": program.n_columns, "rows": program.n_rows}


ENGINE = "engine"
RIVALS = (*SOLVERS, *DEFAULTS, "toulbar2")
METHODS = (ENGINE, *RIVALS)


def viterbi(one: Instance) -> Row:
    """Seconds of a bare Viterbi pass without rules, and its score in nats."""
    lattice = one.trellis().lattice
    return {"viterbi": bare_seconds(lattice), "viterbi_score": nats(bare_pass(lattice)())}


def answer(method: str, one: Instance, limit: float) -> Row:
    """Status, score, bound and path of a method, and its seconds."""
    if method == "toulbar2":
        return _by_toulbar2(one, limit)
    name = {ENGINE: "auto", **DEFAULTS}.get(method, method)
    try:
        solution, seconds = timed(ilpinfer.decode, one.trellis(), one.rules, method=name, time_limit=limit)
    except (InferenceError, MemoryError) as error:
        return {"status": "failed", "note": f"{type(error).__name__}: {error}"}
    row = {"seconds": seconds, **_values(solution)}
    return row if method != ENGINE else {**row, **_proof(one, solution)}


def _values(solution: Solution) -> Row:
    return {
        "status": str(solution.status),
        "score": finite(solution.score),
        "bound": finite(solution.bound),
        "path": solution.ids.tolist() if solution.score > float("-inf") else None,
        "by": f"ilpinfer {version('ilpinfer')}",
    }


def _proof(one: Instance, solution: Solution) -> Row:
    """What the engine's certificate is; it is rechecked."""
    kind = solution.certificate.kind
    if kind == "exact":
        recheck(one.trellis(), one.rules, solution)
    verdict = ilpinfer.verify(one.trellis(), one.rules, solution)
    if not verdict.ok:
        raise Disagreement(f"{one.name}: the engine's solution is refused: {'; '.join(verdict.reasons)}")
    return {"certificate": kind, "certified": verdict.proved, "source": solution.certificate.source}


GRACE = 2.0
"""Seconds beyond the limit within which a proof of toulbar2 counts; building its network does not heed the limit."""


def _by_toulbar2(one: Instance, limit: float, decode: Worker = weighted_csp.decode) -> Row:
    if find_spec("pytoulbar2") is None:
        return {"status": "not run", "note": "pytoulbar2 is not installed"}
    trellis = one.trellis()
    try:
        result, seconds = timed(decode, trellis, one.rules, limit)
    except CannotState as error:
        return {"status": "no form", "note": str(error)}
    result = replace(result, proved=result.proved and seconds <= limit + GRACE)
    path = None if result.path is None else result.path.tolist()
    about = {"seconds": seconds, "by": f"pytoulbar2 {version('pytoulbar2')}", "path": path}
    return about | of_peer(result, trellis, one.rules)
