"""Pages of the documentation: their code blocks, and the output of the Python blocks."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_RUNNER = """
import contextlib, io, json, sys
page, blocks = json.load(sys.stdin)
__name__, printed = "__main__", []
names = {"__name__": "__main__"}
for line, text in blocks:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\\n" * (line - 1) + text, page, "exec"), names)
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


@dataclass(frozen=True)
class Block:
    """A fenced block; `output` is the text block that follows after blank lines only, if there is one."""

    language: str
    text: str
    line: int
    output: str | None


def blocks(page: str, language: str = "") -> list[Block]:
    """The blocks of a page's text, in order; with a language, only its blocks."""
    found = list(_FENCE.finditer(page))
    result = []
    for match, after in zip(found, [*found[1:], None]):
        near = after is not None and not page[match.end() : after.start()].strip()
        shown = after[3] if near and after[2].strip() == "text" else None
        line = page.count("\n", 0, match.start(3)) + 1
        result.append(Block(match[2].strip(), match[3], line, shown))
    return [block for block in result if not language or block.language == language]


def sections(page: str, level: str = "###") -> dict[str, str]:
    """The text below each heading of a level, up to the next heading of that or a higher level."""
    plain = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), page)
    starts = [(m.start(), m[1], m[2]) for m in re.finditer(r"^(#+) (.+)$", plain, re.MULTILINE)]
    ends = [start for start, _, _ in starts[1:]] + [len(page)]
    pairs = zip(starts, ends)
    return {title: page[start:end] for (start, marks, title), end in pairs if marks == level}


def run(page: Path, given: Sequence[Block], folder: Path) -> list[str]:
    """Run Python blocks one after the other in one process, and return the output of each."""
    job = json.dumps([str(page), [[block.line, block.text] for block in given]])
    environment = {**os.environ, "MPLBACKEND": "Agg", "HF_HUB_OFFLINE": "1"}
    command, how = [sys.executable, "-c", _RUNNER], {"capture_output": True, "text": True, "check": False}
    result = subprocess.run(command, input=job, cwd=folder, env=environment, **how)
    assert result.returncode == 0, result.stderr
    printed: list[str] = json.loads(result.stdout)
    return printed
