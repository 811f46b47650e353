"""Labels from the cells of columns: numbers, brackets, and columns for levels of nested fields."""

import re
from collections.abc import Iterable, Sequence

from formulations.labels.schemes import OUTSIDE, OUTSIDES
from formulations.messages import brief

_BRACKETS = re.compile(r"((?:\([^()*\s]+)*)\*?(\)*)")
DEEPEST = 50
"""Largest number of levels of nested fields in a label."""
_NUMBER = re.compile(r"-?[0-9]+")


class CellError(ValueError):
    """Error for the cell of a token, with the token's position in the sequence."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


def are_brackets(cells: Iterable[str]) -> bool:
    """Whether cells are brackets of spans, such as `(PER*`, `*`, `*)` and `(ORG)`, and not closing brackets only."""
    cells = list(cells)
    return all(cell and _BRACKETS.fullmatch(cell) for cell in cells) and any(
        cell[0] in "(*" for cell in cells
    )


def labels_of_brackets(cells: Sequence[str]) -> list[str]:
    """BIO labels of spans in brackets, hierarchical for nested brackets."""
    stack, result = list[str](), list[str]()
    for at, cell in enumerate(cells):
        found = _BRACKETS.fullmatch(cell)
        if not cell or found is None:
            raise CellError(at, f"{brief(cell)} is no bracket; expected (NAME*, *, *) or (NAME)")
        opened = found[1].split("(")[1:]
        if len(stack) + len(opened) > DEEPEST:
            raise CellError(at, f"{len(stack) + len(opened)} brackets are open; expected {DEEPEST} at most")
        marks = [*(f"I-{name}" for name in stack), *(f"B-{name}" for name in opened)]
        result.append("/".join(marks) or OUTSIDE)
        stack += opened
        closed = len(found[2])
        if closed > len(stack):
            raise CellError(at, f"{brief(cell)} closes a bracket that is not open; open it, or remove it")
        del stack[len(stack) - closed :]
    if stack:
        raise CellError(len(cells) - 1, f"({stack[-1]} is not closed up to the last token; close it")
    return result


def labels_of_numbers(cells: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """The names of numbered labels; cells are unchanged if none is a number."""
    numbers = [_NUMBER.fullmatch(cell) is not None for cell in cells]
    if not any(numbers):
        return cells
    for at, cell in enumerate(cells):
        if not numbers[at]:
            raise CellError(at, f"label {brief(cell)} is no number, but other labels are; write its number")
        if not 0 <= int(cell) < len(names):
            raise CellError(at, f"{cell} is not the number of a label; expected 0 to {len(names) - 1}")
    return [names[int(cell)] for cell in cells]


def joined(levels: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Hierarchical labels of columns from the outermost level to the innermost; a level that is O is left out."""
    if len(levels) == 1:
        return tuple(levels[0])
    rows = (([name for name in row if name not in OUTSIDES]) for row in zip(*levels, strict=True))
    return tuple("/".join(row) or OUTSIDE for row in rows)
