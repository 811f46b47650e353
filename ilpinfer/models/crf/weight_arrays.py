"""Weights of conditional random fields as plain values: arrays of little-endian numbers in base64."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet
from ilpinfer.models import plain_values
from ilpinfer.models.crf.crfsuite import Weights

ARRAYS = {"begins": "<i8", "targets": "<i8", "weights": "<f8", "transitions": "<f8"}
KEYS = ("labels", "scheme", "template", "without_line_breaks", "attributes", *ARRAYS)
"""The keys of a model file."""


def weights_body(weights: Weights) -> dict[str, str]:
    """The arrays of weights, as texts."""
    return {name: _text(getattr(weights, name), kind) for name, kind in ARRAYS.items()}


def read_weights(body: Mapping[str, Any], labels: LabelSet) -> Weights:
    """The weights of a model file; ValueError where they do not fit the labels and each other."""
    attributes = plain_values.texts(body["attributes"], "attributes")
    arrays: dict[str, Any] = {name: _array(body[name], kind, name) for name, kind in ARRAYS.items()}
    _check_arrays(arrays, len(labels), len(attributes))
    arrays["transitions"] = arrays["transitions"].reshape(len(labels), len(labels))
    return Weights(labels.names, attributes, **arrays)


def _text(array: NDArray[Any], kind: str) -> str:
    return base64.b64encode(array.astype(kind).tobytes()).decode("ascii")


def _array(value: Any, kind: str, what: str) -> NDArray[Any]:
    text = plain_values.text(value, what)
    try:
        result = np.frombuffer(base64.b64decode(text, validate=True) or bytearray(), kind)
    except ValueError as error:
        raise ValueError(f"{what}: not an array in base64 ({error})") from None
    if not np.isfinite(result).all():
        raise ValueError(f"{what} holds a number that is not finite")
    return result.astype(result.dtype.newbyteorder("="))


def _check_arrays(arrays: Mapping[str, NDArray[Any]], K: int, A: int) -> None:
    """Raise ValueError where arrays do not fit K labels, A attributes and each other."""
    begins, targets = arrays["begins"], arrays["targets"]
    sizes = {"begins": A + 1, "weights": len(targets), "transitions": K * K}
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise ValueError(f"{name} has {len(arrays[name])} numbers; expected {size}")
    if begins[0] != 0 or begins[-1] != len(targets) or (np.diff(begins) < 0).any():
        raise ValueError(f"begins has to rise from 0 to the {len(targets)} weights")
    if ((targets < 0) | (targets >= K)).any():
        raise ValueError(f"targets has to hold numbers of labels, from 0 to {K - 1}")
