"""Distinct tokens, on which each condition is evaluated once, and classes of tokens in the context of their neighbours."""

from collections.abc import Iterable, Sequence
from itertools import islice
from operator import itemgetter
from sys import byteorder

import numpy as np

from formulations.automata.components import Condition, Literal, Pattern
from formulations.dtypes import Booleans, Integers, Small
from formulations.errors import InferenceError
from formulations.problem.pattern_table import PatternTable

MOST_TOKENS = 1 << 16  # largest number of distinct tokens of a vocabulary; then a new vocabulary is created
MOST_CHARACTERS = 1 << 24  # largest number of characters of these tokens
MOST_CLASSES = 1 << 22  # places in the table of classes for one purpose


class TooManyClasses(InferenceError, ValueError):
    """Conditions distinguish too many classes of tokens."""


class Vocabulary:
    """Distinct tokens, and the truth of the conditions of each purpose; only one thread at a time may add tokens.

    The class of a token determines which conditions of a purpose hold there. It is looked up by the numbers of the previous token, the
    token itself and the next token; 0 is no token. `changes` is updated before the arrays that others copy, so that interrupts
    between any two statements are harmless.
    """

    def __init__(self, purposes: Sequence[Sequence[Condition]]) -> None:
        self.purposes = [tuple(conditions) for conditions in purposes]
        literals = [literal for each in self.purposes for condition in each for literal in condition]
        patterns = (literal.pattern for literal in literals if literal.pattern is not None)
        self.patterns: list[Pattern] = list(dict.fromkeys(patterns))
        self._table = PatternTable(self.patterns)
        self._place = {pattern: i for i, pattern in enumerate(self.patterns)}
        self._read = [[self._patterns_at(at, each) for at in (-1, 0, 1)] for each in self.purposes]
        self._row: dict[str, bytes] = {}
        """The row of each token as bytes of an int64, since joining bytes is faster."""
        self._characters = 0
        self.changes = 0
        """Number of changes of arrays that others may have copied."""
        self.numbers = np.zeros((64, len(self.purposes), 3), np.int32)
        self._numbers: dict[bytes, Small] = {}
        """Numbers by purpose and place, cached by the truth of patterns."""
        self._kinds: list[list[dict[bytes, int]]] = [[{}, {}, {}] for _ in self.purposes]
        self._bits: list[list[list[bytes]]] = [[[], [], []] for _ in self.purposes]
        self.classes = [np.full((2, 2, 2), -1, np.int32) for _ in self.purposes]
        self.truths: list[list[tuple[bool, ...]]] = [[] for _ in self.purposes]
        self._known: list[dict[tuple[bool, ...], int]] = [{} for _ in self.purposes]

    def _patterns_at(self, place: int, conditions: Iterable[Condition]) -> list[int]:
        """Numbers of the patterns of conditions at a place of the window."""
        literals = (literal for condition in conditions for literal in condition if literal.place == place)
        return sorted({self._place[literal.pattern] for literal in literals if literal.pattern is not None})

    def __len__(self) -> int:
        return len(self._row)

    @property
    def full(self) -> bool:
        """Whether the limit on tokens or characters is reached."""
        return len(self._row) >= MOST_TOKENS or self._characters >= MOST_CHARACTERS

    def known_rows(self, tokens: Sequence[str]) -> Integers | None:
        """(T,) the row of each token; None if one is new."""
        try:
            result = itemgetter(*tokens)(self._row)
        except KeyError:
            return None
        return np.frombuffer(bytearray().join(result if len(tokens) > 1 else (result,)), np.int64)

    def rows(self, tokens: Sequence[str]) -> Integers:
        known = self.known_rows(tokens)
        if known is None:
            self._enter(token for token in dict.fromkeys(tokens) if token not in self._row)
            return self.rows(tokens)
        return known

    def tokens_from(self, row: int) -> list[str]:
        """The tokens from a row on."""
        return list(islice(reversed(self._row), len(self._row) - row))[::-1]

    def _enter(self, tokens: Iterable[str]) -> None:
        """Add new, distinct tokens; if one fails, the tokens before it are added."""
        new, numbers = dict[str, bytes](), list[Small]()
        try:
            for row, token in enumerate(tokens, len(self._row)):
                if not isinstance(token, str):
                    raise TypeError(f"token {token!r} is no text")
                held = self._table.held(token)
                known = self._numbers.get(held)
                if known is None:
                    known = self._numbers[held] = self._number(np.frombuffer(held, bool))
                numbers.append(known)
                new[token] = row.to_bytes(8, byteorder)
        finally:
            self._add(new, numbers[: len(new)])  # an interrupt may occur in between

    def _add(self, new: dict[str, bytes], numbers: list[Small]) -> None:
        begin, end = len(self._row), len(self._row) + len(new)
        if end > len(self.numbers):
            self.changes += 1
            more = np.zeros((max(end, len(self.numbers)), *self.numbers.shape[1:]), np.int32)
            self.numbers = np.concatenate([self.numbers, more])
        if new:
            self.numbers[begin:end] = numbers
        self._characters += sum(map(len, new))
        self._row.update(new)

    def _number(self, held: Booleans) -> Small:
        """The numbers, by purpose and place, of tokens that match exactly these patterns."""
        numbers = np.zeros(self.numbers.shape[1:], np.int32)
        for purpose, read in enumerate(self._read):
            for place, patterns in enumerate(read):
                kinds, bits = self._kinds[purpose][place], held[patterns].tobytes()
                if bits not in kinds:
                    self._bits[purpose][place].append(bits)
                    kinds[bits] = len(self._bits[purpose][place])
                numbers[purpose, place] = kinds[bits]
        return numbers

    def meet(self, purpose: int, before: int, own: int, after: int) -> int:
        """The class of a token for a purpose, from the numbers of the three tokens; TooManyClasses beyond `MOST_CLASSES`."""
        table = self.classes[purpose]
        key = before, own, after
        if any(number >= size for number, size in zip(key, table.shape, strict=True)):
            table = self.classes[purpose] = _larger(table, key)
        if table[key] < 0:
            truth = self._truth(purpose, key)
            known = self._known[purpose]
            if truth not in known:
                self.truths[purpose].append(truth)
                known[truth] = len(self.truths[purpose]) - 1
            self.changes += 1
            table[key] = known[truth]
        return int(table[key])

    def class_of(self, purpose: int, rows: Integers) -> Integers:
        """(T,) the classes of a sequence's tokens for a purpose."""
        numbers = self.numbers[rows, purpose]
        T = len(rows)
        before, after = np.zeros(T, np.int64), np.zeros(T, np.int64)
        before[1:], after[:-1] = numbers[:-1, 0], numbers[1:, 2]
        table, places = self.classes[purpose], (before, numbers[:, 1], after)
        if all(own.max() < size for own, size in zip(places, table.shape, strict=True)):
            met: Integers = table[places].astype(np.int64)
            if met.min() >= 0:
                return met
        keys = list(zip(before.tolist(), numbers[:, 1].tolist(), after.tolist(), strict=True))
        known = {key: self.meet(purpose, *key) for key in dict.fromkeys(keys)}
        return np.array([known[key] for key in keys], np.int64)

    def _truth(self, purpose: int, key: tuple[int, int, int]) -> tuple[bool, ...]:
        held: list[dict[int, bool] | None] = []
        for place, number in enumerate(key):
            read, bits = self._read[purpose][place], self._bits[purpose][place]
            there = np.frombuffer(bits[number - 1], bool).tolist() if number else None
            held.append(None if there is None else dict(zip(read, there, strict=True)))
        return tuple(all(self._holds(literal, held) for literal in c) for c in self.purposes[purpose])

    def _holds(self, literal: Literal, held: list[dict[int, bool] | None]) -> bool:
        there = held[literal.place + 1]
        if literal.pattern is None or there is None:
            return literal.pattern is None and (there is not None) == literal.holds
        return there[self._place[literal.pattern]] == literal.holds


def _larger(table: Small, key: Sequence[int]) -> Small:
    shape = [size if number < size else 2 * number for number, size in zip(key, table.shape, strict=True)]
    if np.prod(shape) > MOST_CLASSES:
        raise TooManyClasses(f"more than {MOST_CLASSES} classes of tokens")
    larger = np.full(shape, -1, np.int32)
    larger[tuple(slice(size) for size in table.shape)] = table
    return larger
