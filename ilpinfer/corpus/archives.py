"""Logits in archives of arrays, as `numpy.savez` writes them; sizes are checked before anything is allocated."""

import lzma
import math
import re
import struct
import sys
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from formulations.labels.names import label_names
from formulations.messages import counted, suggestion
from formulations.score_numbers import one_notice
from ilpinfer.corpus.examples import Example, InputError, input_at
from ilpinfer.corpus.logits import KEYS, LogitsOptions, crf_parameters, logit_scores
from ilpinfer.corpus.scores import SequenceScores
from ilpinfer.errors import ModelError
from ilpinfer.system.storage import open_bytes

LEAST_ROOM, TIMES = 2**28, 100
"""Limits on array sizes: a number of bytes, and a multiple of the file size; the larger limit applies."""
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
"""Errors that readers of archives and headers raise for damaged bytes."""
KINDS = "biufcSUO"
"""Array kinds of numbers and texts, and of Python objects, which are refused by name."""


def read_archive(path: str | Path) -> dict[str, NDArray[Any]]:
    try:
        file = open_bytes(path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        with file as stream, zipfile.ZipFile(stream) as archive:
            size = stream.seek(0, 2)
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
    """The array of a member; the size in its header has to equal its number of bytes."""
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
        return np.zeros(shape, kind)
    if kind.kind == "U":
        signs = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(kind.byteorder), offset=stream.tell())
        if ((signs > sys.maxunicode) | ((signs >= 0xD800) & (signs < 0xE000))).any():
            raise ModelError(f"{what} holds signs that are no text; it is damaged")
    array = np.frombuffer(data, kind, count, stream.tell())
    return array.reshape(shape, order="F" if by_columns else "C")


SEQUENCE_ARRAYS = ("logits", "word_ids", "tokens", "labels")
SHARED_ARRAYS = ("label_names", "transitions", "start", "end", "start_transitions", "end_transitions")


def read_logits(path: str | Path, reading: LogitsOptions) -> Iterator[Example]:
    """Read the sequences of an `.npz` file of logits; InputError with file and key for missing, unknown or inconsistent arrays.

    `logits_0` (T, K), `logits_1`, … are the sequences; `logits` is a single one. `tokens_0` and `labels_0` (T,) are texts. With
    `word_ids_0` (S,), the word number of each piece or -1, `logits_0` is (S, K). The file also has
    `label_names` (K,), and may have `transitions` (K, K) with `start` and `end` (K,), also under the names of pytorch-crf.
    """
    arrays = read_archive(path)
    if "logits" in arrays and arrays["logits"].ndim == 3:
        raise InputError(
            f"{path}: logits has shape {arrays['logits'].shape}; expected (T, K); save those of each sequence, "
            "without padding, as logits_0, logits_1, …"
        )
    shared: dict[str, Any] = {}
    sequences: dict[int, dict[str, Any]] = {}
    for key, array in arrays.items():
        match = re.fullmatch(rf"({'|'.join(SEQUENCE_ARRAYS)})(?:_([0-9]{{1,9}}))?", key)
        if match:
            own = sequences.setdefault(int(match[2] or 0), {})
            if match[1] in own:
                raise InputError(f"{path}: has both {match[1]} and {match[1]}_0; give one of them")
            own[match[1]] = array
        elif key in SHARED_ARRAYS or key.rpartition(".")[2] in KEYS:
            shared[key] = array
        else:
            raise InputError(
                f"{path}: unknown key {key!r}{suggestion(key, (*SEQUENCE_ARRAYS, *SHARED_ARRAYS))}"
            )
    if not sequences:
        raise InputError(f"{path}: no logits_0; expected arrays logits_0, logits_1, … of shape (T, K)")
    for number in range(len(sequences)):
        if "logits" not in sequences.get(number, {}):
            raise InputError(
                f"{path}: no logits_{number}, but {counted(len(sequences), 'sequence')}; they count from 0"
            )
    for number in range(len(sequences)):
        yield _example({**shared, **sequences[number]}, f"{path}, sequence {number}", reading)


def _example(record: dict[str, Any], where: str, reading: LogitsOptions) -> Example:
    with input_at(where):
        scores = scores_of(record, reading)
    T = 0 if scores.emissions is None else len(scores.emissions)
    texts: dict[str, tuple[str, ...]] = {}
    for name in ("tokens", "labels"):
        if name in record:
            if record[name].dtype.kind == "S":
                raise InputError(f"{where}: {name} are bytes; save them as an array of texts")
            texts[name] = tuple(map(str, record[name].reshape(-1).tolist()))
            if len(texts[name]) != T:
                raise InputError(
                    f"{where}: {counted(len(texts[name]), name[:-1])}, but logits for {counted(T, 'token')}"
                )
    return Example(texts.get("tokens", ()), texts.get("labels"), where, scores)


@one_notice
def scores_of(record: Mapping[str, Any], reading: LogitsOptions) -> SequenceScores:
    names = record.get("label_names", reading.names)
    if names is not None:
        given = names if isinstance(names, Mapping) else np.asarray(names).reshape(-1).tolist()
        names = label_names(given, "label_names")
    layer = any(key.endswith("start_transitions") for key in record)
    steps = crf_parameters(record) if layer else record
    width = None if names is None else len(names)
    word_ids, tokens = record.get("word_ids"), record.get("tokens")
    scores = logit_scores(record["logits"], steps, word_ids, reading.pool, reading.scale, width, tokens)
    return replace(scores, label_names=names)
