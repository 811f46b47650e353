"""The notebooks run from top to bottom, and are committed without outputs."""

import ast
import json
import re

import pytest
from support.places import ROOT
from support.processes import python

FOLDER = ROOT / "docs" / "notebooks"
NAMES = ("few-labels", "pareto-frontier", "proof-step-by-step", "quality-gaps")
RUN = """
import json, sys

from matplotlib import pyplot

namespace, pictures = {"__name__": "__main__"}, 0
for number, cell in enumerate(json.load(sys.stdin)):
    exec(compile(cell, f"<code cell {number}>", "exec"), namespace)
    pictures += len(pyplot.get_fignums())
    pyplot.close("all")
print("pictures:", pictures)
"""
"""Runs code cells as Jupyter does: in order, with one set of names, and figures closed after each cell."""


def book(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))


def code(name):
    return ["".join(cell["source"]) for cell in book(name)["cells"] if cell["cell_type"] == "code"]


def prose(name):
    return "".join("".join(c["source"]) + "\n\n" for c in book(name)["cells"] if c["cell_type"] == "markdown")


def test_these_are_all_notebooks():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(NAMES)
    index = (FOLDER / "index.md").read_text("utf-8")
    assert all(index.count(f"{name}\n") == 1 and f"({name}.ipynb)" in index for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_from_top_to_bottom(name, tmp_path):
    variables = {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    own = {"input": json.dumps(code(name)), "encoding": "utf-8", "cwd": tmp_path}
    run = python("-W", "error::UserWarning", "-c", RUN, variables=variables, **own)
    assert run.returncode == 0, run.stderr[-3000:]
    pictures = int(re.findall(r"^pictures: (\d+)$", run.stdout, re.MULTILINE)[-1])
    images = [cell["metadata"].get("mystnb", {}).get("image", {}) for cell in book(name)["cells"]]
    described = [image for image in images if image.get("alt")]
    assert pictures == len(described) >= 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_committed_without_outputs(name):
    cells = [cell for cell in book(name)["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_has_the_form_of_nbformat(name):
    record = book(name)
    assert (record["nbformat"], record["nbformat_minor"]) == (4, 5)
    assert record["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in record["cells"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each) for each in ids)
    for cell in record["cells"]:
        own = {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        assert cell.keys() == {"cell_type", "id", "metadata", "source"} | own
        assert all(line.endswith("\n") for line in cell["source"][:-1]) and cell["source"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_reads_as_a_page(name):
    text, cells = prose(name), code(name)
    assert text.startswith("# ") and len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    assert max(len(cell.splitlines()) for cell in cells) <= 30
    for cell in cells:
        ast.parse(cell)
    for target in re.findall(r"\]\((\.\./[^)#]+)", text):
        assert target.endswith((".md", ".ipynb"))
