"""Many sequences under the same rules: one after the other, in threads, or in processes of their own."""

import pickle
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar, Unpack, overload

import numpy as np

from formulations import Trellis
from formulations.arguments import iterable
from formulations.callers import stack_level
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.explanation import Context
from ilpinfer.core.options import Options
from ilpinfer.core.request import Request, natural
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.calls import Calls
from ilpinfer.decoding.chunks import Source, decode_chunks, paused
from ilpinfer.decoding.direct import Answer, Direct
from ilpinfer.decoding.failures import OnError, attempt, check_on_error, failure
from ilpinfer.decoding.few import Few
from ilpinfer.decoding.labellings import Labellings, labellings_of
from ilpinfer.decoding.reporting import with_digest
from ilpinfer.decoding.single import (
    Callback,
    context_of,
    decode,
    decode_best,
    decode_top,
    run_method,
    run_top,
)
from ilpinfer.decoding.workers import Reply, Workers

Decoded = TypeVar("Decoded")
AHEAD = 4
"""Sequences for each process that are taken from the iterable before the first solution is returned."""


@overload
def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: None = None,
    callback: Callback | None = None,
    n_jobs: int = 1,
    on_error: OnError = "raise",
    **options: Unpack[Options],
) -> Iterator[Solution]: ...


@overload
def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int,
    callback: Callback | None = None,
    n_jobs: int = 1,
    on_error: OnError = "raise",
    **options: Unpack[Options],
) -> Iterator[list[Solution]]: ...


def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
    callback: Callback | None = None,
    n_jobs: int = 1,
    on_error: OnError = "raise",
    **options: Unpack[Options],
) -> Iterator[Solution] | Iterator[list[Solution]]:
    """Decode many trellises lazily, in their order.

    Parameters
    ----------
    trellises : iterable of Trellis
        Sequences to decode, read a few ahead of the results: a chunk that grows from 1 to 128, two with
        threads, or some for each process.
    rules : Rules, optional
        Rules and features, or a rule set, for all of them.
    method : str, default "auto"
        "auto", or a name from `methods()`.
    time_limit : float, optional
        Time limit in seconds for each trellis.
    top : int, optional
        Number of different labellings of each, as a list.
    callback : Callback, optional
        Function of seconds, incumbent and bound, as for `decode`; it needs one process.
    n_jobs : int, default 1
        Number of processes. They start when the first solution is requested, and end with the iterator.
    on_error : OnError, default "raise"
        "raise" ends the iterator with the error of a trellis. "row" returns a Solution of status "unknown" in
        its place, with the message as `reason` and the type as `error`, and continues. A process that dies is
        such an error.
    **options : Options
        Options of the method, as for `decode`; for the method auto, also `threads` that share a chunk.

    Returns
    -------
    iterator of Solution or iterator of list of Solution
        The results of `decode`, in the order of the trellises.

    Raises
    ------
    ValueError
        For options that `decode` refuses; for a trellis or rules that it refuses, when the iterator reaches
        that trellis.
    Exception
        Any other error of `decode`, when the iterator reaches that trellis.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> solutions = ilpinfer.decode_many([trellis] * 3, [C.starts_with("b")])
    >>> [solution.score for solution in solutions]
    [-0.5, -0.5, -0.5]
    """
    threads = options.pop("threads", 1) if isinstance(method, str) and method == "auto" else 1
    compiler, request = compiler_of(rules), Request.of(method, time_limit, options)
    batch = Batch(compiler, request, threads, n_jobs, on_error)
    return batch.best(trellises, callback) if top is None else batch.top(trellises, top, callback)


