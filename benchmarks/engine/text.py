"""The summary as text that people read."""

from collections.abc import Mapping
from io import StringIO
from typing import Any

from rich.console import Console
from rich.table import Table

Summary = Mapping[str, Any]

WIDTH = 150


def write(summary: Summary, header: str, notes: Mapping[str, str]) -> str:
    """Every table, one below the other."""
    console = Console(file=StringIO(), width=WIDTH, highlight=False, markup=False)
    console.print(header)
    console.print(
        "\nEach method after a warm-up call, on one thread, in one run. Ratios are times as multiples of auto's on the "
        "same sequences; where a rival proves less than 100 %, its own is a lower bound. Milliseconds belong to this "
        "machine. Rules are compiled from text once; a fresh trellis for "
        "every call."
    )
    for name, result in summary["data sets"].items():
        if result["sequences"] and not name.startswith("generator "):
            _data_set(console, name, result, notes.get(name, ""))
    _generator(console, summary, notes)
    console.print("\n== all data sets: total time as a multiple of auto's on the same sequences")
    table = Table("method", "sequences", "proved", "total", box=None)
    for method, one in summary["overall"].items():
        table.add_row(method, str(one["sequences"]), f"{one['proved']:.0%}", number(one["total / auto"]))
    console.print(table)
    _extra(console, summary["extra"])
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def _data_set(console: Console, name: str, result: Summary, note: str) -> None:
    console.print(f"\n== {name}: {note}" if note else f"\n== {name}")
    broken, number = result["viterbi breaks a rule"], result["sequences"]
    verified = "not checked" if result["verified"] is None else f"{result['verified']:.1%}"
    console.print(
        f"{number} sequences, {broken} whose Viterbi labelling breaks a rule; proved {result['proved']:.1%}; "
        f"certificates that verify {verified}; kinds {result['certificates']}"
    )
    for title, key in (("all", "all"), ("broken", "broken")):
        if result[key] and not (key == "broken" and broken in (0, number)):
            console.print(_times(result[key], title))
    if result["losses"]:
        console.print(_losses(result["losses"]))
    for method, rate in result["speed"].items():
        console.print(f"{method}: {rate / 1e6:.2f} million prefixes kept a second")
    for method, remark in result["remarks"].items():
        console.print(f"{method}: {remark}")


def _times(result: Summary, title: str) -> Table:
    times = [f"{name}, ms" for name in ("median", "p90", "maximum", "total")]
    table = Table(f"method, on {title}", box=None)
    for column in ("sequences", "proved", *times, "| ×", "median", "p90", "maximum", "total", "each"):
        table.add_column(column, justify="right")
    for name, line in result.items():
        ratios = ("median / auto", "p90 / auto", "maximum / auto", "total / auto", "median of ratios")
        table.add_row(
            name,
            str(line["sequences"]),
            f"{line['proved']:.0%}",
            *(number(line[key]) for key in ("median", "p90", "maximum", "total")),
            "|",
            *(number(line[key]) for key in ratios),
        )
    return table


def _losses(result: Summary) -> Table:
    table = Table("heuristic", box=None)
    for column in ("optima known", "missed", "without a labelling", "mean loss, nats", "largest loss, nats"):
        table.add_column(column, justify="right")
    for name, line in result.items():
        table.add_row(name, *("-" if value is None else number(value) for value in line.values()))
    return table


def _generator(console: Console, summary: Summary, notes: Mapping[str, str]) -> None:
    sets = {name: result for name, result in summary["data sets"].items() if name.startswith("generator ")}
    sets = {name: result for name, result in sets.items() if result["sequences"]}
    if not sets:
        return
    console.print("\n== generator: planted documents; total times as multiples of auto's")
    methods = list(dict.fromkeys(method for result in sets.values() for method in result["all"]))
    table = Table("T", "K", "broken", "proved", "verified", "auto, ms", *methods[1:], box=None)
    for name, result in sets.items():
        verified = "-" if result["verified"] is None else f"{result['verified']:.0%}"
        ratios = (result["all"].get(method, {}).get("total / auto") for method in methods[1:])
        table.add_row(
            *name.split()[1:],
            f"{result['viterbi breaks a rule'] / result['sequences']:.0%}",
            f"{result['proved']:.0%}",
            verified,
            number(result["all"]["auto"]["median"]),
            *("-" if ratio is None else number(ratio) for ratio in ratios),
        )
    console.print(table)
    for name, result in sets.items():
        for method, remark in result["remarks"].items():
            console.print(f"{name}, {method}: {remark}")
    for method, result in summary["slopes"].items():
        shown = ", ".join(f"{value:.2f} (K = {K})" for K, value in result.items())
        console.print(f"slope of log time against log T from T = 120 on, {method}: {shown}")
    console.print(_losses_of_all(sets))
    for name in sets:
        console.print(f"{name}: {notes[name]}" if name in notes else name)


def _losses_of_all(sets: Summary) -> Table:
    """What heuristics lose over all sizes, weighed by sequences."""
    result: dict[str, dict[str, float | None]] = {}
    for method in dict.fromkeys(m for one in sets.values() for m in one["losses"]):
        lines = [one["losses"][method] for one in sets.values() if method in one["losses"]]
        keys = ("optima known", "missed", "without a labelling")
        total: dict[str, float | None] = {key: sum(line[key] for line in lines) for key in keys}
        weights = [line["optima known"] - line["without a labelling"] for line in lines]
        means = [line["mean loss, nats"] or 0.0 for line in lines]
        summed = sum(weight * mean for weight, mean in zip(weights, means, strict=True))
        total["mean loss, nats"] = summed / sum(weights) if sum(weights) else None
        total["largest loss, nats"] = max((line["largest loss, nats"] or 0.0 for line in lines), default=None)
        result[method] = total
    return _losses(result)


def _extra(console: Console, extra: Summary) -> None:
    if not extra:
        return
    console.print("\n== measured once")
    if "anytime" in extra:
        one = extra["anytime"]
        console.print(
            f"time limits of 5 to 100 ms, {one['calls']} calls: 99th percentile of overshoot {one['p99_ms']:.2f} ms, "
            f"largest {max(one['late_ms']):.2f} ms; {one['statuses']}"
        )
    if "memory" in extra:
        one = extra["memory"]
        console.print(
            f"peak memory of a fresh process, T = {one['T']}, K = {one['K']}: {one['peak_mib']:.0f} MiB, "
            f"{one['before_mib']:.0f} MiB before decoding ({one['status']})"
        )
    if "skipped" in extra.get("bounds", {}):
        console.print(f"bounds over time: {extra['bounds']['skipped']}")


def number(value: float) -> str:
    """Three significant digits, whole numbers as such."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
