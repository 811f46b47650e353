"""Viterbi and beam search as methods."""

from collections.abc import Iterator

from formulations.compiled.problem import Problem
from ilpinfer.certificate import BEAM_BOUND, VITERBI_BOUND
from ilpinfer.exact.viterbi import best_paths
from ilpinfer.found import Found, Task
from ilpinfer.search.beam import search
from ilpinfer.warming import warm


def plain_viterbi(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """The best labellings, the rules ignored; their scores bound those of all labellings that follow."""
    task.deadline.excuse(warm("viterbi"))
    found = best_paths(problem.lattice, task.top)
    for score, path in found:
        broken = len(problem.breaks(path))
        yield Found(path, score, f"viterbi: {broken} rules broken" if broken else "viterbi", VITERBI_BOUND)
    if len(found) < task.top:
        yield Found(None, float("-inf"), "viterbi: no labelling is possible", VITERBI_BOUND)


def beam_search(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """The final hypotheses of a beam search."""
    task.deadline.excuse(warm("viterbi"))
    task.deadline.excuse(warm("beam"))
    width = max(task.width, task.top)
    found = search(problem.fold(), width, task.deadline)
    method = f"beam: width {width}"
    for path in found.paths[: task.top]:
        yield Found(path, found.bound, method, BEAM_BOUND)
    if not found.paths:
        yield Found(None, found.bound, method, BEAM_BOUND)
