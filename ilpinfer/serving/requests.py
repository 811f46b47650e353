"""Requests: bodies are checked against the limits and converted to sequences."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from formulations.dtypes import Floats
from formulations.messages import suggestion
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.records import DuplicateKey, example, loads
from ilpinfer.serving.limits import Limits
from ilpinfer.serving.refusal import Refusal, invalid, too_large

ASKED = ("deadline", "top", "certificate")
"""Keys of a request other than those of its sequences."""


@dataclass(frozen=True)
class RequestOptions:
    """Options of a request for each of its sequences.

    Parameters
    ----------
    seconds : float
        Seconds from the arrival of the request to its answer.
    top : int, optional
        Number of labellings, or None for the best one only.
    certificate : bool, default False
        Whether the answer contains the proof.
    """

    seconds: float
    top: int | None = None
    certificate: bool = False


@dataclass(frozen=True)
class Single:
    """A request for one sequence."""

    options: RequestOptions
    example: Example


@dataclass(frozen=True)
class Several:
    """A request for a batch: each item is a sequence, or the refusal of an invalid one."""

    options: RequestOptions
    items: tuple[Example | Refusal, ...]


def read_single(body: bytes, limits: Limits) -> Single:
    """The request of a body; Refusal for an invalid body."""
    record = _parse(body)
    options = _options(record, limits)
    record = {key: value for key, value in record.items() if key not in ASKED}
    return Single(options, _sequence(record, "body", limits))


def read_several(body: bytes, limits: Limits) -> Several:
    """The request for a batch; Refusal for a body that is invalid as a whole."""
    record = _parse(body)
    for key in record:
        if key not in ("sequences", *ASKED):
            hint = suggestion(key, ("sequences", *ASKED))
            raise invalid(f"body: no use for {json.dumps(key[:60])}{hint}")
    records = record.get("sequences")
    if not isinstance(records, list) or not records:
        raise invalid(
            'body: expected "sequences", a list with at least one sequence such as {"tokens": ["Ada"]}'
        )
    if len(records) > limits.sequences:
        raise too_large(
            f"body: {len(records)} sequences; at most {limits.sequences} go in a batch, send several"
        )
    options = _options(record, limits)
    return Several(options, tuple(_attempt(item, number, limits) for number, item in enumerate(records, 1)))


def size(sequence: Example) -> tuple[int, int]:
    """Number of tokens, and of labels by the scores; 0 where they are unknown."""
    scores = sequence.scores
    if scores is None:
        return len(sequence.tokens), 0
    if scores.emissions is not None:
        length, labels = _extent(scores.emissions, 0), _extent(scores.emissions, 1)
    else:
        assert scores.edges is not None
        assert scores.start is not None
        length, labels = _extent(scores.edges, 0) + scores.edges.ndim - 2, _extent(scores.start, 0)
    return max(length, len(sequence.tokens)), labels


def _extent(array: Floats, axis: int) -> int:
    """The length of an axis; 0 if the array, which is not yet checked, has fewer axes."""
    return array.shape[axis] if array.ndim > axis else 0


def _attempt(record: Any, number: int, limits: Limits) -> Example | Refusal:
    try:
        return _sequence(record, f"sequences, item {number}", limits)
    except Refusal as refusal:
        return refusal


def _sequence(record: Any, where: str, limits: Limits) -> Example:
    """The sequence of a record; Refusal if it is invalid or too large."""
    tokens = record.get("tokens") if isinstance(record, dict) else None
    if isinstance(tokens, list) and len(tokens) > limits.tokens:
        raise _too_long(where, len(tokens), limits)
    try:
        sequence = example(record, where, None)
    except InputError as error:
        raise invalid(str(error)) from None
    length, labels = size(sequence)
    if length > limits.tokens:
        raise _too_long(where, length, limits)
    if labels > limits.labels:
        raise too_large(f"{where}: scores of {labels} labels; at most {limits.labels} are decoded here")
    return sequence


def _too_long(where: str, length: int, limits: Limits) -> Refusal:
    return too_large(
        f"{where}: {length} tokens; at most {limits.tokens} are decoded here, split the sequence"
    )


def _options(record: Mapping[str, Any], limits: Limits) -> RequestOptions:
    seconds, top = record.get("deadline"), record.get("top")
    certificate = record.get("certificate", False)
    if seconds is None:
        seconds = limits.deadline
    elif not _number(seconds) or not 0 < seconds <= limits.longest_deadline:
        raise invalid(
            f"body: deadline is {_shown(seconds)}; expected seconds above 0, at most {limits.longest_deadline:g}"
        )
    if top is not None and not (type(top) is int and 1 <= top <= limits.top):
        raise invalid(f"body: top is {_shown(top)}; expected a whole number from 1 to {limits.top}")
    if not isinstance(certificate, bool):
        raise invalid(f"body: certificate is {_shown(certificate)}; expected true or false")
    return RequestOptions(float(seconds), top, certificate)


def _parse(body: bytes) -> dict[str, Any]:
    """The object of a body; Refusal unless it is a JSON object."""
    try:
        record = loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise invalid(
            f"body: byte {body[error.start]:#04x} at {error.start} is not UTF-8; send UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise invalid(f'body: not JSON: {error}; expected an object such as {{"tokens": ["Ada"]}}') from None
    except DuplicateKey as error:
        raise invalid(f"body: {error}") from None
    except (ValueError, RecursionError):
        raise invalid("body: a number is too long, or lists are nested too deeply") from None
    if not isinstance(record, dict):
        raise invalid(f'body: {_shown(record)}; expected an object such as {{"tokens": ["Ada"]}}')
    return record


def _number(value: Any) -> bool:
    return type(value) is int or (isinstance(value, float) and not math.isnan(value))


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
