"""Parameters are checked by their declared type, once: from Python with a message, from a file with its place."""

import os
import pickle
import time

import pytest

from formulations import RuleError, dump_rules, load_rules, parse_rules
from formulations import constraints as C
from formulations.parameters import Words
from formulations.rulefiles import declarations as files
from ilpinfer.models.crf.templates import TemplateError, load_template

HEAD = 'fields = ["a", "b"]\n[[rule]]\nname = "one"\n'
TAG = 'template = "tag_at"\nfield = "a"\n'
WRONG = [
    ('template = "at_most_runs"\nfield = "a"\nn = [1]', "n is [1]; expected a whole number", 6, 5),
    ('template = "at_most_runs"\nfield = "a"\nn = true', "n is True; expected a whole number", 6, 5),
    ('template = "at_most_runs"\nfield = "a"\nn = 1.0', "n is 1.0; expected a whole number", 6, 5),
    ('template = "at_most_runs"\nfield = "a"\nn = 1979-05-27', "expected a whole number", 6, 5),
    ('template = "at_most_runs"\nfield = 3', "field is 3; expected a field", 5, 9),
    ('template = "at_most_runs"\nfield = ["a", 3]', "field is 3; expected a field", 5, 15),
    ('template = "at_most_runs"\nfield = { not = [] }', "name at least one field", 5, 17),
    ('template = "tag_sequence"\nfield = "a"\nsequence = {words = ["In"]}', "expected a list of patterns", 6, 12),
    ('template = "tag_sequence"\nfield = "a"\nsequence = "In"', "expected a list of patterns", 6, 12),
    ('template = "tag_sequence"\nfield = "a"\nsequence = ["x", {words = ["x", 3]}]', "word 3 in", 6, 33),
    ('template = "tag_sequence"\nfield = "a"\nsequence = ["x", {pattern = "("}]', "is not a regular", 6, 29),
    (TAG + "words = {a = 1}", "expected a list of words", 6, 9),
    (TAG + 'words = ["x", ""]', "expected a non-empty text", 6, 15),
    (TAG + 'words = ["x"]\nignore_case = [true]', "ignore_case is [True]; expected true or false", 7, 15),
    (TAG + 'words = ["x"]\nprevious = [1]', "previous is [1]; expected a word, or a table", 7, 12),
    (TAG + 'token_class = ["year"]', "token_class is ['year']; expected a text", 6, 15),
    (TAG + 'pattern = ["x"]', "pattern is ['x']; expected a text", 6, 11),
    ('template = "matches"\nregex = 3', "regex is 3; expected a text", 5, 9),
    ('template = "matches"\nregex = "a"\nover = ["tokens"]', "over is ['tokens']; expected a text", 6, 8),
    ('linear = "runs(a) <= 1"\ndistance = ["count"]', "distance is ['count']; expected a text", 5, 12),
    ('linear = "runs(a) <= 1"\nscope = ["each label"]', "no scope ['each label']", 5, 9),
    ('linear = "runs(a) <= 1"\npartial = {}', "partial is {}; expected a text", 5, 11),
    ('linear = "runs(a) <= 1"\nreason = 2', "reason is 2; expected a text", 5, 10),
    ('linear = ["x"]', "linear is ['x']; expected a text", 4, 10),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "line", "column"), WRONG)
def test_in_a_file_with_place_and_caret(text, message, line, column):
    with pytest.raises(RuleError) as result:
        parse_rules(HEAD + text, "rules.toml")
    assert message in result.value.message and f"(line {line}, column {column})" in result.value.message
    assert result.value.excerpt.endswith("\n" + " " * (column - 1) + "^")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: C.at_most_runs("a", [1]), r"at_most_runs: n is \[1\]; expected a whole number"),
        (lambda: C.at_most_runs(3, 1), "field is 3; expected a field"),
        (lambda: C.at_most_runs([], 1), "field is an empty list"),
        (lambda: C.tag_at("a", words="abc"), "words is 'abc'; expected a list of words"),
        (lambda: C.tag_at("a", words={"words": ["In"]}), "expected a list of words"),
        (lambda: C.tag_sequence("a", {"words": ["In"]}), "expected a list of patterns"),
        (lambda: C.tag_sequence("a", "In"), "expected a list of patterns"),
        (lambda: C.tag_at("a", words=["x"], ignore_case=1), "ignore_case is 1; expected true or false"),
        (lambda: C.logic(3), "text is 3; expected a text"),
        (lambda: C.logic("true", groups=["a"]), "expected a group"),
        (lambda: C.logic("true", scope=[1]), r"scope is \[1\]; expected a text"),
        (lambda: C.logic("true", penalty="x"), "penalty is 'x': give nats"),
        (lambda: C.feature(weight="1", label="a"), "weight is '1'; expected a number"),
        (lambda: C.feature(weight=1, label=3), "label is 3; expected a field"),
        (lambda: C.tokens(3), "words is 3; expected a list of words"),
        (lambda: C.tokens(["x"], unless={"a": 1}), "unless is {a = 1}; expected a list of words"),
        (lambda: C.define("twice", ["A"], logic="forall t: A(t)")(3), "A is 3; expected a field"),
        (lambda: C.at_most_runs("a", 10**4000), "n is a number of 13288 bits"),
        (lambda: C.at_most_runs("a", list(range(10**5))), r"\(100000 in all\)"),
    ],
)
def test_in_python_with_a_short_message(make, message):
    with pytest.raises(ValueError, match=message) as result:
        make()
    assert len(str(result.value)) < 200


