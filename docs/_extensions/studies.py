"""A Sphinx extension: each committed result of a study becomes a page of its own, and links to it lead to that page."""

import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
LINK = re.compile(r"\((?:\.\./)+benchmarks/results/([\w-]+)/results\.md(#[\w-]+)?\)")
INDEX = """# All studies

Each page is the committed result of one study, with its protocol, the command that repeats it, and the machine. `python -m benchmarks
list` shows them all, `python -m benchmarks run STUDY` repeats one; the studies are part of a clone of the repository.

{links}

```{{toctree}}
:hidden:

{entries}
```
"""


def write_pages(app: Any, config: Any) -> None:
    """A page for each result, and their index, in a folder that git ignores."""
    folder = Path(app.srcdir) / "studies"
    folder.mkdir(exist_ok=True)
    texts = {path.parent.name: path.read_text("utf-8") for path in sorted(RESULTS.glob("*/results.md"))}
    for name, text in texts.items():
        pictures = f"](../../benchmarks/results/{name}/"
        _write(folder / f"{name}.md", re.sub(r"\]\((?=[\w-]+\.svg\))", pictures, text))
    titles = {name: text.partition("\n")[0].removeprefix("# ") for name, text in texts.items()}
    links = "\n".join(f"- [{title}]({name}.md)" for name, title in titles.items())
    _write(folder / "index.md", INDEX.format(links=links, entries="\n".join(titles)))
    for page in folder.glob("*.md"):
        if page.stem not in {"index", *texts}:
            page.unlink()


def _write(path: Path, text: str) -> None:
    """Write what has changed, so that pages that have not are not built again."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def link_pages(app: Any, page: str, source: list[str]) -> None:
    """Links to committed results lead to their pages."""
    up = "../" * page.count("/")
    source[0] = LINK.sub(lambda match: f"({up}studies/{match[1]}.md{match[2] or ''})", source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    app.connect("source-read", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
