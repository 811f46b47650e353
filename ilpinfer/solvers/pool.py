"""A pool of solver processes, which are reused and always ended."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator

from formulations.forks import emptied_by_forks, fork_safe
from ilpinfer.solvers.process import Worker

_lock = fork_safe(threading.Lock())
_idle: dict[str, list[Worker]] = emptied_by_forks({})
MOST_IDLE = max(4, os.cpu_count() or 1)
"""Idle processes of each solver that wait for the next request."""
_loaded: set[str] = emptied_by_forks(set())
"""Solvers that this process has loaded once."""


@contextlib.contextmanager
def borrow_worker(name: str, module: str, deadline: float) -> Iterator[tuple[Worker | None, float]]:
    """A worker for one request, None where none is loaded at the deadline, which the seconds of a first load postpone."""
    began = time.monotonic()
    with _lock:
        first = name not in _loaded
    worker = _idle_worker(name, module)
    try:
        loaded = worker.loaded(float("inf") if first else deadline)
        if first:
            with _lock:
                _loaded.add(name)
        yield (worker if loaded else None), (time.monotonic() - began if first else 0.0)
    except BaseException:
        worker.end()
        raise
    if not worker.alive:
        worker.end()
        worker = Worker(name, module)
    with _lock:
        idle = _idle.setdefault(name, [])
        kept = len(idle) < MOST_IDLE
        if kept:
            idle.append(worker)
    if not kept:
        worker.end()


def _idle_worker(name: str, module: str) -> Worker:
    """An idle worker, preferably a loaded one; a new worker if none is idle."""
    while True:
        with _lock:
            idle = _idle.get(name)
            if not idle:
                return Worker(name, module)
            worker = next((worker for worker in idle if worker.version), idle[0])
            idle.remove(worker)
        if worker.alive:
            return worker
        worker.end()
