"""Spans with probabilities, which may overlap, as a trellis. Its labellings are the sets of spans without overlaps."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations import LabelSet, Trellis
from formulations.labels.label_set import Field
from formulations.labels.schemes import OUTSIDE
from ilpinfer.adapters.decisions import AdapterError

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
    return Trellis(start, edges, SpanLabels(tuple(names), "paths"), tokens)


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
