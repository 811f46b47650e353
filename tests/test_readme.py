"""What README shows works as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

from formulations import parse_rules
from formulations.constraints import TEMPLATES

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def test_the_python_examples_run_one_after_the_other():
    code = "\n".join(blocks("python"))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    first, verdict, kind, *_ = run.stdout.splitlines()
    assert first.startswith("optimal [")
    assert (verdict, kind) == ("True True ()", "exact")


def test_the_rule_file_is_read():
    (text,) = blocks("toml")
    rules = parse_rules(text)
    assert [item.title for item in rules] == ["one title", "feature title → other than title"]


def test_every_template_is_listed():
    listed = set(re.findall(r"`(\w+)[(`]", README))
    assert set(TEMPLATES) <= listed
