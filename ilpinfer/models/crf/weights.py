"""Weights of linear-chain CRFs: sums over the features of tokens, and base64 arrays in model files."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet
from formulations.dtypes import Floats, Integers
from formulations.messages import counted
from ilpinfer.models import plain_values
from ilpinfer.models.crf.attribute_check import warn_of_unknown


@dataclass(frozen=True)
class Weights:
    """The weights of a linear-chain model: λ of transitions and μ of attributes (Stokman 2011, eq. 17)."""

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    begins: Integers  # (A+1,)
    targets: Integers  # (N,)
    weights: Floats  # (N,)
    transitions: Floats  # (K, K)

    @classmethod
    def of(
        cls, labels: tuple[str, ...], attributes: tuple[str, ...], table: Floats, transitions: Floats
    ) -> "Weights":
        """The weights of a table (A, K), without zeros."""
        rows, targets = np.nonzero(table)
        begins = np.searchsorted(rows, np.arange(len(attributes) + 1))
        return cls(labels, attributes, begins, targets, table[rows, targets], transitions)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.labels), 'label')}, {counted(len(self.attributes), 'attribute')}, {counted(len(self.weights), 'weight')}"
        return f"Weights({sizes})"

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def emissions(self, features: Sequence[Iterable[str] | Mapping[str, Any]], *, notice: bool) -> Floats:
        """(T, K) sums of the weights of each token's features, nats; a notice if all features are unknown."""
        if any(isinstance(f, Mapping) for f in features):
            return self._weighted_sums(features)
        names = [f if isinstance(f, list | tuple) else list(f) for f in features]
        counts = np.fromiter(map(len, names), np.int64, len(features))
        absent = len(self.attributes)
        result = map(self._row.get, chain.from_iterable(names), repeat(absent))
        rows = np.fromiter(result, np.int64, int(counts.sum()))
        if notice and (rows == absent).all():
            warn_of_unknown(chain.from_iterable(names), self.attributes)
        return self._sum(rows, counts)

    def _weighted_sums(self, features: Sequence[Any]) -> Floats:
        from pycrfsuite import ItemSequence

        all_items = ItemSequence(features).items()
        items = [[(name, value) for name, value in f.items() if name in self._row] for f in all_items]
        if not any(items):
            warn_of_unknown(chain.from_iterable(all_items), self.attributes)
        counts = np.array([len(f) for f in items], np.int64)
        rows = np.array([self._row[name] for f in items for name, _ in f], np.int64)
        return self._sum(rows, counts, np.array([value for f in items for _, value in f], float))

    def _sum(self, rows: Integers, counts: Integers, values: Floats | None = None) -> Floats:
        """(T, K) sums of the weights of the attributes `rows`; `counts` (T,) is the number of attributes of each token."""
        T, K = len(counts), len(self.labels)
        begins, lengths = self._extents
        many = lengths[rows]
        ends = np.cumsum(many)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins[rows] - ends + many, many)
        owners = np.repeat(np.repeat(np.arange(T) * K, counts), many)
        weights = self.weights[places]
        if values is not None:
            weights = weights * np.repeat(values, many)
        return np.bincount(owners + self.targets[places], weights, T * K).astype(float).reshape(T, K)

    @cached_property
    def _row(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.attributes)}

    @cached_property
    def _extents(self) -> tuple[Integers, Integers]:
        """(A+1,) begin and number of the weights of each attribute; row A is an unknown attribute, with no weights."""
        return self.begins, np.append(np.diff(self.begins), 0)


ARRAYS = {"begins": "<i8", "targets": "<i8", "weights": "<f8", "transitions": "<f8"}
KEYS = ("labels", "scheme", "template", "attributes", *ARRAYS)
"""The keys of a model file."""


def weights_body(weights: Weights) -> dict[str, str]:
    return {name: array_text(getattr(weights, name), kind) for name, kind in ARRAYS.items()}


def array_text(array: NDArray[Any], kind: str = "<f8") -> str:
    return base64.b64encode(array.astype(kind).tobytes()).decode("ascii")


def read_weights(body: Mapping[str, Any], labels: LabelSet, forbids: bool = False) -> Weights:
    """The weights of a model file; with `forbids`, they may be -inf. ValueError for inconsistent sizes."""
    attributes = plain_values.texts(body["attributes"], "attributes")
    arrays: dict[str, Any] = {
        name: read_array(body[name], kind, name, forbids) for name, kind in ARRAYS.items()
    }
    _check_arrays(arrays, len(labels), len(attributes))
    arrays["transitions"] = arrays["transitions"].reshape(len(labels), len(labels))
    return Weights(labels.names, attributes, **arrays)


def read_array(value: Any, kind: str, what: str, forbids: bool = False) -> NDArray[Any]:
    """An array of finite numbers; with `forbids`, also -inf."""
    text = plain_values.text(value, what)
    try:
        result = np.frombuffer(base64.b64decode(text, validate=True) or bytearray(), kind)
    except ValueError as error:
        raise ValueError(f"{what}: not an array in base64 ({error})") from None
    if not (np.isfinite(result) | (forbids & (result == -np.inf))).all():
        raise ValueError(f"{what} holds a number that is not finite")
    return result.astype(result.dtype.newbyteorder("="))


def _check_arrays(arrays: Mapping[str, NDArray[Any]], K: int, A: int) -> None:
    """Raise ValueError for arrays of the wrong size for K labels and A attributes."""
    begins, targets = arrays["begins"], arrays["targets"]
    sizes = {"begins": A + 1, "weights": len(targets), "transitions": K * K}
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise ValueError(f"{name} has {len(arrays[name])} numbers; expected {size}")
    if begins[0] != 0 or begins[-1] != len(targets) or (np.diff(begins) < 0).any():
        raise ValueError(f"begins has to rise from 0 to the {counted(len(targets), 'weight')}")
    if ((targets < 0) | (targets >= K)).any():
        raise ValueError(f"targets has to hold numbers of labels, from 0 to {K - 1}")
