"""The labels that hard rules on single tokens and the scheme allow at each token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np

from formulations import LabelSet, Rule
from formulations.caches import LONGEST_TEXT, make_room
from formulations.constraints.lexical import TagAt
from formulations.constraints.template import Template as Statement
from formulations.dtypes import Booleans

Allowed = list[int]
"""The allowed labels of each of T tokens, as bits of a number."""
MOST_WORDS = 1 << 16
"""Size of the cache of allowed labels by word, labels before, and group of rules."""


@dataclass(frozen=True)
class TokenRules:
    labels: LabelSet
    rules: tuple[Rule, ...]
    valid: bool = True
    _masks: dict[int, Booleans] = field(default_factory=dict, init=False, repr=False, compare=False)
    _words: dict[tuple[str, int, int], int] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _after: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    _before: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        for rule in self.rules:
            if not rule.hard or not is_token_rule(rule):
                raise ValueError(f"{rule.title}: expected a hard rule on single tokens, such as tag_at")
            for statement in rule.statements(self._names):
                self.labels.field(statement.field)  # type: ignore[attr-defined]

    def allowed(self, tokens: Sequence[str]) -> Allowed:
        """The labels that rules and the scheme allow at each of T tokens."""
        result = [self._every] * len(tokens)
        for number, stage in enumerate(self._stages):
            if _looks_at_one_word(stage[0]):
                result = [
                    self._of_word(token, left, number) for token, left in zip(tokens, result, strict=True)
                ]
            else:
                self._restrict(result, stage[0], tokens)
        if self.valid:
            self._sweep(result, tokens, range(len(result)), self._followers)
            self._sweep(result, tokens, range(len(result) - 1, -1, -1), self._forerunners)
        return result

    def mask(self, labels: int) -> Booleans:
        """(K,) whether label k, bit k, is in a set."""
        known = self._masks.get(labels)
        if known is None:
            make_room(self._masks)
            known = self._masks[labels] = np.array([labels >> k & 1 for k in range(len(self.labels))], bool)
        return known

    def _sweep(
        self, result: Allowed, tokens: Sequence[str], order: range, beside: Callable[[int], int]
    ) -> None:
        """Restrict each token to labels that are compatible with the previous token in the order."""
        other = 0
        for t in order:
            left = result[t] & beside(other)
            if not left:
                raise ValueError(
                    f"token {t}, {tokens[t]!r}: rules and the labelling scheme forbid every label; make a rule soft, or remove it"
                )
            result[t] = other = left

    def _followers(self, labels: int) -> int:
        """Labels that can follow one of the given labels; 0 is the start."""
        known = self._after.get(labels)
        if known is None:
            make_room(self._after)
            rows = self._steps[1:][self.mask(labels)] if labels else self._steps[:1]
            known = self._after[labels] = bits(np.asarray(np.any(rows, axis=0)))
        return known

    def _forerunners(self, labels: int) -> int:
        """Labels that can precede one of the given labels; 0 is the end."""
        known = self._before.get(labels)
        if known is None:
            make_room(self._before)
            invalid = self.labels.invalid
            fits = np.any(self._steps[1:, self.mask(labels)], axis=1) if labels else ~invalid[1]
            known = self._before[labels] = bits(np.asarray(fits))
        return known

    def _of_word(self, token: str, left: int, stage: int) -> int:
        """The labels that rules on a single word leave to a token."""
        known = self._words.get((token, left, stage))
        if known is None:
            result = [left]
            for rule in self._stages[stage]:
                self._restrict(result, rule, (token,))
            known = result[0]
            if len(token) <= LONGEST_TEXT:
                make_room(self._words, MOST_WORDS)
                self._words[token, left, stage] = known
        return known

    def _restrict(self, result: Allowed, rule: Rule, tokens: Sequence[str]) -> None:
        """Restrict tokens to the labels that a rule demands, unless none would remain."""
        for t, labels in self._demands(rule, tokens).items():
            result[t] = result[t] & labels or result[t]

    def _demands(self, rule: Rule, tokens: Sequence[str]) -> dict[int, int]:
        result: dict[int, int] = {}
        for statement in rule.statements(self._names):
            for t, selector in statement.required_fields(tokens).items():
                result[t] = result.get(t, self._every) & bits(self.labels.field(selector).member)
        return result

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.labels.each_field)

    @cached_property
    def _stages(self) -> list[tuple[Rule, ...]]:
        """The rules in order; consecutive rules on a single word are grouped."""
        groups = groupby(self.rules, _looks_at_one_word)
        return [
            stage
            for alone, rules in groups
            for stage in ([tuple(rules)] if alone else zip(rules, strict=True))
        ]

    @cached_property
    def _every(self) -> int:
        return (1 << len(self.labels)) - 1

    @cached_property
    def _steps(self) -> Booleans:
        """(K+1, K) steps that the scheme allows."""
        return ~self.labels.invalid[0]


def bits(member: Booleans) -> int:
    return sum(1 << k for k in np.flatnonzero(member).tolist())


def is_token_rule(rule: Rule) -> bool:
    """Whether a rule restricts the labels of single tokens."""
    kind = type(rule.statement)
    return (
        kind.required_field is not Statement.required_field
        or kind.required_fields is not Statement.required_fields
    )


def _looks_at_one_word(rule: Rule) -> bool:
    statement = rule.statement
    return isinstance(statement, TagAt) and statement.previous is None and statement.following is None
