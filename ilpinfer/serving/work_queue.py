"""Threads that decode, and work that waits for them, in the order of its arrival.

All methods run in the thread of the event loop, only the work runs in other threads; so no locks are needed. The loop gives each work
to a thread itself, after it has read the requests that have arrived.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from formulations.errors import InferenceError
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline

Value = TypeVar("Value")
PATIENCE = 0.5
"""Fraction of the time of a request in which its work has to begin."""


class Busy(InferenceError):
    """Work that is not done in time; it may succeed later."""


def late(deadline: Deadline) -> Busy:
    return Busy(
        f"the deadline of {deadline.limit:g} s passed before the sequence was decoded; try again later, or ask for more time"
    )


class WorkQueue:
    """At most `longest` works that wait for `workers` threads."""

    def __init__(self, workers: int, longest: int, tell_waited: Callable[[float], None]) -> None:
        self.waiting = self.running = 0
        self._longest, self._tell_waited = longest, tell_waited
        self._threads = ThreadPoolExecutor(workers, "ilpinfer-decoding")
        self._free = asyncio.Semaphore(workers)

    async def run(self, work: Callable[[], Value], deadline: Deadline) -> Value:
        """The result of work in a thread; Busy if it cannot be there before its deadline."""
        if self.waiting >= self._longest:
            raise Busy(f"{self.waiting} requests are waiting, which is the limit; try again later")
        self.waiting += 1
        try:
            async with asyncio.timeout(PATIENCE * deadline.limit - deadline.elapsed):
                await self._free.acquire()
        except TimeoutError:
            message = f"no thread was free within half of the deadline of {deadline.limit:g} s"
            raise Busy(f"{message}; try again later, or ask for more time") from None
        finally:
            self.waiting -= 1
        self.running += 1
        self._tell_waited(deadline.elapsed)
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(self._leave)
        await asyncio.wait({future}, timeout=deadline.remaining)
        if not future.done():
            raise late(deadline)
        try:
            return future.result()
        except OutOfTime:
            raise late(deadline) from None

    def _leave(self, done: "asyncio.Future[Any]") -> None:
        self.running -= 1
        self._free.release()
        if not done.cancelled():
            done.exception()  # which a request that did not wait for it does not read
