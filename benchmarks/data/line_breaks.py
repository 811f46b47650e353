"""Conditional random fields that do not see line breaks (Trompper 2016, third condition)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from benchmarks.data.models import kept
from benchmarks.data.sets import Labelled
from formulations import LabelSet, Trellis
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.contexts import is_line_break
from ilpinfer.models.crf.features import Features, FeatureTemplate
from ilpinfer.models.crf.templates import load_template
from ilpinfer.models.crf.training import learn
from ilpinfer.models.files import load_model


@dataclass(frozen=True)
class BetweenBreaks:
    """A model of the tokens other than line breaks, whose neighbours are those across them."""

    crf: CRF
    template: FeatureTemplate

    @property
    def labels(self) -> LabelSet:
        return self.crf.labels

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Scores of the tokens other than line breaks, of which there is at least one."""
        covered = [tokens[t] for t in places(tokens)]
        return self.crf.trellis_of(features(self.template, tokens), covered)


def trained_between_breaks(examples: Sequence[Labelled], template: str, **parameters: Any) -> BetweenBreaks:
    own = load_template(template)
    observations = [(features(own, x), [labels[t] for t in places(x)]) for x, labels in examples]

    def write(path: Path) -> None:
        weights = learn(observations, parameters=parameters)
        CRF(LabelSet(weights.labels), weights).save(path)

    about = ["between breaks", CRF.VERSION, {"template": template, **parameters}, examples]
    return BetweenBreaks(cast(CRF, load_model(kept("crf", about, "json", write))), own)


def places(tokens: Sequence[str]) -> list[int]:
    return [t for t, token in enumerate(tokens) if not is_line_break(token)]


def features(template: FeatureTemplate, tokens: Sequence[str]) -> Features:
    """Features of the tokens other than line breaks; attributes of the sequence, such as `line-start`, are those of all tokens."""
    some = places(tokens)
    columns = {name: [column[t] for t in some] for name, column in template.columns(tokens).items()}
    return template.features_of([tokens[t] for t in some], columns, range(len(some)))


def with_breaks(tokens: Sequence[str], labels: Sequence[str], line_break: str) -> list[str]:
    """Labels of all tokens; a line break between tokens of one run in BIO goes on with it, and others have the label given."""
    result, some = [line_break] * len(tokens), places(tokens)
    for t, label in zip(some, labels, strict=True):
        result[t] = label
    for before, after in pairwise(some):
        inner = result[after]
        if inner.startswith("I-") and result[before] in (inner, f"B-{inner[2:]}"):
            result[before + 1 : after] = [inner] * (after - before - 1)
    return result
