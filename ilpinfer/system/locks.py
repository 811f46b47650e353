"""Lock files for output. A lock is released when its process ends for any reason."""

import contextlib
import errno
import os
import platform
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

MARK = "ilpinfer: "
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""Error numbers of systems and of file systems without locks."""
WINDOWS = os.name == "nt"
FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
"""Flags of lock files on this system."""


class LockError(Exception):
    """Error if another run has the lock, or another file has its name; the message names the case."""


class LockNotice(UserWarning):
    """A file system has no locks."""


@contextlib.contextmanager
def hold_lock(lock: Path) -> Iterator[bool]:
    """Hold a lock file that names this process; whether a killed run had left it. LockError where another run holds it."""
    descriptor, held = _open(lock), False
    try:
        words = _text(descriptor)
        if words and not words.startswith(MARK):
            raise LockError(f"{lock} exists, but is not a lock of ilpinfer; move it")
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{MARK}pid {os.getpid()} on {platform.node()}\n".encode())
        held = True
        yield bool(words)
    finally:
        _close(descriptor, lock, held and _same(descriptor, lock))


def _close(descriptor: int, lock: Path, remove: bool) -> None:
    """Close a lock file, and remove it before that; after it on Windows, where an open file cannot be removed."""
    try:
        if remove and not WINDOWS:
            lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
    if remove and WINDOWS:
        with contextlib.suppress(PermissionError):  # another run has opened it, and will remove it
            lock.unlink(missing_ok=True)


def _open(lock: Path) -> int:
    """The descriptor of the lock file, locked; a run that ends removes the file, so that it may have to be opened again."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | FLAGS, 0o644)
        try:
            _hold(descriptor, lock)
            if _same(descriptor, lock):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _hold(descriptor: int, lock: Path) -> None:
    try:
        free = _lock_descriptor()(descriptor, blocking=False)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        _check_alive(descriptor, lock)
        return
    if not free:
        raise LockError(f"{_owner(descriptor)} is writing it; wait until it ends")


@cache
def _lock_descriptor() -> Callable[..., bool]:
    """The function of filelock, imported late; `_check_alive` tells of each file what its import tells on systems without locks."""
    with warnings.catch_warnings(action="ignore"):
        from filelock import lock_descriptor
    return lock_descriptor


def _check_alive(descriptor: int, lock: Path) -> None:
    """Check without locks of the file system that the process named in the file has ended, as far as possible."""
    result = re.fullmatch(rf"{MARK}pid (\d+) on (.*)\n", _text(descriptor))
    if result is None:
        warnings.warn(
            f"{lock.parent}: this file system has no locks; make sure that no other run writes {lock.stem}",
            LockNotice,
            stacklevel=2,
        )
        return
    process, host = int(result[1]), result[2]
    if host != platform.node() or WINDOWS:  # where a process cannot be asked
        raise LockError(f"{_owner(descriptor)} is or was writing it; if that has ended, remove {lock}")
    if is_alive(process):
        raise LockError(f"{_owner(descriptor)} is writing it; wait until it ends")


def is_alive(process: int) -> bool:
    """Whether a process runs, as far as that is known; `os.kill` would end it on Windows."""
    if WINDOWS:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _owner(descriptor: int) -> str:
    text, mark = _text(descriptor, 1), MARK[1:]  # Windows locks the first byte against reading
    return text.removeprefix(mark).strip() if text.startswith(mark) else "another run"


def _text(descriptor: int, first: int = 0) -> str:
    os.lseek(descriptor, first, os.SEEK_SET)
    return os.read(descriptor, 400).decode(errors="replace")


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
