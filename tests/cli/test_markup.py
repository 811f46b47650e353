"""Texts of users are shown as they are: square brackets are no markup."""

import re
from pathlib import Path

from rich.console import Console

from formulations import Trellis
from ilpinfer import compare
from ilpinfer.cli import screen, show
from ilpinfer.cli.streams import say, visible

LABEL = "[/x] [red]"


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
