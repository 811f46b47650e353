"""Temporary folders. Their names contain their process, so that a later run removes the folders of a killed one."""

import contextlib
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zlib import crc32

from formulations.forks import emptied_by_forks
from ilpinfer.system.locks import is_alive

PREFIX = "ilpinfer"
TRIES, PAUSE = 20, 0.02
"""Attempts to remove a folder, and seconds between them; processes that were just killed may write until they end."""
_mine: set[str] = emptied_by_forks(set())


def create() -> str:
    remove_stale()
    path = tempfile.mkdtemp(prefix=f"{PREFIX}-{_node()}-{os.getpid()}-{_start(os.getpid())}-")
    _mine.add(path)
    return path


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    path = create()
    try:
        yield path
    finally:
        remove(path)


def remove(path: str) -> None:
    """Remove a folder with all that is in it, even while a process that was just killed ends."""
    _mine.discard(path)
    for _ in range(TRIES):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.exists(path):
            return
        time.sleep(PAUSE)


def remove_all() -> None:
    for path in list(_mine):
        remove(path)


@cache
def remove_stale() -> None:
    """Remove temporary folders of processes that have ended, once in a process."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(f"{PREFIX}-{_node()}-") and _is_stale(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_stale(entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a folder of ours whose process has ended, or whose number belongs to a later process."""
    try:
        _, _, process, start, _ = entry.name.split("-")
        ours = entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == _user()
        return ours and not (is_alive(int(process)) and _start(int(process)) == start)
    except (OSError, ValueError):
        return False


def _user() -> int:
    """The number of the user, 0 on systems where files have no owner's number."""
    return os.getuid() if hasattr(os, "getuid") else 0


def _start(process: int) -> str:
    """When a process began, in the clock ticks of this machine; "0" where that cannot be known."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "0"


@cache
def _node() -> str:
    """A short name of the machine, its last start, and the container: process numbers are unique within these."""
    values = [platform.node()]
    with contextlib.suppress(OSError):
        values.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        values.append(os.readlink("/proc/self/ns/pid"))
    return f"{crc32(' '.join(values).encode()):08x}"
