"""Messages about rule files that are no TOML, have numbers of thousands of digits, or say nothing."""

import pytest
from support.processes import python

from formulations import RuleError, load_rules, parse_rules
from formulations.errors import RuleNotice

DIGITS = "9" * 5000


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
