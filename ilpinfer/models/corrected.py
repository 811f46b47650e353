"""Models whose scores have corrections that were learnt under inference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats, Integers
from ilpinfer.models import plain_values
from ilpinfer.models.combination import combine
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import ModelFile, model_of, record_of
from ilpinfer.models.hmm import HMM

Base = HMM | CRF


def attributes_of(base: Base) -> tuple[str, ...]:
    """What a model's scores of tokens depend on: the words of an HMM, the attributes of a CRF."""
    return base.words if isinstance(base, HMM) else base.learnt.attributes


def reader_of(base: Base) -> Callable[[Sequence[str]], list[Integers]]:
    """A function that has the rows of each token in `attributes_of`; none for a word that is not known."""
    row = {name: number for number, name in enumerate(attributes_of(base))}

    def rows(tokens: Sequence[str]) -> list[Integers]:
        if isinstance(base, HMM):
            names = [[base.emissions.vocabulary.word(token)] for token in tokens]
        else:
            names = base.features(tokens)
        return [np.array([row[name] for name in each if name in row], np.int64) for each in names]

    return rows


@dataclass(frozen=True, eq=False, repr=False)
class Corrected(ModelFile):
    """A model with a correction of each of its scores, nats: of starts and ends (K,), steps (K, K) and attributes (A, K)."""

    base: Base
    start: Floats
    end: Floats
    transitions: Floats
    attributes: Floats

    FORMAT: ClassVar[str] = "ilpinfer-corrected"
    VERSION: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if isinstance(self.base, CRF) and self.base.template is None:
            raise ValueError("scores can be corrected of a crf with a template")

    @property
    def labels(self) -> LabelSet:
        return self.base.labels

    @property
    def size(self) -> str:
        return f"{self.base.size}, corrected"

    def __repr__(self) -> str:
        return f"Corrected({self.base!r})"

    @cached_property
    def _rows(self) -> Callable[[Sequence[str]], list[Integers]]:
        return reader_of(self.base)

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        return self.correct(self.base.trellis(tokens), self._rows(tokens))

    def correct(self, trellis: Trellis, rows: Sequence[Integers], more: Floats | None = None) -> Trellis:
        """The base's trellis with the corrections, and more scores of tokens (T, K), whose attributes are in these rows."""
        nodes = np.array([self.attributes[each].sum(axis=0) for each in rows])
        own = Trellis.from_emissions(
            nodes if more is None else nodes + more,
            self.transitions,
            start=self.start,
            end=self.end,
            labels=self.labels,
            tokens=trellis.tokens,
        )
        return combine([trellis, own])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_rows"}

    def body(self) -> dict[str, Any]:
        names = attributes_of(self.base)
        rows = np.flatnonzero(self.attributes.any(axis=1)).tolist()
        return {
            "base": record_of(self.base),
            "start": self.start.tolist(),
            "end": self.end.tolist(),
            "transitions": self.transitions.tolist(),
            "attributes": {names[row]: self.attributes[row].tolist() for row in rows},
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> "Corrected":
        plain_values.table(body, ("base", "start", "end", "transitions", "attributes"), "the model")
        base = model_of(body["base"], "base")
        if not isinstance(base, Base):
            raise ValueError("base: expected an hmm or a crf")
        K, row = len(base.labels), {name: number for number, name in enumerate(attributes_of(base))}
        given = body["attributes"]
        if not isinstance(given, dict) or not given.keys() <= row.keys():
            raise ValueError("attributes: expected an object of corrections, by names that the base has")
        attributes = np.zeros((len(row), K))
        for name, values in given.items():
            attributes[row[name]] = plain_values.numbers(values, (K,), f"attributes: {name!r:.60}")
        start, end, steps = (
            plain_values.numbers(body[name], shape, name)
            for name, shape in (("start", (K,)), ("end", (K,)), ("transitions", (K, K)))
        )
        return cls(base, start, end, steps, attributes)
