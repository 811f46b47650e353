"""A comparison as one HTML page that needs nothing else."""

import math
import statistics
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from ilpinfer.comparison.columns import ALL, COLUMNS, COMMON, SOLVED, Column, missing, readable, shown
from ilpinfer.comparison.disagreements import disagreements, trellis_picture
from ilpinfer.comparison.frame import frame_of
from ilpinfer.comparison.intervals import RESAMPLES, SEED
from ilpinfer.comparison.plan import ComparisonData
from ilpinfer.comparison.plots import drawings, picture
from ilpinfer.comparison.statistics import f1_without_rules, reference_of, summarise
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    import pandas as pd


SUPPORT = 20
"""Gold fields with which a sentence names a field."""
HEAD_COLUMNS = (
    *("method", "rank", "failed", "solved", "reaches", "mean_gap", "solved_gap", "accuracy", "f1", "f1_loss"),
    *("median_ms", "bare_passes"),
)
"""Columns of the summary at the head of the page; the others unfold."""
OMITTED_COLUMNS = ("seeds", "missed", "cap", "common", "breaking")
"""Columns that the page shows as text, or that only the files of tables have."""
LOSSES = {
    "f1_loss": ("loss", "points of F1"),
    "accuracy_loss": ("loss", "points of token accuracy"),
    "mean_gap": ("nats", "nats a sequence"),
}
"""What a method may lose or gain, with its form and its words."""


def report_of(comparison: ComparisonData, lines: Mapping[str, "pd.DataFrame"], support: int = SUPPORT) -> str:
    """The HTML of `report.html`, a page that refers to nothing outside itself; MissingLibrary without the extra `compare`."""
    check_report()
    frame, summary = frame_of(comparison.rows()), lines["summary"]
    page = _environment().get_template("report.html")
    alike = [
        column
        for column in COLUMNS["summary"]
        if column.field not in OMITTED_COLUMNS and _alike(column, summary)
    ]
    varied = [column for column in COLUMNS["summary"] if column not in alike]
    first = [column for column in varied if column.field in HEAD_COLUMNS]
    more = [column for column in varied if column.field not in HEAD_COLUMNS[1:]]
    text: str = page.render(
        about=_about(comparison),
        input=_input(comparison, frame, summary),
        sentences=_sentences(comparison, lines, support),
        support=support,
        failures=_failures(frame),
        tables={
            **{name: _table(some, COLUMNS[name], summary) for name, some in lines.items()},
            "summary": _table(summary, first, summary, interval=True),
            "more": _table(summary, more, summary),
        },
        alike=[
            (column, column.texts(summary)[0]) for column in alike if not missing(summary[column.field][0])
        ],
        pictures={name: picture(draw) for name, draw in drawings(comparison).items()},
        pairs=[(pair, trellis_picture(pair)) for pair in disagreements(comparison)],
        loaded=not comparison.cases,
        seeds=int(summary.seeds.max()),
        sequences=int(summary.sequences[0]),
        known=int(summary.optimum_known.max()),
        golden=bool(summary.accuracy.notna().any()),
        zero_optima=bool((frame.optimum == 0).any()),
        cap=comparison.cap,
        resamples=RESAMPLES,
        seed=SEED,
    )
    return text + "\n"


def check_report() -> None:
    """Raise MissingLibrary where a library that the page needs is not installed."""
    require("report.html", "compare", "jinja2", "matplotlib")


def html_of(comparison: ComparisonData) -> str:
    """Only the table of the summary, for notebooks."""
    summary = summarise(frame_of(comparison.rows()), comparison.kinds, comparison.cap)
    table = _table(summary, COLUMNS["summary"], summary)
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


