"""The pages of the Python API list every public name."""

import re

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
