"""Where output goes, and writing it whole or not at all."""

import contextlib
import hashlib
import io
import os
import re
import stat
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ilpinfer.locks import Locked, locked

_reserved: dict[Path, int] = {}
"""Locks that this process holds, and the thread of each."""
_worthless: set[Path] = set()
"""Parts in which there is nothing yet that is worth keeping."""


class OutputError(ValueError):
    """Output that cannot be written; the message names the place and the way out."""


@dataclass(frozen=True)
class Place:
    """Where output goes.

    Parameters
    ----------
    name : as it was given
    target : the file behind symbolic links, which are left as they are
    direct : written to as it stands, since it is a device, a named pipe or an open descriptor
    """

    name: str
    target: Path
    direct: bool = False

    @property
    def part(self) -> Path:
        """Where the file grows until it is whole."""
        return self.target.with_name(self.target.name + ".part")

    @property
    def lock(self) -> Path:
        """What one run holds at a time."""
        return self.target.with_name(self.target.name + ".lock")


def place_of(path: str | Path, inputs: Iterable[str | Path | None] = ()) -> Place:
    """Where a command's output goes; nothing is written.

    Parameters
    ----------
    path : as the user named it
    inputs : files that must not be overwritten; `-` is standard input, and what does not exist is left out

    Raises
    ------
    OutputError
        for a folder, and for a file that is one of the inputs.
    """
    name = str(path)
    with clear(name):
        target = Path(os.path.realpath(name))
        direct = _descriptor(name) is not None or _is_special(target)
        if target.is_dir():
            raise OutputError(f"{name}: is a folder; name a file")
        place = Place(name, target, direct)
        for given in inputs:
            if given is not None and any(_same(mine, str(given)) for mine in (name, place.part)):
                what = "standard input" if str(given) == "-" else str(given)
                raise OutputError(f"{name}: is read as well ({what}); choose another output")
        return place


def write_whole(path: str | Path, text: str, inputs: Iterable[str | Path | None] = ()) -> None:
    """Write text by way of `path.part`, which takes the place of `path` at the end.

    Devices, named pipes and open descriptors are written to as they stand. What UTF-8 cannot hold, such as a file name
    in another encoding, is written as an escape.

    Raises
    ------
    OutputError
        for a place that cannot be written to, or is taken: by one of the inputs, another run, or another's `path.part`.
    """
    place, data = place_of(path, inputs), text.encode("utf-8", "backslashreplace")
    with clear(place.name), reserved(place):
        if place.direct:
            with opened(place) as stream:
                write_all(stream, data)
            return
        try:
            with fresh(place) as stream:
                write_all(stream, data)
                os.fsync(stream.fileno())
            put(place)
        finally:
            place.part.unlink(missing_ok=True)
            worth(place)


@contextlib.contextmanager
def reserved(place: Place) -> Iterator[None]:
    """Keep a place for this run, from before long work until its result is written.

    Raises
    ------
    OutputError
        where it cannot be written to, or is taken.
    """
    if place.direct or _reserved.get(place.lock) == threading.get_ident():
        check_direct(place)
        yield
        return
    with lock(place) as left:
        if os.path.lexists(place.part):
            if not left:
                raise OutputError(
                    f"{place.part}: is in the way, and this run did not write it; move it, or choose another output"
                )
            with clear(place.name):
                place.part.unlink()
        yield


@contextlib.contextmanager
def lock(place: Place) -> Iterator[bool]:
    """Hold the lock of a place, its folder made where need be; whether a killed run left the lock behind."""
    with contextlib.ExitStack() as stack:
        with clear(place.name):
            place.target.parent.mkdir(parents=True, exist_ok=True)
            try:
                left = stack.enter_context(locked(place.lock))
            except Locked as reason:
                raise OutputError(f"{place.name}: {reason}, or choose another output") from None
        _reserved[place.lock] = threading.get_ident()
        stack.callback(_reserved.pop, place.lock)
        yield left


def check_direct(place: Place) -> None:
    """Raise OutputError for a device or pipe that may not be written to; it is not opened."""
    if place.direct and _descriptor(place.name) is None and not os.access(place.target, os.W_OK):
        raise OutputError(f"{place.name}: cannot be written: Permission denied; choose another place")


def opened(place: Place) -> io.FileIO:
    """A device, named pipe or descriptor, to be written to as it stands."""
    number = _descriptor(place.name)
    descriptor = os.open(place.target, os.O_WRONLY | os.O_NOCTTY) if number is None else os.dup(number)
    return io.FileIO(descriptor, "w")


def fresh(place: Place) -> io.FileIO:
    """A new part, with the permissions of the file that it will replace; FileExistsError where there is one."""
    stream = io.FileIO(os.open(place.part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), "r+")
    _worthless.add(place.part)
    with contextlib.suppress(OSError):
        os.fchmod(stream.fileno(), stat.S_IMODE(place.target.stat().st_mode))
    return stream


def put(place: Place) -> None:
    """Let the part, which is on the disk, take its place for good."""
    os.replace(place.part, place.target)
    with contextlib.suppress(OSError):  # some file systems cannot do that with a folder
        folder = os.open(place.target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def worth(place: Place) -> None:
    """The part is gone, or holds what is worth keeping."""
    _worthless.discard(place.part)


def abandon() -> None:
    """Remove what a process leaves behind that ends at once: its locks, and parts that are worth nothing."""
    for path in [*_worthless, *_reserved]:
        with contextlib.suppress(OSError):
            path.unlink()


def write_all(stream: io.FileIO, data: bytes) -> None:
    """Write every byte; a pipe may take few at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) or 0 :]


@contextlib.contextmanager
def clear(name: str | Path) -> Iterator[None]:
    """Name the output where the system refuses it; a reader that has gone away is the caller's to see."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"{name}: cannot be written: {error.strerror or error}; choose another place"
        ) from None


def digest(*parts: Any) -> str:
    """A short fingerprint of what a run is made of: text and plain values."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _forget() -> None:
    """In a forked child: locks and parts are the parent's."""
    _reserved.clear()
    _worthless.clear()


os.register_at_fork(after_in_child=_forget)


def _is_special(target: Path) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _descriptor(name: str) -> int | None:
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


def _same(output: str | Path, given: str) -> bool:
    """Whether an output is the file that is read."""
    try:
        one = os.stat(output)
        return stat.S_ISREG(one.st_mode) and os.path.samestat(one, os.stat(0 if given == "-" else given))
    except (OSError, ValueError):
        return False
