"""Patterns that are compiled together hold where each of them does alone; quick expressions are quick."""

import random
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokens.test_expressions import drawn

from formulations import LabelSet, catalogue, load_rules, time_limits
from formulations.caches import LONGEST_TEXT
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.folding import Folding
from formulations.problem.pattern_table import PatternTable
from formulations.tokens.regular_expressions import Expression
from formulations.tokens.token_pattern import TOKEN_CLASSES, TokenPattern

WORDS = [
    "Inc",
    "inc",
    "INC",
    "Ltd.",
    "1999",
    "2001.",
    "(19)",
    ".",
    "",
    "é",
    "É",
    "ß",
    "SS",
    "İ",
    "a\nb",
    "IV",
    "2.3",
    "@newline@",
]
words = st.lists(st.sampled_from([word for word in WORDS if word]), max_size=3)
tokens = st.sampled_from(WORDS) | st.text(max_size=8)
patterns = st.builds(
    TokenPattern,
    words,
    st.sampled_from(["", "", r"[\W_]*(19|20)\d\d[\W_]*", "[A-Z].*", "(?i:inc)|x", "(a|aa)*"]),
    st.booleans(),
    st.sampled_from(["", "", *TOKEN_CLASSES]),
    words,
)


class Odd:
    """A pattern of another kind."""

    def matches(self, token: str) -> bool:
        return len(token) % 2 == 1


@given(st.lists(patterns, max_size=6), st.lists(tokens, max_size=8))
def test_patterns_hold_as_each_alone(some, texts):
    some = [*some, Odd()]
    table = PatternTable(some)
    for token in texts:
        assert table.held(token) == bytes(pattern.matches(token) for pattern in some)


@pytest.mark.parametrize("entry", catalogue())
def test_patterns_of_the_catalogue_hold_as_each_alone(entry):
    rules = load_rules(entry)
    labels = LabelSet((*rules.fields, "O"), optional_fields=frozenset(rules.fields))
    vocabulary = Folding(compile_rules(rules, labels)).vocabulary()
    rng = random.Random(entry)
    written = [word for pattern in vocabulary.patterns for word in (*pattern.words, *pattern.unless)]
    texts = [*WORDS, *written, *map(str.upper, written), *(f"{word}." for word in written)]
    texts += ["".join(rng.choices("aZé0.-_ (", k=rng.randint(0, 9))) for _ in range(100)]
    for token in texts:
        fresh = [replace(pattern) for pattern in vocabulary.patterns]
        assert vocabulary._table.held(token) == bytes(pattern.matches(token) for pattern in fresh)


def test_quick_expressions_match_as_others_and_take_little_time():
    rng, quick = random.Random(5), 0
    while quick < 400:
        try:
            expression = Expression(drawn(rng), ignore_case=rng.random() < 0.5)
        except ValueError:
            continue
        if not expression._is_quick:
            continue
        quick += 1
        texts = [
            "a" * 256,
            "ab" * 128,
            *("".join(rng.choices("abé1 {", k=rng.randint(0, 9))) for _ in range(6)),
        ]
        began = time.process_time()
        found = [expression.matches(text) for text in texts]
        assert time.process_time() - began < 1.0, expression
        assert found == [expression._engine.fullmatch(text) is not None for text in texts]


@pytest.mark.parametrize(
    "pattern",
    ["(a|aa)*b", "(a+)+b", "a?a?a?a?a?a", r"(a)\1", "(?<=a)b", "(?=a*a*)a*a*b", "((a|b))*", "(?>a)"],
)
def test_expressions_that_may_take_long_have_a_limit(pattern):
    assert not Expression(pattern)._is_quick


@pytest.mark.parametrize("pattern", [r"(?!\d)\w+", r"(?=[a-z]*\d)\w*", "(?:a|b)c?"])
def test_expressions_with_few_choices_need_no_limit(pattern):
    assert Expression(pattern)._is_quick


def test_long_tokens_are_matched_within_the_time_limit():
    pattern = TokenPattern(pattern="a*b?")
    table, short, long = PatternTable([pattern]), "a" * LONGEST_TEXT, "a" * (LONGEST_TEXT + 1)
    with time_limits.time_limit(lambda: True):
        assert table.held(short) == bytes([1]) and pattern.expression.matches(short)
        for run in (table.held, pattern.expression.matches):
            with pytest.raises(time_limits.OutOfTime):
                run(long)


@pytest.mark.parametrize("ignore", [False, True])
def test_quick_expressions_ignore_case_where_they_are_said_to(ignore):
    pattern = TokenPattern(pattern="inc[a-c]", ignore_case=ignore)
    assert pattern.expression.quick_match is not None
    for token, expected in (("inca", True), ("INCb", ignore), ("inca ", False)):
        assert pattern.matches(token) == expected
        assert PatternTable([pattern]).held(token) == bytes([expected])
