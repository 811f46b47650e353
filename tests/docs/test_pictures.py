"""The pictures of the documentation are what their script draws, and have alternatives in words."""

import re
import subprocess
import sys

import pytest
from support.places import ROOT

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
