"""Many trellises under the same rules: one after the other, or in processes of their own."""

import pickle
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from formulations import Trellis
from formulations.callers import stack_level
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.explanation import Context
from ilpinfer.core.request import Request, natural
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.chunks import answered
from ilpinfer.decoding.direct import Answer, Direct
from ilpinfer.decoding.failures import ON_ERROR, attempted
from ilpinfer.decoding.reporting import stamped
from ilpinfer.decoding.single import Callback, context_of, decode, decoded, searched
from ilpinfer.decoding.workers import Reply, Workers

AHEAD = 4
"""Sequences for each process that are taken from the iterable before the first of them is handed back."""


def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
    callback: Callback | None = None,
    n_jobs: int = 1,
    on_error: str = "raise",
    **options: Any,
) -> Iterator[Any]:
    """`decode` for each of many trellises, in their order, as they are asked for.

    Parameters
    ----------
    trellises : taken a few ahead: those of a chunk, which grows from 1 to 128, or two with threads, or some for each process
    rules : for all of them
    options : as in `decode`; for the method auto, `threads` that share the sequences of a chunk
    n_jobs : processes; they are started when the first solution is asked for, and end with the iterator
    on_error : what becomes of an error in decoding one trellis: "raise" ends the iterator with it, "row" hands back a
        Solution of status "unknown" in its place, with the error's words as `reason` and its type as `error`, and goes
        on; so too where a process dies
    method, time_limit, top, callback : as in `decode`; a time limit is for each trellis, and a callback is for one process
        only

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
    threads = options.pop("threads", 1) if method == "auto" else 1
    compiler, request = compiler_of(rules), Request.of(method, time_limit, options)
    return decoded_many(
        trellises, compiler, request, top, callback, n_jobs=n_jobs, threads=threads, on_error=on_error
    )


def decoded_many(
    trellises: Iterable[Trellis],
    rules: RuleCompiler,
    request: Request,
    top: int | None = None,
    callback: Callback | None = None,
    *,
    n_jobs: int = 1,
    threads: int = 1,
    on_error: str = "raise",
) -> Iterator[Any]:
    """Each of many trellises decoded; see `decode_many`."""
    if top is not None:
        natural(top, "top")
    natural(n_jobs, "n_jobs")
    natural(threads, "threads")
    if on_error not in ON_ERROR:
        raise ValueError(f"on_error is {on_error!r}; expected {' or '.join(map(repr, ON_ERROR))}")
    attempt = partial(attempted, on_error=on_error, method=request.method.name, several=top is not None)
    direct = top is None and callback is None and request.direct
    if threads > 1 and (n_jobs > 1 or not direct):
        raise ValueError("threads are for one process, the method auto and one solution each: leave them out")
    if n_jobs == 1 and direct:
        return _in_chunks(trellises, rules, request, threads, attempt)
    if n_jobs == 1:
        return (attempt(partial(decoded, trellis, rules, request, top, callback)) for trellis in trellises)
    if callback is not None:
        raise ValueError("a callback follows one process: leave n_jobs out")
    try:
        pickle.dumps((rules, request))
    except Exception as error:
        raise ValueError(f"rules cannot be sent to processes ({error}): leave n_jobs out") from None
    return _in_processes(iter(trellises), rules, request, top, n_jobs, attempt)


def _in_chunks(
    trellises: Iterable[Trellis],
    rules: RuleCompiler,
    request: Request,
    threads: int,
    attempt: Callable[..., Any],
) -> Iterator[Any]:
    direct = Direct(rules, request, decode)

    def finish(trellis: Trellis, answer: Answer) -> Any:
        if isinstance(answer, Solution):
            return answer
        return attempt(partial(searched, trellis, rules, request, incumbent=answer))

    return answered(trellises, direct.trellises, finish, threads)


def texts_decoded(
    texts: Iterable[Sequence[str]],
    scores: TokenScores,
    rules: RuleCompiler,
    request: Request,
    threads: int,
    on_error: str,
) -> Iterator[Any]:
    """Each of many texts decoded, by a model's scores of single tokens."""
    natural(threads, "threads")
    direct = Direct(rules, request, decode)
    attempt = partial(attempted, on_error=on_error, method=request.method.name)

    def finish(words: Sequence[str], answer: Answer) -> Any:
        if isinstance(answer, Solution):
            return answer
        return attempt(lambda: searched(scores.trellis(words), rules, request, incumbent=answer))

    return answered(texts, partial(direct.texts, scores=scores), finish, threads)


def _in_processes(
    trellises: Iterator[Trellis],
    rules: RuleCompiler,
    request: Request,
    top: int | None,
    n_jobs: int,
    attempt: Callable[..., Any],
) -> Iterator[Any]:
    waiting: deque[tuple[Trellis, Future[Reply]]] = deque()
    with Workers(n_jobs, _sent, (rules, request, top)) as workers:
        for trellis in islice(trellises, AHEAD * n_jobs):
            waiting.append((trellis, workers.submit(trellis)))
        while waiting:
            trellis, future = waiting.popleft()
            reply = attempt(future.result)
            for following in islice(trellises, 1):
                waiting.append((following, workers.submit(following)))
            if not isinstance(reply, Reply):
                yield reply
                continue
            for message, category in reply.warnings:
                warnings.warn(message, category, stacklevel=stack_level())
            context, result = context_of(trellis, rules, request), reply.value
            yield [_with(s, context) for s in result] if isinstance(result, list) else _with(result, context)


def _sent(trellis: Trellis, rules: RuleCompiler, request: Request, top: int | None) -> Any:
    """The solution without what the caller has: a trellis and rules need not travel back."""
    result = decoded(trellis, rules, request, top)
    return [_without(s) for s in result] if isinstance(result, list) else _without(result)


def _without(solution: Solution) -> Solution:
    return replace(solution, context=None, certificate=replace(solution.certificate, make_digest=str))


def _with(solution: Solution, context: Context) -> Solution:
    return replace(solution, context=context, certificate=stamped(solution.certificate, context))
