"""The table of a comparison."""

import math
from typing import TYPE_CHECKING

from formulations.messages import counted
from ilpinfer.cli.screen import add_row, console, table

if TYPE_CHECKING:
    import pandas as pd


def show_comparison(summary: "pd.DataFrame") -> None:
    """Show one line for each method, in 80 columns if necessary."""
    from rich.text import Text

    screen = console()
    narrow = screen.width < 100
    columns = [
        ("solved\n%", _percents(summary.solved)),
        ("proved\n%", _percents(summary.proved)),
        ("optimum\n%", _percents(summary.reaches)),
        ("mean\ngap", _decimals(summary.mean_gap)),
        ("viola-\ntions", _counts(summary.violations)),
        ("median\nms", _milliseconds(summary.median_ms)),
    ]
    if summary.accuracy.notna().any():
        columns[5:5] = [
            ("token\nacc. %", _percents(summary.accuracy, 2)),
            ("field\nF1 %", _percents(summary.f1, 2)),
        ]
    if not narrow:
        columns[4:4] = [
            ("solved\ngap", _decimals(summary.solved_gap)),
            ("common\ngap", _decimals(summary.common_gap)),
            ("largest\ngap", _decimals(summary.largest_gap)),
        ]
        columns.append(("90 %\nms", _milliseconds(summary.p90_ms)))
    if not narrow and summary.gap_spread.notna().any():
        columns.insert(4, ("spread", _decimals(summary.gap_spread)))
    if summary.failed.any():
        columns.insert(0, ("failed", _counts(summary.failed)))
    shown = table("method", "kind", padding=(0, 1 if narrow else 2, 0, 0))
    for heading, _ in columns:
        shown.add_column(Text(heading), justify="right", no_wrap=True)
    for row, (method, kind) in enumerate(zip(summary.method, summary.kind, strict=True)):
        add_row(
            shown, method, KINDS.get(kind, kind) if narrow else kind, *(cells[row] for _, cells in columns)
        )
    screen.print(shown)
    for remark in _remarks(summary):
        screen.print(remark)


KINDS = {"heuristic": "heur.", "predictions": "file"}
"""Short names of kinds of methods."""


def _remarks(summary: "pd.DataFrame") -> list[str]:
    first = summary.iloc[0]
    known, common = int(summary.optimum_known.max()), first.common
    remarks = [
        f"mean gap: nats below the proved optimum, on average over {counted(known, 'sequence')}; a missing labelling counts as "
        f"{first.cap:g}; solved gap: over the sequences that the method solves; common gap: over the {common} that every method solves",
        f"sequences with a labelling that breaks a rule: {_by_method(summary, summary.breaking)}",
    ]
    seeds = summary.seeds.max()
    if seeds > 1:
        remarks.append(
            f"means over {seeds} seeds; spread: standard deviation of the mean gap over the seeds, in nats"
        )
    if first.infeasible:
        remarks.append(f"left out: {counted(first.infeasible, 'sequence')} proved infeasible")
    if summary.failed.any():
        failed = _by_method(summary[summary.failed > 0], summary.failed)
        remarks.append(
            f"sequences that failed with an error: {failed}; they count as neither solved nor proved, and no other figure includes them"
        )
    return remarks


def _by_method(lines: "pd.DataFrame", values: "pd.Series") -> str:
    own = lines[lines.kind != "bare"]
    return ", ".join(f"{method} {values[place]:g}" for place, method in own.method.items())


def _percents(shares: "pd.Series", digits: int = 1) -> list[str]:
    return [_known(100 * share, f".{digits}f") for share in shares]


def _decimals(numbers: "pd.Series") -> list[str]:
    return [_known(number, ".3f") for number in numbers]


def _counts(numbers: "pd.Series") -> list[str]:
    return [_known(number, "g") for number in numbers]


def _milliseconds(numbers: "pd.Series") -> list[str]:
    return [_known(number, ".3f" if number < 0.1 else ".2f" if number < 100 else ".0f") for number in numbers]


def _known(number: float, form: str) -> str:
    return "-" if math.isnan(number) else format(number, form)
