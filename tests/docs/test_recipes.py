"""The recipes for rules: Python and TOML say the same, and the rule makes the difference that is shown."""

import contextlib
import io
import math
from dataclasses import replace

import pytest
from support.pages import blocks, sections
from support.places import ROOT

import ilpinfer
from formulations import Rule, parse_rules

PAGE = (ROOT / "docs" / "rules" / "recipes.md").read_text("utf-8")
RECIPES = sections(PAGE)


@pytest.fixture(scope="module")
def functions():
    """The functions that all recipes share."""
    result: dict = {}
    exec(blocks(PAGE, "python")[0].text, result)
    return result


def test_there_are_recipes_and_each_is_complete():
    assert len(RECIPES) >= 20
    for title, text in RECIPES.items():
        languages = [block.language for block in blocks(text)]
        assert languages[:4] == ["python", "toml", "python", "text"], title
        assert text.split("```", 1)[0].count(".") >= 1, title


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe(title, functions):
    rule, example = blocks(RECIPES[title], "python")[:2]
    (toml,) = blocks(RECIPES[title], "toml")
    names = dict(functions)
    exec(rule.text, names)
    rules = names["rules"]
    assert list(parse_rules(toml.text)) == rules
    with contextlib.redirect_stdout(io.StringIO()):
        exec(example.text, names)
    trellis = names["example"]
    viterbi = ilpinfer.decode(trellis, rules, method="viterbi")
    best = ilpinfer.decode(trellis, rules)
    assert ilpinfer.verify(trellis, rules, best)
    if any(isinstance(item, Rule) for item in rules):
        broken = [sum(solution.violations.values()) for solution in (viterbi, best)]
        assert broken[0] > broken[1]
        hard = [replace(rule, penalty=math.inf) for rule in rules if isinstance(rule, Rule)]
        possible = ilpinfer.decode(trellis, hard).status == "optimal"
        assert broken[1] == 0 or not possible
    else:
        assert best.labels != ilpinfer.decode(trellis).labels
