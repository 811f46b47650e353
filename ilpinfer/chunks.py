"""Many sequences a chunk at a time, whose kernels run in threads if wanted."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from ilpinfer.kernels.work import Steps, finished

Item = TypeVar("Item")
Answer = TypeVar("Answer")
LARGEST, LARGEST_OF_THREADS, AHEAD = 128, 1024, 2
"""Sequences of a chunk; the first has one, and each has twice as many as the one before until then. In threads chunks are
larger, as a thread that has done its work waits for the interpreter's lock."""


def answered(
    items: Iterable[Item],
    answer: Callable[[list[Item]], Steps[list[Answer | None]]],
    finish: Callable[[Item, Answer | None], Answer],
    threads: int = 1,
) -> Iterator[Answer]:
    """Every item finished, in order.

    Parameters
    ----------
    items : taken a chunk ahead, or some for each thread; an error in taking one is raised after those before it are done
    answer : of a chunk, None where there is none; an error stands for no answer to any of them
    finish : an item with its answer
    threads : that run the calls which `answer` yields; all else happens in the caller's
    """
    source = _Source(items, LARGEST if threads == 1 else LARGEST_OF_THREADS)
    if threads == 1:
        while chunk := source.take():
            yield from map(finish, chunk, _tried(answer(chunk), chunk))
    else:
        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[tuple[list[Item], Steps[list[Answer | None]], Future[object] | None]] = deque()
            while True:
                while len(waiting) < AHEAD * threads and (chunk := source.take()):
                    steps = answer(chunk)
                    waiting.append((chunk, steps, _begun(steps, pool)))
                if not waiting:
                    break
                chunk, steps, future = waiting.popleft()
                yield from map(finish, chunk, _tried(steps, chunk, future))
    if source.error is not None:
        raise source.error


def _begun(steps: Steps[list[Answer | None]], pool: ThreadPoolExecutor) -> Future[object] | None:
    """The first call in a thread; None where it could not be made, which stands for no answer."""
    try:
        return pool.submit(next(steps))
    except Exception:
        steps.close()
        return None


def _tried(
    steps: Steps[list[Answer | None]], chunk: list[Item], future: Future[object] | None = None
) -> list[Answer | None]:
    try:
        if future is not None:
            future.result()
        return finished(steps)
    except Exception:
        return [None] * len(chunk)


class _Source(Generic[Item]):
    """Takes items in chunks that grow, until there are none or one cannot be taken."""

    def __init__(self, items: Iterable[Item], largest: int) -> None:
        self.items, self.size, self.largest = iter(items), 1, largest
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
        self.size = min(2 * self.size, self.largest)
        return chunk
