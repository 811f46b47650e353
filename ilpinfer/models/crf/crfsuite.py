"""Weights of linear-chain CRFs: model files of CRFsuite, read from their bytes, and arrays as base64 in plain values."""

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet
from formulations.dtypes import Floats, Integers
from formulations.labels.label_set import check_label_count
from formulations.messages import counted
from ilpinfer.errors import ModelError
from ilpinfer.models import plain_values
from ilpinfer.system.addresses import read_bytes

_HEADER = struct.Struct("<4sI4s9I")
_FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
_NAMES = struct.Struct("<4s5I")
_STATE, _TRANSITION = 0, 1


@dataclass(frozen=True)
class Weights:
    """The weights of a linear-chain model: λ of transitions and μ of attributes (Stokman 2011, eq. 17)."""

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    begins: Integers  # (A+1,)
    targets: Integers  # (N,)
    weights: Floats  # (N,)
    transitions: Floats  # (K, K)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.labels), 'label')}, {counted(len(self.attributes), 'attribute')}, {counted(len(self.weights), 'weight')}"
        return f"Weights({sizes})"


def read_crfsuite(path: str | Path) -> Weights:
    data = read_bytes(path, ModelError, "the model ")
    if data[:4] != b"lCRF" or data[8:12] != b"FOMC":
        raise ModelError(f"{path}: not a model of CRFsuite: it does not begin with lCRF")
    try:
        return _weights(data)
    except (struct.error, ValueError, IndexError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: damaged model of CRFsuite ({error}); train or copy it again") from None


def _weights(data: bytes) -> Weights:
    _, size, _, version, _, K, A, features, labels, attributes, _, _ = _HEADER.unpack_from(data)
    if version != 100:
        raise ValueError(f"version {version}, but 100 is expected")
    check_label_count(K)
    if size > len(data):
        raise ValueError(f"{len(data)} bytes of {size}")
    chunk, _, number = struct.unpack_from("<4sII", data, features)
    if chunk != b"FEAT":
        raise ValueError("no list of features")
    result = np.frombuffer(data, _FEATURE, number, features + 12)
    if not np.isfinite(result["weight"]).all():
        raise ValueError("a weight is not a finite number")
    state, step = (result[result["kind"] == kind] for kind in (_STATE, _TRANSITION))
    label_names, attribute_names = _names(data, labels, K), _names(data, attributes, A)
    transitions = np.zeros((K, K))
    transitions[step["source"], step["target"]] = step["weight"]
    if (state["source"] >= A).any() or (state["target"] >= K).any():
        raise ValueError("a feature of an unknown attribute or label")
    order = np.argsort(state["source"], kind="stable")
    begins = np.searchsorted(state["source"][order], np.arange(A + 1))
    return Weights(
        label_names,
        attribute_names,
        begins.astype(np.int64),
        state["target"][order].astype(np.int64),
        state["weight"][order].astype(np.float64),
        transitions,
    )


def _names(data: bytes, place: int, number: int) -> tuple[str, ...]:
    chunk, _, _, _, size, backward = _NAMES.unpack_from(data, place)
    if chunk != b"CQDB" or size < number:
        raise ValueError("a table of names is cut short")
    places = np.frombuffer(data, "<u4", number, place + backward)
    names = list[str]()
    room = len(data)
    for at in places.tolist():
        names.append(_name(data, place + at))
        room -= len(names[-1])
        if room < 0:
            raise ValueError("names overlap")
    return tuple(names)


def _name(data: bytes, place: int) -> str:
    _, length = struct.unpack_from("<II", data, place)
    name = data[place + 8 : place + 7 + length]
    if len(name) != length - 1:
        raise ValueError("a name is cut short")
    return name.decode("utf-8")


ARRAYS = {"begins": "<i8", "targets": "<i8", "weights": "<f8", "transitions": "<f8"}
KEYS = ("labels", "scheme", "template", "without_line_breaks", "attributes", *ARRAYS)
"""The keys of a model file."""


def weights_body(weights: Weights) -> dict[str, str]:
    arrays = {name: getattr(weights, name).astype(kind) for name, kind in ARRAYS.items()}
    return {name: base64.b64encode(array.tobytes()).decode("ascii") for name, array in arrays.items()}


def read_weights(body: Mapping[str, Any], labels: LabelSet) -> Weights:
    """The weights of a model file; ValueError where they do not fit the labels and each other."""
    attributes = plain_values.texts(body["attributes"], "attributes")
    arrays: dict[str, Any] = {name: _array(body[name], kind, name) for name, kind in ARRAYS.items()}
    _check_arrays(arrays, len(labels), len(attributes))
    arrays["transitions"] = arrays["transitions"].reshape(len(labels), len(labels))
    return Weights(labels.names, attributes, **arrays)


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
        raise ValueError(f"begins has to rise from 0 to the {counted(len(targets), 'weight')}")
    if ((targets < 0) | (targets >= K)).any():
        raise ValueError(f"targets has to hold numbers of labels, from 0 to {K - 1}")
