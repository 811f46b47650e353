"""Texts of users are shown as they are: square brackets are no markup."""

import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from formulations import Trellis
from ilpinfer import compare
from ilpinfer.cli import screen, show
from ilpinfer.cli.checking import CheckOptions, check
from ilpinfer.cli.evaluating import EvaluateOptions, evaluate
from ilpinfer.cli.explaining import ExplainOptions, explain
from ilpinfer.cli.streams import say, visible

NAMES = ["[hard] one title", "[/x] :smile:", "[bold", "\\[red]"]
LABEL = "[/x] [red]"


@pytest.fixture
def files(here):
    rules = "".join(f"[[rule]]\nname = {json.dumps(n)}\nlinear = 'tokens(\"{LABEL}\") <= 0'\n" for n in NAMES)
    (here / "rules.toml").write_text(f"fields = [{json.dumps(LABEL)}]\n{rules}", "utf-8")
    (here / "gold.tsv").write_text(f"x\t{LABEL}\n[/y]\tO\n\nx\t{LABEL}\n", "utf-8")
    (here / "said.tsv").write_text("x\tO\n[/y]\tO\n\nx\tO\n", "utf-8")
    return here


def test_rules_are_named_as_they_are(files, capsys):
    check(CheckOptions("rules.toml", "gold.tsv", "plain"))
    checked = capsys.readouterr().out
    explain(ExplainOptions("rules.toml", None, 5, "plain"))
    explained = capsys.readouterr().out
    for name in NAMES:
        assert f"{name}: broken in" in checked and checked.count(name) >= 2
        assert name in explained


def test_fields_and_files_are_named_as_they_are(files, capsys):
    (files / "[a].tsv").write_text((files / "said.tsv").read_text())
    evaluate(EvaluateOptions("[a].tsv", "gold.tsv", "said.tsv", by="tokens", scheme="plain", resamples=10))
    shown = capsys.readouterr().out
    assert LABEL in shown and "[a].tsv against said.tsv" in shown and f"{LABEL} as O" in shown


def test_methods_are_named_as_they_are(capsys):
    summary = compare([Trellis([0.0, 1.0], [], ["a", "b"])], [], ["auto"], names={"auto": LABEL}).summary()
    show.show_comparison(summary)
    assert capsys.readouterr().out.count(LABEL) == 2


def test_control_characters_of_messages_do_not_reach_the_terminal(capsys):
    name = "\x1b[31mred\x07\x9b2J"
    say(f"ilpinfer: {name}\r\n  ^")
    assert capsys.readouterr().err == f"ilpinfer: {visible(name)}\\r\n  ^\n"


def test_every_console_and_table_comes_from_one_place():
    files = Path(screen.__file__).parent.parent.rglob("*.py")
    made = {path.name for path in files if re.search(r"Console\(| Table\(", path.read_text("utf-8"))}
    assert made == {"screen.py"}
    assert screen.console().render_str("[red]").plain == "[red]" and isinstance(screen.console(), Console)
