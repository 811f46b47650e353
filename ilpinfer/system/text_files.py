"""Text files are read as bytes; content that is not plain text is refused."""

import codecs
from typing import BinaryIO

CHUNK_SIZE = 2**20
"""Bytes of a read."""


def read_text_bytes(stream: BinaryIO) -> bytes:
    """All bytes of a text stream, to be decoded; ValueError at a byte order mark of UTF-16 or the first zero byte."""
    data = bytearray()
    while chunk := stream.read(CHUNK_SIZE):
        if not data and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ValueError("line 1: UTF-16; save it as UTF-8")
        if b"\0" in chunk:  # an endless stream such as /dev/zero ends, too
            line = (data + chunk[: chunk.index(b"\0")]).count(b"\n") + 1
            raise ValueError(f"line {line}: byte 0x00, which does not occur in text; save it as UTF-8")
        data += chunk
    return bytes(data)
