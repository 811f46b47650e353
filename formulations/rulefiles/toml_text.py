"""Places of values in the text of a valid TOML file, and writing of TOML; `tomllib` has neither."""

import json
import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from formulations.errors import InferenceError
from formulations.messages import LONGEST, cut
from formulations.parameters import KEY, KeyPath

WIDTH = 100
Names = list[tuple[Any, int]]  # parts of a key, with places

# possessive groups must not fail halfway: up to Python 3.11.4, they do not backtrack
_LONG = r'"{3}(?:(?:[^"\\]++|\\.)*+"{1,2}(?!"))*(?:[^"\\]++|\\.)*+"{3,5}'
_RAW = r"'{3}(?:[^']*+'{1,2}(?!'))*[^']*+'{3,5}"
_SHORT = r"""(?:"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+')"""
_TEXT = f"(?s:{_LONG}|{_RAW}|{_SHORT})"
_STRING, _QUOTES = re.compile(_TEXT), re.compile(r"""("{3}|'{3}|["'])\n?""")
_BRACKETS, _ITEMS = (re.compile(rf"""[^"'#{x}]*+({_TEXT}|#.*|[{x}])""") for x in (r"\[\]{}", r"\[\]{},"))
_BLANK = re.compile(r"(?:[ \t\n]++|#[^\n]*+)*+")
_NAME = re.compile(rf"[ \t]*+([\w-]+|{_SHORT})[ \t]*+(\.|=[ \t]*+)?", re.ASCII)
_CHARACTER = re.compile(r"(?:\\[ \t]*\n[ \t\n]*)*(\\u.{4}|\\U.{8}|\\x..|\\.|.|\Z)", re.DOTALL)
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")  # without tab and newline


