"""A quoted name is a field, also where the same word without quotation marks is a predicate, a variable or a template."""

import re

import pytest

import ilpinfer
from formulations import LabelSet, RuleError, Trellis, parse_rules
from formulations import constraints as C

WORDS = [
    *("change", "field", "label", "token", "edge", "begins", "ends", "true", "first", "last", "length"),
    *("sum", "text", "pair", "call", "count", "runs", "tokens", "steps", "at", "forall", "not", "X", "t"),
]


@pytest.mark.parametrize(
    ("text", "violations"),
    [
        ('forall t: not "{}"(t)', 2),
        ("forall t: not '{}'(t)", 2),
        ('forall X in fields, t: not "{}"(t)', 2),
        ('forall X in {{"{}"}}, t: not X(t)', 2),
        ('forall t: label(t) != "{}"', 2),
        ('forall t: field(t) != "{}"', 2),
        ('forall t: not begins("{}", t)', 1),
        ('forall t: edge(t) != ("{0}", "{0}")', 1),
    ],
)
def test_a_quoted_name_in_a_formula_is_a_field(text, violations):
    for word in WORDS:
        labels = LabelSet((word, "O"), "plain")
        rule = C.logic(text.format(word), penalty=1.0)
        assert rule.violations([word, word], labels=labels) == violations, word
        trellis = Trellis([9.0, 0.0], [[[9.0, 0.0], [0.0, 0.0]]], labels=labels)
        solution = ilpinfer.evaluate_labelling(trellis, [rule], [word, word])
        assert list(solution.violations.values()) == [violations], word


@pytest.mark.parametrize(
    ("text", "violations"),
    [
        ('runs("{}") <= 0', 1),
        ('tokens("{}") <= 0', 2),
        ('count(t: "{}"(t)) <= 0', 2),
        ('steps("{0}", "{0}") <= 0', 1),
        ('at("{}", -1) <= 0', 1),
    ],
)
def test_a_quoted_name_in_an_inequality_is_a_field(text, violations):
    for word in WORDS:
        labels = LabelSet((word, "O"), "plain")
        assert C.linear(text.format(word)).violations([word, word], labels=labels) == violations, word


@pytest.mark.parametrize(
    ("make", "text", "message"),
    [
        (C.linear, '"runs"(title) <= 1', "no count '\"runs\"'"),
        (C.logic, '"label"(0) = "title"', '"label"(…) compared with a quoted text'),
        (C.logic, '"token"(0) in ["x"]', "only a token can be matched"),
        (C.logic, '"begins"(title, 0)', '2 arguments; expected "begins"(t)'),
    ],
)
def test_a_quoted_predicate_is_an_error(make, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make(text)


def test_a_quoted_name_is_no_template():
    text = """
    fields = ["title"]
    [[template]]
    name = "own"
    parameters = ["t"]
    logic = "not title(t)"
    [[rule]]
    logic = 'forall t: {}(t)'
    """
    assert parse_rules(text.format("own")).rules[0].violations(["title", "title"]) == 2
    with pytest.raises(RuleError, match='no field "own"'):
        parse_rules(text.format('"own"'))


def test_an_unquoted_predicate_keeps_its_meaning():
    with pytest.raises(ValueError, match="is not a condition"):
        C.logic("forall t: label(t)")
