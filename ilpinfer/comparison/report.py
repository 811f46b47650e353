"""A comparison as one HTML page that needs nothing else."""

import math
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any

from ilpinfer.comparison import curves, plots
from ilpinfer.comparison.columns import ALL, COLUMNS, COMMON, SOLVED, Column
from ilpinfer.comparison.disagreements import Path, PathPair, disagreements
from ilpinfer.comparison.fields import f1_without_rules
from ilpinfer.comparison.results import Results, lines_of
from ilpinfer.comparison.summary import Summary
from ilpinfer.comparison.text import missing, readable, shown
from ilpinfer.comparison.trellis_picture import letters, trellis_picture
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    import pandas as pd

ELSEWHERE = ("seeds", "missed", "cap", "common", "breaking")
"""Columns that the page shows as text, or that only the files of tables have."""


def report_of(results: Results) -> str:
    """The HTML of `report.html`, a page that refers to nothing outside itself; MissingLibrary without the extra `compare`."""
    check_report()
    frame, summary = results.to_pandas(), results.summary()
    page = _environment().get_template("report.html")
    text: str = page.render(
        about=_about(results),
        input=_input(results, frame, summary),
        failures=_failures(frame),
        tables={name: _table(results, name, summary) for name in COLUMNS},
        pictures=_pictures(results, frame),
        disagreements=[_disagreement(disagreement) for disagreement in disagreements(results)],
        summary=summary,
        sequences=summary[0].sequences,
        known=max(line.optimum_known for line in summary),
        golden=any(line.accuracy is not None for line in summary),
        zero_optima=int((frame.optimum == 0).any()),
        cap=results.cap,
    )
    return text + "\n"


def check_report() -> None:
    """Raise MissingLibrary where a library that the page needs is not installed."""
    require("report.html", "compare", "jinja2", "matplotlib")


def html_of(results: Results) -> str:
    """Only the table of the summary, for notebooks."""
    table = _table(results, "summary", results.summary())
    heads = "".join(f"<th>{escape(column.name)}</th>" for column in table["heads"])
    rows = ("".join(f"<td>{escape(cell['text'])}</td>" for cell in line) for line in table["lines"])
    lines = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{lines}</tbody></table>"


def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = resources.files("ilpinfer") / "comparison"
    loader = FunctionLoader(lambda name: (folder / name).read_text("utf-8"))
    made = Environment(
        autoescape=True, undefined=StrictUndefined, loader=loader, trim_blocks=True, lstrip_blocks=True
    )
    made.globals["infinity"] = math.inf
    made.filters["readable"] = readable
    made.filters["shown"] = shown
    return made


