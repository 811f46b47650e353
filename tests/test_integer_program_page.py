"""The page about the program of three tokens says what the library does."""

import re
import subprocess
import sys

from support.places import ROOT

PAGE = ROOT / "docs" / "integer-program.md"
MORE = """
from pathlib import Path
import ilpinfer

assert labels == ilpinfer.decode(trellis, rules).labels
assert problem.objective.value() == ilpinfer.decode(trellis, rules).score == 1.5
plain = ilpinfer.decode(trellis)
assert (plain.labels, plain.score) == (["title", "O", "title"], 2.0)
assert trellis.score(plain.labels) - 0.625 == 1.375
print(Path("titles.lp").read_text())
print("----")
print(program.describe())
"""


def test_the_page_runs_and_shows_what_is_written(tmp_path):
    text = PAGE.read_text("utf-8")
    code = "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)) + MORE
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    said, rest = run.stdout.split("\n", 1)
    assert said in text
    program, table = rest.split("----\n")
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert [shown[0].strip(), shown[1].strip()] == [program.strip(), table.strip()]
