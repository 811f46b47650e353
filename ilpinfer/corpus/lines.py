"""Lines of a text, read lazily; lines that were read ahead are kept."""

import codecs
import contextlib
import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from typing import BinaryIO

from formulations.files import CHUNK_SIZE, UnpackedFile
from ilpinfer.corpus.examples import Rejection

GZIP = b"\x1f\x8b"
"""The first bytes of compressed files."""
LONGEST = 2**28
"""Largest length of a line from a stream, bytes."""

FEW = 1000
"""Number of non-empty lines that decide the format of a file."""
Line = tuple[int, str | Rejection]
"""The number of a line from 1, and its text, or a rejection if it is not a text."""


class Lines:
    """Lines of a binary stream, in UTF-8."""

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        longest: int | None = LONGEST,
        *,
        start: tuple[int, int] | None = None,
        keep: bool = False,
    ) -> None:
        """`start` is a value of `place` to continue from; with `keep`, bytes are kept until `kept` returns them."""
        self._stream, self.name, self._longest = stream, name, longest
        self.start, self._kept = start, bytearray() if keep else None
        self._lines: deque[str | Rejection] = deque()
        self._rest, self._number = list[bytes](), 0
        self.ended = False  # all lines were read, though perhaps not taken
        self.live, self._size = _is_live(stream), 0
        # characters of the lines read and of the lines taken, without line ends
        self._characters, self._taken = 0, 0
        # bytes of the file that were split into lines, sizes of lines that are not text, and where `_kept` begins
        self._split, self._sizes_of_faults, self._kept_from = 0, dict[int, int](), 0
        self._last: str | Rejection = ""
        self._unended = 0  # the number of the last line, which has no end
        self.held = False  # whether the last line that was taken belongs to the next sequence
        self.is_one_text = False

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> Line:
        while not self._lines:
            if self.ended:
                raise StopIteration
            self._fill()
        self._number += 1
        line = self._lines.popleft()
        self._taken += _length(line)
        self._last = line
        return self._number, line

    @property
    def place(self) -> tuple[int, int]:
        """The bytes of the file up to the next line, and the number of the lines before it."""
        first = self._number + 1
        ahead = sum(self._bytes(number, line) for number, line in enumerate(self._lines, first))
        held = self._bytes(self._number, self._last) if self.held else 0
        return self._split - sum(map(len, self._rest)) - ahead - held, self._number - self.held

    def resume(self) -> bool:
        """Continue from `start`, if given; to be called when the form of the file is known."""
        if self.start is None:
            return False
        offset, self._number = self.start
        try:
            self._stream.seek(offset)
        except OSError as error:
            self._end(f": cannot be read: {error.strerror}")
            return True
        self._lines.clear()
        self._rest, self.ended = [], False
        self._split = self._size = self._characters = self._taken = self._kept_from = offset
        if self._kept is not None:
            self._kept.clear()
        return True

    def kept(self) -> bytes:
        """The bytes up to `place` since the last call."""
        assert self._kept is not None
        count = self.place[0] - self._kept_from
        result = bytes(self._kept[:count])
        del self._kept[:count]
        self._kept_from += count
        return result

    def rest(self) -> Iterator[bytes]:
        """All further bytes of the file that `kept` did not return."""
        assert self._kept is not None
        yield bytes(self._kept)
        self._kept.clear()
        with contextlib.suppress(OSError):  # reading the lines has reported it
            while chunk := self._stream.read(CHUNK_SIZE):
                yield chunk

    def _bytes(self, number: int, line: str | Rejection) -> int:
        """The size of a line with its line end."""
        if isinstance(line, Rejection):
            return self._sizes_of_faults.get(number, 0)
        return (len(line) if line.isascii() else len(line.encode())) + (number != self._unended)

    def block(self) -> tuple[int, list[str]]:
        """The number of the next line and the lines up to an empty one, not taken; no lines if it is not yet read or one is rejected."""
        texts = list(takewhile(bool, self._lines))
        ended = len(texts) < len(self._lines) and {*map(type, texts)} <= {str}
        return self._number + 1, texts if ended else []  # type: ignore[return-value]

    def take(self, texts: list[str]) -> None:
        """Take the lines of `block` and the empty line after them."""
        for _ in range(len(texts) + 1):
            self._lines.popleft()
        self._number += len(texts) + 1
        self._taken += sum(map(len, texts))

    @property
    def size(self) -> int:
        """Number of bytes read so far; of a compressed file, compressed bytes."""
        return self._stream.position if isinstance(self._stream, UnpackedFile) else self._size

    @property
    def taken(self) -> int:
        """Estimate of the bytes in `size` that belong to the lines taken."""
        return self._taken * self.size // max(self._characters, 1)

    @property
    def paused(self) -> bool:
        """Whether reading the next non-empty line may block."""
        return self.live and not self.ended and all(line == "" or line == "\r" for line in self._lines)

    def ahead(self, most: int | None, enough: Callable[[list[str]], bool] = lambda _: False) -> list[str]:
        """The next lines, not taken, rejections as empty lines: `most` bytes (None for all), or, from a pipe, until `enough`."""
        while not self.ended and (most is None or not self._suffices(most, enough)):
            self._fill()
        return self._texts()

    def _suffices(self, most: int, enough: Callable[[list[str]], bool]) -> bool:
        """Whether enough lines were read to inspect, at least one of them non-empty."""
        if self._size < most and not self.live:
            return False
        texts = self._texts()
        return any(map(str.strip, texts)) and (self._size >= most or enough(texts))

    def _texts(self) -> list[str]:
        return ["" if isinstance(line, Rejection) else line for line in self._lines]

    def text(self) -> str:
        """The text of all lines not taken; InputError if one is rejected."""
        while not self.ended:
            self._fill()
        lines = list(islice(self._lines, None))
        for line in lines:
            if isinstance(line, Rejection):
                raise line.error
        self._lines.clear()
        self.is_one_text = True
        return "\n".join(map(str, lines))

    def _fill(self) -> None:
        """Read some bytes and add the complete lines in them."""
        try:
            chunk = getattr(self._stream, "read1", self._stream.read)(CHUNK_SIZE)
        except OSError as error:
            self._end(f": cannot be read: {error.strerror}")
            return
        if self._kept is not None:
            self._kept += chunk
        if not self._size:
            if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                self._end(", line 1: UTF-16; save it as UTF-8")
                return
            if chunk.startswith(GZIP):
                self._end(": compressed by gzip; unpack it, or let the name of a file end in .gz")
                return
            if chunk.startswith(codecs.BOM_UTF8):
                chunk = chunk.removeprefix(codecs.BOM_UTF8)
                self._split += len(codecs.BOM_UTF8)
        self._size += len(chunk)
        text, zero, _ = chunk.partition(b"\0")
        if text or not zero:
            self._take(text)
        if zero:
            why = "byte 0x00, which does not occur in text; save it as UTF-8"
            self._end(f", line {self._next}: {why}")

    @property
    def _next(self) -> int:
        return self._number + len(self._lines) + 1

    def _take(self, chunk: bytes) -> None:
        """Add a chunk; an empty chunk is the end."""
        self.ended = not chunk
        self._split += len(chunk)
        first, *others = chunk.split(b"\n")
        self._rest.append(first)
        if others or self.ended:
            self._unended = self._next + len(others) if self.ended else 0
            self._add(b"".join(self._rest))
            self._rest = [others.pop()] if others and not self.ended else []
            try:
                if others:
                    text = b"\n".join(others).decode()
                    self._lines.extend(text.split("\n"))
                    self._characters += len(text) - len(others) + 1
            except UnicodeDecodeError:
                for line in others:
                    self._add(line)
        if self._longest is not None and sum(map(len, self._rest)) > self._longest:
            self._end(f", line {self._next}: longer than {self._longest} bytes; write a sequence a line")

    def _add(self, line: bytes) -> None:
        found = self._decoded(line)
        self._lines.append(found)
        self._characters += _length(found)

    def _decoded(self, line: bytes) -> str | Rejection:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            self._sizes_of_faults[self._next] = len(line) + (self._next != self._unended)
            byte = line[error.start]
            text = f"{self.name}, line {self._next}: byte {byte:#04x} is not UTF-8; save it as UTF-8"
            return Rejection(self.name, self._next, text)

    def _end(self, why: str) -> None:
        self._split -= sum(map(len, self._rest))
        self.ended, self._rest = True, []
        place = re.match(r", line ([0-9]+)", why)
        self._lines.append(Rejection(self.name, int(place[1]) if place else 0, f"{self.name}{why}"))


def blocks(lines: Lines) -> Iterator[list[tuple[int, str]] | Rejection]:
    """The numbered lines of each sequence; empty lines separate sequences, and a rejection replaces its sequence."""
    block: list[tuple[int, str]] = []
    fault: Rejection | None = None
    for number, line in lines:
        if isinstance(line, Rejection):
            fault = fault or line
        elif line.strip():
            block.append((number, line.rstrip("\r")))
        else:
            if block or fault:
                yield fault or block
            block, fault = [], None
    if block or fault:
        yield fault or block


def few(lines: Iterable[str], most: int = FEW) -> list[str]:
    """The first non-empty lines."""
    return list(islice((line for line in lines if line.strip()), most))


def _length(line: str | Rejection) -> int:
    return len(line) if isinstance(line, str) else 0


def _is_live(stream: BinaryIO) -> bool:
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False
