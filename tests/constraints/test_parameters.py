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
    long = C.logic("forall t: " + " and ".join(["X(t)"] * 1500), scope="each label")
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
        "large": "MiB; at most",
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


@pytest.mark.parametrize("is_late", [False, True])
def test_types_written_as_texts_are_read(is_late):
    """A module with postponed annotations declares types as texts, whose names may be bound later."""
    imported = "from formulations.labels.label_set import Selector\n"
    source = (
        "from __future__ import annotations\n"
        "from formulations import constraints as C\n"
        f"{'' if is_late else imported}"
        "class Postponed(C.Template):\n"
        "    field: Selector\n    n: int = 1\n"
        "    def ground(self, labels, tokens): return []\n"
        "    def trials(self, reading): return []\n"
        "postponed = C.template(Postponed)\n"
        f"{imported if is_late else ''}"
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
