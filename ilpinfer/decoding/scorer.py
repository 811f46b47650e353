"""The interface of a decoder's model."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from formulations import Trellis
from formulations.arguments import path, texts
from formulations.labels.label_set import LabelSet, label_set
from formulations.messages import brief
from formulations.problem.token_scores import empty_trellis
from ilpinfer.core.rule_compiler import shown


class Scorer(Protocol):
    """The part of a model that decoding needs."""

    def trellis(self, tokens: tuple[str, ...]) -> Trellis:
        """Scores of T tokens, in nats."""
        ...


def scorer_of(model: Any) -> Scorer | None:
    """The model; read from a file if it is a path."""
    if isinstance(model, str | Path):
        files = import_module("ilpinfer.models.files")  # models are a layer above decoding
        return cast(Scorer, files.load_model(path(model, "model")))
    if model is not None and not callable(getattr(model, "trellis", None)):
        raise ValueError(
            f"model is {brief(model)}; expected a model, which has trellis(tokens), or the path of one"
        )
    return cast(Scorer | None, model)


def known_labels(labels: LabelSet | Sequence[str] | None, model: Scorer | None) -> LabelSet | None:
    """The labels that are known before the first trellis."""
    labels = None if labels is None else label_set(labels)
    own = getattr(model, "labels", None)
    own = own if isinstance(own, LabelSet) else None
    if labels is not None and own is not None and labels != own:
        raise ValueError(f"the labels {shown(labels)} are not the model's, {shown(own)}; leave them out")
    return own if labels is None else labels


def trellis_of(model: Scorer, tokens: Sequence[str]) -> Trellis:
    """The trellis of T texts; if the model can do so, its scores are computed when they are first read."""
    scores, labels = getattr(model, "token_scores", None), getattr(model, "labels", None)
    if scores is not None:
        return cast(Trellis, scores.trellis(tokens))
    words = texts(tokens, "tokens")
    return model.trellis(words) if words or not isinstance(labels, LabelSet) else empty_trellis(labels)
