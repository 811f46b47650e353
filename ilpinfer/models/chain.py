"""Log-linear chains: scores of starts, ends, steps and token attributes. HMMs and CRFs are special cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats, Integers
from formulations.messages import counted
from formulations.problem.token_scores import TokenScores, empty_trellis
from ilpinfer.models import plain_values
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.features import FeatureTemplate
from ilpinfer.models.crf.templates import read_template, template_source
from ilpinfer.models.crf.weights import ARRAYS, Weights, array_text, read_array, read_weights, weights_body
from ilpinfer.models.files import ModelFile
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.vocabulary import WordClasses

Base = HMM | CRF
KEYS = ("labels", "scheme", "template", "vocabulary", "attributes", "start", "end", *ARRAYS)
"""The keys of a model file."""


@dataclass(frozen=True, eq=False, repr=False)
class Chain(ModelFile):
    """Scores of the first label, the last label, each step, and each pair of attribute and label; nats.

    With a template, the attributes of a token are the template's features. With a vocabulary, a token has one attribute: its word, or the
    finest known class of an unknown word.
    """

    labels: LabelSet
    start: Floats  # (K,)
    end: Floats  # (K,)
    learnt: Weights
    reader: FeatureTemplate | WordClasses

    FORMAT: ClassVar[str] = "ilpinfer-chain"
    VERSION: ClassVar[int] = 1

    @classmethod
    def of(cls, model: Base) -> "Chain":
        """The chain of an HMM of first order, or of a CRF with a template."""
        none = np.zeros(len(model.labels))
        if isinstance(model, CRF):
            if model.template is None:
                raise ValueError("learning all weights needs a CRF with a feature template")
            return cls(model.labels, none, none, model.learnt, model.template)
        p, emissions = model.parameters, model.emissions
        learnt = Weights.of(
            model.labels.names, emissions.attributes, emissions.log_probabilities, p.transitions
        )
        return cls(model.labels, p.start, none if p.end is None else p.end, learnt, emissions.vocabulary)

    @property
    def size(self) -> str:
        return counted(len(self.learnt.attributes), "attribute")

    def __repr__(self) -> str:
        return f"Chain({counted(len(self.labels), 'label')}, {self.labels.notation}, {self.size})"

    def features(self, tokens: Sequence[str]) -> list[list[str]]:
        """Names of the attributes of each token; a template may also produce unknown ones."""
        if isinstance(self.reader, FeatureTemplate):
            return self.reader.features(tokens)
        names = (self.reader.attributes(token) for token in tokens)
        return [[next(name for name in each if name in self.known)] for each in names]

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.learnt.attributes)

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        if not len(tokens):
            return empty_trellis(self.labels)
        if self.token_scores is not None:
            return self.token_scores.trellis(tokens)
        ends: dict[str, Any] = {"start": self.start, "end": self.end, "labels": self.labels}
        return Trellis.from_emissions(
            self._emissions(tokens), self.learnt.transitions, **ends, tokens=tuple(tokens)
        )

    @cached_property
    def token_scores(self) -> TokenScores | None:
        """The scores of `trellis` by token; None with a template, which looks at several tokens."""
        if isinstance(self.reader, FeatureTemplate):
            return None
        return TokenScores(self.labels, self._emissions, self.learnt.transitions, self.start, self.end)

    def _emissions(self, tokens: Sequence[str]) -> Floats:
        return self.learnt.emissions(self.features(tokens), notice=False)

    def __reduce__(self) -> Any:
        return Chain.from_body, (self.body(),)

    def body(self) -> dict[str, Any]:
        words = isinstance(self.reader, WordClasses)
        return {
            "labels": list(self.labels.names),
            "scheme": self.labels.notation,
            "template": None if isinstance(self.reader, WordClasses) else template_source(self.reader),
            "vocabulary": dict(vars(self.reader)) if words else None,
            "attributes": list(self.learnt.attributes),
            "start": array_text(self.start),
            "end": array_text(self.end),
            **weights_body(self.learnt),
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> "Chain":
        plain_values.table(body, KEYS, "the model")
        labels = plain_values.label_set(body)
        start, end = (read_array(body[name], "<f8", name, forbids=True) for name in ("start", "end"))
        for name, array in (("start", start), ("end", end)):
            if len(array) != len(labels):
                raise ValueError(f"{name} has {len(array)} numbers; expected {len(labels)}")
        if (body["template"] is None) == (body["vocabulary"] is None):
            raise ValueError("template and vocabulary: expected one of them")
        words = body["template"] is None
        reader = WordClasses.from_body(body["vocabulary"]) if words else read_template(body["template"])
        return cls(labels, start, end, read_weights(body, labels, forbids=True), reader)


def summed(chains: Sequence[Chain], weights: Sequence[float]) -> Chain:
    """The weighted sum of chains with the same labels and the same reader; weights are above 0. -inf in one chain is -inf in the sum."""
    from scipy.sparse import coo_array

    first = chains[0]
    if any(each.labels != first.labels for each in chains):
        raise ValueError(f"chains with different labels cannot be added: {', '.join(map(repr, chains))}")
    parts = list(zip(chains, weights, strict=True))
    names = tuple(dict.fromkeys(chain.from_iterable(each.learnt.attributes for each in chains)))
    row = {name: number for number, name in enumerate(names)}
    rows = [
        np.repeat([row[name] for name in each.learnt.attributes], np.diff(each.learnt.begins))
        for each in chains
    ]
    targets = [each.learnt.targets for each in chains]
    values = np.concatenate([weight * each.learnt.weights for each, weight in parts])
    places: tuple[Integers, Integers] = (np.concatenate(rows).astype(np.int64), np.concatenate(targets))
    table = coo_array((values, places), shape=(len(names), len(first.labels))).tocsr()
    table.sort_indices()
    learnt = Weights(
        first.labels.names,
        names,
        table.indptr.astype(np.int64),
        table.indices.astype(np.int64),
        table.data,
        np.asarray(sum(weight * each.learnt.transitions for each, weight in parts)),
    )
    start, end = (
        np.asarray(sum(weight * getattr(each, name) for each, weight in parts)) for name in ("start", "end")
    )
    return Chain(first.labels, start, end, learnt, first.reader)
