"""Paths of output: never an input file; symbolic links are followed, devices and pipes written to directly."""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from formulations.errors import InferenceError
from formulations.files import is_packed
from ilpinfer.system.storage import SIGN, local_name, source_name


class OutputError(InferenceError, ValueError):
    """Error of output that cannot be written; the message names the path and a remedy."""


@dataclass(frozen=True)
class OutputPath:
    name: str  # as given
    target: Path  # of symbolic links, which are not changed
    direct: bool = False  # a device, a named pipe or an open descriptor, which is written to directly

    @property
    def part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")

    @property
    def lock(self) -> Path:
        """The lock file, which one run holds at a time."""
        return self.target.with_name(self.target.name + ".lock")


def output_path(path: str | Path, inputs: Iterable[str | Path | None] = ()) -> OutputPath:
    """Where output goes; nothing is written. OutputError for a folder, and for one of the inputs, `-` for standard input."""
    name = str(path)
    if not name:
        raise OutputError("--output is empty; name a file")
    _check_local(name)
    with write_errors(name):
        target = Path(os.path.realpath(name))
        direct = descriptor(name) is not None or _is_special(target)
        if target.is_dir():
            raise OutputError(f"{name}: is a folder; name a file")
        place = OutputPath(name, target, direct)
        for path_read in inputs:
            if path_read is not None and any(_same(mine, str(path_read)) for mine in (name, place.part)):
                what = f"is also an input of this command ({source_name(path_read)})"
                raise OutputError(f"{name}: {what}; choose another output")
        return place


def check_folder(path: str | Path) -> None:
    """Raise OutputError for a folder whose name is that of a compressed file, or an address."""
    _check_local(str(path))
    if is_packed(path) and not Path(path).is_dir():
        what = "is the name of a folder, and files in it are not compressed"
        raise OutputError(f"{path}: {what}; choose a name without .gz")


def check_direct(place: OutputPath) -> None:
    """Raise OutputError for a device or pipe that may not be written to; it is not opened."""
    if place.direct and descriptor(place.name) is None and not os.access(place.target, os.W_OK):
        raise OutputError(f"{place.name}: cannot be written: Permission denied; choose another place")


@contextlib.contextmanager
def write_errors(name: str | Path) -> Iterator[None]:
    """Convert errors of the operating system to OutputError; a closed pipe is left to the caller."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{name}: cannot be written: {reason}; choose another place") from None


def _check_local(name: str) -> None:
    """Raise OutputError for an address, which would become a folder of this machine."""
    if SIGN in name:
        what = "is an address, but this command writes local files only"
        raise OutputError(f"{name}: {what}; name a path, or use reprocess, whose output may be an address")


def _is_special(target: Path) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def descriptor(name: str) -> int | None:
    """The number of the open descriptor that a path such as /dev/stdout leads to."""
    place = Path(name)
    for _ in range(40):
        folder = os.path.realpath(place.parent)
        if folder == "/dev/fd" or re.fullmatch(rf"/proc/{os.getpid()}(/task/\d+)?/fd", folder):
            return int(place.name) if place.name.isdecimal() else None
        if not place.is_symlink():
            return None
        place = Path(folder, os.readlink(place))
    return None


def _same(output: str | Path, path_read: str) -> bool:
    try:
        one, other = os.stat(output), os.stat(0 if path_read == "-" else local_name(path_read))
        return stat.S_ISREG(one.st_mode) and os.path.samestat(one, other)
    except (OSError, ValueError):
        return False
