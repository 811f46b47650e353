"""Named formulas, and errors with a place in a text."""

import re
from dataclasses import dataclass

from formulations.errors import InferenceError


class FormulaError(InferenceError, ValueError):
    """An error at an offset of a formula's text."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.text, self.offset = message, text, offset

    def __str__(self) -> str:
        line = self.text[: self.offset].count("\n")
        column = self.offset - (self.text.rfind("\n", 0, self.offset) + 1)
        line_text = self.text.split("\n")[line][:100]
        where = f"line {line + 1}, " if "\n" in self.text else ""
        excerpt = f"\n  {line_text}\n  {' ' * column}^" if column < len(line_text) + 1 else ""
        return f"{self.message} ({where}column {column + 1}){excerpt}"


@dataclass(frozen=True)
class NamedFormula:
    """A formula with parameters, called as `name(argument, …)`."""

    name: str
    parameters: tuple[str, ...]
    text: str

    @property
    def usage(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})"


_COMPOUND = re.compile(r"\w+(?:[-.:/]\w+)+")


def in_quotes(text: str, at: int) -> str:
    """A hint to quote, if the error is inside what looks like a name with a hyphen, a dot or another sign; one on decimals; else empty."""
    for found in _COMPOUND.finditer(text):
        if found.start() <= at <= found.end() and re.fullmatch(r"\d+\.\d+", found[0]):
            return f"; numbers are whole, and {found[0]} is not: multiply both sides of an inequality"
        after = re.split(r"[-.:/]", found[0])[1:]
        if found.start() <= at <= found.end() and not all(part.isdecimal() for part in after):
            return f"; write a name with other characters than letters, digits and _ in quotes: '{found[0]}'"
    return ""
