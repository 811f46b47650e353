"""Viterbi and beam search as methods."""

from collections.abc import Iterator
from dataclasses import replace

from formulations.automata.machine import Machine
from formulations.grid import is_forbidden
from formulations.problem.problem import GroundRule, Problem
from formulations.programs.formulation import best_score
from ilpinfer.core.certificate import BEAM_BOUND, FOLDED_BOUND, VITERBI_BOUND, Certificate
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.viterbi import LISTS, VITERBI, best_paths
from ilpinfer.search.beam import BEAM, search
from ilpinfer.search.exhaustion import whole_search
from ilpinfer.search.ranking import ranked

WHOLE_BEAM = "the beam left out no prefix that could be better"


def plain_viterbi(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings, the rules ignored; their scores bound those of all labellings that follow."""
    yield from _best_of_lattice(problem, problem, task, name, VITERBI_BOUND)


def constrained_viterbi(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings of the trellis with all local rules in its scores, the other rules ignored.

    Clamped tokens, forbidden labels and forbidden steps, thus sub-paths too, leave the rest of the labelling exact
    (Fersini et al. 2014, eq. 10; Liao et al. 2009, section 3.2).
    """
    yield from _best_of_lattice(problem, problem.fold(), task, name, FOLDED_BOUND)


def _best_of_lattice(
    problem: Problem, relaxed: Problem, task: Task, name: str, reason: Certificate
) -> Iterator[Result]:
    """The best labellings by the scores alone of the problem, or of the problem folded."""
    task.deadline.excuse((LISTS if task.top > 1 else VITERBI).warm())
    result = best_paths(relaxed.lattice, task.top)
    for (_, path), (bound, proof) in zip(result, ranked(problem, result, reason), strict=True):
        broken = len(relaxed.breaks(path))
        yield Result(path, bound, f"{name}: {broken} rules broken" if broken else name, proof)
    if len(result) < task.top:
        yield Result(None, float("-inf"), f"{name}: no labelling is possible", reason)


def beam_search(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The final hypotheses of a beam search, as many as are wanted (Chang et al. 2007, section 7)."""
    task.deadline.excuse(VITERBI.warm())
    task.deadline.excuse(BEAM.warm())
    width = max(task.width, task.top)
    folded = problem.fold()
    result = search(forced(folded), width, task.deadline, copies=task.top)
    late = [rule.name for rule in folded.rules if rule.unseen]
    method = f"beam: width {width}" + (f", whole labellings only for {', '.join(late)}" if late else "")
    bound, proof = result.bound, BEAM_BOUND
    if any(rule.forced for rule in folded.rules):
        bound, proof = best_score(folded.lattice), VITERBI_BOUND
    apart = proof is BEAM_BOUND and not result.blind
    before: list[tuple[int, ...]] = []
    for path, score in zip(result.paths[: task.top], result.scores, strict=False):
        own = proof
        if apart and result.left_out <= score:
            own = whole_search(problem, WHOLE_BEAM, feasible=True, excluded=tuple(before))
        yield Result(path, max(result.left_out, score) if apart else bound, method, own)
        before.append(tuple(path.tolist()))
    if not result.paths:
        none_left = apart and is_forbidden(bound)
        yield Result(
            None, bound, method, whole_search(problem, WHOLE_BEAM, feasible=False) if none_left else proof
        )


def forced(problem: Problem) -> Problem:
    """The problem as a search sees it that evaluates the rules marked "forced" on every prefix.

    A hard rule drops each prefix that would break it if it ended there, although it might still come right; a soft
    one charges what it would cost if it ended there (Stokman 2011, section 4.1).
    """
    rules = tuple(
        _evaluated(r) if r.forced and (r.penalty is None or not r.binary) else r for r in problem.rules
    )
    return replace(problem, rules=rules)


def _evaluated(rule: GroundRule) -> GroundRule:
    machines = tuple(
        Machine(m.steps, m.automaton.on_prefixes(keep=rule.penalty is None))
        for part in rule.components
        for m in part.machines or ()
    )
    return replace(rule, components=(*machines, *rule.unseen))
