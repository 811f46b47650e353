"""Many sequences, a chunk at a time; kernels may run in threads."""

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
LARGEST, GROWTH = 128, 4
"""Sequences of a chunk: the first has one, and each has so many times as many as the one before, up to the largest."""


def decode_chunks(
    items: Iterable[Item],
    answer: Callable[[Sequence[Item]], Steps[list[Answer]]],
    finish: Callable[[Item, Answer | None], Decoded],
    threads: int = 1,
) -> Iterator[Decoded]:
    """Decode items in chunks; results come in order.

    Parameters
    ----------
    items : iterable of Item
        An iterable that is read one chunk ahead, or two with threads; its error is raised after the results
        before it.
    answer : callable
        Yields the work of a chunk and returns the answers; an error counts as no answers.
    finish : callable
        The result for an item and its answer.
    threads : int, default 1
        Number of threads that share the work; the caller's thread is one of them, and everything else happens in it.
    """
    source = Source(items)
    if threads == 1:
        while chunk := source.take():
            yield from map(finish, chunk, _Begun(chunk, answer(chunk)).answers())
    else:
        with thread_pool(threads - 1) as pool:
            yield from _shared(source, answer, finish, pool, threads - 1)
    if source.error is not None:
        raise source.error


def _shared(
    source: "Source[Item]",
    answer: Callable[[Sequence[Item]], Steps[list[Answer]]],
    finish: Callable[[Item, Answer | None], Decoded],
    pool: ThreadPoolExecutor,
    threads: int,
) -> Iterator[Decoded]:
    """As `decode_chunks`: others begin with a chunk while this thread is busy with answers, and then it joins them."""
    waiting: deque[_Begun[Item, Answer]] = deque()
    try:
        while True:
            while len(waiting) < 2 and (chunk := source.take()):
                waiting.append(_Begun(chunk, answer(chunk), pool, threads))
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
        Items at least one.
    steps : Steps[list[Answer]]
        Steps to their answers.
    pool, threads : ThreadPoolExecutor or int, optional
        To share the work with, and how many.
    """

    def __init__(
        self,
        items: list[Item],
        steps: Steps[list[Answer]],
        pool: ThreadPoolExecutor | None = None,
        threads: int = 0,
    ) -> None:
        self.items, self._steps, self._pool, self._threads = items, steps, pool, threads
        self._answers: Sequence[Answer | None] = [None] * len(items)
        self._others: list[Future[None]] = []
        self.work: Work | None = None
        self._advance()

    def answers(self, following: Work | None = None) -> Sequence[Answer | None]:
        """To all items; this thread shares in the work, and others may begin with the following work before it returns."""
        while self.work is not None:
            try:
                self.work()
                if self._pool is not None and not self.work.wait(following, self._threads):
                    for other in self._others:
                        other.result()
            except Exception:
                break
            self._advance()
        return self._answers

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
        except Exception:
            return
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
