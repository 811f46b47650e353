"""The route of `method="auto"`: the cheapest step that proves the optimum."""

from collections.abc import Iterator
from dataclasses import replace

from formulations.compiled.problem import Problem
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.programs.formulation import TooLarge, best_score
from ilpinfer.certificate import FOLDED_BOUND, LABEL_BOUND
from ilpinfer.exact.programs import FASTEST, best_of_program
from ilpinfer.exact.viterbi import best_paths
from ilpinfer.found import Found, Path, Task
from ilpinfer.search.beam import Beam, search
from ilpinfer.warming import warm

NARROW, WIDE = 32, 2000
"""Widths of the search for a first labelling, and of the one that may prove it best."""
MORE_TIES = 50
"""How many equal labellings beyond the last one wanted are looked at, so that label ids decide which is kept."""


def auto(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """Fold local rules into the scores; Viterbi; label setting; and what they leave goes to a solver.

    Viterbi on the folded lattice bounds every labelling, since what the other rules cost is not negative: if it
    breaks none, it is the optimum. Label setting follows every prefix that could still reach the best score
    found; if there are too many of them, the folded program goes to the solver measured fastest.
    """
    task.deadline.excuse(warm("viterbi"))
    folded = problem.fold()
    found = best_paths(folded.lattice, task.top)
    if not found:
        yield Found(None, float("-inf"), "auto: no labelling is possible", FOLDED_BOUND)
        return
    broken = len(set().union(*(folded.breaks(path) for _, path in found)))
    if not broken:
        for score, path in found:
            yield Found(path, score, "auto: viterbi, no other rule is broken", FOLDED_BOUND)
        if len(found) < task.top:
            yield Found(None, float("-inf"), "auto: no labelling is left", FOLDED_BOUND)
        return
    why = f"auto: viterbi breaks {broken} of {len(folded.rules)} rules that do not fold; "
    task.deadline.excuse(warm("beam"))
    yield from _best(folded, task, why) if task.top == 1 else _best_few(folded, task, why)


def _best(folded: Problem, task: Task, why: str) -> Iterator[Found]:
    """One labelling: by label setting, or by a solver with label setting to order its ties."""
    first = search(folded, NARROW, task.deadline, guided=True)
    labels = first if first.settled else search(folded, WIDE, task.deadline, guided=True, floor=_floor(first))
    if labels.settled or is_forbidden(labels.bound):
        yield _labelled(labels, why)
        return
    answer = next(_by_program(folded, task))
    answer = replace(answer, method=why + "folded program on " + answer.method)
    if answer.path is not None and folded.value(answer.path).score >= answer.bound:
        labels = search(folded, WIDE, task.deadline, guided=True, floor=int(answer.bound))
        yield replace(answer, path=labels.paths[0]) if labels.settled else answer
        return
    yield _better(answer, [*first.paths[:1], *labels.paths[:1]], labels.bound, folded)


def _floor(beam: Beam) -> int:
    return beam.scores[0] if beam.paths else FORBIDDEN


def _labelled(beam: Beam, why: str) -> Found:
    if not beam.paths:
        return Found(None, float("-inf"), why + "label setting finds no labelling", LABEL_BOUND)
    return Found(beam.paths[0], beam.bound, why + "label setting", LABEL_BOUND)


def _better(answer: Found, incumbents: list[Path], bound: int, folded: Problem) -> Found:
    """The best labelling at hand, and the lower of two bounds."""
    if answer.exhausted:
        return answer
    paths = [path for path in (answer.path, *incumbents) if path is not None and folded.value(path).feasible]
    if paths:
        answer = replace(answer, path=max(paths, key=lambda path: folded.value(path).score))
    return replace(answer, certificate=LABEL_BOUND, bound=bound) if bound < answer.bound else answer


def _best_few(folded: Problem, task: Task, why: str) -> Iterator[Found]:
    """Several labellings by a solver, and further ones while they equal the last, so that label ids decide."""
    answers: list[Found] = []
    scores: list[int] = []
    for answer in _by_program(folded, replace(task, top=task.top + MORE_TIES)):
        score = FORBIDDEN if answer.path is None else folded.value(answer.path).score
        if len(answers) >= task.top and score < scores[task.top - 1]:
            break
        answers.append(replace(answer, method=why + "folded program on " + answer.method))
        scores.append(score)
    yield from sorted(answers, key=lambda answer: _order(answer, folded))[: task.top]


def _by_program(folded: Problem, task: Task) -> Iterator[Found]:
    """What the solver finds, or nothing where the program would be too large to build."""
    try:
        yield from best_of_program(folded, task, FASTEST)
    except TooLarge:
        yield Found(None, best_score(folded.lattice), f"{FASTEST}: too large to build", FOLDED_BOUND)


def _order(answer: Found, folded: Problem) -> tuple[float, list[int]]:
    """Best first, equal scores by label ids, and the one without a labelling last."""
    if answer.path is None:
        return float("inf"), []
    return -folded.value(answer.path).score, answer.path.tolist()
