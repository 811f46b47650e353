"""Many sequences a few at a time, in one call of a kernel each, and in threads if wanted."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
LARGEST = 128
"""Sequences of a chunk; the first has one, and each has twice as many as the one before until then."""


def answered(
    items: Iterable[Item],
    answer: Callable[[list[Item]], list[Answer | None]],
    finish: Callable[[Item, Answer | None], Answer],
    threads: int = 1,
) -> Iterator[Answer]:
    """Every item finished, in order.

    Parameters
    ----------
    items : taken up to a chunk ahead for each thread; an error in taking one is raised after those before it are done
    answer : of a chunk, None where there is none; an error stands for no answer to any of them
    finish : an item with its answer, in the thread of the caller
    threads : that answer
    """
    source = _Source(items)
    if threads == 1:
        while chunk := source.take():
            yield from map(finish, chunk, _tried(answer, chunk))
    else:
        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[tuple[list[Item], Future[list[Answer | None]]]] = deque()
            while True:
                while len(waiting) < 2 * threads and (chunk := source.take()):
                    waiting.append((chunk, pool.submit(_tried, answer, chunk)))
                if not waiting:
                    break
                chunk, future = waiting.popleft()
                yield from map(finish, chunk, future.result())
    if source.error is not None:
        raise source.error


def _tried(answer: Callable[[list[Item]], list[Answer | None]], chunk: list[Item]) -> list[Answer | None]:
    try:
        return answer(chunk)
    except Exception:
        return [None] * len(chunk)


class _Source(Generic[Item]):
    """Takes items in chunks that grow, until there are none or one cannot be taken."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.items, self.size = iter(items), 1
        self.error: BaseException | None = None

    def take(self) -> list[Item]:
        chunk: list[Item] = []
        while self.error is None and len(chunk) < self.size:
            try:
                chunk.append(next(self.items))
            except StopIteration:
                break
            except Exception as error:
                self.error = error
        self.size = min(2 * self.size, LARGEST)
        return chunk
