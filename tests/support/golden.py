"""Golden texts of what is said."""

import ast
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path


def check_said(path: Path, asked: str, said: str, found: str) -> None:
    """Compare with a golden text below what was asked; … stands for any text there. UPDATE_GOLDEN=1 writes it anew."""
    if re.fullmatch(".*".join(map(re.escape, said.split("…"))), found, re.S):
        return
    if os.environ.get("UPDATE_GOLDEN"):
        text = path.read_text("utf-8")
        path.write_text(text.replace(f"{asked}\n{said}", f"{asked}\n{found}"), "utf-8")
    assert found == said


PROGRESS = re.compile(r"^ilpinfer: (compiling kernels|\w+: \d+ (sequences|of \d+ steps|steps)).*\n", re.M)
"""Lines while kernels are compiled for the first time, and of runs that take more than a minute."""
Block = tuple[str, dict[str, str | bytes], list[tuple[str, str]]]


def commands_of(path: Path, border: str) -> Iterator[Block]:
    """The blocks of a file: a title, files of the working folder, and commands with all that they say.

    Blocks begin behind a border, a regular expression; the title is the rest of its line.
    """
    for block in re.split(border, path.read_text("utf-8"), flags=re.M)[1:]:
        head, *commands = re.split(r"^\$ ", block, flags=re.M)
        title, *lines = head.splitlines()
        parts = (line.partition(" = ") for line in lines if commands and line)
        files = {name: ast.literal_eval(content) for name, _, content in parts}
        asked = (each.rstrip("\n").partition("\n") for each in commands)
        yield title, files, [(command, f"{said}\n") for command, _, said in asked]


def put(files: dict[str, str | bytes]) -> None:
    """Write files into the working folder."""
    for name, content in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def alike(*calls: Callable[[], object]) -> None:
    """Raise the error of all calls, which have to be refused in the same words."""
    errors = [_error_of(call) for call in calls]
    assert len({f"{type(error).__name__}: {error}" for error in errors}) == 1, errors
    raise errors[0]


def _error_of(call: Callable[[], object]) -> Exception:
    try:
        call()
    except Exception as error:
        return error
    return AssertionError("not refused")
