"""Logits in files: archives of arrays, and lines of JSON."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from formulations.messages import suggestion
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.label_names import label_names
from ilpinfer.corpus.logits import KEYS, LogitsOptions, crf_parameters, logit_scores
from ilpinfer.corpus.scores import Scores
from ilpinfer.corpus.zipped import read_archive

OF_A_SEQUENCE = ("logits", "word_ids", "tokens", "labels")
OF_ALL = ("label_names", "transitions", "start", "end", "start_transitions", "end_transitions")


def read_logits(path: str | Path, reading: LogitsOptions) -> Iterator[Example]:
    """Read the sequences of an `.npz` file of logits.

    `logits_0` (T, K), `logits_1`, … are the sequences; `logits` alone is a single one. `tokens_0` and `labels_0` (T,) are texts.
    If there is `word_ids_0` (S,), the number of the word of each piece or -1, `logits_0` is (S, K). The file also has
    `label_names` (K,), and may have `transitions` (K, K) with `start` and `end` (K,), also under the names of pytorch-crf.

    Parameters
    ----------
    path : str or Path
        The file.
    reading : LogitsOptions
        Label names, and conversion of pieces to words.

    Yields
    ------
    Example
        The sequences in order.

    Raises
    ------
    InputError
        For missing, unknown or inconsistent arrays; the message names file and key.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "scores.npz")
    ...     np.savez(path, logits=np.zeros((2, 3)), label_names=["a", "b", "O"], tokens=["x", "y"])
    ...     [example.tokens for example in read_logits(path, LogitsOptions())]
    [('x', 'y')]
    """
    arrays = read_archive(path)
    shared: dict[str, Any] = {}
    sequences: dict[int, dict[str, Any]] = {}
    for key, array in arrays.items():
        match = re.fullmatch(rf"({'|'.join(OF_A_SEQUENCE)})(?:_([0-9]{{1,9}}))?", key)
        if match:
            own = sequences.setdefault(int(match[2] or 0), {})
            if match[1] in own:
                raise InputError(f"{path}: has both {match[1]} and {match[1]}_0; give one of them")
            own[match[1]] = array
        elif key in OF_ALL or key.rpartition(".")[2] in KEYS:
            shared[key] = array
        else:
            raise InputError(f"{path}: no use for {key!r}{suggestion(key, (*OF_A_SEQUENCE, *OF_ALL))}")
    if not sequences:
        raise InputError(f"{path}: no logits_0; expected arrays logits_0, logits_1, … of shape (T, K)")
    for number in range(len(sequences)):
        if "logits" not in sequences.get(number, {}):
            raise InputError(f"{path}: no logits_{number}, but {len(sequences)} sequences; they count from 0")
    for number in range(len(sequences)):
        yield _example({**shared, **sequences[number]}, f"{path}, sequence {number}", reading)


def _example(record: dict[str, Any], where: str, reading: LogitsOptions) -> Example:
    scores = scores_of(record, where, reading)
    T = 0 if scores.emissions is None else len(scores.emissions)
    texts: dict[str, tuple[str, ...]] = {}
    for name in ("tokens", "labels"):
        if name in record:
            if record[name].dtype.kind == "S":
                raise InputError(f"{where}: {name} are bytes; save them as an array of texts")
            texts[name] = tuple(map(str, record[name].reshape(-1).tolist()))
            if len(texts[name]) != T:
                raise InputError(f"{where}: {len(texts[name])} {name}, but logits for {T} tokens")
    return Example(texts.get("tokens", ()), texts.get("labels"), where, scores)


def scores_of(record: Mapping[str, Any], where: str, reading: LogitsOptions) -> Scores:
    try:
        names = record.get("label_names", reading.names)
        if names is not None:
            names = label_names(
                names if isinstance(names, Mapping) else np.asarray(names).reshape(-1).tolist()
            )
        layer = any(key.endswith("start_transitions") for key in record)
        steps = crf_parameters(record) if layer else record
        width = None if names is None else len(names)
        scores = logit_scores(
            record["logits"], steps, record.get("word_ids"), reading.pool, reading.scale, width
        )
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
    return replace(scores, label_names=names)
