"""Names of labels as other tools keep them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ilpinfer.errors import ModelError


def label_names(names: Mapping[Any, str] | Sequence[str]) -> tuple[str, ...]:
    """K names in the order of their ids.

    Parameters
    ----------
    names : a sequence, or a mapping from ids 0 … K-1, whole numbers or their texts, as `id2label` of transformers

    Raises
    ------
    ValueError
        for ids that are not 0 … K-1, and names that are no texts.
    """
    if isinstance(names, Mapping):
        try:
            by_id = {int(key): name for key, name in names.items()}
        except (TypeError, ValueError):
            raise ValueError(f"id2label has keys {list(names)[:3]}; expected ids from 0") from None
        missing = [k for k in range(len(names)) if k not in by_id]
        if missing:
            raise ValueError(f"id2label has {len(names)} labels, but none with id {missing[0]}")
        names = [by_id[k] for k in range(len(names))]
    result = tuple(names)
    for k, name in enumerate(result):
        if not isinstance(name, str):
            raise ValueError(f"label {k} is {name!r}: a label is a text")
    return tuple(map(str, result))


def read_label_names(path: str | Path) -> tuple[str, ...]:
    """Names from a JSON file: a `config.json` with `id2label`, such a mapping by itself, or a list.

    Raises
    ------
    ModelError
        for a file that cannot be read or has no names.
    """
    try:
        record = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not JSON: {error}") from None
    if isinstance(record, dict):
        record = record.get("id2label", record)
    if not isinstance(record, dict | list) or not record:
        raise ModelError(f"{path}: no label names; expected a config.json with id2label, or a list of names")
    try:
        return label_names(record)
    except ValueError as error:
        raise ModelError(
            f"{path}: {error}; expected a config.json with id2label, or a list of names"
        ) from None
