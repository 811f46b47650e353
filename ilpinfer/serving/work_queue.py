"""Threads that decode, and the queue before them: what cannot be done in time is refused at once.

All methods but the work itself run in the thread of the event loop, so that nothing needs a lock. The event loop hands each job to
a thread itself, behind the requests that have come meanwhile. So threads, which share the interpreter's lock with it, cannot keep
it from reading and refusing requests for longer than one job each.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from ilpinfer.serving.decoding import DeadlinePassed
from ilpinfer.serving.request_deadline import RequestDeadline
from ilpinfer.serving.estimate import Estimate
from ilpinfer.serving.refusal import UNAVAILABLE, Refusal

Value = TypeVar("Value")
SAFETY = 0.5
"""Of the time that is left, what work may need by the estimate: that is an average, and a longer queue would serve no more."""


@dataclass(frozen=True)
class Done(Generic[Value]):
    """The value of a job, and the seconds that it waited."""

    value: Value
    waited: float


@dataclass(frozen=True, eq=False)
class _Job:
    """Work, the tokens in it, its deadline, and who waits for it."""

    work: Callable[[float], Any]
    tokens: int
    deadline: RequestDeadline
    future: asyncio.Future[Done[Any]]


class WorkQueue:
    """A bounded queue of jobs with deadlines.

    Parameters
    ----------
    workers : int
        Threads.
    longest : int
        Jobs that may wait.
    """

    def __init__(self, workers: int, longest: int) -> None:
        if type(workers) is not int or workers < 1:
            raise ValueError(f"workers is {workers!r}; expected a whole number from 1")
        self.workers, self.longest = workers, longest
        self.estimate = Estimate()
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="ilpinfer-decoding")
        self._waiting = deque[_Job]()
        self._running = self._tokens = 0

    @property
    def waiting(self) -> int:
        """Jobs for which no thread is free."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Jobs that threads work on."""
        return self._running

    def admit(self, tokens: int, deadline: RequestDeadline) -> None:
        """Raise Refusal for work that cannot be done in time, given what is there already.

        While a thread is free, everything is admitted: estimates of hard work may be too high, and only new work corrects them.
        """
        if deadline.left <= 0:
            raise late(deadline, "the request was read")
        if self.running < self.workers:
            return
        ahead = self.estimate.of(self._tokens) / self.workers
        needed = ahead + self.estimate.of(tokens)
        if self.waiting >= self.longest:
            raise Refusal(
                UNAVAILABLE,
                f"{self.waiting} requests are waiting, the most that may; try again later",
                "full",
                ahead,
            )
        if needed > SAFETY * deadline.left:
            raise Refusal(
                UNAVAILABLE,
                f"about {needed:.3g} s are needed after the current work, more than the {deadline.left:.3g} s that are left of the "
                f"deadline of {deadline.seconds:g} s; try again later, or ask for more time",
                "busy",
                max(needed - SAFETY * deadline.left, 0.0),
            )

    async def run(self, work: Callable[[float], Value], tokens: int, deadline: RequestDeadline) -> Done[Value]:
        """What a job returns; Refusal when its deadline passes first, and the job's own errors.

        Parameters
        ----------
        work : called in a thread with the seconds that are left
        tokens : that it has to decode
        deadline : its deadline
        """
        job = _Job(work, tokens, deadline, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._tokens += tokens
        self._dispatch()
        try:
            return await asyncio.wait_for(job.future, max(deadline.left, 0.0))
        except (DeadlinePassed, TimeoutError):
            raise late(deadline, "it was decoded", self.estimate.of(self._tokens)) from None
        finally:
            if job in self._waiting:
                self._waiting.remove(job)
                self._tokens -= tokens

    def close(self) -> None:
        """Take no more jobs, and forget those that wait."""
        for job in self._waiting:
            job.future.cancel()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _dispatch(self) -> None:
        """Give jobs to threads that are free."""
        while self._waiting and self._running < self.workers:
            job = self._waiting.popleft()
            self._running += 1
            future = self._executor.submit(_timed, job.work, job.deadline)
            leave = partial(self._leave, job, time.perf_counter())
            future.add_done_callback(partial(_tell, asyncio.get_running_loop(), leave))

    def _leave(self, job: _Job, began: float, done: Future[Done[Any]]) -> None:
        """Count a job as done, learn how long it kept its thread from the next one, and go on with that."""
        self._running -= 1
        self._tokens -= job.tokens
        error = done.exception()
        if error is None:
            self.estimate = self.estimate.after(time.perf_counter() - began, job.tokens)
        if not job.future.done():
            if error is None:
                job.future.set_result(done.result())
            else:
                job.future.set_exception(error)
        self._dispatch()


def _tell(
    loop: asyncio.AbstractEventLoop,
    leave: Callable[[Future[Done[Any]]], None],
    done: Future[Done[Any]],
) -> None:
    with contextlib.suppress(RuntimeError):  # the loop may have been closed meanwhile
        loop.call_soon_threadsafe(leave, done)


def late(deadline: RequestDeadline, before: str, retry_after: float = 0.0) -> Refusal:
    """The refusal of a request whose deadline has passed."""
    return Refusal(
        UNAVAILABLE,
        f"the deadline of {deadline.seconds:g} s passed before {before}; try again later, or ask for more time",
        "late",
        retry_after,
    )


def _timed(work: Callable[[float], Value], deadline: RequestDeadline) -> Done[Value]:
    began, left = time.perf_counter(), deadline.left
    if left <= 0:
        raise DeadlinePassed
    return Done(work(left), began - deadline.arrived)
