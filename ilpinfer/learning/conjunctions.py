"""Clauses of several literals about a token and its neighbours (Fersini et al. 2014, section 3.1: disjunctive normal form)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from formulations import Rule
from formulations import constraints as C
from formulations.dtypes import Booleans
from ilpinfer.learning.sample import SHAPES, Candidates, Sample

OFFSETS = (0, -1, 1)
"""Offsets of literals: the token, the previous token, the next token."""
WORDS = "words"
Literal = tuple[int, str]
"""An offset, and a token class, or `WORDS` for one of several words."""
Clause = tuple[Literal, ...]
RIGHT_BEFORE: Clause = ((1, WORDS),)
NEXT_WORDS: Sequence[Clause] = [RIGHT_BEFORE, *(((0, shape), (1, WORDS)) for shape in SHAPES)]
"""The clauses of the family next-words."""


def clauses() -> Iterator[Clause]:
    """Clauses of one to three literals, at most one of them of words, shorter clauses first."""
    yield RIGHT_BEFORE
    for number in range(1, len(OFFSETS) + 1):
        for places in (each for each in combinations(OFFSETS, number) if each[0] == OFFSETS[0]):
            for kinds in product((WORDS, *C.TOKEN_CLASSES), repeat=number):
                if kinds.count(WORDS) <= 1:
                    yield tuple(zip(places, kinds, strict=True))


@dataclass(frozen=True, eq=False)
class Clauses:
    """Positions at which clauses hold, and the words and fields that each clause indicates."""

    sample: Sample
    holds: dict[Literal, Booleans]  # (N,) each
    shown: dict[Clause, dict[str, list[int]]]

    @classmethod
    def of(cls, sample: Sample) -> "Clauses":
        table = sample.table
        patterns: dict[str, Booleans] = {
            each: table.matching(C.tokens(token_class=each)) for each in C.TOKEN_CLASSES
        }
        holds = {}
        for name, here in {WORDS: sample.spelled, **patterns}.items():
            holds[0, name] = here
            holds[-1, name] = np.append(False, here[:-1]) & ~table.opens
            holds[1, name] = np.append(here[1:], False) & ~table.closes
        return cls(sample, holds, {})

    def places(self, clause: Clause) -> Booleans:
        result = np.ones(len(self.sample.table.ids), bool)
        for literal in clause:
            result &= self.holds[literal]
        return result

    def candidates(self) -> Candidates:
        """Base: the largest share of the field at positions where the clause holds with one literal removed."""
        for clause in clauses():
            where = np.flatnonzero(self.places(clause))
            if len(where) < self.sample.thresholds.word_support:
                continue
            near = [place for place, kind in clause if kind == WORDS]
            keys = self.sample.lower[1][where + near[0]] if near else np.zeros(len(where), np.int64)
            shorter = [tuple(x for x in clause if x is not left) for left in clause]
            among = [np.flatnonzero(self.places(each)) for each in shorter]
            shown = self.sample.choose(where, keys, *among)
            self.shown[clause] = shown
            if len(clause) > 1 and clause not in NEXT_WORDS:
                for field, numbers in shown.items():
                    more = self._unseen(clause, field, numbers)
                    if more:
                        base = max(self.sample.share(field, each) for each in among)
                        yield self._rule(clause, field, more), base

    def _unseen(self, clause: Clause, field: str, numbers: list[int]) -> list[int]:
        """The words (or the number of a clause of classes) for which no shorter clause indicates the field."""
        for size in range(1, len(clause)):
            for part in combinations(clause, size):
                seen = self.shown.get(part, {}).get(field, [])
                if seen and any(kind == WORDS for _, kind in part):
                    numbers = [number for number in numbers if number not in seen]
                elif seen:
                    return []
        return numbers

    def _rule(self, clause: Clause, field: str, numbers: list[int]) -> Rule:
        given: dict[int, dict[str, Any]] = {
            place: {"words": self.sample.spelt(numbers)} if kind == WORDS else {"token_class": kind}
            for place, kind in clause
        }
        before, after = (C.tokens(**given[place]) if place in given else None for place in (-1, 1))
        return C.tag_at(field, **given[0], previous=before, following=after)


def conjunctions(sample: Sample) -> Candidates:
    yield from Clauses.of(sample).candidates()
