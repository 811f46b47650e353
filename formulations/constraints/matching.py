"""Parameters that templates about tokens share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from formulations.constraints.template import Template
from formulations.tokens.token_pattern import TokenClass, TokenPattern


@dataclass(frozen=True, kw_only=True)
class Matching(Template):
    """Base class of templates about tokens that match words, a pattern or a class.

    Parameters
    ----------
    words : sequence of str, optional
        Texts, compared with whole tokens.
    pattern : str, optional
        Regular expression that must match the whole token.
    ignore_case : bool, default True
        Whether letter case is ignored in words, pattern and exceptions.
    token_class : str, optional
        "punctuation", "number", "year", "newline", "capitalised", "uppercase", "lowercase" or "numbering".
    unless : sequence of str, optional
        Exceptions, words that do not match; alone, every other word matches.
    """

    words: Sequence[str] = ()
    pattern: str = ""
    ignore_case: bool = True
    token_class: TokenClass = ""
    unless: Sequence[str] = ()
    _default: ClassVar[TokenPattern | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._own_pattern and self._default is None:
            raise ValueError(
                f"{self.rule_name} names no token: give words or a pattern, a token_class, or unless"
            )

    @property
    def _own_pattern(self) -> TokenPattern:
        return TokenPattern(self.words, self.pattern, self.ignore_case, self.token_class, self.unless)

    @cached_property
    def pattern_of_tokens(self) -> TokenPattern:
        """The predicate that the parameters describe."""
        return self._own_pattern or self._default or TokenPattern()
