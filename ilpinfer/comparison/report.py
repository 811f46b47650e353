"""A comparison as a self-contained HTML page."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from formulations.messages import counted
from ilpinfer.comparison.columns import (
    ALL,
    COLUMNS,
    COMMON,
    SOLVED,
    Column,
    missing,
    readable,
    shown,
    with_values,
)
from ilpinfer.comparison.disagreements import disagreements, trellis_picture
from ilpinfer.comparison.frame import kinds_of, reference_of
from ilpinfer.comparison.intervals import RESAMPLES, SEED
from ilpinfer.comparison.plan import BARE, ComparisonData
from ilpinfer.comparison.plots import drawings, picture
from ilpinfer.comparison.tables import columns_of_methods
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    import pandas as pd


SUPPORT = 20
"""Smallest number of gold fields for a field to be named in a sentence."""
HEAD_COLUMNS = (
    *("method", "failed", "solved", "reaches", "mean_gap", "search_errors", "model_errors", "f1", "f1_loss"),
    *("median_ms", "bare_passes"),
)
"""Columns at the top of the page; the other columns of the summary unfold."""
OMITTED_COLUMNS = ("seeds", "missed", "cap", "common", "breaking")
"""Columns that the page shows as text, or that are in table files only."""
LOSSES = {"f1_loss": "points of F1", "accuracy_loss": "points of token accuracy"}
"""Columns of losses, and their names in sentences."""


def report_of(comparison: ComparisonData, lines: Mapping[str, "pd.DataFrame"], support: int = SUPPORT) -> str:
    """The HTML of `report.html`, a page that refers to nothing outside itself; MissingLibrary without the extra `compare`."""
    check_report()
    frame, summary = comparison.frame, lines["summary"]
    page = _environment().get_template("report.html")
    known = columns_of_methods()
    head = [known[field] for field in HEAD_COLUMNS]
    every = [*head, *(column for column in COLUMNS["summary"] if column not in head)]
    hidden = _hidden(summary)
    alike = [column for column in every if column.field not in hidden and _alike(column, summary)]
    first = [
        replace(column, interval=f"{column.field}_low" in summary) for column in head if column not in alike
    ]
    more = [column for column in every if column not in alike and column.field not in HEAD_COLUMNS[1:]]
    text: str = page.render(
        about=_about(comparison),
        bare=BARE,
        input=_input(comparison, summary),
        sentences=_sentences(comparison, lines, support),
        support=support,
        failures=_failures(frame),
        tables={
            **{name: _table(some, COLUMNS[name], summary) for name, some in lines.items()},
            "summary": _table(summary, first, summary),
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
    """Raise MissingLibrary if a library that the page needs is not installed."""
    require("report.html", "compare", "jinja2", "matplotlib")


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


def _input(comparison: ComparisonData, summary: "pd.DataFrame") -> dict[str, str]:
    """Names and values of the input, for the page."""
    each = comparison.frame.drop_duplicates("sequence")
    lengths, impossible = each.tokens[each.tokens > 0].tolist(), int(summary.infeasible[0])
    values = {
        "methods": len(kinds_of(comparison.frame)),
        "sequences": len(each),
        "tokens of a sequence": _range(lengths) if lengths else None,
        "sequences without scores, on which every method fails": len(each) - len(lengths) or None,
        "sequences proved to have no labelling, left out of gaps and of the share solved": impossible or None,
        "sequences with a proved optimum": int((each.optimum.notna() & ~each.infeasible).sum()),
        "rules and features": comparison.about["rule_count"],
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _range(lengths: Sequence[int]) -> str:
    low, high = min(lengths), max(lengths)
    return str(low) if low == high else f"{low} to {high}, median {statistics.median(lengths):g}"


def _sentences(
    comparison: ComparisonData, lines: Mapping[str, "pd.DataFrame"], support: int
) -> list[dict[str, Any]]:
    """A sentence for each method: errors, losses and gains with intervals, and the field with the largest loss."""
    reference = reference_of(kinds_of(comparison.frame))
    fields = lines["fields"].set_index(["field", "method"])
    golden = comparison.frame[comparison.frame.gold_tokens.notna()].groupby("method").sequence.nunique()
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
        parts = _parts(line, int(golden.get(method, 0)))
        result.append({"method": method, "reference": method == reference, "parts": parts, "worst": worst})
    return result


def _parts(line: Mapping[str, Any], golden: int) -> list[str]:
    """The parts of a sentence: errors, gap, losses and gains; without a reference, accuracy and F1."""
    parts = []
    if not missing(line["search_errors"]):
        counts = [_errors(line[f"{kind}_errors"], kind) for kind in ("search", "model")]
        parts.append(f"has {' and '.join(counts)} on {counted(golden, 'sequence')} with gold")
    if line["mean_gap"] == 0:
        parts.append("reaches the optimum on every sequence")
    elif not missing(line["mean_gap"]):
        parts.append(f"is {_interval(line, 'mean_gap', 'nats')} nats a sequence below the optimum")
    if line["solved"] < 1:
        parts.append(f"has a labelling for {shown(100 * line['solved'], 'percent')} % of the sequences")
    if missing(line["f1_loss"]) and not missing(line["f1"]):
        f1, accuracy = (_interval(line, name, "percent") for name in ("f1", "accuracy"))
        parts.append(f"has an F1 of {f1} % and the right field on {accuracy} % of the tokens")
    changes: dict[str, list[str]] = {"loses": [], "gains": [], "shows no clear difference:": []}
    for name, what in LOSSES.items():
        low, value, high = (line[f"{name}{end}"] for end in ("_low", "", "_high"))
        if not missing(value) and (low, high) != (0, 0):
            verb = "loses" if low > 0 else "gains" if high < 0 else "shows no clear difference:"
            sign = 1 if verb == "loses" else -1
            form = "points" if verb.startswith("shows") else "loss"
            changes[verb].append(f"{_interval(line, name, form, sign)} {what}")
    parts += [f"{verb} {_enumeration(some)}" for verb, some in changes.items() if some]
    if line["kind"] == "bare":
        parts.append(f"takes {shown(line['median_ms'], 'ms')} ms a sequence")
    return parts


def _errors(count: float, kind: str) -> str:
    return f"{shown(count, 'count')} {kind} error{'' if count == 1 else 's'}"


def _interval(line: Mapping[str, Any], name: str, form: str, sign: int = 1) -> str:
    """A value and its interval, times `sign`."""
    factor, digits = (sign, 2) if form == "nats" else (100 * sign, None)
    value, *ends = (line[f"{name}{end}"] * factor for end in ("", "_low", "_high"))
    texts = [shown(each, form, digits) for each in (value, *sorted(ends))]
    return "{} [{}, {}]".format(*texts)


def _enumeration(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _failures(frame: "pd.DataFrame") -> list[tuple[str, str, int]]:
    failed = frame[frame.error != ""].groupby(["method", "error"], sort=False).size()
    return [(method, error, int(count)) for (method, error), count in failed.items()]


def _alike(column: Column, summary: "pd.DataFrame") -> bool:
    """Whether a column has the same text for all methods, if there are several."""
    methods = summary[summary.kind != "bare"]
    only = methods[column.field].isna().all() or summary[column.field][summary.kind == "bare"].isna().all()
    return len(methods) > 1 and column.field != "method" and only and len(set(column.texts(methods))) == 1


def _hidden(summary: "pd.DataFrame") -> Sequence[str]:
    """Columns that the page does not show; without failures, the numbers of sequences are equal."""
    return (*OMITTED_COLUMNS, *(() if summary.failed.any() else ("failed", "optimum_known")))


def _table(lines: "pd.DataFrame", columns: Sequence[Column], summary: "pd.DataFrame") -> dict[str, Any]:
    """Heads and cells of a table, without empty columns and lines."""
    hidden = _hidden(summary)
    lines, kept = with_values(lines, [column for column in columns if column.field not in hidden])
    values = []
    for column in kept:
        digits = 2 if column.interval and column.form == "nats" else None
        values.append(zip(column.values(lines), column.texts(lines, digits), strict=True))
    cells = [
        [_cell(column, *cell) for column, cell in zip(kept, line, strict=True)]
        for line in zip(*values, strict=True)
    ]
    return {"heads": kept, "groups": _groups(kept, summary), "lines": cells}


def _cell(column: Column, value: Any, text: str) -> dict[str, Any]:
    number = column.form != "text"
    return {"text": text, "key": value if number and not missing(value) else None, "number": number}


def _groups(columns: Sequence[Column], summary: "pd.DataFrame") -> list[dict[str, Any]]:
    """The columns of a group, and a description of its sequences."""
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
    about, methods, kinds = comparison.about, {}, kinds_of(comparison.frame)
    for name, values in about["limits"].items():
        hidden = ("name", "seed", "seeds", "predictions")
        options = {key: value for key, value in values.items() if key not in hidden and value is not None}
        methods[name] = {"kind": kinds[name], "options": options, "seeds": values["seeds"]}
    return {**about, "source": about["source"] or "", "rules": about["rules"] or "", "methods": methods}
