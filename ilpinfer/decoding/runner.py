"""Decoding of one or many trellises: by compiled rules in kernels, otherwise by the method."""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.arguments import flag, whole
from formulations.time_limits import OutOfTime
from ilpinfer.core.context import Context
from ilpinfer.core.request import MOST, Request, deadline_for
from ilpinfer.core.result import NOTHING_KNOWN, Start
from ilpinfer.core.rule_compiler import RuleCompiler, stated
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.batch import Batch
from ilpinfer.decoding.call_results import CallResult
from ilpinfer.decoding.chunks import Answer, Caller, Chunk, Item, Source
from ilpinfer.decoding.explaining import Searches
from ilpinfer.decoding.reporting import Callback, OnError, attempt, failure, run_method
from ilpinfer.decoding.score_rows import ScoreRows
from ilpinfer.decoding.solver_start import start_solver
from ilpinfer.system.threads import thread_pool

LARGEST, SHARED = 128, 8
"""Largest chunk size, and its factor for several threads, which wait at the end of a chunk."""
handovers: Counter[str] = Counter()
"""Number of sequences that compiled rules left to a method, by reason."""


class Runner:
    """Rules, method and options, for any number of sequences."""

    def __init__(self, rules: RuleCompiler, request: Request) -> None:
        if request.method.functions is None:
            stated(rules, f"method {request.method.name}", "choose auto, beam or lds, or leave the rule out")
        self.rules, self.request = rules, request
        self._calls = Caller(rules, request.time_limit, self.context)

    def __reduce__(self) -> Any:
        return Runner, (self.rules, self.request)

    def one(
        self,
        item: Item,
        top: int | None = None,
        callback: Callback | None = None,
        *,
        keep_on_interrupt: bool = False,
    ) -> Any:
        """The best labelling of a sequence, or a list of at most `top`, best first."""
        if top is not None:
            whole(top, "top", 1, MOST["top"])
        item = self.rules.fit(item) if isinstance(item, Trellis) else item
        if flag(keep_on_interrupt, "keep_on_interrupt"):
            return self._finish(item, NOTHING_KNOWN, callback, top, keep_on_interrupt=True)
        return self._finish(item, self._alone(item, top, callback), callback, top)

    def _fit(self, item: Item) -> Item:
        """A sequence without the labels that the rules exclude, or the error if that is impossible."""
        if not self.rules.rules.never or not isinstance(item, Trellis):
            return item
        return attempt(partial(self.rules.fit, item), "row", lambda error, _: error)

    def many(
        self,
        items: Iterable[Item],
        top: int | None,
        threads: int = 1,
        on_error: OnError = "raise",
        callback: Callback | None = None,
    ) -> Iterator[Any]:
        """As `one`, for each sequence, in order. An error of the iterable is raised after the results before it."""
        failed = self.failure if top is None else self.failures

        def finished(item: Item, answer: Answer) -> Any:
            return attempt(lambda: self._finish(item, answer, callback, top), on_error, failed)

        def alone(item: Item) -> Any:
            item = self._fit(item)
            return attempt(
                lambda: self._finish(item, self._alone(item, top, callback), callback, top), on_error, failed
            )

        if callback is not None or not self.request.direct or self.request.time_limit is not None:
            start_solver(self.request, wait=True)
            yield from map(alone, items)
            return
        source = Source(items, LARGEST if threads == 1 else SHARED * LARGEST, self._fit)
        for chunk in self._ahead(source, top, threads) if threads > 1 else self._chunks(source, top):
            yield from map(finished, chunk.items, self._calls.end(chunk))
        if source.error is not None:
            raise source.error

    def scores(self, rows: ScoreRows, threads: int = 1) -> Batch:
        """The best labellings of rows of scores."""
        batch = Batch(rows, tuple(rule.name for rule in self.rules.compiled(rows.labels).rules))
        left: dict[int, Answer | None] = dict.fromkeys(np.flatnonzero(rows.lengths == 0).tolist())
        if self.request.direct and self.request.time_limit is None:
            left |= self._calls.scores(rows, threads, batch._enter_call)
        else:
            left = dict.fromkeys(range(len(rows)))
        for n, answer in left.items():
            trellis = rows.trellis(n)
            answer = self._alone(trellis, None, None) if answer is None else answer
            batch._enter(n, self._finish(trellis, answer, None, None))
        return batch

    def failure(self, error: Exception, seconds: float) -> Solution:
        """The solution in place of an error."""
        return failure(Solution, error, self.request.method.name, seconds=seconds)

    def failures(self, error: Exception, seconds: float) -> list[Solution]:
        """A list of the solution in place of an error."""
        return [self.failure(error, seconds)]

    def context(self, trellis: Trellis) -> Context:
        """The context of solutions of a trellis."""
        return context_of(trellis, self.rules, self.request.time_limit)

    def _finish(
        self,
        item: Item,
        answer: Answer,
        callback: Callback | None,
        top: int | None,
        *,
        keep_on_interrupt: bool = False,
    ) -> Any:
        if isinstance(answer, CallResult):
            return answer.best() if top is None else answer.solutions()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(item, Exception):
            raise item
        if answer.declined:
            handovers[answer.declined] += 1
        context = self.context(item)
        solutions = run_method(
            context, self.request, top, callback, answer, keep_on_interrupt=keep_on_interrupt
        )
        return solutions[0] if top is None else [each for each in solutions if each.has_labelling]

    def _chunks(self, source: Source, top: int | None) -> Iterator[Chunk]:
        """Chunks whose calls have run."""
        while some := source.take():
            yield self._calls.run(self._calls.begin(some, top), 1)

    def _ahead(self, source: Source, top: int | None, threads: int) -> Iterator[Chunk]:
        """As `_chunks`, one chunk ahead: kernels run while this thread processes results."""
        with thread_pool(1) as pool:
            waiting: tuple[Chunk, Future[Chunk]] | None = None
            try:
                while some := source.take():
                    chunk = self._calls.begin(some, top)
                    before, waiting = waiting, (chunk, pool.submit(self._calls.run, chunk, threads))
                    if before is not None:
                        yield before[1].result()
                if waiting is not None:
                    yield waiting[1].result()
            finally:
                for call, *_ in waiting[0].calls if waiting is not None else ():
                    call.stop()

    def _alone(self, item: Item, top: int | None, callback: Callback | None) -> Answer:
        """The answer for one sequence, whose time limit begins now."""
        if callback is not None or not self.request.direct:
            return NOTHING_KNOWN
        if self.request.time_limit is None:
            return self._calls.answer(item, top)
        deadline = deadline_for(self.request.time_limit)
        try:
            with deadline.as_limit():
                answer = self._calls.answer(item, top)
        except OutOfTime:
            answer = NOTHING_KNOWN
        return answer._replace(deadline=deadline) if isinstance(answer, Start) else answer


def context_of(trellis: Trellis, rules: RuleCompiler, time_limit: float | None = None) -> Context:
    """The context of solutions of a trellis. Explanations decode it under other rules within the time limit."""
    return Context(rules, trellis, partial(_best, trellis, time_limit), Searches(time_limit))


def _best(trellis: Trellis, time_limit: float | None, rules: RuleCompiler) -> Solution:
    best: Solution = Runner(rules, Request.of("auto", time_limit, {})).one(trellis)
    return best
