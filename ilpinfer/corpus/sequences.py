"""Reading sequences: columns, JSON, and archives of logits, from files or standard input."""

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ilpinfer.corpus.archives import read_logits
from ilpinfer.corpus.columns import columns
from ilpinfer.corpus.examples import Example, InputError, InputNotice, Notify
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.records import EXPECTED, json_array, json_lines
from ilpinfer.system.text_files import read_text_bytes

__all__ = ["Example", "InputError", "InputNotice", "read", "require_labels"]

MARKUP = ("<?xml", "<!doctype", "<html")
"""How files of markup begin, in lower case."""


def read(
    source: str | Path, reading: LogitsOptions | None = None, column: str = "", notify: Notify | None = None
) -> list[Example]:
    """Every sequence of a file, or of standard input where the source is `-`.

    Parameters
    ----------
    source : `token<TAB>label` columns, JSON lines, a JSON list of objects, or a file that ends in `.npz`, with the layout
        of `ilpinfer.corpus.archives`
    reading : how logits are to be read
    column : which column holds the labels, by number from 1 or by the header's name; `TOKEN,LABEL` names both, and
        `TOKEN,` leaves labels out; what stands in further columns goes with the tokens, see `Example.columns`
    notify : receives what was inferred, such as columns without tabs; an `InputNotice` where not given

    Raises
    ------
    InputError
        for what is missing, empty, not UTF-8, or of another form; the message says what was found and the way out.
    """
    if str(source).endswith(".npz"):
        return list(read_logits(source, reading or LogitsOptions()))
    text = text_of(source)
    name = _name(source)
    lines = (text if "\n" in text else text.replace("\r", "\n")).split("\n")
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise InputError(f"{name}: empty; expected token<TAB>label lines or JSON lines")
    if first.lstrip().lower().startswith(MARKUP):
        raise InputError(
            f"{name}: XML or HTML, by its first line; expected token<TAB>label lines or JSON lines"
        )
    result = _json(text, lines, first.lstrip(), name, reading)
    if result is not None:
        return list(result)
    notices = list[str]()
    examples = list(columns(lines, name, column, notify or notices.append))
    if not examples:
        raise InputError(f"{name}: no sequence, but a header or borders only; expected token<TAB>label lines")
    for notice in notices:
        warnings.warn(notice, InputNotice, stacklevel=2)
    return examples


def require_labels(
    examples: Sequence[Example], *, wordless: bool = False
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Tokens and labels of every example; InputError where one has no labels, or no tokens unless `wordless`."""
    pairs = []
    for example in examples:
        if example.labels is None:
            raise InputError(f"{example.where}: no labels; expected token<TAB>label on every line")
        if not example.tokens and not wordless:
            raise InputError(f'{example.where}: labels without tokens; add "tokens"')
        pairs.append((example.tokens, example.labels))
    return pairs


def _json(
    text: str, lines: list[str], first: str, name: str, reading: LogitsOptions | None
) -> Iterator[Example] | None:
    """The sequences of a text that is JSON, or None for one that is not."""
    if "\t" in first[:2]:
        return None
    if first.startswith("{"):
        alone = _value(first) is None and isinstance(_value(text), dict)
        return json_array(f"[{text}]", name, reading) if alone else json_lines(lines, name, reading)
    if not first.startswith("["):
        return None
    result = _value(text)
    if first[1:].lstrip().startswith("{") or (isinstance(result, list) and not _numbers(result)):
        return json_array(text, name, reading)
    result = _value(first)
    if isinstance(result, list) and not _numbers(result):
        raise InputError(f"{name}: a list on each line; {EXPECTED}")
    return None


def _value(text: str) -> Any:
    """The value of a JSON text, or None for a text that is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _numbers(result: list[Any]) -> bool:
    """Whether a list is a token such as `[12]`."""
    return bool(result) and all(isinstance(each, int | float) for each in result)


def _name(source: str | Path) -> str:
    return "standard input" if str(source) == "-" else str(source)


def text_of(source: str | Path) -> str:
    """The text of a file, or of standard input where the source is `-`; InputError where it cannot be read."""
    name = _name(source)
    try:
        if str(source) == "-":
            data = read_text_bytes(sys.stdin.buffer)
        else:
            with Path(source).open("rb") as stream:
                data = read_text_bytes(stream)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{name}, {error}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{name}, line {line}: byte {data[error.start]:#04x} is not UTF-8; save it as UTF-8"
        ) from None
