"""The solvers' own processes, kept for the next request and never left behind."""

import contextlib
import os
import threading
from collections.abc import Iterator

from ilpinfer.solvers.process import Worker

_lock = threading.Lock()
_idle: dict[str, list[Worker]] = {}


@contextlib.contextmanager
def borrow_worker(name: str, module: str) -> Iterator[Worker]:
    """A worker for one request; it is killed when anything at all goes wrong."""
    worker = _idle_worker(name, module)
    try:
        if not hasattr(worker, "version"):
            worker.start()
        yield worker
    except BaseException:
        worker.end()
        raise
    if worker.alive:
        with _lock:
            _idle.setdefault(name, []).append(worker)
    else:
        worker.end()


def _idle_worker(name: str, module: str) -> Worker:
    while True:
        with _lock:
            idle = _idle.get(name)
            worker = idle.pop() if idle else None
        if worker is None:
            return Worker(name, module)
        if worker.alive:
            return worker
        worker.end()


def _forget() -> None:
    """In a forked child: the processes are the parent's."""
    global _lock
    _idle.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
