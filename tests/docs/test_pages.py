"""Every page of the documentation: its Python blocks run in order, and print what the page shows."""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import blocks, run
from support.places import ROOT

from formulations import constraints
from ilpinfer.references.shipped import FOLDER, KINDS

DOCS = ROOT / "docs"
BUILT = DOCS / "_build"
OF_DOCS = sorted(page for page in DOCS.rglob("*.md") if BUILT not in page.parents)
PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in OF_DOCS)]
OWN_TESTS = {"docs/large-corpora.md": "tests/test_large_corpora_page.py"}
"""Pages whose blocks need files or services, and the tests that run them."""
WITH_COMMANDS = ["docs/data.md", "docs/how-to/compare-decoders.md", "docs/how-to/integer-program.md"]
"""Pages whose shell blocks run, too, after their Python blocks, which write files for them."""
EXTRAS = {"datasets", "distributed", "fastapi", "pandas", "polars", "pyarrow", "pycrfsuite", "sklearn"}
EXTRAS |= {"sklearn_crfsuite", "spacy", "torch", "transformers"}
"""Modules that a page may need and an installation may lack."""


def imported(text: str) -> set[str]:
    """The top-level modules that a block imports."""
    tree = ast.parse(text)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("name", [name for name in PAGES if name not in OWN_TESTS])
def test_the_python_blocks_run_and_print_what_is_shown(name, tmp_path):
    page = ROOT / name
    given = blocks(page.read_text("utf-8"), "python")
    for module in imported(given[0].text) & EXTRAS if given else ():
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    for block, printed in zip(given, run(page, given, tmp_path)):
        assert printed.rstrip() == (block.output or "").rstrip(), f"{name}, line {block.line}"
    if name in WITH_COMMANDS:
        run_commands(page, tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_no_page_installs_from_an_index(name):
    """An extra may be named once ilpinfer is installed: pip then looks for nothing but the extra's packages."""
    assert not re.search(r"pip install ilpinfer\b(?!\[)", (ROOT / name).read_text("utf-8"))


@pytest.mark.parametrize("name", PAGES)
def test_what_a_block_prints_stands_in_a_text_block(name):
    for block in blocks((ROOT / name).read_text("utf-8"), "python"):
        for at, line in enumerate(block.text.splitlines()):
            assert not re.match(r"\s*print\(.*\)\s+# ", line), f"{name}, line {block.line + at}: {line}"


def claims() -> list[tuple[str, str, str]]:
    """Rules of all pages with a comment on their kind or penalty: place, rule, comment."""
    return [
        (f"{name}, line {block.line + at}", match[1], match[2])
        for name in PAGES
        for block in blocks((ROOT / name).read_text("utf-8"), "python")
        for at, line in enumerate(block.text.splitlines())
        if (match := re.fullmatch(r"\s*(C\.\w+\(.*\)),\s+# (.*\b(?:hard|soft|nats?)\b.*)", line))
    ]


def test_comments_on_rules_are_true():
    found = claims()
    assert len(found) >= 8
    for place, text, comment in found:
        rule = eval(text, {"C": constraints})
        assert rule.hard == ("hard" in comment), place
        number = re.search(r"(\d+(?:\.\d+)?) nat", comment)
        assert rule.hard or (number and float(number[1]) == rule.penalty), place


def run_commands(page: Path, folder: Path) -> None:
    """Run the shell blocks of a page, installations left out."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in blocks(page.read_text("utf-8"), "sh"):
        text = re.sub(r"^pip install .*$", "", block.text, flags=re.MULTILINE)
        own = {"cwd": folder, "env": {**os.environ, "PATH": path}, "capture_output": True, "text": True}
        result = subprocess.run(["sh", "-e", "-c", text], **own, check=False)
        assert result.returncode == 0, f"{page}, line {block.line}: {result.stderr}"


def test_pages_with_tests_of_their_own_have_them():
    for page, test in OWN_TESTS.items():
        assert page in PAGES
        assert Path(page).name in (ROOT / test).read_text("utf-8")


def test_a_wrong_output_and_an_error_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# P\n\n```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n\n```python\nx.y\n```\n")
    first, second = blocks(page.read_text(), "python")
    assert (first.line, first.output, second.output) == (4, "2\n", None)
    assert run(page, [first], tmp_path) == ["1\n"]
    with pytest.raises(AssertionError, match=r"page\.md\", line 13"):
        run(page, [first, second], tmp_path)
    assert imported("import sklearn.base\nfrom torch import nn") == {"sklearn", "torch"}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_reader_in_javascript_scores_the_references_of_the_package(tmp_path):
    [block] = blocks((DOCS / "other-languages.md").read_text("utf-8"), "js")
    reader = tmp_path / "reader.mjs"
    reader.write_text(block.text)
    files = [str(FOLDER / f"{kind}.jsonl.gz") for kind in KINDS]
    said = subprocess.run(["node", str(reader), *files], capture_output=True, text=True, check=True).stdout
    assert said == "80 references, largest loss of an optimum: 0\n"


def anchors(page: str) -> set[str]:
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    plain = re.sub(r"^(`{3,}).*?^\1[ \t]*$", "", page, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", plain, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_and_headings(name):
    page = (ROOT / name).read_text("utf-8")
    for path, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)", page):
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), f"{name}: {path}"
        if anchor:
            assert anchor in anchors(target.read_text("utf-8")), f"{name}: {path}#{anchor}"