def _input(comparison: ComparisonData, frame: "pd.DataFrame", summary: "pd.DataFrame") -> dict[str, str]:
    """What was compared, and what is known of it, by name."""
    tokens = frame.drop_duplicates("sequence").tokens
    lengths, impossible = tokens[tokens > 0].tolist(), int(summary.infeasible[0])
    proved = frame[~frame.infeasible & frame.optimum.notna()]
    before = f1_without_rules(comparison.rows())
    values = {
        "methods": len(summary),
        "sequences": len(tokens),
        "tokens of a sequence": _range(lengths) if lengths else None,
        "sequences without scores, on which every method fails": len(tokens) - len(lengths) or None,
        "sequences proved to have no labelling, left out of gaps and of the share solved": impossible or None,
        "sequences with a proved optimum": proved.sequence.nunique(),
        "rules and features": comparison.about["rule_count"],
        "F1 of Viterbi without rules": None if before is None else f"{shown(100 * before, 'percent')} %",
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _range(lengths: Sequence[int]) -> str:
    low, high = min(lengths), max(lengths)
    return str(low) if low == high else f"{low} to {high}, median {statistics.median(lengths):g}"


def _sentences(
    comparison: ComparisonData, lines: Mapping[str, "pd.DataFrame"], support: int
) -> list[dict[str, Any]]:
    """What each method loses in F1, tokens and nats, with intervals, and the field on which it loses most."""
    reference, fields = reference_of(comparison.kinds), lines["fields"].set_index(["field", "method"])
    f1 = fields.f1[fields.gold >= support].unstack()
    result = []
    for line in lines["summary"].to_dict("records"):
        method, worst = line["method"], None
        if reference in f1 and method in f1:
            lost = (f1[reference] - f1[method]).dropna()
            if len(lost) and lost.max() > 0:
                worst = (
                    lost.idxmax(),
                    shown(100 * lost.max(), "loss"),
                    int(fields.gold[lost.idxmax(), method]),
                )
        result.append(
            {"method": method, "reference": method == reference, "parts": _parts(line), "worst": worst}
        )
    return result


def _parts(line: Mapping[str, Any]) -> list[str]:
    """What a sentence says of a method: its loss and gain, or accuracy and F1 where there is no reference."""
    changes: dict[str, list[str]] = {"loses": [], "gains": []}
    for name, (form, what) in LOSSES.items():
        values = [line[f"{name}{end}"] * (100 if form == "loss" else 1) for end in ("", "_low", "_high")]
        if missing(values[0]) or not any(values):
            continue
        digits = 2 if form == "nats" else None
        rounds_to_zero = not shown(values[0], form, digits).strip("-0.")
        sign = -1 if values[0] < 0 and not rounds_to_zero else 1
        value, *ends = (shown(sign * each, form, digits) for each in (abs(values[0]) * sign, *values[1:]))
        changes["gains" if sign < 0 else "loses"].append(f"{value} [{', '.join(ends[::sign])}] {what}")
    parts = []
    if missing(line["f1_loss"]) and not missing(line["f1"]):
        f1, accuracy = (
            "{} [{}, {}] %".format(
                *(shown(100 * line[f"{name}{end}"], "percent") for end in ("", "_low", "_high"))
            )
            for name in ("f1", "accuracy")
        )
        parts = [f"has an F1 of {f1} and the right field on {accuracy} of the tokens"]
    parts += [f"{verb} {_enumeration(some)}" for verb, some in changes.items() if some]
    if line["mean_gap"] == 0:
        parts.append("reaches the optimum on every sequence")
    if line["solved"] < 1:
        parts.append(f"has a labelling for {shown(100 * line['solved'], 'percent')} % of the sequences")
    return parts


def _enumeration(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _failures(frame: "pd.DataFrame") -> list[tuple[str, str, int]]:
    failed = frame[frame.error != ""].groupby(["method", "error"], sort=False).size()
    return [(method, error, int(count)) for (method, error), count in failed.items()]


def _alike(column: Column, lines: "pd.DataFrame") -> bool:
    """Whether a column has the same text for all of several methods."""
    return len(lines) > 1 and column.field != "method" and len(set(column.texts(lines))) == 1


def _table(
    lines: "pd.DataFrame", columns: Sequence[Column], summary: "pd.DataFrame", *, interval: bool = False
) -> dict[str, Any]:
    """Heads and cells of a table; columns without any value are left out."""
    hidden = (*OMITTED_COLUMNS, *(() if summary.failed.any() else ("failed", "optimum_known")))
    kept = [column for column in columns if column.field not in hidden and lines[column.field].notna().any()]
    values = []
    for column in kept:
        digits = 2 if interval and column.form == "nats" else None
        texts = column.texts(lines, digits, interval=interval)
        values.append(zip(column.values(lines), texts, strict=True))
    cells = [
        [_cell(column, *cell) for column, cell in zip(kept, line, strict=True)]
        for line in zip(*values, strict=True)
    ]
    return {"heads": kept, "groups": _groups(kept, summary), "lines": cells}


def _cell(column: Column, value: Any, text: str) -> dict[str, Any]:
    number = column.form != "text"
    return {"text": text, "key": value if number and not missing(value) else None, "number": number}


def _groups(columns: Sequence[Column], summary: "pd.DataFrame") -> list[dict[str, Any]]:
    """Columns of one group, with a text about the sequences of their means."""
    failures = ", failures left out" if summary.failed.any() else ""
    words = {
        ALL: f"over all {summary.optimum_known.max()} with a proved optimum{failures}, missing ones at {summary.cap[0]:g} nats",
        SOLVED: "over those it solves",
        COMMON: f"over the {summary.common[0]} solved by all",
    }
    groups: list[dict[str, Any]] = []
    for column in columns:
        if groups and groups[-1]["group"] == column.group:
            groups[-1]["span"] += 1
        else:
            text = words.get(column.group, column.group)
            groups.append({"group": column.group, "text": text, "span": 1})
    return groups


def _about(comparison: ComparisonData) -> dict[str, Any]:
    about, methods = comparison.about, {}
    for name, values in about["limits"].items():
        hidden = ("name", "seed", "seeds", "predictions")
        options = {key: value for key, value in values.items() if key not in hidden and value is not None}
        methods[name] = {"kind": comparison.kinds[name], "options": options, "seeds": values["seeds"]}
    return {**about, "source": about["source"] or "", "rules": about["rules"] or "", "methods": methods}
