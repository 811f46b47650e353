"""Labels that differ from Viterbi: the rules that they keep, and the best labelling with the Viterbi labels instead."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, nats
from formulations.problem.problem import Problem, Value
from formulations.time_limits import OutOfTime
from ilpinfer.core.context import Context
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Change
from ilpinfer.core.result import Task
from ilpinfer.core.status import Status
from ilpinfer.exact.auto import auto
from ilpinfer.exact.fewest_violations import relaxation_of
from ilpinfer.exact.viterbi import viterbi


def changes(context: Context, path: LabelIds, token: int | None, seconds: float) -> Iterator[Change]:
    """The runs of a labelling that differ from Viterbi, each within `seconds`, or the answer for one token."""
    problem = context.problem
    plain = viterbi(problem.lattice)[1]
    differs = path != plain
    ends = np.flatnonzero(np.diff(differs, prepend=False, append=False)).reshape(-1, 2).tolist()
    if token is not None:
        ends = [[b, e] for b, e in ends if b <= token < e] or [[token, token + 1]]
    for begin, end in ends:
        yield _change(context, path, plain, (begin, end), Deadline(seconds))


def _change(
    context: Context, path: LabelIds, plain: LabelIds, ends: tuple[int, int], deadline: Deadline
) -> Change:
    problem, names, run = context.problem, context.trellis.labels.names, range(*ends)
    own, before = path[run.start : run.stop], plain[run.start : run.stop]
    spliced = path.copy()
    spliced[run.start : run.stop] = before
    if own.tolist() == before.tolist():
        restricted = _restricted(problem, lambda lattice: _without(lattice, run.start, int(own[0])))
    else:
        kept = {t: (k,) for t, k in zip(run, before.tolist(), strict=True)}
        restricted = _restricted(problem, lambda lattice: lattice.only(kept))
    value = problem.value(path)
    other, status = _best(restricted, deadline)
    found = None if other is None else problem.value(other)
    labels = tuple(names[k] for k in path.tolist())
    return Change(
        tuple(run),
        tuple(context.trellis.tokens[t] for t in run),
        tuple(labels[t] for t in run),
        tuple(names[k] for k in before.tolist()),
        _more(problem.value(spliced), value),
        None if other is None else tuple(names[k] for k in other.tolist()),
        str(status),
        nats(value.score) - nats(found.score) if found is not None and found.feasible else np.inf,
        {} if found is None else _more(found, value),
        () if other is None else tuple(np.flatnonzero(other != path).tolist()),
    )


def _best(problem: Problem, deadline: Deadline) -> tuple[LabelIds | None, Status]:
    """The best labelling; if none keeps the hard rules, a labelling with the fewest violations of them."""
    with suppress(OutOfTime), deadline.as_limit():
        answer = next(auto(problem, Task(deadline), "auto"))
        if answer.path is not None:
            optimal = problem.value(answer.path).score >= answer.bound
            return answer.path, Status.OPTIMAL if optimal else Status.FEASIBLE
        if answer.proves_infeasibility:
            return relaxation_of(problem.without_functions(), deadline).path, Status.INFEASIBLE
    return None, Status.UNKNOWN


def _more(value: Value, than: Value) -> dict[str, int]:
    """Violations of one labelling beyond the violations of another."""
    more = {name: count - than.violations[name] for name, count in value.violations.items()}
    return {name: count for name, count in more.items() if count > 0}


def _restricted(problem: Problem, forbid: Callable[[Lattice], Lattice]) -> Problem:
    """The problem with more forbidden scores."""
    return replace(problem, model=forbid(problem.model), lattice=forbid(problem.lattice))


def _without(lattice: Lattice, token: int, label: int) -> Lattice:
    """The lattice in which a token cannot have one label."""
    node = lattice.node.copy()
    node[token, lattice.labels_of(np.arange(lattice.states)) == label] = FORBIDDEN
    return replace(lattice, node=node)
