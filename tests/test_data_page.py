"""The page on formats shows what happens: its Python prints what stands below it, and its commands run one after the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT

PAGE = (ROOT / "docs" / "data.md").read_text("utf-8")
BLOCKS = re.findall(r"```(python|sh|text)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("library", ["narwhals", "pyarrow", "spacy"])
def test_the_page_names_the_extra_of_a_library(library):
    extra = {"narwhals": "frames", "pyarrow": "parquet", "spacy": "spacy"}[library]
    assert extra in re.search(r"pip install 'ilpinfer\[([a-z,]+)\]'", PAGE)[1].split(",")


def test_the_blocks_run_in_their_order(tmp_path, monkeypatch, capsys):
    for library in ("narwhals", "pyarrow", "spacy"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    names, printed, followed = {}, "", 0
    for at, (kind, text) in enumerate(BLOCKS):
        if kind == "python":
            exec(text, names)
            wanted = BLOCKS[at + 1][1] if BLOCKS[at + 1 :] and BLOCKS[at + 1][0] == "text" else ""
            assert capsys.readouterr().out == wanted
            followed += 1
        elif kind == "sh" and not text.startswith("pip install"):
            command = ["sh", "-e", "-c", text]
            run = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            printed += run.stdout
    assert followed > 6
    assert "Ada\tNNP\n" in printed and "\tNER=B-name\n" in printed
    assert Path("labelled-documents/small.ann").read_text() == "T1\tname 0 12\tAda Lovelace\n"
    assert '"predictions"' in Path("import.json").read_text()


def test_every_format_of_the_page_has_its_section():
    sections = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^## (.*)", PAGE, re.M)
    }
    assert set(re.findall(r"\]\(#([a-z0-9-]+)\)", PAGE)) <= sections


def test_every_format_is_named():
    from ilpinfer.corpus.streams import SUFFIXES
    from ilpinfer.corpus.writing import BY_SUFFIX

    assert not [suffix for suffix in {*BY_SUFFIX, *SUFFIXES} if f"`{suffix}`" not in PAGE]
