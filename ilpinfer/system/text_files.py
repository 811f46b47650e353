"""Text files are read as bytes; content that is not plain text is refused."""

import codecs
from typing import BinaryIO

CHUNK_SIZE = 2**20
"""Bytes of a read."""


def read_text_bytes(stream: BinaryIO) -> bytes:
    """Read all bytes of a text stream; the caller decodes them.

    Raises
    ------
    ValueError
        Where the stream begins with a byte order mark of UTF-16, or has a zero byte. Reading stops at the
        first one, so that an endless stream such as /dev/zero ends, too.
    """
    data = bytearray()
    while chunk := stream.read(CHUNK_SIZE):
        if not data and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ValueError("line 1: UTF-16; save it as UTF-8")
        if b"\0" in chunk:
            line = (data + chunk[: chunk.index(b"\0")]).count(b"\n") + 1
            raise ValueError(f"line {line}: byte 0x00, which does not occur in text; save it as UTF-8")
        data += chunk
    return bytes(data)
