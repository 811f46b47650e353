"""Calls of users' decoders within a time limit, and evaluation of their labellings."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from formulations import RuleSet, Trellis, time_limits
from formulations.dtypes import LabelIds
from formulations.forks import emptied_by_forks, fork_safe
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import Function, Method
from ilpinfer.core.result import Result, Task
from ilpinfer.decoding.workers import WorkerError, Workers
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.search.parameters import Parameters, within

logger = logging.getLogger("ilpinfer")
GRACE = 0.1
"""Seconds after its time limit in which a process may still return its labelling."""
_lock = fork_safe(threading.Lock())
_workers: dict[Function, Workers] = emptied_by_forks({})
"""The processes of decoders; the time limit of a decoder starts when its process is ready."""


@dataclass(frozen=True)
class Draw(Parameters):
    """Parameters of a user's decoder."""

    seed: int = within(0, 0, 2**63 - 1)


def run(method: Method, trellis: Trellis, rules: RuleSet, problem: Problem, task: Task) -> Iterator[Result]:
    """The labelling of a decoder, with the bound of the scores without rules."""
    assert method.function is not None
    assert isinstance(task.parameters, Draw)
    bound, _ = viterbi(problem.lattice)
    arguments = (trellis, rules, task.parameters.seed)
    if method.process and task.deadline.remaining is not None:
        answer, words = _in_process(method.function, arguments, task.deadline)
    else:
        answer, words = _here(method, arguments, task.deadline)
    path = None if answer is None else _ids(trellis, answer, method.name)
    yield Result(path, bound, f"{method.name}{words}", VITERBI_BOUND)


def _ids(trellis: Trellis, answer: Any, name: str) -> LabelIds:
    try:
        return trellis.ids(answer)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} returned no labelling of this trellis: {error}") from error


def _call(arguments: tuple[Trellis, RuleSet, int] | None, function: Function, limit: float | None) -> Any:
    """The decoder's answer; None without arguments, a call that makes a process load the decoder."""
    if arguments is None:
        return None
    trellis, rules, seed = arguments
    with time_limits.time_limit(lambda: False):
        return function(trellis, rules, time_limit=limit, seed=seed)


def _here(method: Method, arguments: tuple[Trellis, RuleSet, int], deadline: Deadline) -> tuple[Any, str]:
    """The answer of a decoder in this process, and a remark if it exceeded its time limit."""
    assert method.function is not None
    with _reported(method.name, deadline):
        answer = _call(arguments, method.function, deadline.remaining)
    over = deadline.elapsed - deadline.limit
    return answer, f": {over:.3g} s over its time limit" if over > GRACE else ""


@contextmanager
def _reported(name: str, deadline: Deadline) -> Iterator[None]:
    """Warn when a decoder that cannot be interrupted exceeds its time limit."""
    if deadline.remaining is None:
        yield
        return
    text = (
        f"{name} has passed its time limit of {deadline.limit:g} s and still runs, as a function of this process cannot be "
        "stopped; register it with process=True"
    )
    timer = threading.Timer(deadline.remaining + 10 * GRACE, logger.warning, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _in_process(
    function: Function, arguments: tuple[Trellis, RuleSet, int], deadline: Deadline
) -> tuple[Any, str]:
    """The answer of a decoder in a separate process, which is terminated at the time limit."""
    workers = _ready(function, deadline)
    remaining = deadline.remaining
    assert remaining is not None
    answer = workers.submit((arguments, remaining))
    try:
        if not wait([answer], remaining + GRACE).done:
            _end(function)
            return None, ": ended at its time limit"
        return answer.result().value, ""
    except (WorkerError, KeyboardInterrupt, SystemExit):
        _end(function)
        raise


def _ready(function: Function, deadline: Deadline) -> Workers:
    """The process of a decoder, with the decoder loaded; start-up time does not count."""
    with _lock:
        if function not in _workers:
            before = deadline.elapsed
            _workers[function] = workers = Workers(1, _call_in_process, (function,))
            try:
                workers.submit((None, None)).result()
            except BaseException:
                _end(function)
                raise
            deadline.excuse(deadline.elapsed - before)
        return _workers[function]


def _call_in_process(item: tuple[Any, float | None], function: Function) -> Any:
    return _call(item[0], function, item[1])


def end_all() -> None:
    """End the processes of all decoders; the next call of a decoder starts its process again."""
    for function in list(_workers):
        _end(function)


def _end(function: Function) -> None:
    workers = _workers.pop(function, None)
    if workers is not None:
        workers.end()
