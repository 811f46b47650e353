"""Token patterns compiled together: one lookup for all word lists, and one test for each token class."""

from collections.abc import Iterable, Sequence

from formulations.automata.components import Pattern
from formulations.caches import LONGEST_TEXT
from formulations.tokens.token_pattern import TokenPattern, in_class

Places = dict[str, tuple[int, ...]]
"""Numbers of patterns by word in their lists."""


class PatternTable:
    """Matches several patterns at once, with the same results as each pattern."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        plain = [(i, each) for i, each in enumerate(patterns) if isinstance(each, TokenPattern)]
        self._others = [(i, each) for i, each in enumerate(patterns) if not isinstance(each, TokenPattern)]
        folded = [(i, each) for i, each in plain if each.ignore_case]
        exact = [(i, each) for i, each in plain if not each.ignore_case]
        self._words = [_places((i, each.word_set) for i, each in some) for some in (folded, exact)]
        self._exceptions = [_places((i, each.exception_set) for i, each in some) for some in (folded, exact)]
        names = dict.fromkeys(each.token_class for _, each in plain if each.token_class)
        self._classes = [(name, tuple(i for i, each in plain if each.token_class == name)) for name in names]
        expressions = ((i, each.expression) for i, each in plain if each.expression is not None)
        self._expressions = [(i, each.matches, each.quick_match) for i, each in expressions]
        alone = {i for i, each in plain if not (each.words or each.token_class or each.pattern)}
        self._without_conditions = bytes(i in alone for i in range(len(patterns)))

    def held(self, token: str) -> bytes:
        """A byte for each pattern, 1 where the token matches."""
        held, lower = bytearray(self._without_conditions), token.lower()
        folded, exact = self._words
        for i in (*folded.get(lower, ()), *exact.get(token, ())):
            held[i] = 1
        for name, places in self._classes:
            if in_class(token, name):
                for i in places:
                    held[i] = 1
        folded, exact = self._exceptions
        left_out = (*folded.get(lower, ()), *exact.get(token, ()))
        is_short = len(token) <= LONGEST_TEXT
        for i, matches, quick in self._expressions:
            if not held[i] and i not in left_out:
                held[i] = quick(token) is not None if quick and is_short else matches(token)
        for i in left_out:
            held[i] = 0
        for i, pattern in self._others:
            held[i] = pattern.matches(token)
        return bytes(held)


def _places(lists: Iterable[tuple[int, frozenset[str]]]) -> Places:
    found = dict[str, list[int]]()
    for i, words in lists:
        for word in words:
            found.setdefault(word, []).append(i)
    return {word: tuple(places) for word, places in found.items()}
