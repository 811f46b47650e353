"""Lock files for output. A lock is released when its process ends for any reason."""

import contextlib
import errno
import fcntl
import os
import re
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path

MARK = "ilpinfer: "
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""Error numbers of file systems without locks."""


class LockError(Exception):
    """Error if another run has the lock, or another file has its name; the message names the case."""


class LockNotice(UserWarning):
    """A file system has no locks."""


@contextlib.contextmanager
def hold_lock(lock: Path) -> Iterator[bool]:
    """Hold a lock file that names this process; whether a killed run had left it. LockError where another run holds it."""
    descriptor = _open(lock)
    try:
        words = os.pread(descriptor, 400, 0).decode(errors="replace")
        if words and not words.startswith(MARK):
            raise LockError(f"{lock} is in the way and no lock of ilpinfer; move it")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{MARK}pid {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        try:
            yield bool(words)
        finally:
            if _same(descriptor, lock):
                lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _open(lock: Path) -> int:
    """The descriptor of the lock file, locked; a run that ends removes the file, so that it may have to be opened again."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
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
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LockError(f"{_owner(descriptor)} is writing it; wait for its end") from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        _check_alive(descriptor, lock)


def _check_alive(descriptor: int, lock: Path) -> None:
    """Check without locks of the file system that the process named in the file has ended, as far as possible."""
    text = os.pread(descriptor, 400, 0).decode(errors="replace")
    result = re.fullmatch(rf"{MARK}pid (\d+) on (.*)\n", text)
    if result is None:
        warnings.warn(
            f"{lock.parent}: this file system has no locks; let no second run write {lock.stem}",
            LockNotice,
            stacklevel=2,
        )
        return
    process, host = int(result[1]), result[2]
    if host != socket.gethostname():
        raise LockError(f"{_owner(descriptor)} is or was writing it; if that has ended, remove {lock}")
    if is_alive(process):
        raise LockError(f"{_owner(descriptor)} is writing it; wait for its end")


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _owner(descriptor: int) -> str:
    text = os.pread(descriptor, 400, 0).decode(errors="replace")
    return text.removeprefix(MARK).strip() if text.startswith(MARK) else "another run"


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
