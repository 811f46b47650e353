"""Positions in an input of several files, and digests of the bytes between two positions."""

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from ilpinfer.corpus import brat, parallel
from ilpinfer.system.storage import open_bytes, read_bytes

READ = 2**16
"""Bytes per read; many files are small."""


@dataclass(frozen=True)
class InputPosition:
    """Position in an input: number of previous files, unpacked bytes of the current file, and its last line, item or row."""

    file: int = 0
    offset: int = 0
    line: int = 0


def open_content(file: str) -> BinaryIO:
    """The bytes from which a file's sequences are read: unpacked, with annotations from a second file if there is one."""
    if brat.is_brat(file):
        name = file.removesuffix(brat.TEXT).removesuffix(brat.ANNOTATIONS)
        return io.BytesIO(b"".join(read_bytes(name + end, OSError) for end in (brat.TEXT, brat.ANNOTATIONS)))
    if parallel.is_parallel(file):
        names = [file, *parallel.files_beside(file)]
        return io.BytesIO(b"".join(read_bytes(name, OSError) for name in names))
    return open_bytes(file)


class SliceDigest:
    """SHA-256 of a slice: the number of each file and its bytes in the slice."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def begin(self, file: int) -> None:
        self._hash.update(f"{file}\n".encode())

    def add(self, data: bytes) -> None:
        self._hash.update(data)

    @property
    def text(self) -> str:
        return self._hash.hexdigest()


class SliceReader:
    """Reads slices of files again, in order; to be closed."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self._number, self._offset = -1, 0
        self._stream: BinaryIO = io.BytesIO()

    def digest(self, begin: InputPosition, end: InputPosition) -> str:
        """The digest of the bytes between two positions; OSError if a file cannot be read."""
        result = SliceDigest()
        for number in range(begin.file, min(end.file + 1, len(self._files))):
            result.begin(number)
            first = begin.offset if number == begin.file else 0
            for chunk in self._content(number, first, end.offset if number == end.file else None):
                result.add(chunk)
        return result.text

    def _content(self, number: int, first: int, last: int | None) -> Iterator[bytes]:
        if number != self._number or first != self._offset:
            self.close()
            self._stream = open_content(self._files[number])
            self._number, self._offset = number, first
            self._stream.seek(first)
        while last is None or self._offset < last:
            size = READ if last is None else min(READ, last - self._offset)
            chunk = self._stream.read(size)
            if not chunk:
                return
            self._offset += len(chunk)
            yield chunk

    def close(self) -> None:
        self._stream.close()
        self._number = -1
