"""Candidate spans with probabilities, which may overlap, and the scores of their subsets without overlap."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formulations.arguments import number, whole
from formulations.errors import InferenceError
from formulations.labels.schemes import OUTSIDE
from formulations.messages import brief, counted
from ilpinfer.corpus.passages import Passage, token_offsets
from ilpinfer.corpus.scores import SequenceScores

CLIP = 1e-6
"""Probabilities are clipped to this distance from 0 and 1, so that the score of a span is finite."""
LABEL_KEYS = ("label", "entity_group", "entity", "entity_type")
Prior = float | Mapping[str, float]
"""The probability at which a span adds nothing to the score; by label, it is 0.5 for missing labels."""
OFFSETS = ("characters", "tokens")
"""Units of starts and ends."""
EXAMPLE = '{"start": 0, "end": 2, "label": "name", "score": 0.9}'


class CandidateError(InferenceError, ValueError):
    """Error for a candidate that cannot be used; the message names its place and value."""


@dataclass(frozen=True)
class Candidate:
    """A span that may be chosen: the tokens or characters from `start` to before `end`.

    Parameters
    ----------
    start, end : int
        Index of the first token and of the token after the last, from 0; of characters if a text is given.
    label : str
        Name of its field.
    score : float
        Its probability.

    Examples
    --------
    >>> round(Candidate(0, 2, "name", 0.8).log_odds(), 4)
    1.3863
    """

    start: int
    end: int
    label: str
    score: float

    def log_odds(self, prior: Prior = 0.5) -> float:
        """Score of choosing the span: the log odds of its probability minus the log odds of the prior.

        Parameters
        ----------
        prior : float or mapping of str to float, default 0.5
            The probability at which a span adds nothing, for all labels or by label.

        Returns
        -------
        float
            Nats.
        """
        return _logit(self.score) - _logit(_of_label(prior, self.label))


def _of_label(prior: Prior, label: str) -> float:
    return prior.get(label, 0.5) if isinstance(prior, Mapping) else prior


def _logit(p: float) -> float:
    p = min(max(p, CLIP), 1 - CLIP)
    return math.log(p) - math.log1p(-p)


def read_candidate(value: Any, number_: int, tokens: bool = False) -> Candidate:
    """A candidate from a dict, a tuple (start, end, label, score) or such an object; with `tokens`, spaCy spans count tokens."""
    where = f"candidate {number_}"
    if isinstance(value, Candidate):
        start, end, label, score = value.start, value.end, value.label, value.score
    elif isinstance(value, Mapping):
        name = next((key for key in LABEL_KEYS if key in value), "label")
        keys = ("start", "end", name, "score")
        absent = [key for key in keys if key not in value]
        if absent:
            raise CandidateError(f'{where}: no "{absent[0]}" in {brief(dict(value))}; expected {EXAMPLE}')
        start, end, label, score = (value[key] for key in keys)
    elif isinstance(value, list | tuple):
        if len(value) != 4:
            raise CandidateError(
                f"{where} has {counted(len(value), 'item')}; expected start, end, label and score"
            )
        start, end, label, score = value
    else:
        start, end, label, score = _of_object(value, where, tokens)
    try:
        first, after = whole(start, "start"), whole(end, "end")
        p = number(_without_rounding(score), "score", 0, 1)
    except (TypeError, ValueError) as error:
        raise CandidateError(f"{where}: {error}") from None
    if not isinstance(label, str) or not label or "/" in label or label == OUTSIDE:
        raise CandidateError(f"{where}: label {brief(label)}: expected a text without '/', other than O")
    if not 0 <= first < after:
        raise CandidateError(f"{where}: start {first} and end {after}: expected 0 <= start < end")
    return Candidate(first, after, label, p)


def _without_rounding(score: Any) -> Any:
    """A probability outside [0, 1] by at most single-precision rounding, clipped; other values unchanged."""
    if isinstance(score, bool | np.bool_) or not isinstance(score, float | int | np.number):
        return score
    inside = min(max(float(score), 0.0), 1.0)
    return inside if abs(inside - score) < CLIP else score


def listed(candidates: Iterable[Any], tokens: bool) -> list[Candidate]:
    """The candidates of a list, or of a spaCy span group with probabilities in `attrs["scores"]`."""
    attributes = getattr(candidates, "attrs", None)
    if isinstance(attributes, Mapping):
        group, scores = list(candidates), attributes.get("scores")
        if scores is None or len(scores) != len(group):
            raise CandidateError(
                f"doc.spans[{getattr(candidates, 'name', '')!r}].attrs['scores']: {'none' if scores is None else len(scores)}, for "
                f"{counted(len(group), 'span')}; expected a probability for each"
            )
        ends = ("start", "end") if tokens else ("start_char", "end_char")
        candidates = [
            (*(getattr(span, end) for end in ends), span.label_, float(p))
            for span, p in zip(group, scores, strict=True)
        ]
    return [read_candidate(each, n, tokens) for n, each in enumerate(candidates)]


def _of_object(value: Any, where: str, tokens: bool) -> tuple[Any, Any, Any, Any]:
    """Start, end, label and score of a spaCy span, which also has characters, or of a Presidio result."""
    if hasattr(value, "start_char"):
        score = (
            getattr(getattr(value, "_", None), "score", None) if not hasattr(value, "score") else value.score
        )
        ends = (value.start, value.end) if tokens else (value.start_char, value.end_char)
        label = value.label_
    else:
        ends = getattr(value, "start", None), getattr(value, "end", None)
        label = getattr(value, "entity_type", getattr(value, "label", None))
        score = getattr(value, "score", None)
    if None in (*ends, label, score):
        raise CandidateError(f"{where}: {brief(value)} has no start, end, label or score; expected {EXAMPLE}")
    return *ends, label, score


@dataclass(frozen=True)
class CandidateSet:
    """Distinct candidates; each has a level of its field without overlap, and its tokens the labels B, I, E or S of that level."""

    tokens: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    levels: tuple[int, ...]
    names: tuple[str, ...]
    prior: Prior = 0.5
    given: tuple[Candidate, ...] = ()
    duplicates: int = 0

    @classmethod
    def of(
        cls,
        tokens: Sequence[str],
        candidates: Sequence[Candidate],
        fields: Iterable[str] = (),
        prior: Prior = 0.5,
        given: Sequence[Candidate] | None = None,
    ) -> "CandidateSet":
        """The best-scored candidate of each place and label, and the candidates `given`; labels of `fields` always exist."""
        best = dict[tuple[int, int, str], int]()
        for n, each in enumerate(candidates):
            place = each.start, each.end, each.label
            if place not in best or each.score > candidates[best[place]].score:
                best[place] = n
        chosen = [candidates[best[place]] for place in sorted(best)]
        own = [(given or candidates)[best[place]] for place in sorted(best)]
        levels, ends = list[int](), dict[str, list[int]]()
        for each in chosen:
            taken = ends.setdefault(each.label, [])
            level = next((n for n, end in enumerate(taken) if end <= each.start), len(taken))
            taken[level : level + 1] = [each.end]
            levels.append(level + 1)
        names = [OUTSIDE]
        for field in dict.fromkeys([*fields, *sorted(ends)]):
            for level in range(1, max(1, len(ends.get(field, ()))) + 1):
                names += [_name(mark, field, level) for mark in "BIES"]
        repeated = len(candidates) - len(chosen)
        return cls(tuple(tokens), tuple(chosen), tuple(levels), tuple(names), prior, tuple(own), repeated)

    @property
    def fields(self) -> tuple[str, ...]:
        """The labels of candidates, and the labels that always exist."""
        return tuple(dict.fromkeys(name[2:].partition("/")[0] for name in self.names[1:]))

    def _labels(self, number: int) -> list[str]:
        each, level = self.candidates[number], self.levels[number]
        size = each.end - each.start
        marks = "S" if size == 1 else f"B{'I' * (size - 2)}E"
        return [_name(mark, each.label, level) for mark in marks]

    def labelling(self, chosen: Iterable[Candidate]) -> list[str]:
        """The labels (T,) for the chosen candidates."""
        number = {(each.start, each.end, each.label): n for n, each in enumerate(self.candidates)}
        labels = [OUTSIDE] * len(self.tokens)
        for each in chosen:
            labels[each.start : each.end] = self._labels(number[each.start, each.end, each.label])
        return labels

    def chosen(self, labels: Sequence[str]) -> list[Candidate]:
        """The candidates of a labelling (T,)."""
        return [self.candidates[n] for n in self._chosen(labels)]

    def original(self, labels: Sequence[str], *, nested: bool = False) -> tuple[Candidate, ...]:
        """The candidates of a labelling (T,) with their original offsets; with `nested`, labels are paths."""
        if not nested:
            return tuple(self.given[n] for n in self._chosen(labels))
        found, own = _nested_places(labels), zip(self.candidates, self.given, strict=True)
        return tuple(given for each, given in own if (each.start, each.end, each.label) in found)

    def _chosen(self, labels: Sequence[str]) -> Iterator[int]:
        for n, each in enumerate(self.candidates):
            own = self._labels(n)
            if labels[each.start] == own[0] and labels[each.end - 1] == own[-1]:
                yield n

    @property
    def scores(self) -> SequenceScores:
        number = {name: k for k, name in enumerate(self.names)}
        emissions = np.full((len(self.tokens), len(self.names)), -np.inf)
        emissions[:, 0] = 0.0
        for n, each in enumerate(self.candidates):
            ids = [number[name] for name in self._labels(n)]
            emissions[range(each.start, each.end), ids] = 0.0
            emissions[each.start, ids[0]] = each.log_odds(self.prior)
        mark = np.array([name[0] for name in self.names])
        track = np.append(0, np.arange(len(self.names) - 1) // 4 + 1)
        ended, begun = np.isin(mark, ("O", "E", "S")), np.isin(mark, ("O", "B", "S"))
        goes_on = (track[:, None] == track) & np.isin(mark, ("B", "I"))[:, None] & np.isin(mark, ("I", "E"))
        transitions = np.where(goes_on | (ended[:, None] & begun), 0.0, -np.inf)
        start, end = np.where(begun, 0.0, -np.inf), np.where(ended, 0.0, -np.inf)
        return SequenceScores(self.names, emissions, transitions, start=start, end=end, scheme="spans")


def _nested_places(labels: Sequence[str]) -> set[tuple[int, int, str]]:
    """Start, end and label of each span of labels that are paths, such as `I-firm/B-place`."""
    found, around = set[tuple[int, int, str]](), list[tuple[int, str]]()
    for t, label in enumerate([*labels, OUTSIDE]):
        levels = [] if label == OUTSIDE else label.split("/")
        goes_on = next((n for n, level in enumerate(levels) if level.startswith("B-")), len(levels))
        found |= {(start, t, field) for start, field in around[goes_on:]}
        around[goes_on:] = [(t, level[2:]) for level in levels[goes_on:]]
    return found


def _name(mark: str, field: str, level: int) -> str:
    return f"{mark}-{field}" if level == 1 else f"{mark}-{field}/{level}"


def without_overlap(offsets: Sequence[tuple[int, int]], cuts: Iterable[int]) -> list[tuple[int, int]]:
    """Token offsets, cut at the candidate boundaries inside tokens."""
    places, result, at = sorted(set(cuts)), list[tuple[int, int]](), 0
    for begin, end in offsets:
        while at < len(places) and places[at] <= begin:
            at += 1
        while at < len(places) and places[at] < end:
            result.append((begin, places[at]))
            begin, at = places[at], at + 1
        result.append((begin, end))
    return result


def on_tokens(
    candidates: Sequence[Candidate], text: str, offsets: Sequence[tuple[int, int]], *, cut: bool
) -> tuple[list[Candidate], list[tuple[int, int]]]:
    """Candidates converted from characters to tokens, and token offsets, cut at candidate boundaries if `cut` allows it."""
    ends = [_bounds(each, text, n) for n, each in enumerate(candidates)]
    if cut:
        offsets = without_overlap(offsets, (place for pair in ends for place in pair))
    first = {begin: t for t, (begin, _) in enumerate(offsets)}
    last = {end: t + 1 for t, (_, end) in enumerate(offsets)}
    result = []
    for n, (each, (begin, end)) in enumerate(zip(candidates, ends, strict=True)):
        if begin not in first or end not in last:
            shown = brief(text[begin:end])
            raise CandidateError(
                f"candidate {n}: {shown} at {begin}-{end} begins or ends inside a token; give the text"
            )
        result.append(replace(each, start=first[begin], end=last[end]))
    return result, list(offsets)


def _bounds(each: Candidate, text: str, n: int) -> tuple[int, int]:
    """The character range of a candidate without surrounding white space."""
    if each.end > len(text):
        raise CandidateError(f"candidate {n}: end {each.end}, but the text has {len(text)} characters")
    own = text[each.start : each.end]
    if not own.strip():
        raise CandidateError(f"candidate {n}: {brief(own)} at {each.start}-{each.end} has no token")
    begin = each.start + len(own) - len(own.lstrip())
    return begin, begin + len(own.strip())


def read_candidates(
    text: Any,
    candidates: Iterable[Any],
    *,
    offsets: str = "",
    threshold: float = 0.0,
    prior: Prior = 0.5,
    fields: Iterable[str] = (),
) -> tuple[CandidateSet, int]:
    """The candidates of a text or of tokens, and the number below the threshold; CandidateError or ValueError."""
    if hasattr(text, "spans") and hasattr(text, "text"):  # a document of spaCy
        text = [word.text for word in text]
    offsets = offsets or OFFSETS[not isinstance(text, str)]
    if offsets not in OFFSETS:
        raise ValueError(f"offsets is {brief(offsets)}; expected one of {', '.join(OFFSETS)}")
    if isinstance(text, str) and offsets == "tokens":
        raise ValueError("offsets of tokens need the tokens; give a list of them in place of the text")
    number(threshold, "threshold", 0, 1)
    if isinstance(prior, Mapping):
        for label, probability in prior.items():
            number(probability, f"prior of {brief(label)}", 0, 1)
    else:
        number(prior, "prior", 0, 1)
    every = listed(candidates, offsets == "tokens")
    kept = [each for each in every if each.score >= threshold]
    tokens, placed = () if isinstance(text, str) else tuple(text), kept
    if isinstance(text, str):
        placed, places = on_tokens(kept, text, token_offsets(text), cut=True)
        tokens = tuple(text[begin:end] for begin, end in places)
    elif offsets == "characters":
        passage = Passage.of_tokens(tokens)
        placed, _ = on_tokens(kept, passage.text, passage.offsets, cut=False)
    for n, each in enumerate(placed):
        if each.end > len(tokens):
            raise CandidateError(
                f"candidate {n}: end {each.end}, but the text has {counted(len(tokens), 'token')}"
            )
    return CandidateSet.of(tokens, placed, fields, prior, kept), len(every) - len(kept)
