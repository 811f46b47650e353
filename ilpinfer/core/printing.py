"""What records print: a few short lines."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from formulations.messages import counted, cut

WIDTH, MOST_LINES = 110, 4
"""Characters of a line, and lines of what is listed."""


def in_runs(labels: Iterable[str]) -> str:
    """`author, title ×4`: labels in order, equal neighbours once."""
    runs = ((name, sum(1 for _ in run)) for name, run in groupby(labels))
    return ", ".join(name if number == 1 else f"{name} ×{number}" for name, number in runs)


def broken_rules(violations: Mapping[str, int]) -> str:
    """`breaks "one title" 1, "before" 2`."""
    broken = [f'"{name}" {count}' for name, count in violations.items() if count]
    return f"breaks {', '.join(broken)}" if broken else "breaks no rule"


def short(lines: Sequence[str], what: str = "") -> str:
    """Lines, cut to the width; with a name of what they list, the first few, then the number of others."""
    shown = lines[:MOST_LINES] if what else lines
    more = [f"and {counted(len(lines) - len(shown), f'more {what}')}"] if len(shown) < len(lines) else []
    return "\n".join(cut(line.replace("\n", " "), WIDTH) for line in (*shown, *more))
