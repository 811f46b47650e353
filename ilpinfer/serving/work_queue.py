"""Threads that decode, with a queue; requests that cannot be answered in time are refused at once.

All methods run in the thread of the event loop, only the work runs in other threads; so no locks are needed. The event loop gives
each job to a thread itself, after it has read the requests that have arrived. Threads share the interpreter lock with the event loop,
and so delay the reading of requests by at most one job each.
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

from formulations.arguments import whole
from ilpinfer.serving.decoding import DeadlinePassed
from ilpinfer.serving.limits import RequestDeadline
from ilpinfer.serving.refusal import UNAVAILABLE, Refusal

Value = TypeVar("Value")
SAFETY = 0.5
"""Largest fraction of the time left that the estimate for a job may reach. The estimate is an average, and a longer queue would not
increase the number of answers."""
WEIGHT = 0.1
"""Weight of the latest job in the averages."""


@dataclass(frozen=True)
class Estimate:
    """Exponential averages of the seconds and tokens of finished jobs; 0 before the first one is done."""

    seconds: float = 0.0
    tokens: float = 0.0

    def after(self, seconds: float, tokens: int) -> "Estimate":
        """The averages with one more job; the first one counts in full."""
        weight = WEIGHT if self.tokens else 1.0
        return Estimate(
            self.seconds + weight * (seconds - self.seconds), self.tokens + weight * (tokens - self.tokens)
        )

    @property
    def seconds_per_token(self) -> float:
        return self.seconds / self.tokens if self.tokens else 0.0

    def of(self, tokens: int) -> float:
        """Estimated seconds of a job with this number of tokens."""
        return tokens * self.seconds_per_token


@dataclass(frozen=True)
class Done(Generic[Value]):
    """The value of a job, and the seconds that it waited."""

    value: Value
    waited: float


@dataclass(frozen=True, eq=False)
class _Job:
    """A function to call, its number of tokens, its deadline, and the future of its result."""

    work: Callable[[float], Any]
    tokens: int
    deadline: RequestDeadline
    future: asyncio.Future[Done[Any]]


class WorkQueue:
    """A bounded queue of jobs with deadlines, for `workers` threads and at most `longest` waiting jobs."""

    def __init__(self, workers: int, longest: int) -> None:
        self.workers, self.longest = whole(workers, "workers", 1), longest
        self.estimate = Estimate()
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="ilpinfer-decoding")
        self._waiting = deque[_Job]()
        self.running = self._tokens = 0

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def admit(self, tokens: int, deadline: RequestDeadline) -> None:
        """Raise Refusal for work that cannot be done in time after the jobs in the queue.

        While a thread is free, all work is admitted. Estimates may be too high, and only new jobs correct them.
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
                f"{self.waiting} requests are waiting, which is the limit; try again later",
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

    async def run(
        self, work: Callable[[float], Value], tokens: int, deadline: RequestDeadline
    ) -> Done[Value]:
        """The result of `work`, called in a thread with the seconds that are left; Refusal if its deadline passes before."""
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
        """Accept no more jobs, and cancel those that wait."""
        for job in self._waiting:
            job.future.cancel()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _dispatch(self) -> None:
        """Give waiting jobs to free threads."""
        while self._waiting and self.running < self.workers:
            job = self._waiting.popleft()
            self.running += 1
            future = self._executor.submit(_timed, job.work, job.deadline)
            leave = partial(self._leave, job, time.perf_counter())
            future.add_done_callback(partial(_notify_loop, asyncio.get_running_loop(), leave))

    def _leave(self, job: _Job, began: float, done: Future[Done[Any]]) -> None:
        """Finish a job: update the estimate with its time, set its result, and start the next job."""
        self.running -= 1
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


def _notify_loop(
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
