"""Many trellises under the same rules: one after the other, or in processes of their own."""

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any

from formulations import Trellis
from ilpinfer.decoding import Rules, decode, listed, natural, stamped
from ilpinfer.explanation import Context
from ilpinfer.solution import Solution
from ilpinfer.warming import warm_up

AHEAD = 4
"""Sequences for each process that are taken from the iterable before the first of them is handed back."""


def decode_many(
    trellises: Iterable[Trellis], rules: Rules = (), *, n_jobs: int = 1, **options: Any
) -> Iterator[Any]:
    """`decode` for each of many trellises, in their order, as they are asked for.

    Parameters
    ----------
    trellises : taken one at a time, or with more than one process a few ahead
    rules : for all of them
    n_jobs : processes
    options : as in `decode`; a time limit is for each trellis

    Returns
    -------
    iterator of Solution, or of lists of them where `top` is given

    Raises
    ------
    ValueError
        as in `decode`, when the trellis in question is reached.
    """
    natural(n_jobs, "n_jobs")
    rules = listed(rules)
    if n_jobs == 1:
        return (decode(trellis, rules, **options) for trellis in trellises)
    return _in_processes(iter(trellises), rules, n_jobs, options)


def _in_processes(
    trellises: Iterator[Trellis], rules: Rules, n_jobs: int, options: dict[str, Any]
) -> Iterator[Any]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_jobs, context, _begin, (rules, options)) as pool:
        waiting: deque[tuple[Trellis, Future[Any]]] = deque()
        try:
            for trellis in islice(trellises, AHEAD * n_jobs):
                waiting.append((trellis, pool.submit(_decode, trellis)))
            while waiting:
                trellis, future = waiting.popleft()
                found = future.result()
                for following in islice(trellises, 1):
                    waiting.append((following, pool.submit(_decode, following)))
                whole = Context(trellis, rules, options={"time_limit": options.get("time_limit")})
                yield [_with(s, whole) for s in found] if isinstance(found, list) else _with(found, whole)
        finally:
            pool.shutdown(cancel_futures=True)


_job: dict[str, Any] = {}


def _begin(rules: Rules, options: dict[str, Any]) -> None:
    """What every process keeps."""
    _job.update(rules=rules, options=options)
    warm_up()


def _decode(trellis: Trellis) -> Any:
    """The solution without what the caller has: a trellis and rules need not travel back."""
    found = decode(trellis, _job["rules"], **_job["options"])
    return [_without(s) for s in found] if isinstance(found, list) else _without(found)


def _without(solution: Solution) -> Solution:
    return replace(solution, context=None, certificate=replace(solution.certificate, stamp=str))


def _with(solution: Solution, context: Context) -> Solution:
    return replace(solution, context=context, certificate=stamped(solution.certificate, context))
