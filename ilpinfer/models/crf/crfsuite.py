"""Model files of CRFsuite, read from their bytes."""

import struct
from pathlib import Path

import numpy as np

from formulations.labels.label_set import check_label_count
from ilpinfer.errors import ModelError
from ilpinfer.models.crf.weights import Weights
from ilpinfer.system.storage import read_bytes

_HEADER = struct.Struct("<4sI4s9I")
_FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
_NAMES = struct.Struct("<4s5I")
_STATE, _TRANSITION = 0, 1


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
