"""Bytes of files of text."""

import codecs
from typing import BinaryIO

CHUNK = 2**20
"""Bytes that are read at a time."""


def read_text_bytes(stream: BinaryIO) -> bytes:
    """The content of a file of text.

    Raises
    ------
    ValueError
        for UTF-16, and for a zero byte, at which reading stops: a device of zeros has no end.
    """
    data = bytearray()
    while chunk := stream.read(CHUNK):
        if not data and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ValueError("line 1: UTF-16; save it as UTF-8")
        if b"\0" in chunk:
            line = (data + chunk[: chunk.index(b"\0")]).count(b"\n") + 1
            raise ValueError(f"line {line}: byte 0x00, which text has not; save it as UTF-8")
        data += chunk
    return bytes(data)
