"""Labelled sequences as arrays: positions of fields, and tokens that match patterns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Booleans, Integers
from formulations.labels.selectors import Selector
from formulations.tokens.token_pattern import TokenPattern


@dataclass(frozen=True)
class FieldRuns:
    """Where a field is, in N tokens of M sequences."""

    member: Booleans  # (N,)
    start: Integers  # (R,)
    end: Integers  # (R,)
    run_sequence: Integers  # (R,)
    first: Integers  # (M,)
    last: Integers  # (M,)
    runs: Integers  # (M,)

    @cached_property
    def present(self) -> Booleans:
        return self.runs > 0


@dataclass(frozen=True, eq=False)
class LabelArrays:
    labels: LabelSet
    ids: Integers  # (N,)
    lengths: Integers  # (M,)
    words: tuple[str, ...]
    tokens: Integers  # (N,) places in words

    @classmethod
    def of(cls, labels: LabelSet, texts: Sequence[Sequence[str]], ids: Sequence[Integers]) -> "LabelArrays":
        lengths = np.array([len(text) for text in texts], np.int64)
        index: dict[str, int] = {}
        tokens = [index.setdefault(token, len(index)) for text in texts for token in text]
        joined = np.concatenate([np.zeros(0, np.int64), *ids])
        return cls(labels, joined, lengths, tuple(index), np.array(tokens, np.int64))

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def sequence(self) -> Integers:
        """(N,) the sequence of each token."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def begin(self) -> Integers:
        """(M,) the first token of each sequence."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def finish(self) -> Integers:
        """(M,) the last token of each sequence."""
        return np.cumsum(self.lengths) - 1

    @cached_property
    def opens(self) -> Booleans:
        """(N,) whether a token is the first of its sequence."""
        result = np.zeros(len(self.ids), bool)
        result[self.begin] = True
        return result

    @cached_property
    def closes(self) -> Booleans:
        """(N,) whether a token is the last of its sequence."""
        result = np.zeros(len(self.ids), bool)
        result[self.finish] = True
        return result

    @cached_property
    def before(self) -> Integers:
        """(N,) the label before each token, plus one; 0 at the first token of a sequence."""
        result = np.concatenate([[0], self.ids[:-1] + 1])
        result[self.begin] = 0
        return result

    @cached_property
    def _fields(self) -> dict[Any, FieldRuns]:
        return {}

    def field(self, selector: Selector) -> FieldRuns:
        """Where a field, label or group is."""
        key = tuple(selector) if isinstance(selector, list) else selector
        if key not in self._fields:
            self._fields[key] = self._table(selector)
        return self._fields[key]

    def _table(self, selector: Selector) -> FieldRuns:
        field = self.labels.field(selector)
        member, begins = field.member[self.ids], field.begins[self.before, self.ids]
        goes_on = np.concatenate([member[1:] & ~begins[1:], [False]]) & ~self.closes
        start, end = np.flatnonzero(begins), np.flatnonzero(member & ~goes_on)
        owner, N = self.sequence[start], len(self.ids)
        first, last = np.full(len(self), N), np.full(len(self), -1)
        np.minimum.at(first, owner, start)
        np.maximum.at(last, owner, end)
        runs = np.bincount(owner, minlength=len(self))
        return FieldRuns(member, start, end, owner, first, last, runs)

    @cached_property
    def _matches(self) -> dict[TokenPattern, Booleans]:
        return {}

    def matching(self, pattern: TokenPattern) -> Booleans:
        """(N,) which tokens match."""
        if pattern not in self._matches:
            fits = np.array([pattern.matches(word) for word in self.words], bool)
            self._matches[pattern] = fits[self.tokens]
        return self._matches[pattern]
