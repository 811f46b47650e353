"""Table 1 (a) and (b)."""

from collections.abc import Iterator, Sequence

import numpy as np
from pandas import DataFrame

from benchmarks.report import Report, fixed, number, percent, signed
from ilpinfer.evaluation.counts import f_measure, precision, recall

PUBLISHED = {
    "CoNLL 2003": {
        "baseline": (84.38, 83.02, 83.69, 0, 0.78, 0.22, 1),
        "post-correction": (85.87, 84.86, 85.36, 0.08, 0.78, 0.22, 1.08),
        "rules first": (85.98, 85.55, 85.76, 0.08, 0.35, 0.13, 0.56),
    },
    "TF": {
        "baseline": (88.39, 82.42, 85.30, 0, 0.85, 0.15, 1),
        "post-correction": (87.69, 88.30, 87.99, 0.14, 0.85, 0.15, 1.14),
        "rules first": (88.02, 88.54, 88.28, 0.14, 0.38, 0.1, 0.62),
    },
    "MUC": {
        "baseline": (92.22, 88.72, 90.43, 0, 0.79, 0.21, 1),
        "post-correction": (91.28, 88.87, 90.06, 0.12, 0.79, 0.21, 1.12),
        "rules first": (90.86, 89.37, 90.11, 0.12, 0.36, 0.12, 0.60),
    },
}
"""Table 1: P, R and F1 in per cent; shares of the baseline's time for rules, features, Viterbi, and overall."""


def published() -> Iterator[tuple[str, str, tuple[float, ...]]]:
    return ((corpus, way, figures) for corpus, ways in PUBLISHED.items() for way, figures in ways.items())


def time_shares(seconds: Sequence[float], baseline: Sequence[float]) -> list[float]:
    """Rules, features, scores, Viterbi and overall, as shares of the baseline's overall time."""
    return [spent / sum(baseline) for spent in (*seconds, sum(seconds))]


def report(rows: DataFrame, report: Report) -> None:
    ways = rows.reset_index(drop=True)
    counts = ways[["predicted", "gold", "both"]].to_numpy()
    ways[["P", "R", "F1"]] = np.stack([measure(counts) for measure in (precision, recall, f_measure)], 1)
    _accuracy(ways, report)
    report.heading("Table 1 (b): time by part")
    report.text(
        "Shares of the baseline's overall time. In the published table, scores are part of Viterbi. Seconds are those of all sentences; "
        "open is the share of tokens that get features."
    )
    _times(ways, "seconds", report)
    report.heading("Time by part, newly loaded", 3)
    report.text("The same where neither features of words nor decisions of rules are in caches yet.")
    _times(ways, "loaded", report)


GAIN = ("gain", "95 % interval", "p")


def gain(some: DataFrame) -> tuple[str, ...]:
    """Points of F1 over the baseline."""
    if some.way.iloc[0] == "baseline":
        return "–", "–", "–"
    points, low, high = (signed(100 * some[name].iloc[0], 2) for name in ("gain", "low", "high"))
    return points, f"{low} to {high}", fixed(some.p.iloc[0], 3)


def _here(some: DataFrame) -> str:
    return f"here: Spanish, {some['size'].iloc[0]} sentences"


def _accuracy(table: DataFrame, report: Report) -> None:
    report.heading("Table 1 (a): spans")
    lines = []
    for corpus, way, figures in published():
        own = signed(figures[2] - PUBLISHED[corpus]["baseline"][2], 2) if way != "baseline" else "–"
        lines.append((f"published: {corpus}", way, *(f"{f:.2f}" for f in figures[:3]), own, "–", "–"))
    for _, some in table.groupby(level=0):
        shares = (percent(some[name].iloc[0], 2) for name in ("P", "R", "F1"))
        lines.append((_here(some), some.way.iloc[0], *shares, *gain(some)))
    report.table(("corpus", "method", "P %", "R %", "F1 %", *GAIN), lines, left=2)


def _times(table: DataFrame, name: str, report: Report) -> None:
    base = table[table.way == "baseline"].set_index("size")[name]
    lines = []
    for corpus, way, (*_, rules, features, viterbi, overall) in published():
        shares = [f"{share:.2f}" for share in (rules, features, viterbi, overall)]
        lines.append((f"published: {corpus}", way, *shares[:2], "–", *shares[2:], "–", "–"))
    for _, some in table.groupby(level=0):
        [row] = some.itertuples()
        seconds = getattr(row, name)
        own = time_shares(seconds, base[row.size])
        cells = (*(f"{share:.2f}" for share in own), number(sum(seconds)), f"{row.open:.2f}")
        lines.append((_here(some), row.way, *cells))
    columns = ("rules", "features", "scores", "Viterbi", "overall", "s", "open")
    report.table(("corpus", "method", *columns), lines, left=2)
