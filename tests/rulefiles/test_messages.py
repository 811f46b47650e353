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


BAD_RULES = [
    ("[[rule]\n", "rules.toml: not TOML: "),
    ('field = ["a"]\n', 'rules.toml: nothing is called "field"; did you mean "fields"?'),
    ("[rule]\n", "write each rule as a table of its own, [[rule]]"),
    ('[[rule]]\nfield = "a"\n', "rule 1: no template; there are adjacency"),
    ('[[rule]]\ntemplate = "at_most_run"\n', 'no template "at_most_run"; did you mean "at_most_runs"?'),
    ('[[rule]]\ntemplate = "at_most_runs"\nfeild = "a"\n', 'nothing is called "feild"; did you mean "field"?'),
    ('[[rule]]\ntemplate = "at_most_runs"\n', "field is missing"),
    ('fields = ["title"]\n[[rule]]\nname = "one"\ntemplate = "at_most_runs"\nfield = "titel"\n', 'rules.toml, rule 1 ("one"): no field "titel"; did you mean "title"?'),
    ('fields = ["title"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "title"\npenalty = -2\n', "penalty is -2: a penalty is positive"),
    ('fields = ["title"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "title"\npenalty = "soft"\n', "penalty is 'soft'; expected nats up to 2^31, or hard"),
    ('fields = ["title"]\n[groups]\nall = ["titles"]\n', "group 'all': no field \"titles\"; did you mean \"title\"?"),
    ('fields = ["a"]\n[[rule]]\ntemplate = "starts_with"\nfield = "a"\nname = ["x"]\n', "name is ['x']; expected a text"),
    ('fields = ["a"]\n[[rule]]\ntemplate = "starts_with"\nfield = "a"\npenalty = ' + "9" * 401, "expected nats up to 2^31, or hard"),
    ('fields = ["a"]\n[[rule]]\ntemplate = "at_least_runs"\nfield = "a"\nn = 10000000000', "n is 10000000000; expected a whole number from 0 to 2^31"),
    ('fields = ["a"]\n[[rule]]\ntemplate = "tag_at"\nfield = "a"\npattern = "a{99999999999999999999}"', "is not a regular expression"),
    ('fields = ["a"]\n[[rule]]\ntemplate = "tag_at"\nfield = "a"\npattern = "[[a]"', "is not a regular expression"),
    ('fields = ["a"]\n[[rule]]\ntemplate = "tag_at"\nfield = "a"\nwords = ["a"]\nignore_case = "no"', "ignore_case is 'no'; expected true or false"),
    ('fields = ["a"]\n[[rule]]\ntemplate = ["starts_with"]\nfield = "a"', "no template \"['starts_with']\""),
    ('fields = ["a"]\n[[rule]]\ntemplate = "starts_with"\nfield = []', "field is []; expected a field, a list of fields"),
    ('fields = ["a"]\n[groups]\nnone = []\n', "group 'none': without a member"),
    ('fields = "title"\n', "fields is 'title'; expected a list of names"),
    ('fields = ["title"]\n[[feature]]\nlabel = "title"\n', "feature 1: weight is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD_RULES)
def test_what_is_wrong_in_a_file_is_said(text, message):
    with pytest.raises(RuleError) as result:
        parse_rules(text, "rules.toml")
    assert message in result.value.message and result.value.message.startswith("rules.toml")


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
