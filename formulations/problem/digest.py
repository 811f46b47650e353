"""Digests of compiled rules and of decodings; they are the same in every process."""

from collections.abc import Sequence
from dataclasses import Field, fields, is_dataclass
from hashlib import blake2b, sha256
from typing import Any

import numpy as np

from formulations.caches import Recent
from formulations.dtypes import Integers
from formulations.grid import Grid
from formulations.labels.selectors import Group

SILENT = ("reason", "title", "source")  # fields of records that do not affect results

LATER = ("when",)


def digest(*components: Any) -> str:
    """64 hexadecimal digits that change with any number, text or array in the components, including nested records."""
    return _content(components, {}).hex()


_prefixes = Recent[tuple[str, Grid, Any]](8)
"""Cached prefixes of digests of sequences: digest of rules, pool of edge scores, and the hash of both."""


def decoding_digest(rules: str, node: Grid, pool: Grid, step: Integers, tokens: Sequence[str]) -> str:
    """64 hexadecimal digits that change with the digest of the rules, any score and any token."""

    def begin() -> tuple[str, Grid, Any]:
        made = sha256(f"decoding {rules} {pool.shape} ".encode())
        made.update(np.ascontiguousarray(pool, "<i8").data)
        return rules, pool, made

    result = _prefixes.find(lambda one: one[1] is pool and one[0] == rules, begin)[2].copy()
    text = "".join(tokens).encode("utf-8", "surrogatepass")
    result.update(f"{node.shape} {len(text)} ".encode() + text)
    for numbers in (np.fromiter(map(len, tokens), "<i8", len(tokens)), step, node):
        result.update(np.ascontiguousarray(numbers, "<i8").data)
    digits: str = result.hexdigest()
    return digits


def _content(value: Any, known: dict[int, tuple[Any, bytes]]) -> bytes:
    """The digest of a value. `known` are digests by identity of records; it keeps the records alive."""
    if id(value) in known:
        return known[id(value)][1]
    if isinstance(value, np.ndarray):
        made = _hash(f"array {value.shape}", np.ascontiguousarray(value, "<i8").tobytes())
    elif isinstance(value, Group):
        return _hash("group", value._key)
    elif is_dataclass(value):
        declared = (
            (f.name, getattr(value, f.name))
            for f in fields(value)
            if f.name not in SILENT and _counts(value, f)
        )
        named = (type(value).__name__, *(each for pair in declared for each in pair))
        made = _hash("record", b"".join(_content(each, known) for each in named))
    elif isinstance(value, tuple | list):
        made = _hash("parts", b"".join(_content(each, known) for each in value))
    elif isinstance(value, frozenset):
        made = _hash("set", b"".join(sorted(_content(each, known) for each in value)))
    elif isinstance(value, str):
        return _hash("text", value.encode("utf-8", "surrogatepass"))
    elif callable(value):  # the content of a function cannot be hashed
        return _hash("function", getattr(value, "__qualname__", type(value).__qualname__).encode())
    elif value is None or isinstance(value, float):
        return _hash("none" if value is None else "float", repr(value).encode())
    else:
        return _hash("number", str(int(value)).encode())
    known[id(value)] = value, made
    return made


def _counts(value: Any, declared: Field[Any]) -> bool:
    """Whether a field is part of a digest. Fields added later count only if they are given, so that older digests stay valid."""
    return declared.name not in LATER or getattr(value, declared.name) != declared.default


def _hash(kind: str, content: bytes) -> bytes:
    result = blake2b(kind.encode() + b"\0", digest_size=32)
    result.update(content)
    return result.digest()
