"""The route of `method="auto"`: the cheapest step that proves the optimum."""

from collections.abc import Iterator
from dataclasses import replace

from formulations.compiled.problem import Problem
from ilpinfer.certificate import FOLDED_BOUND
from ilpinfer.exact.programs import FASTEST, best_of_program
from ilpinfer.exact.viterbi import best_paths
from ilpinfer.found import Found, Path, Task
from ilpinfer.warming import warm


def auto(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """Fold local rules into the scores; take Viterbi's labellings if they break nothing else; else solve.

    Viterbi on the folded lattice bounds every labelling, since what the other rules cost is not negative.
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
    why = f"auto: viterbi breaks {broken} of {len(folded.rules)} rules that do not fold; folded program on "
    answers = [replace(a, method=why + a.method) for a in best_of_program(folded, task, FASTEST)]
    answers[0] = _with_incumbent(answers[0], *found[0], problem)
    yield from sorted(answers, key=lambda answer: _order(answer, problem))


def _with_incumbent(answer: Found, best: int, incumbent: Path, problem: Problem) -> Found:
    """The better of the solver's labelling and Viterbi's, and the lower of their bounds."""
    if answer.exhausted:
        return answer
    value = problem.value(incumbent)
    if value.feasible and (answer.path is None or problem.value(answer.path).score < value.score):
        answer = replace(answer, path=incumbent)
    return replace(answer, certificate=FOLDED_BOUND, bound=best) if best < answer.bound else answer


def _order(answer: Found, problem: Problem) -> tuple[float, list[int]]:
    """Best first, equal scores by label ids, and the one without a labelling last."""
    if answer.path is None:
        return float("inf"), []
    return -problem.value(answer.path).score, answer.path.tolist()
