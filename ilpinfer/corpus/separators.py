"""Separators of columns."""

import csv

DOCUMENT = "-DOCSTART-"
"""The first cell of a line between documents, in files of the CoNLL shared tasks."""
SEPARATORS = {"\t": "tabs", " ": "spaces", ",": "commas", ";": "semicolons"}
UNREAD = {",": "commas", ";": "semicolons", "|": "vertical bars", "\xa0": "no-break spaces"}
"""Separators of files that are refused."""

Cells = list[str]


def split(line: str, separator: str) -> Cells:
    """The cells of a line, none for a border between sequences; runs of spaces separate once."""
    line = line.rstrip("\r")
    if not line.strip() and "\t" not in line:
        return []
    if not separator:
        return [line.strip(" ")]
    if separator == " ":
        return [cell for cell in line.split(" ") if cell]
    if separator == "\t":
        return line.split("\t")
    try:
        return next(csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True))
    except (csv.Error, StopIteration):
        return [line]


def is_border(cells: Cells) -> bool:
    """Whether a line is a border between sequences."""
    return not cells or cells[0].split(" ")[0] == DOCUMENT


def width(lines: list[str], separator: str) -> int:
    """How many columns every line has; 1 where lines differ, or have no token before the separator."""
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


def first_line(lines: list[str]) -> int:
    """The number of the first line with a token."""
    return next((n for n, line in enumerate(lines, 1) if not is_border(split(line, ""))), 1)


def excerpt(line: str) -> str:
    """A line in a message."""
    line = line.rstrip("\r")
    return repr(line if len(line) <= 60 else line[:57] + "...")
