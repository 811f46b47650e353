"""Texts of users are shown as they are: square brackets are no markup."""

import json

import pytest
from rich.console import Console

from ilpinfer.cli import screen, show
from ilpinfer.cli.checking import CheckOptions, check
from ilpinfer.cli.evaluating import EvaluateOptions, evaluate
from ilpinfer.cli.explaining import ExplainOptions, explain
from ilpinfer.cli.streams import say, visible
from ilpinfer.comparison.summary import Summary

NAMES = ["[hard] one title", "[/x] :smile:", "[bold", "\\[red]"]
LABEL = "[/x] [red]"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = "".join(f"[[rule]]\nname = {json.dumps(n)}\nlinear = 'tokens(\"{LABEL}\") <= 0'\n" for n in NAMES)
    (tmp_path / "rules.toml").write_text(f"fields = [{json.dumps(LABEL)}]\n{rules}", "utf-8")
    (tmp_path / "gold.tsv").write_text(f"x\t{LABEL}\n[/y]\tO\n\nx\t{LABEL}\n", "utf-8")
    (tmp_path / "said.jsonl").write_text(
        json.dumps({"tokens": ["x", "[/y]"], "labels": ["O", "O"]})
        + "\n"
        + json.dumps({"tokens": ["x"], "labels": ["O"]})
        + "\n"
    )
    return tmp_path


def test_rules_are_named_as_they_are(files, capsys):
    check(CheckOptions("rules.toml", "gold.tsv", "plain"))
    checked = capsys.readouterr().out
    explain(ExplainOptions("rules.toml", None, 5, "plain"))
    explained = capsys.readouterr().out
    for name in NAMES:
        assert f"{name}: broken in" in checked and checked.count(name) >= 2
        assert name in explained


def test_fields_and_files_are_named_as_they_are(files, capsys):
    (files / "[a].jsonl").write_text((files / "said.jsonl").read_text())
    evaluate(
        EvaluateOptions("[a].jsonl", "gold.tsv", "said.jsonl", by="tokens", scheme="plain", resamples=10)
    )
    shown = capsys.readouterr().out
    assert LABEL in shown and "[a].jsonl against said.jsonl" in shown and f"{LABEL} as O" in shown


def test_methods_are_named_as_they_are(capsys):
    line = Summary(**dict.fromkeys(Summary.__dataclass_fields__, 0) | {"method": LABEL, "kind": "exact"})
    show.show_comparison([line])
    assert capsys.readouterr().out.count(LABEL) == 2


def test_control_characters_do_not_reach_the_terminal(files, capsys):
    name, rules = "\x1b[31mred\x07\x9b2J", (files / "rules.toml").read_text()
    (files / "rules.toml").write_text(rules.replace(json.dumps(NAMES[0]), json.dumps(name)))
    check(CheckOptions("rules.toml", "gold.tsv", "plain"))
    explain(ExplainOptions("rules.toml", None, 5, "plain"))
    say(f"ilpinfer: {name}\r\n  ^")
    shown = capsys.readouterr()
    assert (
        shown.out.count(r"\x1b[31mred\x07\x9b2J") >= 3 and shown.err == f"ilpinfer: {visible(name)}\\r\n  ^\n"
    )
    assert not set(shown.out + shown.err) & {"\x1b", "\x07", "\x9b", "\r"}


def test_every_console_and_table_comes_from_one_place():
    from pathlib import Path

    folder = Path(screen.__file__).parent.parent
    made = {
        p.name
        for p in folder.rglob("*.py")
        for word in ("Console(", " Table(")
        if word in p.read_text("utf-8")
    }
    assert made == {"screen.py"}
    assert screen.console().render_str("[red]").plain == "[red]" and isinstance(screen.console(), Console)