@pytest.fixture
def words(tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(f"secret{i}" for i in range(20_000)), "utf-8")
    text = 'fields = ["a"]\n[[rule]]\ntemplate = "tag_at"\nfield = "a"\nwords = { file = "names.txt" }\n'
    more = '[[rule]]\ntemplate = "tag_at"\nfield = "a"\nwords = ["x"]\nprevious = { unless = { file = "names.txt" } }\n'
    (tmp_path / "rules.toml").write_text(text + more, "utf-8")
    return tmp_path / "rules.toml"


def test_rules_with_word_files_have_short_names(words):
    rules = load_rules(words)
    assert rules.rules[0].title == "tag_at(a, names.txt (20000 words))"
    assert all(len(rule.title) < 100 and "secret" not in rule.title for rule in rules.rules)
    again = pickle.loads(pickle.dumps(rules))
    assert again == rules == parse_rules(dump_rules(rules), rules.name)
    assert again.rules[0].title == rules.rules[0].title
    assert isinstance(again.rules[0].statement.words, Words)


def test_automatic_names_are_short():
    rule = C.tag_phrases("a", [f"phrase {i}" for i in range(5000)])
    assert rule.title == "tag_phrases(a, phrase 0 or phrase 1 or phrase 2 or … (5000 words), 0)"
    assert C.tag_at("a", words=["x", "y"]).title == "tag_at(a, x or y)"
    long = C.logic("forall t: " + " and ".join(["a(t)"] * 1500), scope="each label")
    assert len(long.title) < 200 and long.title.endswith("… for each label")
    group = C.group("g" * 10_000, ["a"])
    assert len(C.at_most_runs(group, 1).title) < 200 and len(C.feature(weight=1, label=group).title) < 200


def test_files_that_are_not_regular_or_too_large_are_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_text("x\n" * 1000)
    monkeypatch.setattr(files, "MOST_WORDS", 1000)
    rules = 'fields = ["a"]\n[[rule]]\ntemplate = "tag_at"\nfield = "a"\nwords = { file = "%s" }\n'
    began = time.process_time()
    for name, reason in {
        "/dev/zero": "not a regular file",
        "pipe": "not a regular file",
        "folder": "not a regular file",
        "large": "MiB, and it may have",
        "none": "No such file",
        "a\\u0000b": "null",
    }.items():
        with pytest.raises(RuleError, match=f"cannot be read: .*{reason}") as result:
            parse_rules(rules % name, "rules.toml", tmp_path)
        assert "(line 5, column 18)" in result.value.message
        with pytest.raises(TemplateError, match=f"cannot be read: .*{reason}"):
            load_template(
                {"features": ["w"], "words": {"w": {"file": str(tmp_path / name.replace("\\u0000", "\0"))}}}
            )
    for name in ("/dev/zero", tmp_path / "pipe", tmp_path):
        with pytest.raises(RuleError, match="cannot be read: not a regular file"):
            load_rules(name)
        with pytest.raises(TemplateError, match="cannot be read: not a regular file"):
            load_template(name)
    assert time.process_time() - began < 30


def test_messages_do_not_hold_a_file(tmp_path):
    (tmp_path / "key").write_text("-----" + "secret" * 100_000)
    with pytest.raises(RuleError) as result:
        load_rules(tmp_path / "key")
    assert len(str(result.value)) < 500
    with pytest.raises(RuleError) as result:
        parse_rules(f"fields = ['a']\n[[rule]]\ntemplate = '{'x' * 100_000}'")
    assert len(str(result.value)) < 1000


def test_types_written_as_texts_are_read():
    """A module with postponed annotations declares types as texts."""
    source = (
        "from __future__ import annotations\n"
        "from formulations import constraints as C\n"
        "from formulations.labels.label_set import Selector\n"
        "class Postponed(C.Template):\n"
        "    field: Selector\n    n: int = 1\n"
        "    def ground(self, labels, tokens): return []\n"
        "    def trials(self, reading): return []\n"
        "postponed = C.template(Postponed)\n"
    )
    try:
        import sys
        import types

        module = sys.modules["postponed_types"] = types.ModuleType("postponed_types")
        exec(source, module.__dict__)
        with pytest.raises(ValueError, match=r"postponed: n is \[1\]"):
            module.postponed("a", [1])
        with pytest.raises(RuleError, match="n is 'x'; expected a whole number"):
            parse_rules(HEAD + 'template = "postponed"\nfield = "a"\nn = "x"')
        with pytest.raises(RuleError, match='no field "c"'):
            parse_rules(HEAD + 'template = "postponed"\nfield = "c"')
        assert module.postponed("X", scope="each label").statements(("a", "b"))[1].field == "b"
    finally:
        C.TEMPLATES.pop("postponed", None)
        sys.modules.pop("postponed_types", None)
