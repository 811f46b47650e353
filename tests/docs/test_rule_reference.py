"""The reference of rules has every template with its parameters, and its examples count what they say."""

import inspect
import re
from dataclasses import fields

import pytest
from support.pages import blocks, sections
from support.places import ROOT

from formulations import constraints as C
from formulations import dump_rules, parse_rules
from formulations.constraints.rule import COMMON
from formulations.constraints.rule_functions import INTERNAL
from formulations.constraints.steps import Matching
from formulations.constraints.template import TEMPLATES
from formulations.tokens.token_pattern import TOKEN_CLASSES

PAGE = (ROOT / "docs" / "rules" / "reference.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)(\([^`]*\))` \| .+ \| .+ \| `(C\..+)`: (.+) has (\d+) \|$", PAGE, re.MULTILINE)
OF_TOKENS = {field.name for field in fields(Matching)}
"""Parameters that the page describes once for all templates that have them."""


def signature(name: str) -> str:
    """The parameters of a template, as the page shows them."""
    shared = OF_TOKENS if issubclass(TEMPLATES[name], Matching) else set()
    shown = []
    for parameter in inspect.signature(TEMPLATES[name]).parameters.values():
        if parameter.name not in (*INTERNAL, "groups", *shared):
            default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
            shown.append(parameter.name + default.replace("'", '"'))
    return f"({', '.join([*shown, *(['…'] if shared else [])])})"


def test_every_template_has_a_row():
    own = [name for name, template in TEMPLATES.items() if template.__module__.startswith("formulations.")]
    assert sorted(row[0] for row in ROWS) == sorted(own)


@pytest.mark.parametrize("name, parameters, rule, labelling, count", ROWS, ids=[row[0] for row in ROWS])
def test_a_row(name, parameters, rule, labelling, count):
    assert parameters == signature(name)
    made = eval(rule, {"C": C})
    assert made.statement.rule_name == name
    labels, *tokens = (each.split() for each in re.findall(r"`([^`]*)`", labelling))
    assert made.violations(labels, tokens=tokens[0] if tokens else None) == int(count) > 0


def test_the_parameters_of_rules_and_tokens_are_all_there():
    def first_column(title: str, level: str) -> set[str]:
        rows = re.findall(r"^\| (`.+?`) \|", sections(PAGE, level)[title], re.MULTILINE)
        return set(re.findall(r"`(\w+)`", " ".join(rows)))

    assert first_column("Parameters of every rule", "##") == set(COMMON)
    assert first_column("Tokens", "##") == OF_TOKENS
    assert all(f"`{each}`" in sections(PAGE, "##")["Tokens"] for each in TOKEN_CLASSES)


def test_rule_files_are_read_and_written_back():
    files = [block.text for block in blocks(PAGE, "toml")]
    for text in files:
        rules = parse_rules(text)
        assert parse_rules(dump_rules(rules)) == rules
    assert list(parse_rules(files[0])) == [C.at_most_runs("title", 1, penalty=1.3)]
    titles = [rule.title for rule in parse_rules(files[-1])]
    assert titles[:2] == ["an author before the title", "few runs"]
    assert len(titles) == 4


def test_the_texts_that_stand_alone_are_statements():
    alone = re.findall(r"^    (\S.*)$", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL), re.MULTILINE)
    assert alone == ["2*runs(title) - tokens(note) <= 3", "forall t: title(t) -> exists s < t: author(s)"]
    assert C.linear(alone[0]).violations(["title", "note", "title"]) == 0
    assert C.logic(alone[1]).violations(["title", "author"]) == 1
