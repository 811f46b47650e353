"""The tables of several commands."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ilpinfer.cli.arguments import AsJson
from ilpinfer.cli.command import command
from ilpinfer.cli.screen import add_row, console, print_json, table

if TYPE_CHECKING:
    from ilpinfer.comparison.summary import Summary


@command("ilpinfer methods", "ilpinfer methods --json")
def show_methods(as_json: AsJson = False) -> None:
    """List the decoding methods, exact and heuristic, with their options."""
    from ilpinfer.core.registry import methods, offered

    if as_json:
        fields = [
            {"name": m.name, "exact": m.exact, "summary": m.summary, "options": m.options} for m in methods()
        ] + [
            {"name": name, "exact": False, "summary": place, "options": ("seed",)}
            for name, place in offered()
        ]
        print_json(fields)
        return
    result = table("method", "kind", "what it does", "options")
    for m in methods():
        add_row(result, m.name, "exact" if m.exact else "heuristic", m.summary, ", ".join(m.options))
    for name, place in offered():
        add_row(result, name, "heuristic", f"{place}, of another package", "seed")
    console().print(result)


def show_comparison(summary: "Sequence[Summary]") -> None:
    """Show one line for each method, in 80 columns if necessary."""
    from rich.text import Text

    screen = console()
    narrow = screen.width < 100
    columns = [
        ("solved\n%", [_percent(line.solved) for line in summary]),
        ("proved\n%", [_percent(line.proved) for line in summary]),
        ("optimum\n%", [_percent(line.reaches) for line in summary]),
        ("mean\ngap", [_decimals(line.mean_gap) for line in summary]),
        ("viola-\ntions", [f"{line.violations:g}" for line in summary]),
        ("median\nms", [_milliseconds(line.median_ms) for line in summary]),
    ]
    if any(line.accuracy is not None for line in summary):
        columns[5:5] = [
            ("token\nacc. %", [_percent(line.accuracy, 2) for line in summary]),
            ("field\nF1 %", [_percent(line.f1, 2) for line in summary]),
        ]
    if not narrow:
        columns[4:4] = [
            ("solved\ngap", [_decimals(line.solved_gap) for line in summary]),
            ("common\ngap", [_decimals(line.common_gap) for line in summary]),
            ("largest\ngap", [_decimals(line.largest_gap) for line in summary]),
        ]
        columns.append(("90 %\nms", [_milliseconds(line.p90_ms) for line in summary]))
    if not narrow and any(line.gap_spread is not None for line in summary):
        columns.insert(4, ("spread", [_decimals(line.gap_spread) for line in summary]))
    if any(line.failed for line in summary):
        columns.insert(0, ("failed", [f"{line.failed:g}" for line in summary]))
    shown = table("method", "kind", padding=(0, 1 if narrow else 2, 0, 0))
    for heading, _ in columns:
        shown.add_column(Text(heading), justify="right", no_wrap=True)
    for row, line in enumerate(summary):
        kind = KINDS.get(line.kind, line.kind) if narrow else line.kind
        add_row(shown, line.method, kind, *(cells[row] for _, cells in columns))
    screen.print(shown)
    for remark in _remarks(summary):
        screen.print(remark)


KINDS = {"heuristic": "heur.", "predictions": "file"}
"""Short names of kinds of methods."""


def _remarks(summary: "Sequence[Summary]") -> list[str]:
    """Remarks on the means, and on methods that fail."""
    line = summary[0]
    broken = ", ".join(f"{each.method} {each.breaking:g}" for each in summary)
    known, common = max(each.optimum_known for each in summary), line.common
    remarks = [
        f"mean gap: nats below the proved optimum, over {known} sequence{'s' * (known != 1)}, where {line.cap:g} stands for a missing "
        f"labelling; solved gap: over those that the method solves; common gap: over the {common} that every method solves",
        f"sequences with a labelling that breaks a rule: {broken}",
    ]
    seeds = max(each.seeds for each in summary)
    if seeds > 1:
        remarks.append(f"means over {seeds} seeds; spread: standard deviation of the mean gap between them")
    if line.infeasible:
        remarks.append(f"left out: {line.infeasible} sequences that are proved to have no labelling")
    failed = ", ".join(f"{each.method} {each.failed:g}" for each in summary if each.failed)
    if failed:
        remarks.append(
            f"failed with an error: {failed}; these sequences are neither solved nor proved, and in no other figure"
        )
    return remarks


def _percent(share: float | None, digits: int = 1) -> str:
    return "-" if share is None else f"{100 * share:.{digits}f}"


def _decimals(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"


def _milliseconds(number: float | None) -> str:
    if number is None:
        return "-"
    return f"{number:.2f}" if number < 100 else f"{number:.0f}"
