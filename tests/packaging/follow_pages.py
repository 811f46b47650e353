"""Pages of the documentation, followed by the letter: `python tests/packaging/follow_pages.py WHEEL`.

Each page gets an empty folder, and an environment with the wheel and the extras that its `pip install` lines name. Its Python blocks run in one
process and its shell blocks between them, in the order of the page; printed text is compared with the text that the page shows.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import environment

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from support.pages import Block, blocks  # noqa: E402

DOCS = TESTS.parent / "docs"
PAGES = (
    "get-started.md",
    "decoding.md",
    "how-to/compare-decoders.md",
    "how-to/crfsuite.md",
    "how-to/hugging-face.md",
    "how-to/integer-program.md",
)
INSTALL = re.compile(r"pip install '?ilpinfer(?:\[([\w,]+)\])?")
DRIVER = """
import contextlib, io, json, subprocess, sys
names = {"__name__": "__main__"}
for language, line, text, output in json.load(sys.stdin):
    if language == "sh":
        subprocess.run(["sh", "-e", "-c", text], check=True, stdout=subprocess.DEVNULL)
        continue
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\\n" * (line - 1) + text, "page", "exec"), names)
    if output is not None and out.getvalue().rstrip() != output.rstrip():
        sys.exit(f"line {line}: printed\\n{out.getvalue()}instead of\\n{output}")
"""


def extras(given: list[Block]) -> str:
    """The extras that the shell blocks of a page install."""
    named = (match[1] for block in given if block.language == "sh" for match in INSTALL.finditer(block.text))
    return ",".join(sorted({extra for group in named if group for extra in group.split(",")}))


def without_install(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("pip install"))


def follow(page: str, python: Path) -> str:
    """The fault of a page; empty where there is none."""
    given = [
        block for block in blocks((DOCS / page).read_text("utf-8")) if block.language in ("python", "sh")
    ]
    job = [[block.language, block.line, without_install(block.text), block.output] for block in given]
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    variables = {"PATH": path, "MPLBACKEND": "Agg", "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, "-c", DRIVER],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**variables, "HOME": folder},
        )
    return done.stderr.strip() or "failed" if done.returncode else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel")
    parser.add_argument("pages", nargs="*", help="such as how-to/crfsuite.md; all how-tos if not given")
    options = parser.parse_args()
    wheel, failed = str(Path(options.wheel).resolve()), False
    with tempfile.TemporaryDirectory() as folder:
        made: dict[str, Path] = {}
        for page in options.pages or PAGES:
            needed = extras(blocks((DOCS / page).read_text("utf-8")))
            if needed not in made:
                made[needed] = environment(Path(folder, needed or "core"), wheel, needed)
            fault = follow(page, made[needed])
            failed |= bool(fault)
            title = f"ilpinfer[{needed}]" if needed else "ilpinfer"
            print(f"{page}, with {title}: {fault or 'followed'}", flush=True)
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
