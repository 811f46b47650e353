"""Parameters that templates about tokens share."""

from functools import cached_property
from typing import ClassVar

from formulations.constraints.template import Template
from formulations.labels.reading import Reading
from formulations.tokens.token_pattern import Class, Exceptions, IgnoreCase, Regex, Texts, TokenPattern


class Matching(Template, kw_only=True):
    """Base class of templates about tokens that match words, a pattern or a class."""

    words: Texts = ()
    pattern: Regex = ""
    ignore_case: IgnoreCase = True
    token_class: Class = ""
    unless: Exceptions = ()
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
        return self._own_pattern or self._default or TokenPattern()

    def matches(self, reading: Reading, token: int) -> bool:
        return self.pattern_of_tokens.matches(reading.tokens[token])
