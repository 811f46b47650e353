"""Sources of the scores of a spaCy document, as a trellis: of tokens, or of spans that may overlap."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats
from formulations.labels.label_set import Field
from formulations.labels.schemes import OUTSIDE
from formulations.messages import suggestion
from ilpinfer.adapters.decisions import AdapterError
from ilpinfer.corpus.arrays import as_floats
from ilpinfer.corpus.logits import from_logits

CERTAIN = 1e-6
"""Probabilities are clipped to this distance from 0 and 1, so that the score of a span is finite."""


class SpanLabels(LabelSet):
    """Labels of spans; overlapping spans of one field have labels of a second level, which rules do not see."""

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The fields of the first level, and `O`."""
        every = LabelSet(self.names, self.scheme).fields
        return {name: field for name, field in every.items() if "/" not in name}

    def with_optional_fields(self, fields: Iterable[str]) -> "SpanLabels":
        """The same labels, with more fields that may be absent."""
        return SpanLabels(self.names, self.scheme, self.optional_fields | frozenset(fields))


@dataclass(frozen=True)
class CandidateSpan:
    begin: int
    end: int
    field: str
    probability: float

    @property
    def weight(self) -> float:
        """log(p / (1 - p)) in nats, which the span adds to the score."""
        p = min(max(self.probability, CERTAIN), 1 - CERTAIN)
        return math.log(p) - math.log1p(-p)


def span_trellis(
    tokens: Sequence[str], candidates: Iterable[CandidateSpan], fields: Iterable[str] = ()
) -> Trellis:
    """The trellis of all sets of candidates that do not overlap, whose score is the sum of their log odds."""
    T, best = len(tokens), dict[tuple[int, int, str], CandidateSpan]()
    for each in candidates:
        _check(each, T)
        place = (each.begin, each.end, each.field)
        if place not in best or each.probability > best[place].probability:
            best[place] = each
    placed, levels = _levels([best[place] for place in sorted(best)])
    names = [OUTSIDE]
    for field in dict.fromkeys([*fields, *(place[2] for place in sorted(best, key=lambda p: p[2]))]):
        if "/" in field or not field:
            raise AdapterError(f"span label {field!r}: expected a text without '/'")
        names += [f"{mark}-{field}" for mark in "BI"]
        names += [f"{mark}-{field}/{mark}-{n}" for n in range(2, levels.get(field, 0) + 1) for mark in "BI"]
    number = {name: k for k, name in enumerate(names)}
    K, outside = len(names), number[OUTSIDE]
    start, edges = np.full(K, -np.inf), np.full((max(T - 1, 0), K, K), -np.inf)
    begins = [[(outside, 0.0)] for _ in range(T)]
    leaves = [[outside] for _ in range(T)]
    for each, level in placed:
        first, inner = (number[_name(mark, each.field, level)] for mark in "BI")
        begins[each.begin].append((first, each.weight))
        leaves[each.end - 1].append(first if each.end - each.begin == 1 else inner)
        for t in range(each.begin + 1, each.end):
            edges[t - 1, first if t - 1 == each.begin else inner, inner] = 0.0
    for k, weight in begins[0]:
        start[k] = weight
    for t in range(1, T):
        for before in leaves[t - 1]:
            for k, weight in begins[t]:
                edges[t - 1, before, k] = weight
    return Trellis(start, edges, SpanLabels(tuple(names), "paths"), tokens=tokens)


def _levels(candidates: Sequence[CandidateSpan]) -> tuple[list[tuple[CandidateSpan, int]], dict[str, int]]:
    """Each candidate with a level, from 1, on which those of a field do not overlap; and the levels of each field."""
    placed = list[tuple[CandidateSpan, int]]()
    ends = dict[str, list[int]]()
    for each in candidates:
        taken = ends.setdefault(each.field, [])
        level = next((n for n, end in enumerate(taken) if end <= each.begin), len(taken))
        taken[level : level + 1] = [each.end]
        placed.append((each, level + 1))
    return placed, {field: len(taken) for field, taken in ends.items()}


def _name(mark: str, field: str, level: int) -> str:
    return f"{mark}-{field}" if level == 1 else f"{mark}-{field}/{mark}-{level}"


def _check(each: CandidateSpan, T: int) -> None:
    where = f"span {each.begin} to {each.end} ({each.field})"
    if not 0 <= each.begin < each.end <= T:
        raise AdapterError(f"{where}: expected a span of the {T} tokens")
    if not 0 <= each.probability <= 1:
        raise AdapterError(f"{where} has probability {each.probability}; expected a number from 0 to 1")


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
    """Whether a source has scores of tokens, so that the names of labels are needed."""
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
            f"doc._.{name} is no extension; Doc.set_extension({name!r}, default=None) makes it one"
        )
    return getattr(doc._, name)


def token_trellis(doc: Any, given: Any, labels: LabelSet, scale: str) -> Trellis:
    """The trellis of scores of tokens, in which labels follow each other as the scheme allows."""
    rows = as_floats(given, f"scores of {doc.text[:30]!r}", 2)
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
        scheme=labels.scheme,
    )


def spans_trellis(doc: Any, key: str, fields: Sequence[str]) -> Trellis:
    """The trellis of a span group, whose `attrs["scores"]` are the probabilities of the spans."""
    if key not in doc.spans:
        known = suggestion(key, list(doc.spans))
        raise AdapterError(
            f"doc.spans has no {key!r}{known}; a component before this one has to put spans there"
        )
    group = doc.spans[key]
    scores = group.attrs.get("scores")
    if scores is None or len(scores) != len(group):
        count = "none" if scores is None else len(scores)
        raise AdapterError(
            f"doc.spans[{key!r}].attrs['scores']: {count}, for {len(group)} spans; expected a probability for each"
        )
    candidates = [
        CandidateSpan(span.start, span.end, span.label_, float(p))
        for span, p in zip(group, scores, strict=True)
    ]
    return span_trellis([token.text for token in doc], candidates, fields)


def beam_rows(doc: Any, ner: Any, labels: LabelSet, width: int, density: float, smoothing: float) -> Floats:
    """Log probabilities of BIO labels: sums over the parses of a recognizer's beam that have them, smoothed and normalised."""
    before = doc.ents
    doc.set_ents([], default="missing")  # every parse would keep existing entities
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
