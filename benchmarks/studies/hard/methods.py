"""One method on one instance, timed; scores are recomputed from labels, and certificates rechecked."""

from importlib.metadata import version
from itertools import chain

import ilpinfer
from benchmarks.data.hard import Instance
from benchmarks.data.hard_files import FOLDER
from benchmarks.optimum import recheck
from benchmarks.studies.hard import toulbar2
from benchmarks.study import Disagreement, Row
from benchmarks.timing import timed
from formulations.errors import InferenceError
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.solution import Solution, finite
from ilpinfer.core.trees import Leaf, TooManyCases, nodes
from ilpinfer.exact.bare import bare_pass, bare_seconds

ENGINE = "engine"
SOLVERS = ("cbc", "cp-sat", "highs", "scip")
RIVALS = (*SOLVERS, "toulbar2")
METHODS = (ENGINE, *RIVALS)
ASSISTED = {f"{solver}, assisted": f"{solver}:start=greedy:root_bound=true" for solver in SOLVERS}
"""Solvers that begin with a labelling and have the root bound of the engine; they are no rivals."""


def viterbi(one: Instance) -> Row:
    """Seconds of a bare Viterbi pass without rules, and its score in nats."""
    trellis = one.trellis()
    return {"viterbi": bare_seconds(trellis), "viterbi_score": nats(bare_pass(trellis)())}


def answer(method: str, one: Instance, limit: float) -> Row:
    """Status, score, bound and path of a method, and its seconds without warming up."""
    if method == "toulbar2":
        return toulbar2.answer(one, limit)
    name = {ENGINE: "auto", **ASSISTED}.get(method, method)
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
    row = {"certificate": kind, "certified": verdict.proved, "source": solution.certificate.source}
    return row if kind != "exact" else {**row, **_bound(one, solution)}


def _bound(one: Instance, solution: Solution) -> Row:
    """How the certificate bounds: its leaves, and the most machines of rules that a leaf prices and follows."""
    machines = sum(len(rule.machines) for rule in compile_problem(one.trellis(), one.rules).fold().rules)
    try:
        trees = [node for tree in solution.certificate.trees for _, node in nodes(tree)]
    except TooManyCases:
        return {"machines": machines}
    leaves = [node for node in trees if isinstance(node, Leaf)]
    followed = (len({*leaf.product, *chain.from_iterable(leaf.stages)}) for leaf in leaves)
    priced = (len(leaf.multipliers) + sum(map(len, leaf.shares)) for leaf in leaves)
    return {"machines": machines, "leaves": len(leaves), "followed": max(followed), "priced": max(priced)}
