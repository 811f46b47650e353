"""Threads that decode, and the queue before them: what cannot be done in time is refused at once.

All methods but the work itself run in the thread of the event loop, so that nothing needs a lock.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ilpinfer.serving.decoding import Late
from ilpinfer.serving.due import Due
from ilpinfer.serving.estimate import Estimate
from ilpinfer.serving.refusal import UNAVAILABLE, Refusal

Value = TypeVar("Value")


@dataclass(frozen=True)
class Done(Generic[Value]):
    """The value of a job, and the seconds that it waited and took."""

    value: Value
    waited: float
    seconds: float


class WorkQueue:
    """A bounded queue of jobs with deadlines.

    Parameters
    ----------
    workers : threads
    longest : jobs that may wait
    """

    def __init__(self, workers: int, longest: int) -> None:
        if type(workers) is not int or workers < 1:
            raise ValueError(f"workers is {workers!r}; expected a whole number from 1")
        self.workers, self.longest = workers, longest
        self.estimate = Estimate()
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="ilpinfer-decoding")
        self._jobs = self._tokens = 0

    @property
    def waiting(self) -> int:
        """Jobs for which no thread is free."""
        return max(0, self._jobs - self.workers)

    @property
    def running(self) -> int:
        """Jobs that threads work on."""
        return min(self._jobs, self.workers)

    def admit(self, tokens: int, due: Due) -> None:
        """Raise Refusal for work that cannot be done in time, given what is there already.

        While a thread is free, everything is admitted: estimates of hard work may be too high, and only new work corrects them.
        """
        if due.left <= 0:
            raise late(due, "the request was read")
        if self._jobs < self.workers:
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
        if needed > due.left:
            raise Refusal(
                UNAVAILABLE,
                f"about {needed:.3g} s are needed with the {self._jobs} requests ahead, and {due.left:.3g} s are left of the "
                f"deadline of {due.seconds:g} s; try again later, or ask for more time",
                "busy",
                max(needed - due.left, 0.0),
            )

    async def run(self, work: Callable[[float], Value], tokens: int, due: Due) -> Done[Value]:
        """What a job returns; Refusal when its deadline passes first, and the job's own errors.

        Parameters
        ----------
        work : called in a thread with the seconds that are left
        tokens : that it has to decode
        due : its deadline
        """
        loop = asyncio.get_running_loop()
        self._jobs += 1
        self._tokens += tokens
        future = self._executor.submit(_timed, work, due)

        def tell(done: Future[Done[Value]]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop may have been closed meanwhile
                loop.call_soon_threadsafe(self._leave, done, tokens)

        future.add_done_callback(tell)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), max(due.left, 0.0))
        except Late:
            raise late(due, "it was decoded", self.estimate.of(self._tokens)) from None
        except TimeoutError:
            raise late(due, "it was decoded", self.estimate.of(self._tokens)) from None

    def close(self) -> None:
        """Take no more jobs, and forget those that wait."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _leave(self, future: Future[Done[Any]], tokens: int) -> None:
        """Count a job as done, and learn from the time it took."""
        self._jobs -= 1
        self._tokens -= tokens
        if not future.cancelled() and future.exception() is None:
            self.estimate = self.estimate.after(future.result().seconds, tokens)


def late(due: Due, before: str, retry_after: float = 0.0) -> Refusal:
    """The refusal of a request whose deadline has passed."""
    return Refusal(
        UNAVAILABLE,
        f"the deadline of {due.seconds:g} s passed before {before}; try again later, or ask for more time",
        "late",
        retry_after,
    )


def _timed(work: Callable[[float], Value], due: Due) -> Done[Value]:
    began, left = time.perf_counter(), due.left
    if left <= 0:
        raise Late
    value = work(left)
    return Done(value, began - due.arrived, time.perf_counter() - began)
