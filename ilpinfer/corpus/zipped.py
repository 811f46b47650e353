"""Archives of arrays, as `numpy.savez` writes them; sizes are checked before anything is allocated."""

import lzma
import math
import struct
import sys
import tokenize
import warnings
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ilpinfer.errors import ModelError

LEAST_ROOM, TIMES = 2**28, 100
"""Limits on the size of arrays: a number of bytes, and a multiple of the size of the file; the larger one applies."""
CHUNK = 2**20
DAMAGE = (
    ArithmeticError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
)
"""Errors of the readers of archives and headers for damaged bytes."""
KINDS = "biufcSUO"
"""Kinds of numbers and texts that are read, and Python objects, which are refused by name."""


def read_archive(path: str | Path) -> dict[str, NDArray[Any]]:
    try:
        with Path(path).open("rb") as stream:
            size = stream.seek(0, 2)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive, max(LEAST_ROOM, TIMES * size), path)
            return _arrays(archive, path)
    except ModelError:
        raise
    except DAMAGE as error:
        raise ModelError(
            f"{path}: not an archive of arrays, or damaged ({_describe(error)}); write it with numpy.savez"
        ) from None


def _describe(error: Exception) -> str:
    return " ".join(str(error).split())[:100] or type(error).__name__


def _check_sizes(archive: zipfile.ZipFile, most: int, path: str | Path) -> None:
    total, names = 0, set[str]()
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name in names:
            raise ModelError(f"{path}: has {name} twice; give it once")
        names.add(name)
        total += member.file_size
        if total > most:
            raise ModelError(
                f"{path}: {name} claims {member.file_size / 2**30:.3g} GiB, more than a file of this size can hold; write "
                "it with numpy.savez, or in several files"
            )


def _arrays(archive: zipfile.ZipFile, path: str | Path) -> dict[str, NDArray[Any]]:
    result = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ModelError(f"{path}: {name} is compressed in another way than numpy.savez_compressed does")
        with archive.open(member) as stream:
            result[name] = _array(b"".join(iter(lambda: stream.read(CHUNK), b"")), f"{path}: {name}")
    return result


def _array(data: bytes, what: str) -> NDArray[Any]:
    """The array of a member; the size that its header claims has to be that of its bytes."""
    stream = BytesIO(data)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ModelError(
            f"{what} has a header of version {version}; expected 1.0 or 2.0, as numpy.savez writes"
        )
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with warnings.catch_warnings(action="ignore"):
        shape, by_columns, kind = read(stream)
    if kind.hasobject:
        raise ModelError(f"{what} holds Python objects; save texts as arrays of texts")
    if kind.kind not in KINDS or kind.fields or kind.subdtype:
        raise ModelError(f"{what} holds {kind!s:.40}; expected numbers or texts")
    count, rest = math.prod(shape), len(data) - stream.tell()
    if any(length < 0 for length in shape) or count * kind.itemsize != rest:
        raise ModelError(
            f"{what} claims shape {shape!s:.60}, {count * kind.itemsize:.3g} bytes, but has {rest}; it is damaged"
        )
    if not count:
        raise ModelError(f"{what} is empty: shape {shape!s:.60}")
    if kind.kind == "U":
        signs = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(kind.byteorder), offset=stream.tell())
        if ((signs > sys.maxunicode) | ((signs >= 0xD800) & (signs < 0xE000))).any():
            raise ModelError(f"{what} holds signs that are no text; it is damaged")
    array = np.frombuffer(data, kind, count, stream.tell())
    return array.reshape(shape, order="F" if by_columns else "C")
