"""Trellises of spaCy documents: scores of tokens, or of spans that may overlap."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats
from formulations.messages import suggestion
from formulations.score_numbers import one_notice, score_array
from ilpinfer.adapters.decisions import AdapterError
from ilpinfer.corpus.candidates import CandidateError, CandidateSet, listed
from ilpinfer.corpus.logits import from_logits

Source = str | Callable[[Any], Any]
KINDS = ("user_data", "extension", "spans", "beam")


def check_source(source: Source) -> Source:
    if callable(source):
        return source
    kind, colon, name = str(source).partition(":")
    if kind not in KINDS or not colon or not name:
        known = [f"{each}:NAME" for each in KINDS]
        raise AdapterError(f"no source {source!r}{suggestion(str(source), known)}, or a registered function")
    return source


def is_tokens(source: Source) -> bool:
    """Whether a source has scores of tokens; only these need names of labels."""
    return callable(source) or source.partition(":")[0] in ("user_data", "extension")


def token_rows(doc: Any, source: Source) -> Any:
    if callable(source):
        return source(doc)
    kind, _, name = source.partition(":")
    if kind == "user_data":
        if name not in doc.user_data:
            raise AdapterError(
                f"doc.user_data has no {name!r}; a component before this one has to put scores there"
            )
        return doc.user_data[name]
    if not doc.has_extension(name):
        raise AdapterError(
            f"doc._.{name} is not registered; register it with Doc.set_extension({name!r}, default=None)"
        )
    return getattr(doc._, name)


@one_notice
def token_trellis(doc: Any, given: Any, labels: LabelSet, scale: str) -> Trellis:
    """The trellis of token scores; steps that the scheme excludes are forbidden."""
    rows = score_array(given, f"scores of {doc.text[:30]!r}", 2)
    if rows.shape != (len(doc), len(labels)):
        raise AdapterError(
            f"scores of {doc.text[:30]!r} have shape {rows.shape}; expected {(len(doc), len(labels))}: tokens, labels"
        )
    step, last = (np.where(invalid, -np.inf, 0.0) for invalid in labels.invalid)
    words = [token.text for token in doc]
    return from_logits(
        rows,
        labels,
        tokens=words,
        scale=scale,
        transitions=step[1:],
        start=step[0],
        end=last,
    )


def spans_trellis(doc: Any, key: str, fields: Sequence[str]) -> Trellis:
    """The trellis of a span group with the probabilities of its spans in `attrs["scores"]`."""
    if key not in doc.spans:
        known = suggestion(key, list(doc.spans))
        raise AdapterError(
            f"doc.spans has no {key!r}{known}; a component before this one has to put spans there"
        )
    words = [token.text for token in doc]
    try:
        candidates = listed(doc.spans[key], tokens=True)
    except CandidateError as error:
        raise AdapterError(
            str(error) if str(error).startswith("doc.spans") else f"doc.spans[{key!r}]: {error}"
        ) from None
    group = CandidateSet.of(words, candidates, fields)
    return group.scores.trellis(group.names, words)


def beam_rows(doc: Any, ner: Any, labels: LabelSet, width: int, density: float, smoothing: float) -> Floats:
    """Log probabilities of BIO labels: sums over the parses in a recognizer's beam, smoothed and normalised."""
    before = doc.ents
    doc.set_ents([], default="missing")  # existing entities would be in every parse
    try:
        (beam,) = ner.beam_parse([doc], beam_width=width, beam_density=density)
        parses = ner.moves.get_beam_parses(beam)
    except BaseException:
        doc.ents = before
        raise
    shares = np.full((len(doc), len(labels)), smoothing)
    number = {name: k for k, name in enumerate(labels.names)}
    for probability, spans in parses:
        ids = np.zeros(len(doc), np.int64)
        for begin, end, field in spans:
            ids[begin:end] = number[f"I-{field}"]
            ids[begin] = number[f"B-{field}"]
        shares[np.arange(len(doc)), ids] += probability
    return np.asarray(np.log(shares) - np.log(shares.sum(axis=1, keepdims=True)))


def beam_labels(ner: Any, name: str) -> LabelSet:
    if not hasattr(ner, "beam_parse"):
        raise AdapterError(
            f"component {name!r} is {type(ner).__name__}, which has no beams; expected an EntityRecognizer"
        )
    if not ner.labels:
        raise AdapterError(f"component {name!r} has no labels; train it, or load one that is trained")
    return LabelSet(("O", *(f"{mark}-{field}" for field in ner.labels for mark in "BI")), "bio")


def check_positive(what: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise AdapterError(f"{what} is {value}; expected a number above 0")
    return value
