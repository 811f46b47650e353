"""Many sequences a chunk at a time, whose kernels run in threads if wanted."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
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
            yield from map(finish, chunk, _tried(lambda: finished(answer(chunk)), chunk))
    else:
        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[tuple[list[Item], Callable[[], list[Answer | None]]]] = deque()
            while True:
                while len(waiting) < AHEAD * threads and (chunk := source.take()):
                    waiting.append((chunk, _begun(answer(chunk), pool)))
                if not waiting:
                    break
                chunk, rest = waiting.popleft()
                yield from map(finish, chunk, _tried(rest, chunk))
    if source.error is not None:
        raise source.error


def _begun(steps: Steps[list[Answer | None]], pool: ThreadPoolExecutor) -> Callable[[], list[Answer | None]]:
    """What is left of the steps, whose first call runs in a thread."""
    try:
        future = pool.submit(next(steps))
    except StopIteration as end:
        answers: list[Answer | None] = end.value
        return lambda: answers
    except Exception as error:
        return partial(_failed, error)
    return partial(_rest, steps, future)


def _rest(steps: Steps[list[Answer | None]], future: Future[object]) -> list[Answer | None]:
    future.result()
    return finished(steps)


def _failed(error: Exception) -> list[Answer | None]:
    raise error


def _tried(answers: Callable[[], list[Answer | None]], chunk: list[Item]) -> list[Answer | None]:
    try:
        return answers()
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
