"""The report: tables of rewards, of the order of fields, and of differences."""

from collections.abc import Mapping, Sequence

from benchmarks.data.evaluations import MEASURES, evaluation_of, field_counts, gains, measures, span_measures
from benchmarks.report import Report, signed
from benchmarks.study import Row

COMPARED = {
    "log-odds": "nothing",
    "reward": "nothing",
    "reward, log-odds": "reward",
    **{f"reward, log-odds: {name}": f"reward: {name}" for name in ("perceptron-given", "conservative-given")},
}
"""Conditions, and the one that each is compared with."""


def report(rows: Sequence[Row], report: Report) -> None:
    rewards = [row for row in rows if row["part"] == "rewards"]
    if rewards:
        _rewards(_by(rewards, "variant", "rules"), report)
    others: dict[str, list[Row]] = {}
    for row in rows:
        if row["part"] != "rewards":
            name = row["rules"] if row["part"] == "order" else f"{row['rules']}: {row['variant']}"
            others.setdefault(name, []).append(row)
    if others:
        _order(others, report)


def _rewards(some: Mapping[tuple[str, ...], Sequence[Row]], report: Report) -> None:
    report.heading("A reward for the beginning of each span")
    whole = {names: evaluation_of(rows) for names, rows in some.items()}
    report.table(
        ("line breaks", "reward, nats", *MEASURES, "F1 of spans, points over no reward"),
        (
            (
                *names,
                *measures(one),
                "–" if names[1] == "0" else gains(one, whole[names[0], "0"])[1],
            )
            for names, one in whole.items()
        ),
        left=2,
    )
    fields = list(field_counts([row for rows in some.values() for row in rows]))
    report.text("F1 of spans by field, in per cent:")
    report.table(
        ("line breaks", "reward, nats", *fields),
        (
            (*names, *(span_measures(counts[field])[2] for field in fields))
            for names, rows in some.items()
            if (counts := field_counts(rows))
        ),
        left=2,
    )


def _order(some: Mapping[str, Sequence[Row]], report: Report) -> None:
    report.heading("Log-odds of consecutive fields")
    whole = {name: evaluation_of(rows) for name, rows in some.items()}
    report.table(
        ("rules", *MEASURES, "F1 of each shuffle"),
        (
            (
                name,
                *measures(whole[name]),
                " ".join(_f1(rows) for rows in _by(some[name], "shuffle").values()),
            )
            for name in some
        ),
    )
    report.heading("Differences in points, 95 % intervals", 3)
    report.table(
        ("rules", "against", "tokens", "F1 of spans", "whole sections"),
        (
            (name, other, *gains(whole[name], whole[other]))
            for name, other in COMPARED.items()
            if {name, other} <= whole.keys()
        ),
        left=2,
    )
    _log_odds(some, report)


def _log_odds(some: Mapping[str, Sequence[Row]], report: Report) -> None:
    """The mean over training folds."""
    tables = [row["log_odds"] for rows in some.values() for row in rows if "log_odds" in row]
    if not tables:
        return
    fields = list(dict.fromkeys(a for a, _, _ in tables[0]))
    mean = {
        (a, b): sum(table[n][2] for table in tables) / len(tables) for n, (a, b, _) in enumerate(tables[0])
    }
    report.heading("Log-odds in nats, mean of the training folds", 3)
    report.table(("field, then:", *fields), ((a, *(signed(mean[a, b], 2) for b in fields)) for a in fields))


def _f1(rows: Sequence[Row]) -> str:
    return span_measures(evaluation_of(rows).of_all())[2]


def _by(rows: Sequence[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    """Rows by the texts of some columns."""
    result: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        result.setdefault(tuple(str(row[name]) for name in names), []).append(row)
    return result
