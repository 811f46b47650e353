"""Rules about the labels of tokens that match patterns or phrases (Liao et al. 2009, section 3.1; Chang et al. 2007, Table 1)."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.automata.machine import Machine, local
from formulations.automata.windows import Condition, UnboundComponent, Window, fits
from formulations.constraints.matching import Matching
from formulations.constraints.rule_functions import maker
from formulations.constraints.steps import at_tokens, only_at, violations_at
from formulations.constraints.template import Template, Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector
from formulations.tokens.token_pattern import TokenPattern

__all__ = ["contains_only", "right_before", "tag_at", "tag_phrases", "tag_sequence"]


@dataclass(frozen=True)
class _Required(Matching):
    """Tokens that must belong to a field wherever a condition holds.

    Parameters
    ----------
    field : str, Group or list of str
        Field, label or group.
    """

    field: Selector

    @property
    @abstractmethod
    def condition(self) -> Condition:
        """The tokens that must belong to the field."""

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [violations_at(only_at(~labels.field(self.field).member[None, :], *self.condition))]

    def required_field(self) -> tuple[Condition, Selector]:
        return self.condition, self.field


@template("tag_at")
class TagAt(_Required):
    """Every matching token belongs to the field. Each matching token outside it is a violation.

    Chang et al. 2007, Table 1, rules 4-11: words that are known to lie in a field.

    Parameters
    ----------
    previous, following : TokenPattern, optional
        Predicates on the token before and the token after, made by `tokens(...)`. A missing token does not
        match.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> rule = C.tag_at("date", token_class="year", previous=C.tokens(["in"]))
    >>> rule.violations(["O", "O"], tokens=["in", "1998"])
    1
    """

    previous: TokenPattern | None = None
    following: TokenPattern | None = None

    @cached_property
    def condition(self) -> Condition:
        near = ((self.previous, -1), (self.following, 1))
        return (
            fits(self.pattern_of_tokens),
            *(fits(pattern, place) for pattern, place in near if pattern is not None),
        )

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in Window(reading.tokens).positions(self.condition):
            yield Trial((t,), int(not reading.has(t, self.field)))


@template("right_before")
class RightBefore(_Required):
    """The token before each matching token belongs to the field. Each such token outside it is a violation.

    Example: a company before every ticker symbol (Liao et al. 2009, section 1). A match at token 0 has no effect.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.right_before("company", words=["Inc"]).violations(["O", "O"], tokens=["Acme", "Inc"])
    1
    """

    @cached_property
    def condition(self) -> Condition:
        return (fits(self.pattern_of_tokens, 1),)

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in range(1, len(reading)):
            if self.pattern_of_tokens.matches(reading.tokens[t]):
                yield Trial((t - 1, t), int(not reading.has(t - 1, self.field)))


@template("contains_only")
class ContainsOnly(Matching):
    """A field contains matching tokens only. Each other token in it is a violation.

    Parameters
    ----------
    field : str, Group or list of str
        Field, label or group.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.contains_only("date", token_class="year").violations(["date", "date"], tokens=["May", "1998"])
    1
    """

    field: Selector

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        others = fits(self.pattern_of_tokens, holds=False)
        return [violations_at(only_at(labels.field(self.field).member[None, :], others))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in reading.positions(self.field):
            yield Trial((t,), int(not self.pattern_of_tokens.matches(reading.tokens[t])))


@dataclass(frozen=True)
class _Spans(Template):
    """Spans of tokens that lie in one run of a field.

    Parameters
    ----------
    field : str, Group or list of str
        Field, label or group.
    """

    field: Selector

    @abstractmethod
    def _spans(self, tokens: Sequence[str]) -> Iterable[tuple[int, int]]:
        """(first, last) token of each span."""

    def _span_tokens(self, tokens: Sequence[str]) -> tuple[set[int], set[int]]:
        """The tokens of all spans, and those of them that are not the first of a span."""
        inside, inner = set[int](), set[int]()
        for first, last in self._spans(tokens):
            inside.update(range(first, last + 1))
            inner.update(range(first + 1, last + 1))
        return inside, inner

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        field = labels.field(self.field)
        outside = np.broadcast_to(~field.member, field.begins.shape)
        restarts = field.begins & np.concatenate([[False], field.member])[:, None]
        index = np.zeros(len(tokens), np.int64)
        for step, inside in enumerate(self._span_tokens(tokens), 1):
            index[list(inside)] = step
        return [local(at_tokens([np.zeros_like(outside), outside, outside | restarts], index))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        inside, inner = self._span_tokens(reading.tokens)
        for t in sorted(inside):
            restarts = t in inner and reading.has(t - 1, self.field) and reading.begins(t, self.field)
            yield Trial((t,), int(not reading.has(t, self.field) or restarts))

    def required_fields(self, tokens: Sequence[str]) -> Mapping[int, Selector]:
        return dict.fromkeys(sorted(self._span_tokens(tokens)[0]), self.field)


@template("tag_phrases")
class TagPhrases(_Spans):
    """The tokens of each occurrence of a phrase must lie in one run of the field.

    A token of an occurrence is a violation if it is outside the field. A token other than the first of an occurrence is also a
    violation if a run of the field begins there directly after another run. A token counts once. For a phrase of three tokens,
    `O B-x I-x` and `B-x O B-x` count one, `B-x B-x I-x` one and `B-x B-x B-x` two. A run may begin before an occurrence and
    end after it. Where occurrences overlap, a token counts once for all of them; it is a first token only if it is not a later
    token of another occurrence. Example: names from a list (Liao et al. 2009, section 3.1, rules 1 and 3).

    Parameters
    ----------
    phrases : sequence of str
        Texts, split into tokens at white space.
    longer_than : int, default 0
        Phrases of at most this many tokens are ignored.
    ignore_case : bool, default True
        Compare without regard to case.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.tag_phrases("place", ["New York"]).violations(["place", "O"], tokens=["New", "York"])
    1
    """

    phrases: Sequence[str]
    longer_than: int = 0
    ignore_case: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any(phrase.split() for phrase in self.phrases):
            raise ValueError("phrases is empty: name at least one phrase")

    @cached_property
    def _by_first(self) -> dict[str, set[tuple[str, ...]]]:
        result: dict[str, set[tuple[str, ...]]] = {}
        for phrase in self.phrases:
            words = tuple(self._fold_case(word) for word in phrase.split())
            if len(words) > self.longer_than:
                result.setdefault(words[0], set()).add(words)
        return result

    def _fold_case(self, token: str) -> str:
        return token.lower() if self.ignore_case else token

    def _spans(self, tokens: Sequence[str]) -> Iterable[tuple[int, int]]:
        texts = tuple(map(self._fold_case, tokens))
        for t, token in enumerate(texts):
            for words in self._by_first.get(token, ()):
                if texts[t : t + len(words)] == words:
                    yield t, t + len(words) - 1


@template("tag_sequence")
class TagSequence(_Spans):
    """Wherever tokens match a sequence of patterns, they lie in one run of the field.

    Violations are counted as for `tag_phrases`. A capitalised word before `Inc` (Liao et al. 2009, section 3.1,
    rule 2): `tag_sequence("company", [tokens(token_class="capitalised"), tokens(["Inc", "Ltd"])])`.

    Parameters
    ----------
    sequence : sequence of TokenPattern
        A pattern for each token.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> company = C.tag_sequence("company", [C.tokens(token_class="capitalised"), C.tokens(["Inc", "Ltd"])])
    >>> company.violations(["O", "company"], tokens=["Acme", "Inc"])
    1
    """

    sequence: Sequence[TokenPattern]

    def _spans(self, tokens: Sequence[str]) -> Iterable[tuple[int, int]]:
        width = len(self.sequence)
        for t in range(len(tokens) - width + 1):
            if all(p.matches(token) for p, token in zip(self.sequence, tokens[t : t + width], strict=True)):
                yield t, t + width - 1


tag_at = maker(TagAt)
right_before = maker(RightBefore)
contains_only = maker(ContainsOnly)
tag_phrases = maker(TagPhrases)
tag_sequence = maker(TagSequence)
