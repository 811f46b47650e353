"""Type checkers report mistakes in the use of the public interface, and nothing else."""

import re
import sys

from mypy import api
from support.places import ROOT
from support.processes import python

PROGRAM = ROOT / "tests" / "mistakes.py"
LINES = PROGRAM.read_text("utf-8").splitlines()
MISTAKES = {number for number, line in enumerate(LINES, 1) if line.endswith("# mistake")}


def reported(report: str) -> set[int]:
    """Numbers of the lines with an error."""
    return {int(number) for number in re.findall(r"mistakes\.py:(\d+):(?:\d+ -)? error", report)}


def test_mypy_reports_every_mistake_and_nothing_else() -> None:
    arguments = ["--strict", "--python-executable", sys.executable, "--cache-dir", str(ROOT / ".mypy_cache")]
    report, failure, _ = api.run([*arguments, "--config-file", str(ROOT / "pyproject.toml"), str(PROGRAM)])
    assert failure == ""
    assert reported(report) == MISTAKES, report


def test_pyright_reports_every_mistake_and_nothing_else() -> None:
    options = ["--level", "error", "--pythonpath", sys.executable]
    run = python("-m", "basedpyright", *options, PROGRAM, cwd=ROOT)
    assert reported(run.stdout) == MISTAKES, run.stdout
