"""A Sphinx extension: README is the first page, and links of pages of the root lead to pages of the documentation."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MARK = "<!-- README -->"
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
"""Files of the root, and the pages that include them."""


def of_the_root(text: str) -> str:
    """A text of the root as a page of the folder docs: links begin there."""
    text = re.sub(r"\]\(benchmarks/results/([\w-]+)/results\.md", r"](studies/\1.md", text)
    text = re.sub(r"\]\((?=benchmarks/)", "](../", text)
    for name, page in PAGES.items():
        text = text.replace(f"]({name}", f"]({page}")
    return re.sub(r"\]\(docs/", "](", text)


def fill(app: Any, page: str, source: list[str]) -> None:
    """The text of README, or of the page's file of the root, without the title of README."""
    if page == "index":
        _, _, body = (ROOT / "README.md").read_text("utf-8").partition("\n")
        source[0] = source[0].replace(MARK, of_the_root(body))
    for name, one in PAGES.items():
        if one == f"{page}.md":
            source[0] = of_the_root((ROOT / name).read_text("utf-8"))


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill, priority=400)  # before links to studies are followed
    return {"parallel_read_safe": True, "parallel_write_safe": True}
