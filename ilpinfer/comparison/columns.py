"""Columns of tables: a field of a record says in its annotation how its values are shown."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

ALL, SOLVED, COMMON = "all", "solved", "common"
"""Groups of columns: over all sequences with a known optimum, and over those of them that the method solves, or that every
method solves."""
UNITS = {
    "percent": "%",
    "points": "% points",
    "nats": "nats",
    "small": "nats a token",
    "relative": "%",
    "ms": "ms",
}
"""By form of a number; see `ilpinfer.comparison.text.shown`."""


@dataclass(frozen=True)
class Column:
    title: str
    form: str = "text"
    group: str = ""
    help: str = ""
    field: str = ""

    @property
    def unit(self) -> str:
        """Such as "nats"; empty for counts and texts."""
        return UNITS.get(self.form, "")

    @property
    def name(self) -> str:
        """Title, group and unit."""
        unit = f" ({self.unit})" if self.unit else ""
        return f"{self.title}{f', {self.group}' if self.group else ''}{unit}"

    def value(self, line: object) -> Any:
        """Its value in a line, in its unit."""
        value = getattr(line, self.field)
        scaled = self.form in ("percent", "points", "relative")
        return 100 * value if scaled and value is not None else value


def columns_of(record: type, fields: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of a record: those of some of its fields, or of all that have one."""
    hints = get_type_hints(record, include_extras=True)
    known = {
        name: replace(each, field=name)
        for name, hint in hints.items()
        for each in getattr(hint, "__metadata__", ())
        if isinstance(each, Column)
    }
    return tuple(known[name] for name in fields or known)
