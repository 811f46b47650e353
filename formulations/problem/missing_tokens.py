"""Detection of rules that read tokens of trellises without tokens."""

from collections.abc import Iterator
from typing import Any, SupportsIndex


class NoTokens(ValueError):
    """A rule or feature that looks at tokens, on a sequence that has none; `way` says how to give tokens."""

    def __init__(self, rule: str, way: str = "give it tokens, or leave the rule out") -> None:
        super().__init__(rule, way)
        self.rule, self.way = rule, way

    def __str__(self) -> str:
        return f"{self.rule}: it looks at tokens, but the sequence has none; {self.way}"


class MissingTokens(tuple[str, ...]):
    """Empty texts in place of tokens, which record whether one was read."""

    seen: bool = False

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        self.seen = True
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[str]:
        self.seen = True
        return super().__iter__()


def guard_tokens(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens; `MissingTokens` where all of them are empty."""
    return tokens if any(tokens) else MissingTokens(tokens)


def was_read(words: tuple[str, ...]) -> bool:
    """Whether a missing token was read since the last call."""
    if not isinstance(words, MissingTokens):
        return False
    seen, words.seen = words.seen, False
    return seen
