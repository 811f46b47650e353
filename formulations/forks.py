"""Locks and collections that are reset in a forked child, since no thread exists there that could release a lock."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


Collection = TypeVar("Collection", set[Any], list[Any], dict[Any, Any])


def after_forks(work: Callable[[], object]) -> None:
    """Call a function in each forked child, before anything else."""
    if hasattr(os, "register_at_fork"):  # some systems cannot fork
        os.register_at_fork(after_in_child=work)


def fork_safe(lock: Any) -> Any:
    """A lock of `threading` that is replaced in a forked child. Its owner must keep the guarded data consistent after every statement."""
    _locks.add(lock)
    return lock


def emptied_by_forks(collection: Collection) -> Collection:
    """A collection that is emptied in a forked child, since its content belongs to the parent."""
    after_forks(collection.clear)
    return collection


def _cached_properties() -> Iterator[Any]:
    """The cached properties of both packages; before Python 3.12, each has a lock."""
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] in ("formulations", "ilpinfer")]
    for owner in (value for module in modules for value in list(vars(module).values())):
        if isinstance(owner, type):
            yield from (value for value in vars(owner).values() if isinstance(value, cached_property))


def _renew() -> None:
    for lock in list(_locks):
        lock._at_fork_reinit()
    if sys.version_info < (3, 12):
        for each in _cached_properties():
            each.lock = RLock()


after_forks(_renew)
