"""The solvers' own processes, kept for the next request and never left behind."""

import atexit
import contextlib
import os
import threading
from collections.abc import Iterator

from ilpinfer.solvers.process import Worker

_lock = threading.Lock()
_idle: dict[str, list[Worker]] = {}
_all: set[Worker] = set()


@contextlib.contextmanager
def borrowed(name: str) -> Iterator[Worker]:
    """A worker for one request; it is killed when anything at all goes wrong."""
    worker = _taken(name)
    try:
        if not hasattr(worker, "version"):
            worker.start()
        yield worker
    except BaseException:
        _drop(worker)
        raise
    if worker.alive:
        with _lock:
            _idle.setdefault(name, []).append(worker)
    else:
        _drop(worker)


def _taken(name: str) -> Worker:
    while True:
        with _lock:
            idle = _idle.get(name)
            worker = idle.pop() if idle else None
        if worker is None:
            worker = Worker(name)
            _all.add(worker)
            return worker
        if worker.alive:
            return worker
        _drop(worker)


def _drop(worker: Worker) -> None:
    _all.discard(worker)
    worker.end()


def _end_all() -> None:
    for worker in list(_all):
        _drop(worker)


def _forget() -> None:
    """In a forked child: the processes are the parent's, only the copied descriptors are ours to close."""
    global _lock
    for worker in _all:
        worker.process.returncode = 0
        worker.close()
    _all.clear()
    _idle.clear()
    _lock = threading.Lock()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_forget)
