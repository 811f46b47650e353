"""The form of a file of columns: separator, header, and the content of each column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from formulations.messages import counted, suggestion
from ilpinfer.corpus.column_contents import ROWS, Cells, Contents
from ilpinfer.corpus.column_labels import are_brackets
from ilpinfer.corpus.column_names import GIVEN_NAMES, LABEL_NAMES, NO_ENDS, ROLES, TOKEN_NAMES, ColumnNames
from ilpinfer.corpus.examples import InputError, Notify

DOCUMENT = "-DOCSTART-"
"""The first cell of a line between documents, in files of the CoNLL shared tasks."""
SEPARATORS = {"\t": "tabs", " ": "spaces"}
UNREAD = {",": "commas", ";": "semicolons", "|": "vertical bars", "\xa0": "no-break spaces"}
"""Separators of files that are refused."""


def split(line: str, separator: str) -> Cells:
    """The cells of a line, none for a border between sequences; several spaces are one separator."""
    line = line.rstrip("\r")
    if not line.strip():
        return []
    if separator == "\t":
        return line.split("\t")
    line = line.rstrip("\t")
    if not separator:
        return [line.strip(" ")]
    return [cell for cell in line.split(separator) if cell or separator != " "]


def is_border(cells: Cells) -> bool:
    if not cells:
        return True
    first = cells[0].split(" ")[0]
    return first == DOCUMENT or (
        first in ("#begin", "#end") and " ".join(cells).startswith(f"{first} document")
    )


def _has_token(line: str) -> bool:
    """Whether a line without columns is a token and not a border between sequences."""
    return bool(line.strip()) and (DOCUMENT not in line or not is_border(split(line, "")))


def width(lines: list[str], separator: str) -> int:
    """The number of columns of every line; 1 if lines differ, or have no token before the separator."""
    if not all(separator in line for line in lines if line.strip() and not line.startswith(DOCUMENT)):
        return 1
    widths = set[int]()
    for line in lines:
        cells = split(line, separator)
        if not is_border(cells):
            widths.add(len(cells))
            if len(widths) > 1 or not cells[0]:
                return 1
    return widths.pop() if widths else 1


def without_comments(lines: list[str]) -> list[str]:
    """The lines, with empty lines in place of lines that begin with #, unless no other line has text."""
    result = ["" if line.startswith("#") else line for line in lines]
    return result if any(map(str.strip, result)) else lines


def first_line(lines: list[str]) -> int:
    return next((n for n, line in enumerate(lines, 1) if _has_token(line)), 1)


def excerpt(line: str) -> str:
    line = line.rstrip("\r")
    return repr(line if len(line) <= 60 else line[:57] + "...")


AS_JSON = 'give tokens that hold spaces or commas as JSON lines, {"tokens": ["New York"]}'

Row = tuple[int, Cells]
"""Number of a line, and its cells; no cells for a border between sequences."""


@dataclass(frozen=True)
class ColumnRoles:
    """Columns of tokens, labels, sequence numbers and known labels, None if missing; names and positions of further columns."""

    token: int
    label: int | None
    sequence: int | None = None
    given: int | None = None
    inner: tuple[int, ...] = ()
    """The columns of further levels of nested labels."""
    end: int | None = None
    mark: str = ""
    """The cell that marks the end of a sequence; empty if any text marks it."""
    brackets: frozenset[int] = frozenset()
    """The columns whose labels are brackets of spans."""
    further: tuple[tuple[str, int], ...] = ()

    @property
    def levels(self) -> tuple[int, ...]:
        """The label columns, from the outermost level to the innermost."""
        return () if self.label is None else (self.label, *self.inner)

    def ends(self, cells: Cells) -> bool:
        """Whether a row is the last one of its sequence."""
        if self.end is None:
            return False
        cell = cells[self.end].strip()
        return self.mark in cell.split("|") if self.mark else cell.lower() not in NO_ENDS

    def with_further(self, count: int, header: Cells) -> "ColumnRoles":
        """These roles with all other columns of a file as further ones, under their numbers and names in the header."""
        known = (self.token, *self.levels, self.sequence, self.given, self.end)
        others = [at for at in range(count) if at not in known]
        names = [(header[at].strip(), at) for at in others if header and header[at].strip()]
        return replace(self, further=tuple({**dict(names), **{str(at + 1): at for at in others}}.items()))


@dataclass(frozen=True)
class Dialect:
    """A column format known by its first line: default columns, and the number of fixed columns of each row."""

    names: ColumnNames
    width: int


DIALECTS = {"#begin document": Dialect(ColumnNames("11", "4"), 11)}
"""Dialects by the start of the first line: CoNLL-2012, whose rows end with one column per predicate."""


