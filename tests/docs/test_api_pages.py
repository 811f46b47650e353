"""Pages of the API, and pictures."""

import re
import subprocess
import sys

import pytest
from support.places import ROOT

import formulations
import ilpinfer

LEFT_OUT = {"constraints", "Feature", "Group", "InferenceError", "Rule"}
"""Names of `formulations` that another page of the API has."""
HANDED_ON = {*formulations.__all__} - {"InferenceError"}
"""Names of `ilpinfer` that the page of `formulations` has."""


@pytest.mark.parametrize("package, left_out", [(ilpinfer, HANDED_ON), (formulations, LEFT_OUT)])
def test_every_public_name_is_listed_once(package, left_out):
    page = (ROOT / "docs" / "api" / f"{package.__name__}.md").read_text("utf-8")
    names = re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE)
    assert sorted(names) == sorted(set(package.__all__) - left_out)


def test_every_page_is_in_the_table_of_contents():
    docs = ROOT / "docs"
    listed = set()
    for page in docs.rglob("*.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
        ):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / entry).relative_to(docs).as_posix() for entry in entries}
    files = [path for path in docs.rglob("*.md") if "_build" not in path.parts]
    pages = {path.relative_to(docs).with_suffix("").as_posix() for path in files}
    assert pages - {"index"} == {entry for entry in listed if (docs / f"{entry}.md").exists()}


FOLDER = ROOT / "docs" / "pictures"
PICTURES = sorted(path.name for path in FOLDER.glob("*.svg"))


def texts(svg: str) -> list[str]:
    """The texts of a picture, in their order."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder with all pictures, drawn anew."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("pictures")
    for script in FOLDER.glob("*.py"):
        subprocess.run([sys.executable, script, folder], check=True, capture_output=True)
    return folder


def test_every_picture_is_drawn(drawn):
    assert sorted(path.name for path in drawn.iterdir()) == PICTURES != []


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_what_it_said(name, drawn):
    committed = (FOLDER / name).read_text("utf-8")
    assert texts((drawn / name).read_text("utf-8")) == texts(committed) != []
    assert len(committed) < 50_000


def test_every_picture_is_shown_and_described():
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    described = {path: text for text, path in re.findall(r"!\[([^\]]*)\]\(\S*?pictures/(\S+?)\)", pages)}
    assert set(described) >= set(PICTURES)
    assert all(len(text.split()) > 10 for text in described.values())
