"""Atomic writing of output files, by one run at a time."""

import contextlib
import hashlib
import io
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from formulations.files import new_file, packed, unfinished
from formulations.forks import emptied_by_forks
from ilpinfer.system.locks import LockError, hold_lock
from ilpinfer.system.output_paths import (
    OutputError,
    OutputPath,
    check_direct,
    check_folder,
    descriptor,
    output_path,
    write_errors,
)

_held_locks: dict[Path, int] = emptied_by_forks({})  # locks that this process holds, and the thread of each


def write_atomically(path: str | Path, text: str | bytes, inputs: Iterable[str | Path | None] = ()) -> None:
    """Write text or bytes by `path.part`, compressed for `.gz`, or straight to a device or pipe; OutputError where it cannot."""
    place = output_path(path, inputs)
    with whole_file(place) as stream:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
        write_all(stream, packed(place.name, data))


def write_files(
    folder: str | Path, contents: Mapping[str, str | bytes], inputs: Iterable[str | Path | None] = ()
) -> list[Path]:
    """Write contents by their names into a folder; none of them where one would be written over an input."""
    check_folder(folder)
    inputs, places = list(inputs), [Path(folder, name) for name in contents]
    for place in places:
        output_path(place, inputs)
    for place, content in zip(places, contents.values(), strict=True):
        write_atomically(place, content, inputs)
    return places


@contextlib.contextmanager
def whole_file(place: OutputPath) -> Iterator[io.FileIO | BinaryIO]:
    """A stream to a reserved path, where the content appears when it is complete; OutputError as for `write_atomically`."""
    with (
        write_errors(place.name),
        reserve(place),
        open_direct(place) if place.direct else new_file(place.target, place.part) as stream,
    ):
        yield stream


@contextlib.contextmanager
def reserve(place: OutputPath) -> Iterator[None]:
    """Reserve a path for this run until its result is written; OutputError where it cannot be written to, or is taken."""
    if place.direct or _held_locks.get(place.lock) == threading.get_ident():
        check_direct(place)
        yield
        return
    with lock_output(place) as left:
        if os.path.lexists(place.part):
            if not left:
                what = "exists, but this run did not write it"
                raise OutputError(f"{place.part}: {what}; move it, or choose another output")
            with write_errors(place.name):
                place.part.unlink()
        yield


@contextlib.contextmanager
def lock_output(place: OutputPath) -> Iterator[bool]:
    """Lock a path, and create its folder if necessary; whether a killed run had left the lock."""
    with contextlib.ExitStack() as stack:
        with write_errors(place.name):
            place.target.parent.mkdir(parents=True, exist_ok=True)
            try:
                left = stack.enter_context(hold_lock(place.lock))
            except LockError as reason:
                raise OutputError(f"{place.name}: {reason}, or choose another output") from None
        _held_locks[place.lock] = threading.get_ident()
        stack.callback(_held_locks.pop, place.lock)
        yield left


def open_direct(place: OutputPath) -> io.FileIO:
    number, flags = descriptor(place.name), os.O_WRONLY | getattr(os, "O_NOCTTY", 0)
    return io.FileIO(os.open(place.target, flags) if number is None else os.dup(number), "w")


def abandon() -> None:
    """Remove the locks and the incomplete files of this process, which ends at once."""
    for path in [*unfinished, *_held_locks]:
        with contextlib.suppress(OSError):
            path.unlink()


def write_all(stream: io.FileIO | BinaryIO, data: bytes) -> None:
    """Write every byte; a pipe may take few at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) or 0 :]


def digest(*values: Any) -> str:
    """A short fingerprint of texts and plain values."""
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]
