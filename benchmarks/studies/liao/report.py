"""Table 1 (a) and (b), each rule alone, and the rules themselves."""

from collections.abc import Iterator, Sequence

import numpy as np
from pandas import DataFrame

from benchmarks.report import COLORS, Cells, Report, fixed, number, percent, signed
from benchmarks.studies.liao.ways import STAGES
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
    ways = rows[rows.way.notna()].reset_index(drop=True)
    base = ways[ways.way == "baseline"].set_index(["size", "rules"]).seconds
    ways["shares"] = [
        time_shares(row.seconds, base[row.size, row.rules])
        for row in ways[["size", "rules", "seconds"]].itertuples(index=False, name="Way")
    ]
    counts = ways[["predicted", "gold", "both"]].to_numpy()
    ways[["P", "R", "F1"]] = np.stack([measure(counts) for measure in (precision, recall, f_measure)], 1)
    table, alone = ways[ways.rules == "all"], ways[ways.rules != "all"]
    if len(table):
        _accuracy(table, report)
        _times(table, report)
    if len(alone):
        report.heading("Each rule alone")
        by = {"sentences": "size", "rule": "rules", "method": "way"}
        own = alone[alone.way != "baseline"]
        more = {"time": lambda x: fixed(x.shares.iloc[0][-1], 2)}
        report.pivot(own, by, {"F1 %": lambda x: percent(x.F1.iloc[0], 2), GAIN: gain, **more})
    _rules(rows[rows.rule.notna()], report)


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


def _times(table: DataFrame, report: Report) -> None:
    report.heading("Table 1 (b): time by part")
    report.text(
        "Shares of the baseline's overall time. In the published table, scores are part of Viterbi. Seconds are those of all sentences; "
        "open is the share of tokens that get features."
    )
    lines, bars = [], {}
    for corpus, way, (*_, rules, features, viterbi, overall) in published():
        shares = [f"{share:.2f}" for share in (rules, features, viterbi, overall)]
        lines.append((f"published: {corpus}", way, *shares[:2], "–", *shares[2:], "–", "–"))
        bars[f"{corpus}, {way}"] = [rules, features, 0.0, viterbi]
    for _, some in table.groupby(level=0):
        [row] = some.itertuples()
        cells = (*(f"{share:.2f}" for share in row.shares), number(sum(row.seconds)), f"{row.open:.2f}")
        lines.append((_here(some), row.way, *cells))
        if some["size"].iloc[0] == table["size"].iloc[0]:
            bars[f"here, {row.way}"] = row.shares[:-1]
    columns = ("rules", "features", "scores", "Viterbi", "overall", "s", "open")
    report.table(("corpus", "method", *columns), lines, left=2)
    with report.picture("times", "Time by part, as shares of the baseline's", (7.2, 4.2)) as axes:
        places, left = np.arange(len(bars))[::-1], np.zeros(len(bars))
        for stage, color, widths in zip(STAGES, COLORS, np.array([*bars.values()]).T, strict=False):
            label = "Viterbi" if stage == "viterbi" else stage
            axes.barh(places, widths, left=left, color=color, label=label)
            left += widths
        axes.set_yticks(places, list(bars))
        axes.axvline(1, color="#7F7F7F", linewidth=1, linestyle=":")
        axes.set_xlabel("share of the baseline's time")
        axes.legend(frameon=False, fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _rules(frame: DataFrame, report: Report) -> None:
    report.heading("The rules")
    own = frame.drop_duplicates(["size", "rule"])
    cells: Cells = {
        "restricted tokens": lambda x: int(x.restricted.iloc[0]),
        "% of all": lambda x: percent((x.restricted / x.tokens).iloc[0]),
        "gold label left %": lambda x: percent((x.right / x.restricted.clip(lower=1)).iloc[0], 2),
    }
    report.pivot(own, {"sentences": "size", "rule": "rule"}, cells)
    words = own.dropna(subset="firsts") if "firsts" in own else own[:0]
    texts = [
        f"{row.suffixes:.0f} suffixes and {row.firsts:.0f} first words of companies from {row.size} sentences"
        for row in words[["suffixes", "firsts", "size"]].itertuples(index=False, name="Words")
    ]
    if texts:
        report.text(f"Rule 2 has {'; '.join(texts)}.")