def _input(results: Results, frame: "pd.DataFrame", summary: Sequence[Summary]) -> dict[str, str]:
    """What was compared, and what is known of it, by name."""
    lengths = [len(case.trellis) for case in results.cases if case.trellis is not None]
    impossible, proved = summary[0].infeasible, frame[~frame.infeasible & frame.optimum.notna()]
    before = f1_without_rules(results.baseline.fields)
    values = {
        "methods": len(summary),
        "sequences": len(results.cases),
        "tokens of a sequence": _range(lengths) if lengths else None,
        "sequences without scores, on which every method fails": len(results.cases) - len(lengths) or None,
        "sequences proved to have no labelling, left out of gaps and of the share solved": impossible or None,
        "sequences with a proved optimum": proved.sequence.nunique(),
        "rules and features": len(results.rules.items),
        "F1 of Viterbi without rules": None if before is None else f"{shown(100 * before, 'percent')} %",
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _range(lengths: Sequence[int]) -> str:
    low, high = min(lengths), max(lengths)
    return str(low) if low == high else f"{low} to {high}, median {statistics.median(lengths):g}"


def _failures(frame: "pd.DataFrame") -> list[tuple[str, str, int]]:
    """Method, type of error and number of rows."""
    failed = frame[frame.error != ""].groupby(["method", "error"], sort=False).size()
    return [(method, error, int(count)) for (method, error), count in failed.items()]


def _table(results: Results, name: str, summary: Sequence[Summary]) -> dict[str, Any]:
    """Heads and cells of a table; columns without any value are left out."""
    lines = lines_of(results, name, summary)
    failed = any(line.failed for line in summary)
    hidden = (*ELSEWHERE, *(() if failed else ("failed", "optimum_known")))
    values = {column: [column.value(line) for line in lines] for column in COLUMNS[name]}
    kept = {
        column: each
        for column, each in values.items()
        if column.field not in hidden and not all(map(missing, each))
    }
    cells = [[_cell(column, each[i]) for column, each in kept.items()] for i in range(len(lines))]
    return {"heads": list(kept), "groups": _groups(list(kept), summary), "lines": cells}


def _cell(column: Column, value: Any) -> dict[str, Any]:
    number = column.form != "text"
    key = value if number and not missing(value) else None
    return {"text": shown(value, column.form), "key": key, "number": number}


def _groups(columns: Sequence[Column], summary: Sequence[Summary]) -> list[dict[str, Any]]:
    """Columns of one group, with a text about the sequences of their means."""
    first, known = summary[0], max(line.optimum_known for line in summary)
    failures = ", failures left out" if any(line.failed for line in summary) else ""
    words = {
        ALL: f"over all {known} with a proved optimum{failures}, missing ones at {first.cap:g} nats",
        SOLVED: "over those it solves",
        COMMON: f"over the {first.common} solved by all",
    }
    groups: list[dict[str, Any]] = []
    for column in columns:
        if groups and groups[-1]["group"] == column.group:
            groups[-1]["span"] += 1
        else:
            text = words.get(column.group, column.group)
            groups.append({"group": column.group, "text": text, "span": 1})
    return groups


def _pictures(results: Results, frame: "pd.DataFrame") -> dict[str, str]:
    """Addresses of images; those without data are left out."""
    methods = list(results.plan.kinds)
    style = plots.styles(methods)
    known = frame.loc[~frame.infeasible].dropna(subset="optimum")
    optima = known.groupby("sequence").optimum.first().to_dict()
    drawn: dict[str, tuple[Callable[..., None], list[curves.Curve]]] = {
        "gaps": (plots.plot_shares, curves.gap_shares(frame, methods)),
        "anytime": (plots.plot_anytime, curves.anytime(results.rows(), optima, results.cap, methods)),
        "profile": (partial(plots.plot_shares, ratio=True), curves.time_profiles(frame, methods)),
        "lengths": (plots.plot_lengths, curves.times_by_length(frame, methods)),
    }
    return {
        name: plots.picture(partial(plot, curves=some, style=style))
        for name, (plot, some) in drawn.items()
        if some
    }


def _disagreement(disagreement: PathPair) -> dict[str, Any]:
    return {
        "disagreement": disagreement,
        "picture": trellis_picture(disagreement),
        "letters": letters(disagreement),
        "paths": [_path(disagreement.best), _path(disagreement.other)],
        "shown": sum(disagreement.start <= t < disagreement.end for t in disagreement.differing),
    }


def _path(path: Path) -> dict[str, Any]:
    return {"path": path, "costs": {cost.rule: cost for cost in path.costs}}


def _about(results: Results) -> dict[str, Any]:
    kinds, methods = results.plan.kinds, {}
    for name, values in results.plan.to_dict().items():
        hidden = ("name", "seed", "seeds", "predictions")
        options = {key: value for key, value in values.items() if key not in hidden and value is not None}
        methods[name] = {"kind": kinds[name], "options": options, "seeds": values["seeds"]}
    return {
        "source": results.about.get("source") or "",
        "rules": results.about.get("rules") or "",
        "rule_count": len(results.rules.items),
        "version": results.about.get("version") or metadata.version("ilpinfer"),
        "methods": methods,
    }
