"""Labels, tokens, rules and files whose names control a terminal: every command shows them with escapes."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from support.command_line import run

EVIL = "\x1b]0;title\x07\x9b31m\x7f\u202e"
SHOWN = r"\x1b]0;title\x07\x9b31m\x7f\u202e"
AS_JSON = r"\u001b]0;title\u0007\u009b31m\u007f\u202e"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
NAME, TOKEN, RULE, FILE = f"a{EVIL}", f"t{EVIL}", f"rule{EVIL}\nnext", f"in{EVIL}"
RULES = f"""
fields = [{json.dumps(NAME)}]
[[rule]]
name = {json.dumps(RULE)}
template = "at_most_runs"
field = {json.dumps(NAME)}
penalty = 0.5
[[rule]]
name = {json.dumps(f"words{EVIL}")}
template = "requires_word"
"""
SCORES = {
    "emissions": [[1, 0], [0, 1], [1, 0]],
    "transitions": [[0, 0], [0, 0]],
    "label_names": [NAME, "O"],
    "tokens": [TOKEN, "x", TOKEN],
}
GOLD = [[NAME, "O", NAME], ["O", "O", NAME]]


def rows(labellings):
    return "".join(json.dumps({"tokens": SCORES["tokens"], "labels": each}) + "\n" for each in labellings)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with everything that the commands read."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / f"{FILE}.jsonl").write_text(f"{json.dumps(SCORES)}\n" * 2)
    (folder / f"{FILE}.toml").write_text(RULES[: RULES.rindex("[[rule]]")])
    (folder / f"wrong{EVIL}.toml").write_text(RULES)
    (folder / f"unknown{EVIL}.toml").write_text(RULES.replace(f"field = {json.dumps(NAME)}", 'field = "b"'))
    (folder / f"gold{EVIL}.jsonl").write_text(rows(GOLD * 4))
    (folder / f"said{EVIL}.jsonl").write_text(rows([["O", NAME, NAME], GOLD[1]] * 4))
    (folder / f"bad{EVIL}.jsonl").write_text(json.dumps({EVIL: 1}) + "\n")
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    return Path("work")


INPUT, TOML, WRONG, UNKNOWN = f"{FILE}.jsonl", f"{FILE}.toml", f"wrong{EVIL}.toml", f"unknown{EVIL}.toml"
TRUE, SAID, BAD, OUT = f"gold{EVIL}.jsonl", f"said{EVIL}.jsonl", f"bad{EVIL}.jsonl", f"out{EVIL}"
RULED = [INPUT, "--rules", TOML]
LOOSE = ["--support", "1", "--word-support", "1", "--gain", "0", "--power", "0", "--confidence", "0.6"]
DONE = [
    ["decode", *RULED, "--top", "2", "--output", "-"],
    ["check", TOML],
    ["check", TOML, TRUE],
    ["check", TOML, TRUE, "--write", f"{OUT}.toml"],
    ["evaluate", SAID, TRUE, "--json"],
    ["evaluate", SAID, TRUE, "--against", TRUE, "--resamples", "10"],
    ["mine", TRUE, "--output", f"{OUT}.toml", *LOOSE],
    ["train", TRUE, "--output", f"{OUT}.json", "--held-out", TRUE, "--cross-validate", "2"],
    ["learn", TRUE, "--rules", TOML, "--kind", "hmm", "--folds", "2", "--output", f"{OUT}.toml"],
    ["codl", TRUE, TRUE, "--rules", TOML, "--output", f"{OUT}.json", "--cycles", "1"],
    ["compare", *RULED, "--methods", "auto", "--predictions", f"m{EVIL}={SAID}", "--output", OUT],
    ["export", *RULED, "--output", OUT],
    ["reprocess", *RULED, "--output", OUT, "--dry-run"],
    ["convert", TRUE, f"{OUT}.tsv"],
]
REFUSED = [
    ["decode", INPUT, "--rules", WRONG],
    ["decode", BAD, "--rules", TOML],
    ["decode", INPUT, "--method", f"auto{EVIL}"],
    ["check", UNKNOWN, TRUE],
    ["evaluate", BAD, TRUE],
    ["export", *RULED, "--check", f"none{EVIL}"],
    ["convert", f"none{EVIL}.brat", f"{OUT}.tsv"],
    ["reference", "verify", BAD],
    ["serve", "--rules", WRONG],
    [f"methods{EVIL}"],
    ["methods", f"--json{EVIL}"],
]


def name(arguments):
    return " ".join(arguments).replace(EVIL, "~")


def checked(arguments, capsys, codes=(0,)):
    """What a command prints, in which nothing may control the terminal."""
    code, out, err = run(arguments, capsys)
    assert code in codes and "Traceback" not in err, (code, err)
    assert not FORBIDDEN.search(out + err), ascii(out + err)
    return out + err


@pytest.mark.parametrize("arguments", DONE, ids=name)
def test_no_result_has_control_characters(arguments, folder, capsys):
    checked(arguments, capsys)


@pytest.mark.parametrize("arguments", REFUSED, ids=name)
def test_no_message_has_control_characters(arguments, folder, capsys):
    checked(arguments, capsys, (1, 2))


def test_names_are_shown_with_escapes(folder, capsys):
    for arguments in (["check", TOML], ["check", TOML, TRUE]):
        assert rf"rule{SHOWN}\nnext" in checked(arguments, capsys)
    assert f"a{SHOWN}" in checked(["evaluate", SAID, TRUE], capsys)
    assert f"none{SHOWN}.jsonl" in checked(["decode", f"none{EVIL}.jsonl"], capsys, (2,))
    decoded = checked(["decode", *RULED], capsys)
    assert AS_JSON in decoded and json.loads(decoded.splitlines()[0])["labels"] == [NAME, "O", NAME]


def test_references_are_shown_with_escapes(folder, capsys):
    path = f"{OUT}.jsonl"
    made = checked(["reference", "make", *RULED, "--output", path], capsys)
    assert f"out{SHOWN}.jsonl" in made and os.path.exists(path)
    shown = checked(["reference", "verify", path, "--verbose"], capsys)
    assert f"out{SHOWN}.jsonl: reference 1 (in{SHOWN}" in shown and "2 references verified" in shown
    assert f"  t{SHOWN}/a{SHOWN} x/O t{SHOWN}/a{SHOWN}\n" in shown
    lines = Path(path).read_text().splitlines()
    false = json.loads(lines[0]) | {"digest": "0" * 64}
    Path(path).write_text(f"{json.dumps(false)}\n")
    assert f"(in{SHOWN}" in checked(["reference", "verify", path], capsys, (1,))
