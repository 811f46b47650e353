"""Further keys of records: notes about a sequence, which rows of results repeat."""

import difflib
import json
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from ilpinfer.core.solution_fields import ABOUT, OF_ROWS
from ilpinfer.corpus.examples import InputError

ALIKE = 0.82
"""Similarity from which on a further key is taken for a misspelt one."""
LONGEST = 60  # characters of a key that may be a misspelt one


def notes(record: dict[str, Any], keys: tuple[str, ...], where: str) -> dict[str, Any]:
    """What a record has beside `keys`; InputError for a key that is close to one of them, or is a field of results."""
    result = {key: value for key, value in record.items() if key in ABOUT or key not in keys}
    for key, value in result.items():
        if key not in ABOUT:
            check(key, keys, where)
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            raise InputError(
                f"{where}: {key} has NaN, an infinity or half of a surrogate pair; write null, or a text"
            ) from None
    return result


def check(key: str, keys: tuple[str, ...], where: str) -> None:
    """InputError unless a further key can stand beside these keys and in rows of results."""
    shown = json.dumps(key[:LONGEST], ensure_ascii=False)
    if key in OF_ROWS:
        raise InputError(
            f'{where}: {shown} is a field of results; give it another name, or put it under "metadata"'
        )
    meant = misspelt(key, keys)
    if meant:
        raise InputError(f'{where}: no use for {shown}; did you mean "{meant}"?')
    try:
        key.encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: no use for {key[:LONGEST]!a}, which is no text") from None


def of_output(record: dict[str, Any], keys: Collection[str]) -> dict[str, Any]:
    """The notes in a row of `ilpinfer decode`."""
    return {
        key: value for key, value in record.items() if key in ABOUT or not (key in keys or key in OF_ROWS)
    }


@lru_cache(maxsize=1024)
def misspelt(name: str, keys: tuple[str, ...]) -> str:
    """The key that a name is close to; empty if there is none."""
    if len(name) > LONGEST:
        return ""
    plain = name.casefold()
    swapped = [key for key in keys if sorted(key) == sorted(plain)]
    return next(iter(swapped or difflib.get_close_matches(plain, keys, 1, ALIKE)), "")
