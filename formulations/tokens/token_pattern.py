"""Predicates on tokens: words, regular expressions, classes, exceptions; item numbers such as `1.`, `2.3`, `IV)`, `(b)`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

from formulations.arguments import iterable
from formulations.caches import LONGEST_TEXT, make_room, remembered
from formulations.messages import brief, suggestion
from formulations.parameters import (
    KEY,
    KINDS,
    ParameterError,
    ParameterType,
    Words,
    check_parameters,
    describe,
    described,
    each,
)
from formulations.tokens.regular_expressions import Expression

_FRAME = re.compile(r"[(\[]?(\d+(?:\.\d+)*|[A-Za-z]+)[.)\]]?")
_ROMAN = re.compile(r"M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}

ItemNumber = tuple[str, tuple[int, ...]]
"""A kind ("digits", "roman", "letter") and the numbers, outermost first."""


@remembered
def item_numbers(token: str) -> tuple[ItemNumber, ...]:
    """The readings of a token as an item number: none, one, or two for a letter that is also a roman numeral."""
    match = _FRAME.fullmatch(token)
    if match is None:
        return ()
    body = match[1]
    if body[0].isdigit():
        return (("digits", tuple(int(part) for part in body.split("."))),) if len(body) < 100 else ()
    result: list[ItemNumber] = []
    if body in (body.upper(), body.lower()) and _ROMAN.fullmatch(body.upper()):
        values = [_VALUES[c] for c in body.upper()]
        smaller = (v < w for v, w in zip(values, [*values[1:], 0], strict=True))
        result.append(("roman", (sum(-v if s else v for v, s in zip(values, smaller, strict=True)),)))
    if len(body) == 1 and body.isascii():
        result.append(("letter", (ord(body.lower()) - ord("a") + 1,)))
    return tuple(result)


def numbers_after(readings: tuple[ItemNumber, ...]) -> list[ItemNumber]:
    """The item numbers that may follow an item number with these readings: 1.2.1, 2 and 1.3 after 1.2."""
    result: list[ItemNumber] = []
    for kind, parts in readings:
        result.append((kind, (*parts, 1)))
        result += [(kind, (*parts[:k], parts[k] + 1)) for k in range(len(parts))]
    return result


def continues(before: str, token: str) -> bool:
    """Whether one item number follows another: 2 after 1; 1.3, 2 or 1.2.1 after 1.2."""
    after = item_numbers(token)
    return any(one in after for one in numbers_after(item_numbers(before)))


PUNCTUATION = r"[^\w\s]+|_+"
"""A token without a letter or digit."""

_PATTERNS = {
    "punctuation": PUNCTUATION,
    "number": r"\d+([.,/-]\d+)*",
    "year": r"(19|20)\d\d",
    "newline": r"@newline@|<NEWLINE>|NEWLINE|\n",
}
TokenClass = Literal[
    "", "punctuation", "number", "year", "newline", "capitalised", "uppercase", "lowercase", "numbering"
]
TOKEN_CLASSES: tuple[TokenClass, ...] = get_args(TokenClass)[1:]
"""The values of `token_class`."""
Texts = Annotated[Sequence[str], "Texts, compared with whole tokens."]
Regex = Annotated[str, "A regular expression that must match the whole token."]
IgnoreCase = Annotated[bool, "Whether letter case is ignored in words, pattern and exceptions."]
Class = Annotated[TokenClass, "A class of tokens, one of `TOKEN_CLASSES`."]
Exceptions = Annotated[Sequence[str], "Exceptions, words that do not match; alone, every other word matches."]


@remembered
def in_class(token: str, name: str) -> bool:
    if name in _PATTERNS:
        return re.fullmatch(_PATTERNS[name], token) is not None
    if name == "capitalised":
        return token[:1].isupper() and any(c.islower() for c in token[1:])
    if name == "uppercase":
        return token.isupper()
    if name == "lowercase":
        return any(c.isalpha() for c in token) and not any(c.isupper() for c in token)
    return bool(item_numbers(token))


@dataclass(frozen=True)
class TokenPattern:
    """Tokens that equal one of the words, match the whole regular expression, or are of the class.

    Examples
    --------
    >>> pattern = TokenPattern(["Inc"], pattern=r"Ltd\\.?")
    >>> [pattern.matches(token) for token in ("inc", "Ltd.", "limited")]
    [True, True, False]
    """

    words: Texts = ()
    pattern: Regex = ""
    ignore_case: IgnoreCase = True
    token_class: Class = ""
    unless: Exceptions = ()

    def __post_init__(self) -> None:
        check_parameters(self)
        Expression(self.pattern)

    def __bool__(self) -> bool:
        return bool(self.words or self.pattern or self.token_class or self.unless)

    def _fold_case(self, token: str) -> str:
        return token.lower() if self.ignore_case else token

    @cached_property
    def word_set(self) -> frozenset[str]:
        """The words, in lower case if case is ignored."""
        return frozenset(map(self._fold_case, self.words))

    @cached_property
    def exception_set(self) -> frozenset[str]:
        """As `word_set`, for exceptions."""
        return frozenset(map(self._fold_case, self.unless))

    @cached_property
    def expression(self) -> Expression | None:
        return Expression(self.pattern, self.ignore_case) if self.pattern else None

    @cached_property
    def _cache(self) -> dict[str, bool]:
        return {}

    def matches(self, token: str) -> bool:
        """Whether a token matches.

        Parameters
        ----------
        token : str
            The text of a token.

        Returns
        -------
        bool
            True if the token matches.
        """
        result = self._cache.get(token)
        if result is None:
            result = self._fits(token)
            if len(token) <= LONGEST_TEXT:
                make_room(self._cache)
                self._cache[token] = result
        return result

    def _fits(self, token: str) -> bool:
        word = self._fold_case(token)
        if word in self.exception_set:
            return False
        if word in self.word_set or (self.token_class and in_class(token, self.token_class)):
            return True
        if self.expression is not None:
            return self.expression.matches(token)
        return not (self.words or self.token_class)

    def __str__(self) -> str:
        return self.shown()

    def shown(self, quotes: str = "") -> str:
        """A description of the pattern, with words in quotes.

        Parameters
        ----------
        quotes : str, optional
            Sign before and after each word.

        Returns
        -------
        str
            Words, expression, class and exceptions.
        """
        shown = [
            *([_shown(self.words, quotes)] if self.words else []),
            *([f"/{self.pattern}/"] if self.pattern else []),
            *([self.token_class] if self.token_class else []),
            *([f"not {_shown(self.unless, quotes)}"] if self.unless else []),
        ]
        return ", ".join(shown)


def _shown(words: Sequence[str], quotes: str) -> str:
    return words.shown(quotes) if isinstance(words, Words) else str(words)


def tokens(
    words: Sequence[str] = (),
    pattern: str = "",
    *,
    ignore_case: bool = True,
    token_class: TokenClass = "",
    unless: Sequence[str] = (),
) -> TokenPattern:
    """A predicate on tokens; see `TokenPattern`.

    Returns
    -------
    TokenPattern
        The predicate.

    Raises
    ------
    ValueError
        If nothing is given, and for an invalid regular expression.

    Examples
    --------
    >>> tokens(["Inc", "Ltd"]).matches("ltd")
    True
    >>> tokens(token_class="year", unless=["1900"]).matches("1900")
    False
    """
    result = TokenPattern(words, pattern, ignore_case, token_class, unless)
    if not result:
        raise ValueError("names no token: give words, a pattern, a token class, or what it is not")
    return result


describe(TokenPattern)
tokens.__doc__ = described(TokenPattern, tokens.__doc__)


def as_pattern(value: Any, what: str) -> TokenPattern:
    """A token pattern from a token pattern, a table of its parameters, or a word."""
    if isinstance(value, TokenPattern):
        return value
    if isinstance(value, str) and value:
        return TokenPattern((value,))
    if not isinstance(value, Mapping):
        expected = "a word, or a table with words, pattern, token_class or unless"
        raise ParameterError(f"{what} is {brief(value)}; expected {expected}")
    known = [f.name for f in fields(TokenPattern)]
    for key in value:
        if key not in known:
            raise ParameterError(
                f'{what}: unknown key "{brief(key, quoted=False)}"{suggestion(str(key), known)}',
                key,
                KEY,
            )
    try:
        return tokens(**value)
    except ValueError as error:
        path = getattr(error, "path", [word for word in str(error).split()[:1] if word in value])
        raise ParameterError(f"{what}: {error}", *path) from None


def _patterns(value: Any, what: str) -> tuple[TokenPattern, ...]:
    given = enumerate(iterable(value, what, "a list of patterns, one for each token"))
    result = each(given, lambda pair: as_pattern(pair[1], f"{what}[{pair[0]}]"))
    if not result:
        raise ParameterError(f"{what} is empty: give a pattern for each token")
    return tuple(result)


_SCHEMA = {"$ref": "#/definitions/tokens"}
KINDS[TokenPattern] = ParameterType(as_pattern, _SCHEMA, "TokenPattern")
KINDS[Sequence[TokenPattern]] = KINDS[tuple[TokenPattern, ...]] = ParameterType(
    _patterns, {"type": "array", "minItems": 1, "items": _SCHEMA}, "sequence of TokenPattern"
)
