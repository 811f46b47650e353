"""A comparison as one HTML page that needs nothing else."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any

from ilpinfer.comparison import curves
from ilpinfer.comparison.disagreements import Disagreement, Path, disagreements
from ilpinfer.comparison.pictures import (
    Look,
    anytime_picture,
    length_picture,
    looks,
    share_picture,
)
from ilpinfer.comparison.record import Record
from ilpinfer.comparison.sentences import sentences
from ilpinfer.comparison.summary import Summary
from ilpinfer.comparison.tables import (
    ALL,
    BREAKING,
    CAP,
    COLUMNS,
    COMMON,
    FAILED,
    KNOWN,
    MISSED,
    SEEDS,
    SHARED,
    SOLVED,
    Column,
    lines_of,
)
from ilpinfer.comparison.text import missing, readable, shown
from ilpinfer.comparison.trellis_picture import letters, trellis_picture
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    import pandas as pd

ELSEWHERE = (SEEDS, MISSED, CAP, SHARED, BREAKING)
"""Columns that the page shows as text, or that only the files of tables have."""


def report_of(record: Record) -> str:
    """The HTML of `report.html`: sentences, tables, pictures, and how all of it was measured.

    Parameters
    ----------
    record : Record
        A comparison.

    Returns
    -------
    str
        A page that refers to nothing outside itself.

    Raises
    ------
    MissingLibrary
        without the extra `plots`.
    """
    check_report()
    frame, summary = record.to_pandas(), record.summary()
    look = looks(list(record.plan.kinds))
    page = _environment().get_template("report.html")
    text: str = page.render(
        about=_about(record),
        sentences=sentences(record, frame, summary),
        tables={name: _table(record, name, summary, look) for name in COLUMNS},
        look=look,
        pictures=_pictures(record, frame, look),
        disagreements=[_disagreement(disagreement) for disagreement in disagreements(record)],
        summary=summary,
        known=max(line.optimum_known for line in summary),
        failures=any(line.failed for line in summary),
        golden=any(line.accuracy is not None for line in summary),
        zero_optima=int((frame.optimum == 0).any()),
        cap=record.cap,
    )
    return text + "\n"


def check_report() -> None:
    """Raise MissingLibrary where a library that the page needs is not installed."""
    require("report.html", "plots", "jinja2", "matplotlib")


def html_of(record: Record) -> str:
    """Only the table of the summary, for notebooks."""
    summary = record.summary()
    table = _table(record, "summary", summary, {})
    heads = "".join(f"<th>{escape(head['column'].name)}</th>" for head in table["heads"])
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


def _table(record: Record, name: str, summary: Sequence[Summary], look: Mapping[str, Look]) -> dict[str, Any]:
    """Heads and cells of a table; columns without any value are left out."""
    lines = lines_of(record, name) if name in ("matches", "fields") else summary
    values = {column: [column.value(line) for line in lines] for column in COLUMNS[name]}
    failed = any(line.failed for line in summary)
    hidden = (*ELSEWHERE, *(() if failed else (FAILED, KNOWN)))
    kept = {
        column: each
        for column, each in values.items()
        if column not in hidden and not all(map(missing, each))
    }
    cells = [[_cell(column, each[i], look) for column, each in kept.items()] for i in range(len(lines))]
    return {
        "heads": [{"column": column} for column in kept],
        "groups": _groups(list(kept), summary),
        "lines": cells,
    }


def _cell(column: Column, value: Any, look: Mapping[str, Look]) -> dict[str, Any]:
    key = None if missing(value) or column.form == "text" else value
    sample = look[value].sample() if column.field in ("method", "other") and value in look else ""
    return {"text": shown(value, column.form), "key": key, "sample": sample, "number": column.form != "text"}


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


def _pictures(record: Record, frame: "pd.DataFrame", look: Mapping[str, Look]) -> dict[str, str]:
    """SVG pictures; those without data are left out."""
    methods = list(look)
    optima = (
        frame.loc[~frame.infeasible].dropna(subset="optimum").groupby("sequence").optimum.first().to_dict()
    )
    result = {}
    if gaps := curves.gap_shares(frame, methods):
        result["gaps"] = share_picture(gaps, look, "Share of sequences by gap", ratio=False)
    if means := curves.anytime(record.rows(), optima, record.cap, methods):
        result["anytime"] = anytime_picture(means, look, "Mean gap by seconds")
    if profiles := curves.time_profiles(frame, methods):
        result["profile"] = share_picture(
            profiles, look, "Share of sequences solved by multiples of the best time", ratio=True
        )
    if lengths := curves.times_by_length(frame, methods):
        result["lengths"] = length_picture(lengths, look, "Milliseconds by tokens")
    return result


def _disagreement(disagreement: Disagreement) -> dict[str, Any]:
    return {
        "disagreement": disagreement,
        "picture": trellis_picture(disagreement),
        "letters": letters(disagreement),
        "paths": [_path(disagreement.best), _path(disagreement.other)],
        "shown": sum(disagreement.start <= t < disagreement.end for t in disagreement.differing),
    }


def _path(path: Path) -> dict[str, Any]:
    return {"path": path, "costs": {cost.rule: cost for cost in path.costs}}


def _about(record: Record) -> dict[str, Any]:
    methods: dict[str, dict[str, Any]] = {}
    for entry in record.plan.entries:
        options = {} if entry.request is None else entry.to_dict()
        known = methods.setdefault(entry.name, {"kind": entry.kind, "options": options, "seeds": []})
        known["seeds"] += [] if entry.seed is None else [entry.seed]
    for each in methods.values():
        each["options"] = {
            key: value
            for key, value in each["options"].items()
            if key not in ("name", "seed") and value is not None
        }
    return {
        "source": record.about.get("source") or "",
        "rules": record.about.get("rules") or "",
        "rule_count": len(record.rules.items),
        "version": record.about.get("version") or metadata.version("ilpinfer"),
        "methods": methods,
    }
