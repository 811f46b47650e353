"""Pools of idle threads, since starting a thread takes as long as several sequences."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from formulations.forks import emptied_by_forks

MOST_IDLE = 4  # idle pools that wait for the next call, whatever their sizes
_idle: list[tuple[int, ThreadPoolExecutor]] = emptied_by_forks([])
"""Number of threads and pool, the latest last."""


@contextmanager
def thread_pool(number: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of threads for one caller; it is reused afterwards."""
    pool = _taken(number) or ThreadPoolExecutor(number, "ilpinfer")
    try:
        yield pool
    finally:
        _idle.append((number, pool))
        if len(_idle) > MOST_IDLE and (oldest := _taken()):
            oldest.shutdown(wait=False)


def _taken(number: int | None = None) -> ThreadPoolExecutor | None:
    """An idle pool of this size, or of any; None where there is none, or another thread takes it at this moment."""
    for entry in tuple(_idle):
        if number in (None, entry[0]):
            try:
                _idle.remove(entry)
            except ValueError:
                continue
            return entry[1]
    return None
