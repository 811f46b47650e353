"""Many trellises under the same rules: one after the other, or in processes of their own."""

import pickle
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from formulations import Trellis
from ilpinfer.attempts import ON_ERROR, attempted
from ilpinfer.decoding import Rules, asked, decode, listed, natural, stamped
from ilpinfer.explanation import Context
from ilpinfer.solution import Solution
from ilpinfer.workers import Result, Workers

AHEAD = 4
"""Sequences for each process that are taken from the iterable before the first of them is handed back."""


def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    n_jobs: int = 1,
    on_error: str = "raise",
    **options: Any,
) -> Iterator[Any]:
    """`decode` for each of many trellises, in their order, as they are asked for.

    Parameters
    ----------
    trellises : taken one at a time, or with more than one process a few ahead
    rules : for all of them
    n_jobs : processes; they are started when the first solution is asked for, and end with the iterator
    on_error : what becomes of an error in decoding one trellis: "raise" ends the iterator with it, "row" hands back a
        Solution of status "unknown" in its place, with the error's words as `reason` and its type as `error`, and goes
        on; so too where a process dies
    options : as in `decode`; a time limit is for each trellis, and a callback is for one process only

    Returns
    -------
    iterator of Solution, or of lists of them where `top` is given

    Raises
    ------
    ValueError
        for options that `decode` refuses; for a trellis or rules that it refuses, when that trellis is reached.
    Exception
        whatever else decoding a trellis raises, when that trellis is reached.
    """
    natural(n_jobs, "n_jobs")
    if on_error not in ON_ERROR:
        raise ValueError(f"on_error is {on_error!r}; expected {' or '.join(map(repr, ON_ERROR))}")
    own = {name: value for name, value in options.items() if name not in _NAMED}
    asked(options.get("method", "auto"), options.get("time_limit"), options.get("top"), own)
    rules = listed(rules)
    if n_jobs == 1:
        return (
            attempted(partial(decode, trellis, rules, **options), trellis, rules, options, on_error)
            for trellis in trellises
        )
    if options.get("callback") is not None:
        raise ValueError("a callback follows one process: leave n_jobs out")
    try:
        pickle.dumps((rules, options))
    except Exception as error:
        raise ValueError(f"rules cannot be sent to processes ({error}): leave n_jobs out") from None
    return _in_processes(iter(trellises), rules, n_jobs, options, on_error)


_NAMED = ("method", "time_limit", "top", "callback")


def _in_processes(
    trellises: Iterator[Trellis], rules: Rules, n_jobs: int, options: dict[str, Any], on_error: str
) -> Iterator[Any]:
    whole = {"time_limit": options.get("time_limit")}
    waiting: deque[tuple[Trellis, Future[Result]]] = deque()
    with Workers(n_jobs, decoded, (rules, options)) as workers:
        for trellis in islice(trellises, AHEAD * n_jobs):
            waiting.append((trellis, workers.submit(trellis)))
        while waiting:
            trellis, future = waiting.popleft()
            result = attempted(future.result, trellis, rules, options, on_error)
            for following in islice(trellises, 1):
                waiting.append((following, workers.submit(following)))
            found = result.value if isinstance(result, Result) else result
            for message, category in result.warnings if isinstance(result, Result) else ():
                warnings.warn(message, category, stacklevel=2)
            made_from = Context(trellis, rules, options=whole)
            yield [_with(s, made_from) for s in found] if isinstance(found, list) else _with(found, made_from)


def decoded(trellis: Trellis, rules: Rules, options: dict[str, Any]) -> Any:
    """The solution without what the caller has: a trellis and rules need not travel back."""
    found = decode(trellis, rules, **options)
    return [_without(s) for s in found] if isinstance(found, list) else _without(found)


def _without(solution: Solution) -> Solution:
    return replace(solution, context=None, certificate=replace(solution.certificate, stamp=str))


def _with(solution: Solution, context: Context) -> Solution:
    return replace(solution, context=context, certificate=stamped(solution.certificate, context))