def dialect_of(lines: list[str]) -> Dialect | None:
    first = next((line for line in lines if line.strip()), "")
    return next((dialect for begin, dialect in DIALECTS.items() if first.startswith(begin)), None)


def find_separator(lines: list[str], name: str, names: ColumnNames, notify: Notify) -> str:
    """The column separator; empty if each line is a token. Lines that begin with # count only if there are no others."""
    every, lines = lines, without_comments(lines)
    tabs = [line for line in lines if "\t" in line and line.strip()]
    if any("\t" in line.rstrip() or " " not in line.strip() for line in tabs):
        return "\t"
    at = first_line(lines)
    for separator in ",;":
        if (count := width(lines, separator)) > 1:
            raise InputError(
                f"{name}, line {at}: {excerpt(lines[at - 1])} has {counted(count, 'column')} separated by {UNREAD[separator]}, as all "
                f"lines have; separate them by tabs, or {AS_JSON}"
            )
    count = width(lines, " ")
    if count == 1:
        _check_tokens(every, name, names, notify)
        return ""
    if count > 2 and not names and not names.occur_in(split(lines[at - 1], " ")):
        hint = _column_hint(lines[at - 1], count, contents_of(lines, " "))
        raise InputError(
            f"{name}, line {at}: {excerpt(lines[at - 1])} has {counted(count, 'column')} separated by spaces, as all lines have; name "
            f"those of tokens and labels with --column {hint}, or in a header token label; or {AS_JSON}"
        )
    notify(f"{name}: no tabs; columns are separated by spaces")
    return " "


def contents_of(lines: list[str], separator: str, most: int | None = None) -> Contents:
    """The contents of the first columns of some lines."""
    cells = (split(line, separator)[:most] for line in without_comments(lines))
    return Contents.of(list(islice((row for row in cells if not is_border(row)), ROWS)))


def _column_hint(line: str, count: int, contents: Contents) -> str:
    """A --column value that fits the first line."""
    label = next(iter(contents.label_columns()), count - 1)
    named, cells = contents.begins_with_names([label]), split(line, " ")
    places = (1 if contents.numbered else 0, label)
    return ",".join(cells[at] if named else str(at + 1) for at in places)


def _check_tokens(lines: list[str], name: str, names: ColumnNames, notify: Notify) -> None:
    """Raise InputError unless each line is one token; a notice if a few contain spaces."""
    texts = [(n, line) for n, line in enumerate(lines, 1) if _has_token(line)]
    _check_separators(texts, name)
    spaced = [n for n, line in texts if " " in line and " " in line.strip(" ")]
    if 2 * len(spaced) > len(texts):
        parts = ((n, len(split(line, " "))) for n, line in texts)
        begin, usual = next(parts)
        odd, other = next((n, count) for n, count in parts if count != usual)
        raise InputError(
            f"{name}, line {odd}: {excerpt(lines[odd - 1])} has {counted(other, 'part')} between spaces, but line "
            f"{begin} has {usual}: expected one token per line, or columns; write token<TAB>label, or {AS_JSON}"
        )
    if names:
        raise InputError(
            f"{name}: --column {names.label or names.token}: the file has one token per line and no columns; remove --column"
        )
    if spaced:
        more = f", like {counted(len(spaced) - 1, 'other line')}" if len(spaced) > 1 else ""
        notify(
            f"{name}, line {spaced[0]}: no tabs; {excerpt(lines[spaced[0] - 1])} is read as one token with a space in it{more}"
        )


def _check_separators(texts: list[tuple[int, str]], name: str) -> None:
    """Raise InputError if most lines, and at least two, have text on both sides of the same separator."""
    for separator, called in UNREAD.items():
        inside = [n for n, line in texts if separator in line and separator in line.strip()[1:-1]]
        if len(inside) > 1 and 2 * len(inside) > len(texts):
            widths = {n: len(split(line, separator)) for n, line in texts}
            odd = next((n for n, _ in texts if widths[n] != widths[inside[0]]), None)
            other = "" if odd is None else f", but line {odd}, {excerpt(dict(texts)[odd])}, has {widths[odd]}"
            raise InputError(
                f"{name}, line {inside[0]}: {excerpt(dict(texts)[inside[0]])} has {widths[inside[0]]} parts between {called}"
                f"{other}: expected one token per line, or columns separated by tabs or spaces; write token<TAB>label, or {AS_JSON}"
            )


