"""Descendant processes of a test, identified by a mark in their environment."""

import time
import uuid
from collections.abc import Callable
from pathlib import Path

from support.processes import environment


def marked(folder: Path) -> tuple[dict[str, str], str]:
    """An environment with a mark for `alive`, and with a folder for temporary files; and the mark."""
    mark, temporary = uuid.uuid4().hex, folder / "temporary"
    temporary.mkdir(exist_ok=True)
    return environment(ILPINFER_MARK=mark, TMPDIR=str(temporary)), mark


def alive(mark: str) -> dict[int, str]:
    """Numbers and command lines of the living processes with a mark."""
    result = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "environ").read_bytes() and running(int(entry.name)):
                    command = (entry / "cmdline").read_text("utf-8", "replace")
                    result[int(entry.name)] = command.replace("\0", " ")
            except OSError:
                continue
    return result


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(happened: Callable[[], object], seconds: float = 60) -> None:
    """Return when something has happened, or after so many seconds."""
    give_up = time.monotonic() + seconds
    while not happened() and time.monotonic() < give_up:
        time.sleep(0.01)
