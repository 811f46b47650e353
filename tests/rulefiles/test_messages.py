"""Messages about rule files that are no TOML, have numbers of thousands of digits, or say nothing."""

import pytest
from support.processes import python

from formulations import RuleError, load_rules, parse_rules
from formulations import constraints as C
from formulations.errors import RuleNotice

DIGITS = "9" * 5000
LIMIT = "a number of more than 4300 digits"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[rule]]\ntemplate=at_most_runs', 'at_most_runs is no value; a text stands in quotation marks: "at_most_runs" (line 2, column 10)'),
        ("n=True", "True is no value; write true (line 1, column 3)"),
        ("a = {b = FALSE}", "FALSE is no value; write false (line 1, column 10)"),
        ("a = [\n  Inf ]", "Inf is no value; write inf (line 2, column 3)"),
        ("penalty = inff # hard", 'inff is no value; a text stands in quotation marks: "inff" (line 1, column 11)'),
        ("n =", "no value after = (line 1, column 4)"),
        ("n = 0777", "0777 is no value (line 1, column 5)"),
        ("n = .5", ".5 is no value (line 1, column 5)"),
        ("name = ‘x’", "‘x’ is no value (line 1, column 8)"),
        (f"a = '9'\nn = {DIGITS}", f"{LIMIT} (line 2, column 5)"),
        (f'a = "{DIGITS}" # {DIGITS}\nn = [1, {DIGITS}]', f"{LIMIT} (line 2, column 9)"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_shown_with_its_place(text, message):
    with pytest.raises(RuleError) as result:
        parse_rules(text, "rules.toml")
    assert result.value.message == f"rules.toml: not TOML: {message}"
    assert result.value.excerpt.endswith("^")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (f'linear = "tokens(a) <= {DIGITS}"', 24),
        (f'linear = "{DIGITS} * tokens(a) <= 1"', 11),
        (f'logic = "forall t: a(t + {DIGITS})"', 26),
    ],
)
def test_a_long_number_in_a_formula_has_its_place(text, column):
    with pytest.raises(RuleError) as result:
        parse_rules(f'fields = ["a"]\n[[rule]]\n{text}', "rules.toml")
    assert result.value.message == f"rules.toml, rule 1: a number beyond 2^31 (line 3, column {column})"
    assert parse_rules(f'fields = ["a"]\n[[rule]]\n{text.replace(DIGITS, "0" * 5000 + "1")}')


def test_a_rule_file_without_a_rule_is_noticed(here):
    (here / "empty.toml").write_text('fields = ["a"]\n', "utf-8")
    with pytest.warns(RuleNotice, match=r"^empty\.toml: no rule and no feature$"):
        load_rules("empty.toml")
    assert len(load_rules("empty.toml", "bio")) == 1
    (here / "in.jsonl").write_text('{"start": [0, 1], "edges": [], "label_names": ["a", "O"]}\n', "utf-8")
    command = "-m ilpinfer decode in.jsonl --rules empty.toml --output out.jsonl"
    done = python(*command.split(), check=True)
    assert "empty.toml: no rule and no feature" in done.stderr


def test_python_formulas_with_long_numbers_are_refused():
    with pytest.raises(ValueError, match=r"a number beyond 2\^31"):
        C.linear(f"tokens(a) <= {DIGITS}")
