"""Tables on standard output."""

import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ilpinfer.evaluation.comparison import Summary
from ilpinfer.methods import methods


def show_methods(as_json: bool) -> None:
    """Every method, what it proves and what it does."""
    if as_json:
        fields = [
            {"name": m.name, "exact": m.exact, "summary": m.summary, "options": m.options} for m in methods()
        ]
        print(json.dumps(fields, indent=2))
        return
    table = Table("method", "kind", "what it does", "options", box=None, pad_edge=False)
    for m in methods():
        table.add_row(m.name, "exact" if m.exact else "heuristic", m.summary, ", ".join(m.options))
    console().print(table)


def show_comparison(summary: Sequence[Summary]) -> None:
    """One line a method."""
    has_gold = any(line.accuracy is not None for line in summary)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("method", "kind"):
        table.add_column(name)
    for name in HEADINGS[: None if has_gold else -4] + ([] if has_gold else HEADINGS[-2:]):
        table.add_column(name, justify="right")
    for line in summary:
        cells = cells_of(line)
        if not has_gold:
            del cells[-4:-2]
        table.add_row(line.method, line.kind, *cells)
    console().print(table)


HEADINGS = [
    "proved",
    "reaches\noptimum",
    "missed",
    "mean gap\nnats",
    "largest\nnats",
    "none",
    "viola-\ntions",
    "token\naccuracy",
    "field\nF1",
    "median\nms",
    "90 %\nms",
]


def cells_of(line: Summary) -> list[str]:
    """What stands under HEADINGS."""
    return [
        f"{line.proved:.1%}",
        "-" if line.reaches is None else f"{line.reaches:.1%}",
        str(line.missed),
        "-" if line.mean_gap is None else f"{line.mean_gap:.4f}",
        "-" if line.largest_gap is None else f"{line.largest_gap:.3f}",
        str(line.unusable),
        str(line.violations),
        "-" if line.accuracy is None else f"{line.accuracy:.2%}",
        "-" if line.f1 is None else f"{line.f1:.2%}",
        f"{line.median_ms:.2f}",
        f"{line.p90_ms:.2f}",
    ]


def console() -> Console:
    """Standard output; wide enough for the tables where it is not a terminal."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=140)
