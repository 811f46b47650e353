"""The page on formats shows what happens: its Python prints what stands below it, and its commands run one after the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT

PAGE = (ROOT / "docs" / "data.md").read_text("utf-8")
BLOCKS = re.findall(r"```(python(?: spacy)?|text)\n(.*?)```", PAGE, re.DOTALL)


def shown(capsys, kinds):
    """Pairs of what blocks of some kinds print and what the page says of it."""
    names: dict = {}
    for at, (kind, code) in enumerate(BLOCKS):
        if kind in kinds:
            exec(code, names)
            out = capsys.readouterr().out
            wanted = BLOCKS[at + 1][1] if BLOCKS[at + 1 :] and BLOCKS[at + 1][0] == "text" else ""
            yield out, wanted


def test_python_prints_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    results = list(shown(capsys, ["python"]))
    assert len(results) > 5
    for out, wanted in results:
        assert out == wanted


def test_the_part_on_spacy(tmp_path, monkeypatch, capsys):
    pytest.importorskip("spacy")
    monkeypatch.chdir(tmp_path)
    assert [out == wanted for out, wanted in shown(capsys, ["python", "python spacy"])].count(False) == 0


def test_the_commands_run_one_after_the_other(tmp_path):
    script = "set -e\n" + "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "Ada\tNNP\n" in run.stdout and "\tNER=B-name\n" in run.stdout
    assert (tmp_path / "labelled-documents" / "small.ann").read_text() == "T1\tname 0 12\tAda Lovelace\n"
    assert '"predictions"' in (tmp_path / "import.json").read_text()


def test_every_format_of_the_page_has_its_section():
    sections = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^## (.*)", PAGE, re.M)
    }
    assert set(re.findall(r"\]\(#([a-z0-9-]+)\)", PAGE)) <= sections


def test_every_format_that_is_written_is_named():
    from ilpinfer.corpus.writing import BY_SUFFIX

    assert all(f"`{suffix}`" in PAGE for suffix in BY_SUFFIX)
