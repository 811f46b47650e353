"""Reading of text files that users name, with a limit on their size."""

import os
import stat
from pathlib import Path

from formulations.errors import InferenceError


class Unreadable(InferenceError, ValueError):
    """A file that cannot be read; the message says why, without its name."""


def read_text(path: str | Path, largest: int, instead: str = "") -> str:
    """The text of a UTF-8 file, without a byte order mark, line ends as `\\n`.

    Parameters
    ----------
    path : a regular file, or a link to one
    largest : bytes that it may have
    instead : what to do about a larger one

    Raises
    ------
    FileNotFoundError
        where there is none.
    Unreadable
        for a folder, a device, a pipe, a file that is too large, and a text that is not UTF-8.
    """
    try:
        place = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", "") or str(error)) from None
    try:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise Unreadable("not a regular file")
        size = os.fstat(place).st_size
        with open(place, "rb", closefd=False) as file:
            content = file.read(largest + 1) if size <= largest else b""
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    finally:
        os.close(place)
    size = max(size, len(content))
    if size > largest:
        raise Unreadable(f"{size / 2**20:.1f} MiB, and it may have {largest // 2**20}{instead}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start}: save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
