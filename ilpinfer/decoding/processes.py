"""Decoding of many sequences in separate processes."""

import pickle
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace

from formulations import Trellis
from formulations.errors import stack_level
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.chunks import Source, paused
from ilpinfer.decoding.reporting import OnError, attempt, with_digest
from ilpinfer.decoding.runner import Runner
from ilpinfer.decoding.workers import Reply, Workers

AHEAD = 4
"""Number of sequences per process that are taken from the iterable before the first solution is returned."""


def in_processes(
    runner: Runner, trellises: Iterable[Trellis], top: int | None, number: int, on_error: OnError
) -> Iterator[list[Solution]]:
    """The solutions of each trellis, in order: one, or at most `top`."""
    try:
        pickle.dumps(runner)
    except Exception as error:
        raise ValueError(f"rules cannot be sent to processes ({error}): leave n_jobs out") from None
    return _solutions(runner, trellises, top, number, on_error)


def _solutions(
    runner: Runner, trellises: Iterable[Trellis], top: int | None, number: int, on_error: OnError
) -> Iterator[list[Solution]]:
    waiting: deque[tuple[Trellis, Future[Reply[list[Solution]]]]] = deque()
    source = Source(trellises, 1, lambda trellis: trellis)

    def decoded() -> list[Solution]:
        trellis, future = waiting.popleft()
        return attempt(lambda: _received(runner, trellis, future.result()), on_error, runner.failures)

    with Workers(number, _decode, (runner, top)) as workers:
        for (trellis,) in iter(source.take, []):
            waiting.append((trellis, workers.submit(trellis)))
            while len(waiting) >= AHEAD * number or (waiting and paused(source.items)):
                yield decoded()
        while waiting:
            yield decoded()
        if source.error is not None:
            raise source.error


def _decode(trellis: Trellis, runner: Runner, top: int | None) -> list[Solution]:
    """In another process: the solutions without trellis and rules, which are not sent back."""
    result = runner.one(trellis, top)
    solutions: list[Solution] = [result] if top is None else result
    return [
        replace(one, context=None, certificate=replace(one.certificate, make_digest=str)) for one in solutions
    ]


def _received(runner: Runner, trellis: Trellis, reply: Reply[list[Solution]]) -> list[Solution]:
    """The solutions with the omitted context restored."""
    for message, category in reply.warnings:
        warnings.warn(message, category, stacklevel=stack_level())
    context = runner.context(runner.rules.fit(trellis))
    return [
        replace(one, context=context, certificate=with_digest(one.certificate, context))
        for one in reply.value
    ]
