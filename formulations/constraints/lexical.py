"""Rules about the labels of tokens that match patterns or phrases (Liao et al. 2009, section 3.1; Chang et al. 2007, Table 1)."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np

from formulations.automata.components import Agreement, Condition, UnboundComponent, Window, fits
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine, local
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import Matching, at_tokens, only_at, violations_at
from formulations.constraints.template import AnyField, Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector
from formulations.tokens.token_pattern import ItemNumber, TokenPattern, continues, item_numbers, numbers_after


class _Required(Matching):
    """Base class of templates by which tokens belong to a field where a condition holds."""

    field: AnyField

    @property
    @abstractmethod
    def condition(self) -> Condition: ...

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        return [violations_at(only_at(~labels.field(self.field).member[None, :], *self.condition))]

    @property
    def required_field(self) -> tuple[Condition, Selector]:
        return self.condition, self.field


class TagAt(_Required):
    """Every matching token belongs to the field. Each matching token outside it is a violation.

    Chang et al. 2007, Table 1, rules 4-11: words that are known to lie in a field.

    >>> rule = C.tag_at("date", token_class="year", previous=C.tokens(["in"]))
    >>> rule.violations(["O", "O"], tokens=["in", "1998"])
    1
    """

    previous: Annotated[
        TokenPattern | None,
        "Predicate on the token before, made by `tokens(...)`. A missing token does not match.",
    ] = None
    following: Annotated[
        TokenPattern | None,
        "Predicate on the token after, made by `tokens(...)`. A missing token does not match.",
    ] = None

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


class RightBefore(_Required):
    """The token before each matching token belongs to the field. Each such token outside it is a violation.

    Example: a company before every ticker symbol (Liao et al. 2009, section 1). A match at token 0 has no effect.

    >>> C.right_before("company", words=["Inc"]).violations(["O", "O"], tokens=["Acme", "Inc"])
    1
    """

    @cached_property
    def condition(self) -> Condition:
        return (fits(self.pattern_of_tokens, 1),)

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in range(1, len(reading)):
            if self.matches(reading, t):
                yield Trial((t - 1, t), int(not reading.has(t - 1, self.field)))


class ContainsOnly(Matching):
    """A field contains matching tokens only. Each other token in it is a violation.

    >>> C.contains_only("date", token_class="year").violations(["date", "date"], tokens=["May", "1998"])
    1
    """

    field: AnyField

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        others = fits(self.pattern_of_tokens, holds=False)
        return [violations_at(only_at(labels.field(self.field).member[None, :], others))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for t in reading.positions(self.field):
            yield Trial((t,), int(not self.matches(reading, t)))


class _Spans(Template):
    field: AnyField

    @abstractmethod
    def _spans(self, tokens: Sequence[str]) -> Iterable[tuple[int, int]]:
        """(first, last) token of each span."""

    def _span_tokens(self, tokens: Sequence[str]) -> tuple[set[int], set[int]]:
        """The tokens of all spans, and the tokens that are inside a span but not its first token."""
        inside, inner = set[int](), set[int]()
        for first, last in self._spans(tokens):
            inside.update(range(first, last + 1))
            inner.update(range(first + 1, last + 1))
        return inside, inner

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        field = labels.field(self.field)
        restarts = field.begins & np.append(False, field.member)[:, None]
        outside = ~field.member | (restarts & False)
        index = np.zeros(len(tokens), np.int64)
        for step, inside in enumerate(self._span_tokens(tokens), 1):
            index[list(inside)] = step
        return [local(at_tokens([outside & False, outside, outside | restarts], index))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        inside, inner = self._span_tokens(reading.tokens)
        for t in sorted(inside):
            restarts = t in inner and reading.has(t - 1, self.field) and reading.begins(t, self.field)
            yield Trial((t,), int(not reading.has(t, self.field) or restarts))

    def required_fields(self, tokens: Sequence[str]) -> Mapping[int, Selector]:
        return dict.fromkeys(sorted(self._span_tokens(tokens)[0]), self.field)


class TagPhrases(_Spans):
    """The tokens of each occurrence of a phrase must lie in one run of the field.

    A token of an occurrence is a violation if it is outside the field. A token other than the first of an occurrence is also a
    violation if a run of the field begins there directly after another run. A token counts once. For a phrase of three tokens,
    `O B-x I-x` and `B-x O B-x` count one, `B-x B-x I-x` one and `B-x B-x B-x` two. A run may begin before an occurrence and
    end after it. If occurrences overlap, a token counts once; it is a first token only if it is not a later token of another
    occurrence. Example: names from a list (Liao et al. 2009, section 3.1, rules 1 and 3).

    >>> C.tag_phrases("place", ["New York"]).violations(["place", "O"], tokens=["New", "York"])
    1
    """

    phrases: Annotated[Sequence[str], "Texts, split into tokens at white space."]
    longer_than: Annotated[int, "Phrases of at most this many tokens are ignored."] = 0
    ignore_case: Annotated[bool, "Compare without regard to case."] = True

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


class TagSequence(_Spans):
    """Wherever tokens match a sequence of patterns, they lie in one run of the field.

    Violations are counted as for `tag_phrases`. A capitalised word before `Inc` (Liao et al. 2009, section 3.1,
    rule 2): `tag_sequence("company", [tokens(token_class="capitalised"), tokens(["Inc", "Ltd"])])`.

    >>> company = C.tag_sequence("company", [C.tokens(token_class="capitalised"), C.tokens(["Inc", "Ltd"])])
    >>> company.violations(["O", "company"], tokens=["Acme", "Inc"])
    1
    """

    sequence: Annotated[Sequence[TokenPattern], "A pattern for each token."]

    def _spans(self, tokens: Sequence[str]) -> Iterable[tuple[int, int]]:
        width = len(self.sequence)
        for t in range(len(tokens) - width + 1):
            if all(p.matches(token) for p, token in zip(self.sequence, tokens[t : t + width], strict=True)):
                yield t, t + width - 1


class Consistent(Matching):
    """Tokens that are equal must have the same field.

    A token is a violation if its innermost field, perhaps `O`, differs from that of the previous equal token. Finkel, Grenager, Manning 2005; as edges that skip tokens: Sutton and McCallum 2004. If no words or pattern are given, the rule applies to tokens with a letter or digit.

    >>> C.consistent().violations(["person", "O", "O"], tokens=["Paris", "and", "Paris"])
    1
    """

    same: Annotated[
        Literal["token", "lower"],
        '"token" compares tokens exactly, "lower" in lower case.',
    ] = "token"
    _default = TokenPattern(pattern=r".*[^\W_].*")

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Agreement]:
        fields = [labels.strip(name) for name in labels.names]
        number = {field: kind for kind, field in enumerate(dict.fromkeys(fields))}
        kind = np.array([number[field] for field in fields], np.int64)
        if len(number) == 1:
            return []
        return [Agreement(kind, np.array(group, np.int64), len(tokens)) for group in self._groups(tokens)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        fields = [reading.labels.strip(name) for name in reading.names]
        for group in self._groups(reading.tokens):
            for before, token in pairwise(group):
                yield Trial((token, before), int(fields[before] != fields[token]))

    def _groups(self, tokens: Sequence[str]) -> list[list[int]]:
        """Positions of each token that occurs at least twice."""
        places: dict[str, list[int]] = {}
        for place, token in enumerate(tokens):
            if self.pattern_of_tokens.matches(token):
                places.setdefault(token.lower() if self.same == "lower" else token, []).append(place)
        return [group for group in places.values() if len(group) > 1]


class NumbersContinue(Template):
    """Item numbers of a field continue each other: 2 after 1, and 1.1, 2 or 1.3 after 1.2.

    An item number in the field is a violation if it does not continue the previous item number in the field. The first item
    number is never a violation. Item numbers are digits (1, 2., 1.3), roman numerals and letters; a letter that is also a
    roman numeral may be either. Trompper 2016, the deterministic tagger.

    >>> C.numbers_continue("item").violations(["item", "O", "item"], tokens=["1", "of", "3"])
    1
    """

    field: AnyField

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        symbols: dict[tuple[ItemNumber, ...], int] = {(): 0}
        index = np.zeros(len(tokens), np.int64)
        for t, numbers in enumerate(map(item_numbers, tokens)):
            if numbers:
                index[t] = symbols.setdefault(numbers, len(symbols))
        values = np.arange(len(symbols))[:, None, None] * labels.field(self.field).member[None, :]
        yield Machine(StepTable(values, index), _in_sequence(tuple(symbols)))

    def trials(self, reading: Reading) -> Iterable[Trial]:
        last = None
        for t in reading.positions(self.field):
            if item_numbers(reading.tokens[t]):
                if last is not None:
                    yield Trial((last, t), int(not continues(reading.tokens[last], reading.tokens[t])))
                last = t


@lru_cache(maxsize=64)
def _in_sequence(numbers: tuple[tuple[ItemNumber, ...], ...]) -> Automaton:
    """The automaton of item numbers. Symbols are the numbers of readings, 0 for none; states are sets of readings that may come next."""
    places: dict[ItemNumber, list[int]] = {}
    for symbol, readings in enumerate(numbers):
        for number in readings:
            places.setdefault(number, []).append(symbol)
    following = [tuple([one for one in numbers_after(each) if one in places]) for each in numbers[1:]]
    states = {each: state for state, each in enumerate(dict.fromkeys(following), 1)}
    emits = np.ones((1 + len(states), len(numbers)), np.int64)
    emits[0] = emits[:, 0] = 0
    kept = [state * len(numbers) + s for each, state in states.items() for one in each for s in places[one]]
    emits.reshape(-1)[kept] = 0
    next_state = np.empty_like(emits)
    next_state[:] = [0, *(states[each] for each in following)]
    next_state[:, 0] = np.arange(len(emits))
    return Automaton(next_state, emits, np.zeros(len(emits), np.int64))


tag_at = template(TagAt)
right_before = template(RightBefore)
contains_only = template(ContainsOnly)
tag_phrases = template(TagPhrases)
tag_sequence = template(TagSequence)
consistent = template(Consistent)
numbers_continue = template(NumbersContinue)
