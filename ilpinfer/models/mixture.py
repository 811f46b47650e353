"""Models of which each parameter is the weighted mean of other models' parameters."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.arguments import one_of
from formulations.dtypes import Floats
from formulations.messages import counted
from formulations.problem.token_scores import TokenScores, empty_trellis
from ilpinfer.models import plain_values
from ilpinfer.models.combination import combine
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import ModelFile, model_of, record_of
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.hmm.model import CountedHMM
from ilpinfer.models.hmm.second_order import PairParameters

Part = HMM | SecondOrderHMM | CRF


MIXINGS: Mapping[str, Callable[[Sequence[Floats], Sequence[float]], Floats]] = {
    "probabilities": lambda parts, weights: np.asarray(
        np.logaddexp.reduce([part + math.log(w) for part, w in zip(parts, weights, strict=True)])
    ),
    "scores": lambda parts, weights: np.asarray(
        sum(w * part for part, w in zip(parts, weights, strict=True))
    ),
}
"""Means of arrays of log parameters (nats): of the parameters, or of their logarithms."""


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(ModelFile):
    """λ = Σ_m w_m λ_m, where λ are probabilities, or scores whose means are not normalised (Chang et al. 2007, Figure 2, line 9)."""

    models: tuple[Part, ...]
    weights: tuple[float, ...]
    mixing: str = "probabilities"

    FORMAT: ClassVar[str] = "ilpinfer-mixture"
    VERSION: ClassVar[int] = 1

    def __post_init__(self) -> None:
        one_of(self.mixing, "mixing", MIXINGS)
        if not self.models or len(self.models) != len(self.weights):
            raise ValueError(
                f"{counted(len(self.weights), 'weight')} for {counted(len(self.models), 'model')}; expected one each"
            )
        if min(self.weights) <= 0 or not math.isclose(sum(self.weights), 1):
            raise ValueError(f"weights {self.weights}; expected numbers above 0 that add up to 1")
        first = self.models[0]
        for number, model in enumerate(self.models):
            if type(model) is not type(first) or model.labels != first.labels:
                raise ValueError(f"model {number} is {model}, but model 0 {first}: they cannot be mixed")
        if isinstance(first, CRF) and self.mixing != "scores":
            raise ValueError('conditional random fields have no probabilities to mix: take mixing "scores"')
        ends = {isinstance(model, CountedHMM) and model.end is None for model in self.models}
        if len(ends) > 1:
            raise ValueError("models with an end and without one cannot be mixed")

    @property
    def labels(self) -> LabelSet:
        return self.models[0].labels

    @property
    def size(self) -> str:
        sizes = dict.fromkeys(model.size for model in self.models)
        return f"{counted(len(self.models), 'model')} of {' and '.join(sizes)}"

    def __repr__(self) -> str:
        return f"Mixture({', '.join(map(repr, self.models))}, {self.weights}, {self.mixing})"

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        if self.token_scores is not None:
            return self.token_scores.trellis(tokens)
        if not len(tokens):
            return empty_trellis(self.labels)
        if self._second_order is not None:
            return self._second_order.trellis(self._emissions(tokens), self.labels, tokens)
        return combine([model.trellis(tokens) for model in self.models], self.weights)

    @cached_property
    def token_scores(self) -> TokenScores | None:
        parts = [model.parameters for model in self.models if isinstance(model, HMM)]
        if not parts:
            return None
        start, steps = self._mean([p.start for p in parts]), self._mean([p.transitions for p in parts])
        ends = [p.end for p in parts if p.end is not None]
        return TokenScores(self.labels, self._emissions, steps, start, self._mean(ends) if ends else None)

    @cached_property
    def _second_order(self) -> PairParameters | None:
        parts = [model.parameters for model in self.models if isinstance(model, SecondOrderHMM)]
        if not parts:
            return None
        names = ("start", "transitions", "stay", "end")
        return PairParameters(*(self._mean([getattr(p, name) for p in parts]) for name in names))

    def _mean(self, parts: Sequence[Floats]) -> Floats:
        return MIXINGS[self.mixing](parts, self.weights)

    def _emissions(self, tokens: Sequence[str]) -> Floats:
        parts = [m.emissions.scores(tokens) for m in self.models if not isinstance(m, CRF)]
        return self._mean(parts)

    def body(self) -> dict[str, Any]:
        models = [record_of(model) for model in self.models]
        return {"mixing": self.mixing, "weights": list(self.weights), "models": models}

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> "Mixture":
        plain_values.table(body, ("mixing", "weights", "models"), "the model")
        weights, records = body["weights"], body["models"]
        if not isinstance(weights, list) or not isinstance(records, list):
            raise ValueError("weights and models: expected lists")
        models = []
        for number, record in enumerate(records):
            model = model_of(record, f"model {number}")
            if not isinstance(model, Part):
                raise ValueError(f"model {number}: a mixture of mixtures")
            models.append(model)
        numbers = tuple(plain_values.count(weight, "weights") for weight in weights)
        return cls(tuple(models), numbers, plain_values.text(body["mixing"], "mixing"))
