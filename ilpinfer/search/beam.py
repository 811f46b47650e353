"""Beam search over labels and rule states."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from formulations.automata.machine import Machine
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.problem import GroundRule, Problem
from formulations.programs.loss_bounds import best_score
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import BEAM_BOUND, VITERBI_BOUND
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.ground import pack_problem
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.native import kernels
from ilpinfer.search.extension import Extension, blind, unseen
from ilpinfer.search.incumbents import complete_search

COMPLETE_BEAM = "the beam left out no prefix that could be better"


@dataclass(frozen=True)
class Hypotheses:
    """The final hypotheses of a beam search, best first, equal scores by label ids; grid units."""

    paths: list[LabelIds]
    scores: list[int]
    left_out: int  # the best completion of a prefix that the width left out; `FORBIDDEN` for none
    bound: int  # on the score of every labelling
    blind: bool = False  # whether some rule has no machine, so that it was seen on whole labellings only


def search(folded: Problem, width: int, deadline: Deadline, copies: int = 1) -> Hypotheses:
    """The best `width` prefixes at every token; of those with the same future, `copies` stay (Chang et al. 2007, section 7)."""
    relaxation = Relaxation(*pack_problem(folded, forced=True), {})
    best = relaxation.total
    if is_forbidden(best):
        return Hypotheses([], [], FORBIDDEN, FORBIDDEN)
    if folded.functions:
        return _with_functions(folded, width, deadline, relaxation)
    found = relaxation.prefixes(
        range(len(relaxation.instance.sources)),
        deadline,
        width=width,
        copies=copies,
        greedy=True,
        most=kernels.NO_LIMIT,
        bounds=relaxation.multiply([], 1),
    )
    if not found.complete:
        return Hypotheses([], [], best, best)
    left_out = FORBIDDEN if is_forbidden(found.left_out) else found.left_out
    bound = max([left_out, *found.values[:1]])
    return _valued(folded, Hypotheses(found.paths, found.values, left_out, min(best, bound)))


def _valued(folded: Problem, found: Hypotheses) -> Hypotheses:
    """The hypotheses by the scores of whole labellings, where some rule has no machine."""
    if not blind(folded):
        return found
    valued = [(folded.value(path).score, path) for path in found.paths]
    valued = sorted((v for v in valued if not is_forbidden(v[0])), key=lambda v: -v[0])
    paths, scores = [path for _, path in valued], [value for value, _ in valued]
    return replace(found, paths=paths, scores=scores, blind=True)


def _with_functions(folded: Problem, width: int, deadline: Deadline, relaxation: Relaxation) -> Hypotheses:
    """As `search`, under rules that are Python functions, which see each prefix; none of them has the same future as another."""
    extension, best, left_out = Extension(folded, relaxation, deadline), relaxation.total, FORBIDDEN
    prefixes = [extension.root]
    try:
        for _ in range(folded.shape[0]):
            found = [child for prefix in prefixes for child in extension.children(prefix)]
            order = sorted(range(len(found)), key=lambda n: -found[n].worth)
            prefixes = [found[n] for n in sorted(order[:width])]
            left_out = max([left_out, *(found[n].reach - found[n].cost for n in order[width:])])
    except OutOfTime:
        return Hypotheses([], [], best, best)
    prefixes.sort(key=lambda prefix: -prefix.worth)
    paths, scores = [prefix.path for prefix in prefixes], [prefix.worth for prefix in prefixes]
    return _valued(folded, Hypotheses(paths, scores, left_out, min(best, max([left_out, *scores[:1]]))))


def beam_search(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The final hypotheses of a beam search, as many as are wanted (Chang et al. 2007, section 7)."""
    width = max(task.width, task.top)
    folded = problem.fold()
    result = search(with_forced_rules(folded), width, task.deadline, copies=task.top)
    late = unseen(folded)
    method = f"beam: width {width}" + (f", whole labellings only for {', '.join(late)}" if late else "")
    bound, proof = result.bound, BEAM_BOUND
    if any(rule.forced for rule in folded.rules):
        bound, proof = best_score(folded.lattice), VITERBI_BOUND
    apart = proof is BEAM_BOUND and not result.blind
    before: list[tuple[int, ...]] = []
    for path, score in zip(result.paths[: task.top], result.scores, strict=False):
        own = proof
        if apart and result.left_out <= score:
            own = complete_search(problem, COMPLETE_BEAM, feasible=True, excluded=tuple(before))
        yield Result(path, max(result.left_out, score) if apart else bound, method, own)
        before.append(tuple(path.tolist()))
    if not result.paths:
        if apart and is_forbidden(bound):
            proof = complete_search(problem, COMPLETE_BEAM, feasible=False)
        yield Result(None, bound, method, proof)


def with_forced_rules(problem: Problem) -> Problem:
    """The problem with the rules marked "forced" charged on every prefix as on a sequence (Stokman 2011, section 4.1)."""
    rules = tuple(_on_prefixes(r) if r.forced and not r.once else r for r in problem.rules)
    return replace(problem, rules=rules)


def _on_prefixes(rule: GroundRule) -> GroundRule:
    machines = tuple(Machine(m.steps, m.automaton.on_prefixes(keep=rule.hard)) for m in rule.machines)
    return replace(rule, components=(*machines, *rule.machineless))
