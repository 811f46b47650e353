"""Files of label names."""

import json
from pathlib import Path

from formulations.labels.names import label_names
from ilpinfer.errors import ModelError
from ilpinfer.system.addresses import read_bytes


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
