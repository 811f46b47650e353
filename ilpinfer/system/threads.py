"""Pools of idle threads, since starting a thread takes as long as several sequences."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

MOST_IDLE = 4
"""Idle pools of each size that wait for the next call."""
_idle: dict[int, list[ThreadPoolExecutor]] = {}


@contextmanager
def thread_pool(number: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of so many threads for one caller; it is reused afterwards."""
    idle = _idle.setdefault(number, [])
    try:
        pool = idle.pop()
    except IndexError:
        pool = ThreadPoolExecutor(number, "ilpinfer")
    try:
        yield pool
    finally:
        if len(idle) < MOST_IDLE:
            idle.append(pool)
        else:
            pool.shutdown(wait=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child has none of its parent's threads
