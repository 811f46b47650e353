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


def unexpected(stderr: str) -> list[str]:
    """Lines but those about the first compilation in an installation."""
    return [line for line in stderr.splitlines() if not line.startswith("compiling kernels")]


def test_the_python_examples_run_one_after_the_other(tmp_path):
    code = "\n".join(blocks("python"))
    arguments = [sys.executable, "-c", code]
    run = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert unexpected(run.stderr) == []
    first, verdict, kind, *_ = run.stdout.splitlines()
    assert first.startswith("optimal [")
    assert (verdict, kind) == ("True True ()", "exact")


def test_the_script_of_a_comparison_writes_its_files(tmp_path):
    (code,) = [block for block in blocks("python") if "register_method" in block]
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert unexpected(run.stderr) == []
    assert run.stdout.startswith("[('auto', 1.0, 0.0), ('beam:width=10', 1.0, ")
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")
    assert "toprule" in (tmp_path / "summary.tex").read_text("utf-8")
    assert (tmp_path / "summary.csv").read_text("utf-8").count("\n") == 5


def test_the_rule_file_is_read():
    (text,) = blocks("toml")
    rules = parse_rules(text)
    assert [item.title for item in rules] == ["one title", "feature title → other than title"]


def test_every_template_is_listed():
    listed = set(re.findall(r"`(\w+)[(`]", README))
    assert set(TEMPLATES) <= listed
