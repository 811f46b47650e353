"""Parallel files of slot filling, one sequence per line: tokens in `NAME.in`, labels in `NAME.out`, intents in a third file."""

import os.path
from collections.abc import Iterator

from formulations.messages import counted
from ilpinfer.corpus.examples import Example, InputError, Rejection
from ilpinfer.system.storage import is_file, read_bytes

TOKENS, LABELS = ".in", ".out"
INTENT = "intent"
"""The key of the class of a sequence, under `metadata`."""


def is_parallel(path: str) -> bool:
    """Whether a file is the token file of parallel files; `seq.in` alone has no labels."""
    if not path.endswith(TOKENS):
        return False
    return os.path.basename(path) == "seq.in" or is_file(path.removesuffix(TOKENS) + LABELS)


def files_beside(path: str) -> list[str]:
    """The label and intent files of a token file."""
    name = path.removesuffix(TOKENS)
    own = [name + LABELS, name + ".label", name + ".intent"]
    if os.path.basename(name) == "seq":
        own.append(name.removesuffix("seq") + "label")
    return [each for each in own if is_file(each)]


def read_parallel(path: str) -> Iterator[Example | Rejection]:
    """The sequences of two parallel files; InputError if their numbers of lines differ."""
    lines = _lines(path)
    beside = {each: _lines(each) for each in files_beside(path)}
    for name, others in beside.items():
        if len(others) != len(lines):
            raise InputError(
                f"{name}: {counted(len(others), 'line')}, but {path} has {len(lines)}; expected one for each sequence"
            )
    labels = path.removesuffix(TOKENS) + LABELS
    intents = next((others for name, others in beside.items() if name != labels), None)
    for number, line in enumerate(lines, 1):
        tokens, where = tuple(line.split()), f"{path}, line {number}"
        names = tuple(beside[labels][number - 1].split()) if labels in beside else None
        if names is not None and len(names) != len(tokens):
            yield Rejection(
                path,
                number,
                f"{where}: {counted(len(tokens), 'token')}, but {counted(len(names), 'label')} in line {number} of {labels}",
            )
            continue
        intent = "" if intents is None else intents[number - 1].strip()
        about = {"metadata": {INTENT: intent}} if intent else {}
        yield Example(tokens, names, where, file=path, line=number, about=about)


def _lines(path: str) -> list[str]:
    data = read_bytes(path, InputError)
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte {data[error.start]:#04x} is not UTF-8; save it as UTF-8"
        ) from None
    while lines and not lines[-1].strip():
        lines.pop()
    return lines
