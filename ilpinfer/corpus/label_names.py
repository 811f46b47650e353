"""Label names from files, and names of integer tags."""

import json
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from formulations.labels.names import label_names
from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.errors import ModelError
from ilpinfer.system.storage import read_bytes

EXPECTED = "expected a config.json with id2label, or a list of names"


def names_of_tags(
    tags: Sequence[Any], names: Sequence[str] | None, what: str, way_out: str
) -> tuple[Any, ...]:
    """Label names of integer tags, other values unchanged; ValueError for tags without a name."""
    if not tags or not all(isinstance(tag, Integral) and not isinstance(tag, bool) for tag in tags):
        return tuple(tags)
    if not names:
        raise ValueError(f"{what}: label {tags[0]} is a number, but label names are not given; {way_out}")
    odd = next((tag for tag in tags if not 0 <= tag < len(names)), None)
    if odd is not None:
        raise ValueError(f"{what}: {odd} is not the number of a label; expected 0 to {len(names) - 1}")
    return tuple(names[tag] for tag in tags)


def feature_names(metadata: Mapping[bytes, bytes] | None, column: str) -> tuple[str, ...] | None:
    """The tag names of a column in the metadata of Hugging Face `datasets`; None if there are none."""
    try:
        feature = json.loads((metadata or {})[b"huggingface"])["info"]["features"][column]
        names = feature.get("feature", feature)["names"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return label_names(names) if isinstance(names, list | dict) and names else None


def read_label_names(path: str | Path, column: str = "") -> tuple[str, ...]:
    """Read label names from JSON: a list, a `config.json` with `id2label`, a ClassLabel or a `dataset_info.json`.

    Parameters
    ----------
    path : str or Path
        The file.
    column : str, optional
        Column of a `dataset_info.json` whose names are read; not needed if only one column has names.

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
    if isinstance(record, dict) and isinstance(record.get("features"), dict):
        record = _names_of_column(record["features"], column, path)
    if isinstance(record, dict) and isinstance(record.get("names"), list | dict):
        record = record["names"]
    if not isinstance(record, dict | list) or not record:
        raise ModelError(f"{path}: no label names; {EXPECTED}")
    try:
        return label_names(record, "id2label")
    except ValueError as error:
        raise ModelError(f"{path}: {error}; {EXPECTED}") from None


def names_of(path: str | Path, column: str) -> tuple[str, ...]:
    """Label names of a file, for the columns that a user names."""
    return read_label_names(path, ColumnNames.read(column).label)


def _names_of_column(features: dict[str, Any], column: str, path: str | Path) -> Any:
    """The label names of a data set column, or of the only column with label names."""
    inner = {
        name: each.get("feature", each) if isinstance(each, dict) else None for name, each in features.items()
    }
    known = {
        name: each["names"] for name, each in inner.items() if isinstance(each, dict) and "names" in each
    }
    if column in known or len(known) == 1:
        return known[column] if column in known else next(iter(known.values()))
    if not known:
        raise ModelError(f"{path}: no label names; {EXPECTED}")
    raise ModelError(f"{path}: {', '.join(known)} have names of labels; name one of them with --column")
