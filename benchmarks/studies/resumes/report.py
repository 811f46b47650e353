"""The report: tables of rewards, of the order of fields, and of differences."""

from collections.abc import Mapping, Sequence
from typing import Any

from pandas import DataFrame

from benchmarks.data.evaluations import MEASURES, evaluation_of, field_counts, gains, measures, span_measures
from benchmarks.report import Cells, Report, groups, signed
from benchmarks.study import Row

COMPARED = {
    "log-odds": "nothing",
    "reward": "nothing",
    "reward, log-odds": "reward",
    **{f"reward, log-odds: {name}": f"reward: {name}" for name in ("perceptron-given", "conservative-given")},
}
"""Conditions, and the one that each is compared with."""


def report(rows: Sequence[Row], report: Report) -> None:
    frame = DataFrame(rows)
    rewards = frame[frame.part == "rewards"]
    if len(rewards):
        _rewards(rewards, report)
    others = frame[frame.part != "rewards"]
    if len(others):
        names = others.rules.where(others.part == "order", others.rules + ": " + others.variant)
        _order(others.assign(name=names), report)


def whole(some: DataFrame) -> Any:
    return evaluation_of(some.to_dict("records"))


def _rewards(frame: DataFrame, report: Report) -> None:
    report.heading("A reward for the beginning of each span")
    by = {"line breaks": "variant", "reward, nats": "rules"}

    def gain(some: DataFrame) -> str:
        none = frame[(frame.variant == some.variant.iloc[0]) & (frame.rules == "0")]
        return "–" if some.rules.iloc[0] == "0" else gains(whole(some), whole(none))[1]

    cells: Cells = {MEASURES: lambda x: measures(whole(x)), "F1 of spans, points over no reward": gain}
    report.pivot(frame, by, cells)
    fields = tuple(field_counts(frame.to_dict("records")))

    def by_field(some: DataFrame) -> list[str]:
        counts = field_counts(some.to_dict("records"))
        return [span_measures(counts[field])[2] for field in fields]

    report.text("F1 of spans by field, in per cent:")
    report.pivot(frame, by, {fields: by_field})


def _order(frame: DataFrame, report: Report) -> None:
    report.heading("Log-odds of consecutive fields")
    cells: Cells = {
        MEASURES: lambda x: measures(whole(x)),
        "F1 of each shuffle": lambda x: " ".join(
            span_measures(whole(own).of_all())[2] for _, own in groups(x, "shuffle")
        ),
    }
    report.pivot(frame, {"rules": "name"}, cells)
    every: Mapping[str, Any] = {name: whole(own) for (name,), own in groups(frame, "name")}
    report.heading("Differences in points, 95 % intervals", 3)
    report.table(
        ("rules", "against", "tokens", "F1 of spans", "whole sections"),
        (
            (name, other, *gains(every[name], every[other]))
            for name, other in COMPARED.items()
            if {name, other} <= every.keys()
        ),
        left=2,
    )
    tables = frame.log_odds.dropna() if "log_odds" in frame else ()
    if len(tables):
        pairs = DataFrame([pair for table in tables for pair in table], columns=["first", "then", "nats"])
        mean = pairs.groupby(["first", "then"]).nats.mean()
        fields = list(pairs["first"].unique())
        report.heading("Log-odds in nats, mean of the training folds", 3)
        lines = ((a, *(signed(mean[a, b], 2) for b in fields)) for a in fields)
        report.table(("field, then:", *fields), lines)