@dataclass(frozen=True)
class TextPosition:
    """A place in a text: line and column, from 1, and the text of the line."""

    line: int
    column: int
    source_line: str

    def caret(self) -> str:
        """The source line, cut around the column if it is very long, and a `^` below the column."""
        line, at = _INVISIBLE.sub("\ufffd", self.source_line), self.column - 1
        first = max(0, min(at - WIDTH // 2, len(line) - WIDTH))
        head, tail = "…" * (first > 0), "…" * (first + WIDTH < len(line))
        return f"{head}{line[first : first + WIDTH]}{tail}\n{''.join(map(_space, head + line[first:at]))}^"


def _space(char: str) -> str:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return ""
    return "\t" if char == "\t" else "  " if unicodedata.east_asian_width(char) in "WF" else " "


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    return match.end() if (match := pattern.match(text, at)) else at


def _place(text: str, at: int) -> TextPosition:
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) % (len(text) + 1)  # not found: -1, the end
    return TextPosition(text.count("\n", 0, at) + 1, at - start + 1, text[start:end])


def locate(text: str, path: KeyPath, offset: int | None = None) -> TextPosition | None:
    """The place of the value at a path (numbers are indices from 0), or of the innermost enclosing value."""
    text, steps = _plain(text), path[:-1] if path[-1:] == (KEY,) else path
    depth, key, value = _find(text, steps)
    at = key if depth == len(steps) < len(path) else value
    if offset is not None and depth == len(steps):
        at = _inside(text, at, max(offset, 0))
    return _place(text, at) if depth else None


def _find(text: str, path: KeyPath) -> tuple[int, int, int]:
    """The number of path steps found in the text, and the offsets of the last key and value."""
    result, base, entries = (0, 0, 0), 0, _statements(text)
    while result[0] < len(path) and (entry := next(entries, None)):
        (names, value), depth = entry, base
        for name, key in names:
            if path[depth : depth + 1] != (name,):
                break
            depth += 1
            if depth > result[0]:
                result = depth, key, key
        else:
            if names and value is not None:
                result, base = (depth, names[-1][1], value), depth
                entries = _entries(text, value, path[depth:])
    return result


def _statements(text: str) -> Iterator[tuple[Names, int | None]]:
    """Full paths of keys with the offsets of their values, and paths of tables with None."""
    last: dict[KeyPath, int] = {}  # path of an array of tables -> index of its last element so far
    table: Names = []
    at = _after(_BLANK, text, 0)
    while at < len(text):
        if text[at] == "[":
            several = text.startswith("[[", at)
            names, at = _names(text, at + 1 + several)
            table = []
            for left, (name, key) in zip(range(len(names))[::-1], names, strict=True):
                table.append((name, key))
                path = tuple(step for step, _ in table)
                if several and not left:
                    last[path] = last.get(path, -1) + 1
                if path in last:
                    table.append((last[path], key))
            yield table, None
        else:
            names, at = _names(text, at)
            yield table + names, at
            at = max(_items(text, at, _BRACKETS), default=_after(_STRING, text, at))
        at = _after(_BLANK, text, text.find("\n", at) % (len(text) + 1))


def _names(text: str, at: int) -> tuple[Names, int]:
    """The parts of a dotted key, and the offset of its value."""
    names: Names = []
    more: str | None = "."
    while more == "." and (match := _NAME.match(text, at)):
        name, more, at = match[1], match[2], match.end()
        if name[0] in "\"'":
            name = tomllib.loads(f"_ = {name}")["_"] if "\\" in name else name[1:-1]
        names.append((name, match.start(1)))
    return names, at


def _entries(text: str, start: int, path: KeyPath) -> Iterator[tuple[Names, int]]:
    """Keys of an inline table, or the first path step in an array, with offsets of values."""
    items = (at for at in _items(text, start, _ITEMS) if text[at - 1] in "[{,")
    if text.startswith("{", start):
        yield from (_names(text, _after(_BLANK, text, at)) for at in items)
    elif isinstance(step := path[0], int) and step >= 0:
        starts = (_after(_BLANK, text, at) for at in islice(items, step, step + 1))
        yield from (([(step, at)], at) for at in starts if text[at : at + 1] != "]")  # no more


def _items(text: str, start: int, marks: re.Pattern[str]) -> Iterator[int]:
    """Offsets after the brackets and commas of an array or inline table, except those of inner values."""
    depth = 0
    for match in marks.finditer(text, start) if text.startswith(("[", "{"), start) else ():
        depth += (match[1] in "[{") - (match[1] in "]}")
        if depth < 2 and match[1] in "[]{},":
            yield match.end()
        if not depth:
            return


def _inside(text: str, start: int, offset: int) -> int:
    """The offset of a character of the string that begins at `start`."""
    if not (quotes := _QUOTES.match(text, start)):
        return start
    at, end = quotes.end(), _after(_STRING, text, start) - len(quotes[1])
    if text[start] == "'":
        return min(at + offset, end)
    return next((char.start(1) for char in islice(_CHARACTER.finditer(text, at, end), offset, None)), end)


class NotToml(InferenceError, ValueError):
    """Invalid TOML: the error and its place."""

    def __init__(self, message: str, place: TextPosition | None = None) -> None:
        where = f" (line {place.line}, column {place.column})" if place else ""
        super().__init__(f"not TOML: {message}{where}")
        self.place = place


def loads(text: str) -> dict[str, Any]:
    """The document of a TOML text; raises NotToml."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), _plain(text)) from None
    except RecursionError:
        raise NotToml("brackets too deep inside one another") from None
    except ValueError:  # int() refuses numbers with too many digits
        text, most = _plain(text), sys.get_int_max_str_digits()
        numbers = re.finditer(rf"{_TEXT}|#[^\n]*+|(?<![\w.])([0-9][0-9_]{{{most},}}+)", text)
        place = next((_place(text, number.start(1)) for number in numbers if number[1]), None)
        raise NotToml(f"a number of more than {most} digits", place) from None


def _syntax_error(message: str, text: str) -> NotToml:
    """The error from a message of `tomllib` with "(at line …)" or "(at end of document)"."""
    if not (tail := _AT.search(message)):
        return NotToml(message)
    at = len(text.rstrip())  # the end of the content, before trailing empty lines
    if tail[1]:
        at = sum(len(line) + 1 for line in text.split("\n")[: int(tail[1]) - 1]) + int(tail[2]) - 1
    message, place = message[: tail.start()], _place(text, min(at, len(text)))
    if message == "Invalid value":
        rest = re.match(r"[^,\]}#]*", place.source_line[place.column - 1 :])
        message = _no_value(rest[0] if rest else "")
    elif message == "Expected newline or end of document after a statement":
        value = re.match(r"[^=]*=[ \t]*+([^#]+)", place.source_line)
        if value and value.start(1) < place.column:
            message, place = _no_value(value[1]), replace(place, column=value.start(1) + 1)
    return NotToml(message, place)


def _no_value(text: str) -> str:
    """The message for an invalid value."""
    text = text.strip()
    if not text:
        return "no value after ="
    word = text.lower()
    if word in ("true", "false", "inf", "nan"):
        return f"{text} is not a TOML value; write {word}"
    hint = f'; write texts in quotation marks: "{text}"' if re.fullmatch(r"[^\W\d][\w -]*", text) else ""
    return f"{cut(text, LONGEST)} is not a TOML value{cut(hint, 2 * LONGEST)}"


def dumps(document: Mapping[str, Any]) -> str:
    """Write readable TOML; `tomllib.loads` returns an equal document."""
    return "\n".join(_table(document, "")).lstrip("\n") + "\n" * bool(document)


def _table(table: Mapping[str, Any], path: str) -> Iterator[str]:
    """Lines of a table: values, tables, arrays of tables; below the top, tables are inline if they fit."""
    below: list[tuple[bool, str, list[Any]]] = []
    for key, value in table.items():
        name, inner = _key(key), value if isinstance(value, list) else [value]
        tables = bool(inner) and all(isinstance(item, dict) for item in inner)
        if tables and not (path and all(len(f"{name} = {_value(item)}") <= WIDTH for item in inner)):
            below.append((inner is value, path + name, inner))
        elif isinstance(value, str) and "\n" in value and value.strip():
            yield f"{name} = " + _string(value, '"""', "'''", trim="\n")
        else:
            yield f"{name} = " + _value(value, len(f"{name} = "))
    for several, name, inner in sorted(below, key=lambda entry: entry[0]):
        for item in inner:
            yield f"\n[[{name}]]" if several else f"\n[{name}]"
            yield from _table(item, name + ".")


def _value(value: Any, used_width: int | None = None, indent: str = "") -> str:
    """The value in one line, or an array in several lines if it does not fit after `used_width` characters."""
    if isinstance(value, str):
        return _string(value, '"', "'", '"""', "'''")
    if isinstance(value, int | float):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if not isinstance(value, list):
        raise TypeError(f"TOML has no {type(value).__name__}: {value!r}")
    line = f"[{', '.join(map(_value, value))}]"
    if used_width is None or not value or used_width + len(line) <= WIDTH:
        return line
    inner, lines = indent + "  ", ["["]
    for item in value:
        piece = _value(item, len(inner) + 1, inner) + ","
        if len(lines) > 1 and not isinstance(item, list | dict) and len(lines[-1]) + len(piece) < WIDTH:
            lines[-1] += " " + piece
        else:
            lines.append(inner + piece)
    return "\n".join([*lines, indent + "]"])


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _string(key, '"', "'")


def _string(text: str, *quotes: str, trim: str = "") -> str:
    """The text in the first quotes that need no escapes, otherwise with escapes."""
    if not _INVISIBLE.search(text) and (trim or not {"\t", "\n"} & set(text)):
        for quote in quotes:
            ends = (trim + text)[:1], text[-1:]
            if quote not in text and quote[0] not in ends and ("'" in quote or "\\" not in text):
                return quote + trim + text + quote
    escaped = json.dumps(text, ensure_ascii=False)
    if trim:
        escaped = '"""\n' + re.sub(r'"(?=""|\Z)', r"\"", text.replace("\\", r"\\")) + '"""'
    return _INVISIBLE.sub(lambda char: f"\\u{ord(char[0]):04X}", escaped)
