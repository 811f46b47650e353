"""Names of labels in files, and of integer tags."""

import json
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from formulations.labels.names import label_names
from ilpinfer.errors import ModelError
from ilpinfer.system.storage import read_bytes


def names_of_tags(
    tags: Sequence[Any], names: Sequence[str] | None, what: str, way_out: str
) -> tuple[Any, ...]:
    """Labels of integer tags by their names; other values as they are, and ValueError for tags without a name."""
    if not tags or not all(isinstance(tag, Integral) and not isinstance(tag, bool) for tag in tags):
        return tuple(tags)
    if not names:
        raise ValueError(f"{what}: label {tags[0]} is a number, but label names are not given; {way_out}")
    odd = next((tag for tag in tags if not 0 <= tag < len(names)), None)
    if odd is not None:
        raise ValueError(f"{what}: {odd} is not the number of a label; expected 0 to {len(names) - 1}")
    return tuple(names[tag] for tag in tags)


def feature_names(metadata: Mapping[bytes, bytes] | None, column: str) -> tuple[str, ...] | None:
    """The names of a column's tags in the metadata that `datasets` of Hugging Face writes; None where there are none."""
    try:
        feature = json.loads((metadata or {})[b"huggingface"])["info"]["features"][column]
        names = feature.get("feature", feature)["names"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return label_names(names) if isinstance(names, list | dict) and names else None


def read_label_names(path: str | Path) -> tuple[str, ...]:
    """Read label names from JSON: a `config.json` with `id2label`, such a mapping alone, or a list.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    tuple of str
        K names.

    Raises
    ------
    ModelError
        For a file that cannot be read or has no names.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "config.json")
    ...     _ = path.write_text('{"id2label": {"0": "O", "1": "B-name"}}')
    ...     read_label_names(path)
    ('O', 'B-name')
    """
    try:
        record = json.loads(read_bytes(path, ModelError).decode())
    except ModelError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not JSON: {error}") from None
    if isinstance(record, dict):
        record = record.get("id2label", record)
    if not isinstance(record, dict | list) or not record:
        raise ModelError(f"{path}: no label names; expected a config.json with id2label, or a list of names")
    try:
        return label_names(record, "id2label")
    except ValueError as error:
        raise ModelError(
            f"{path}: {error}; expected a config.json with id2label, or a list of names"
        ) from None