def is_header(first: Row, lines: list[str], separator: str, names: ColumnNames, contents: Contents) -> bool:
    number, cells = first
    places = list(range(len(cells)))
    named = names.levels(cells)
    numbered = all(each.isdecimal() for each in named)
    if numbered:
        places = [place for place in places if str(place + 1) in named]
    if cells == contents.first and contents.begins_with_names([at for at in places if at]):
        return True
    at = next((place for place in places if cells[place].strip().lower() in LABEL_NAMES), None)
    if len(cells) < 2 or not (names.occur_in(cells) or (at is not None and numbered)):
        return False
    if at is None or (names and names.occur_in(cells)):
        return True
    again = (split(line, separator) for line in lines[number:])
    return not any(len(row) > at and row[at] == cells[at] for row in again)


def further_labels(header: Cells, names: ColumnNames) -> str:
    """A hint that the first of several possible label columns of a header is read."""
    found = [n for n, cell in enumerate(header, 1) if cell.strip().lower() in LABEL_NAMES]
    if names or len(found) < 2:
        return ""
    return f"; labels are in column {found[0]}; --column {found[1]} reads them from another"


def find_places(
    first: Row, header: Cells, names: ColumnNames, name: str, separator: str, contents: Contents
) -> ColumnRoles:
    number, cells = first
    where = f"{name}, line {number}: {excerpt((separator or ' ').join(cells))}"
    if len(cells) == 1:
        return ColumnRoles(0, None)
    low = [cell.strip().lower() for cell in header]

    def index_of(known: Sequence[str]) -> int | None:
        return next((at for at, cell in enumerate(low) if cell in known), None)

    if len(cells) > 2 and not names and index_of(LABEL_NAMES) is index_of(GIVEN_NAMES) is None:
        raise InputError(
            f"{where} has {len(cells) - 1} tabs; expected token<TAB>label, or --column {_proposed(contents, header)}"
        )

    def place_of(role: str, name: str) -> int | None:
        return _column_index(name, cells, low, where) if name else index_of(ROLES[role])

    named = index_of(TOKEN_NAMES)
    usual = named if named is not None else 1 if contents.numbered and len(cells) > 2 else 0
    token = _column_index(names.token, cells, low, where) if names.token else usual
    sequence, given = place_of("sequence", names.sequence), place_of("given", names.given)
    column, _, mark = names.end.partition("=")
    end = place_of("end", column)
    label, inner = None, tuple[int, ...]()
    if not names.unlabelled:
        label, *others = (place_of("label", each) for each in names.levels(cells))
        label = 1 if label is None and given is None else label
        inner = tuple(at for at in others if at is not None)
        if given == label and names.given and not names.label:
            label = None
        elif given == label and not names.given:
            given = None
    result = ColumnRoles(token, label, sequence, given, inner, end, mark)
    _check_different(result, names, where)
    brackets = frozenset(
        at for at in result.levels if at < len(contents.columns) and are_brackets(contents.columns[at])
    )
    return replace(result, brackets=brackets)


def _check_different(places: ColumnRoles, names: ColumnNames, where: str) -> None:
    """Raise InputError if a column is used twice."""
    used = [("tokens", places.token), *(("labels", at) for at in places.levels)]
    others = {"sequences": places.sequence, "known labels": places.given, "ends": places.end}
    taken = dict[int, str]()
    for what, at in [*used, *((what, at) for what, at in others.items() if at is not None)]:
        if at in taken:
            both = f"both {taken[at]} and {what}" if taken[at] != what else f"two levels of {what}"
            roles = {"token": "", "label": "" if not names.unlabelled else None}
            roles |= {role: getattr(names, role) or None for role in ("sequence", "given", "end")}
            shown = ",".join(f"{role}={name or 'COLUMN'}" for role, name in roles.items() if name is not None)
            raise InputError(
                f"{where}: column {at + 1} is used for {both}; name a column for each, --column {shown}"
            )
        taken[at] = what


def _proposed(contents: Contents, header: Cells) -> str:
    """The first column that looks like labels, with the other such columns."""
    at, *others = contents.label_columns() or [contents.width - 1]
    shown = [header[n].strip() if header and "," not in header[n] else str(n + 1) for n in (at, *others)]
    verb = "looks" if len(others) == 1 else "look"
    more = f"; {' and '.join([', '.join(shown[1:-1]), shown[-1]] if len(others) > 1 else shown[1:])} {verb} like labels, too"
    return f"{shown[0]} for a column of labels{more if others else ''}"


def _column_index(name: str, cells: Cells, low: Cells, where: str) -> int:
    if name.lower() in low:
        return low.index(name.lower())
    if name.isdecimal() and name.isascii() and len(name) < 9 and 1 <= int(name) <= len(cells):
        return int(name) - 1
    hint = suggestion(name, cells) if low else f"; expected a number from 1 to {len(cells)}"
    raise InputError(f'{where}: no column "{name}"{hint}')