@dataclass(frozen=True)
class Batch:
    """A request for many sequences.

    Parameters
    ----------
    rules, request : RuleCompiler or Request
        As for one sequence.
    threads, n_jobs : int, default 1
        Number of threads that share the work, and processes.
    on_error : OnError, default "raise"
        "raise" or "row"; see `decode_many`.
    """

    rules: RuleCompiler
    request: Request
    threads: int = 1
    n_jobs: int = 1
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        natural(self.n_jobs, "n_jobs")
        natural(self.threads, "threads")
        check_on_error(self.on_error)

    def best(self, trellises: Iterable[Trellis], callback: Callback | None = None) -> Iterator[Solution]:
        """The best labelling of each trellis."""
        direct = callback is None and self.request.direct
        self._check(direct, callback)
        trellises = iterable(trellises, "trellises", "trellises one by one")
        if self.n_jobs > 1:
            return self._in_processes(iter(trellises), _best_alone, _with_context, self._failure)
        if direct:

            def finish(trellis: Trellis, answer: Answer | Exception | None) -> Solution:
                return self._finish(lambda: trellis, answer)

            return decode_chunks(trellises, Direct(self._calls).trellises, finish, self.threads)
        calls = (partial(decode_best, t, self.rules, self.request, callback) for t in trellises)
        return (attempt(call, self.on_error, self._failure) for call in calls)

    def top(
        self, trellises: Iterable[Trellis], top: int, callback: Callback | None = None
    ) -> Iterator[list[Solution]]:
        """At most `top` labellings of each trellis, best first."""
        number, direct = natural(top, "top"), callback is None and self.request.direct
        self._check(direct, callback)
        trellises = iterable(trellises, "trellises", "trellises one by one")
        if self.n_jobs > 1:
            return self._in_processes(
                iter(trellises), partial(_top_alone, number), _all_with_context, self._failures
            )
        if direct:
            few = Few(self._calls, number)

            def finish(trellis: Trellis, answer: Labellings | Exception | None) -> list[Solution]:
                return self._finish_top(number, lambda: trellis, answer)

            return decode_chunks(trellises, few.trellises, finish, self.threads)
        calls = (partial(decode_top, t, self.rules, self.request, number, callback) for t in trellises)
        return (attempt(call, self.on_error, self._failures) for call in calls)

    def lists(self, trellises: Iterable[Trellis], top: int) -> Iterator[Labellings]:
        """As `top`, as arrays."""
        number = natural(top, "top")
        self._check(self.request.direct, None)
        trellises = iterable(trellises, "trellises", "trellises one by one")

        def finish(trellis: Trellis, answer: Labellings | Exception | None) -> Labellings:
            if isinstance(answer, Labellings):
                return answer
            solutions = _checked(run_top(trellis, self.rules, self.request, number), answer)
            return labellings_of(solutions, len(trellis.tokens), trellis.labels.names)

        if self.request.direct:
            return decode_chunks(trellises, Few(self._calls, number).trellises, finish, self.threads)
        return (finish(trellis, None) for trellis in trellises)

    def texts(self, texts: Iterable[Sequence[str]], scores: TokenScores) -> Iterator[Solution]:
        """The best labelling of each text, by a model's scores of single tokens."""
        direct = Direct(self._calls)

        def finish(words: Sequence[str], answer: Answer | Exception | None) -> Solution:
            return self._finish(lambda: scores.trellis(words), answer)

        return decode_chunks(texts, partial(direct.texts, scores=scores), finish, self.threads)

    def top_texts(
        self, texts: Iterable[Sequence[str]], scores: TokenScores, top: int
    ) -> Iterator[list[Solution]]:
        """At most `top` labellings of each text, by a model's scores of single tokens."""
        number = natural(top, "top")
        few = Few(self._calls, number)

        def finish(words: Sequence[str], answer: Labellings | Exception | None) -> list[Solution]:
            return self._finish_top(number, lambda: scores.trellis(words), answer)

        return decode_chunks(texts, partial(few.texts, scores=scores), finish, self.threads)

    @property
    def _calls(self) -> Calls:
        return Calls(self.rules, self.request, decode)

    def _finish_top(
        self, top: int, make: Callable[[], Trellis], answer: Labellings | Exception | None
    ) -> list[Solution]:
        if isinstance(answer, Labellings):
            return answer.solutions

        def solve() -> list[Solution]:
            return _checked(run_top(make(), self.rules, self.request, top), answer)

        return attempt(solve, self.on_error, self._failures)

    def _check(self, direct: bool, callback: Callback | None) -> None:
        if self.threads > 1 and (self.n_jobs > 1 or not direct):
            raise ValueError(
                "threads are for one process, and for the method auto without callback and 'within': leave them out"
            )
        if self.n_jobs > 1 and callback is not None:
            raise ValueError("a callback follows one process: leave n_jobs out")

    def _finish(self, make: Callable[[], Trellis], answer: Answer | Exception | None) -> Solution:
        if isinstance(answer, Solution):
            return answer
        incumbent = answer if isinstance(answer, np.ndarray) else None

        def solve() -> Solution:
            return _checked(run_method(make(), self.rules, self.request, incumbent=incumbent), answer)

        return attempt(solve, self.on_error, self._failure)

    def _failure(self, error: Exception, seconds: float) -> Solution:
        return failure(error, self.request.method.name, seconds=seconds)

    def _failures(self, error: Exception, seconds: float) -> list[Solution]:
        return [self._failure(error, seconds)]

    def _in_processes(
        self,
        trellises: Iterator[Trellis],
        function: Callable[[Trellis, RuleCompiler, Request], Decoded],
        complete: Callable[[Decoded, Context], Decoded],
        failed: Callable[[Exception, float], Decoded],
    ) -> Iterator[Decoded]:
        try:
            pickle.dumps((self.rules, self.request))
        except Exception as error:
            raise ValueError(f"rules cannot be sent to processes ({error}): leave n_jobs out") from None
        return self._from_processes(trellises, function, complete, failed)

    def _from_processes(
        self,
        trellises: Iterator[Trellis],
        function: Callable[[Trellis, RuleCompiler, Request], Decoded],
        complete: Callable[[Decoded, Context], Decoded],
        failed: Callable[[Exception, float], Decoded],
    ) -> Iterator[Decoded]:
        waiting: deque[tuple[Trellis, Future[Reply[Decoded]]]] = deque()

        def decoded() -> Decoded:
            trellis, future = waiting.popleft()

            def receive() -> Decoded:
                reply = future.result()
                for message, category in reply.warnings:
                    warnings.warn(message, category, stacklevel=stack_level())
                return complete(reply.value, context_of(trellis, self.rules, self.request))

            return attempt(receive, self.on_error, failed)

        with Workers(self.n_jobs, function, (self.rules, self.request)) as workers:
            source = Source(trellises, 1)
            for (trellis,) in iter(source.take, []):
                waiting.append((trellis, workers.submit(trellis)))
                while len(waiting) >= AHEAD * self.n_jobs or (waiting and paused(trellises)):
                    yield decoded()
            while waiting:
                yield decoded()
            if source.error is not None:
                raise source.error


def _checked(result: Decoded, answer: object) -> Decoded:
    """The result of a method; an error of the kernels is raised where the method has no objection to the sequence."""
    if isinstance(answer, Exception):
        raise answer
    return result


def _best_alone(trellis: Trellis, rules: RuleCompiler, request: Request) -> Solution:
    return _without_context(decode_best(trellis, rules, request))


def _top_alone(top: int, trellis: Trellis, rules: RuleCompiler, request: Request) -> list[Solution]:
    return list(map(_without_context, decode_top(trellis, rules, request, top)))


def _without_context(solution: Solution) -> Solution:
    """The solution without its trellis and rules, which need not travel back to the caller."""
    return replace(solution, context=None, certificate=replace(solution.certificate, make_digest=str))


def _with_context(solution: Solution, context: Context) -> Solution:
    return replace(solution, context=context, certificate=with_digest(solution.certificate, context))


def _all_with_context(solutions: list[Solution], context: Context) -> list[Solution]:
    return [_with_context(solution, context) for solution in solutions]
