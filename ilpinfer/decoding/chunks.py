"""Many sequences, a chunk at a time; kernels may run in threads."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Generic, TypeVar

from ilpinfer.kernels.work import Steps, Work
from ilpinfer.system.threads import thread_pool

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Decoded = TypeVar("Decoded")
logger = logging.getLogger("ilpinfer")
unexplained = 0
"""Number of errors of chunks whose sequences could all be decoded alone."""
LARGEST, GROWTH = 128, 4
"""Sequences of a chunk: the first has one, and each has so many times as many as the one before, up to the largest."""


def decode_chunks(
    items: Iterable[Item],
    answer: Callable[[Sequence[Item]], Steps[list[Answer]]],
    finish: Callable[[Item, Answer | Exception | None], Decoded],
    threads: int = 1,
) -> Iterator[Decoded]:
    """Decode items in chunks; results come in order.

    Parameters
    ----------
    items : iterable of Item
        An iterable that is read one chunk ahead, or two with threads; its error is raised after the results
        before it.
    answer : callable
        Yields the work of a chunk and returns the answers. After an error, each item is answered alone.
    finish : callable
        The result for an item and its answer, or the error of the item alone.
    threads : int, default 1
        Number of threads that share the work; the caller's thread is one of them, and everything else happens in it.
    """
    source = Source(items)
    if threads == 1:
        while chunk := source.take():
            yield from map(finish, chunk, _Begun(chunk, answer).answers())
    else:
        with thread_pool(threads - 1) as pool:
            yield from _shared(source, answer, finish, pool, threads - 1)
    if source.error is not None:
        raise source.error


def _shared(
    source: "Source[Item]",
    answer: Callable[[Sequence[Item]], Steps[list[Answer]]],
    finish: Callable[[Item, Answer | Exception | None], Decoded],
    pool: ThreadPoolExecutor,
    threads: int,
) -> Iterator[Decoded]:
    """As `decode_chunks`: others begin with a chunk while this thread is busy with answers, and then it joins them."""
    waiting: deque[_Begun[Item, Answer]] = deque()
    try:
        while True:
            while len(waiting) < 2 and (chunk := source.take()):
                waiting.append(_Begun(chunk, answer, pool, threads))
            if not waiting:
                break
            begun = waiting[0]
            answers = begun.answers(waiting[1].work if len(waiting) > 1 else None)
            waiting.popleft()
            yield from map(finish, begun.items, answers)
    finally:
        for begun in waiting:
            begun.stop()


class _Begun(Generic[Item, Answer]):
    """A chunk that other threads may already be processing.

    Parameters
    ----------
    items : list of Item
        At least one.
    answer : callable
        As of `decode_chunks`.
    pool, threads : ThreadPoolExecutor or int, optional
        To share the work with, and how many.
    """

    def __init__(
        self,
        items: list[Item],
        answer: Callable[[Sequence[Item]], Steps[list[Answer]]],
        pool: ThreadPoolExecutor | None = None,
        threads: int = 0,
    ) -> None:
        self.items, self._answer, self._pool, self._threads = items, answer, pool, threads
        self._steps, self._answers = answer(items), list[Answer]()
        self._others: list[Future[None]] = []
        self._error: Exception | None = None
        self.work: Work | None = None
        self._advance()

    def answers(self, following: Work | None = None) -> Sequence[Answer | Exception]:
        """To all items; this thread shares in the work, and others may begin with the following work before it returns."""
        while self.work is not None:
            try:
                self.work()
                if self._pool is not None and not self.work.wait(following, self._threads):
                    for other in self._others:
                        other.result()
            except Exception as error:
                self._error = error
                break
            self._advance()
        return self._answers if self._error is None else self._alone(self._error)

    def _alone(self, error: Exception) -> Sequence[Answer | Exception]:
        """The answer or the error of each item alone. An error that no item has alone is counted and logged."""
        global unexplained
        if len(self.items) == 1:
            return [error]
        answers = [_Begun([item], self._answer).answers()[0] for item in self.items]
        if not any(isinstance(answer, Exception) for answer in answers):
            unexplained += 1
            text = "%d sequences were decoded one by one, as decoding them together failed (error %d of this kind): %r"
            logger.warning(text, len(answers), unexplained, error)
        return answers

    def stop(self) -> None:
        """Cancel the work."""
        if self.work is not None:
            self.work.stop()

    def _advance(self) -> None:
        """Go on to the next work, or to the answers."""
        self.work, self._others = None, []
        try:
            self.work = next(self._steps)
        except StopIteration as end:
            self._answers = end.value
        except Exception as error:
            self._error = error
        else:
            if self._pool is not None:
                helpers = self.work.helpers(self._threads)
                self._others = [self._pool.submit(self.work) for _ in range(helpers)]


def paused(items: object) -> bool:
    """Whether the next item of an iterator is not yet available, by its attribute `paused`."""
    return bool(getattr(items, "paused", False))


class Source(Generic[Item]):
    """Takes items in chunks that grow, until there are none or one cannot be taken; a chunk ends where the items pause."""

    def __init__(self, items: Iterable[Item], largest: int = LARGEST) -> None:
        self.items, self.size, self._largest = iter(items), 1, largest
        self.error: BaseException | None = None

    def take(self) -> list[Item]:
        chunk: list[Item] = []
        if self.error is None:
            try:
                for item in islice(self.items, self.size):
                    chunk.append(item)
                    if paused(self.items):
                        break
            except Exception as error:
                self.error = error
        self.size = min(GROWTH * self.size, self._largest)
        return chunk
