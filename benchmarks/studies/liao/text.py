"""Report of the study, from rows alone."""

from collections.abc import Sequence

import numpy as np

from benchmarks.report import COLORS, Report, number, percent, signed
from benchmarks.studies.liao.ways import STAGES
from benchmarks.study import Row
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


def f1_of(row: Row) -> float:
    """F1 of spans, per cent."""
    return 100 * float(f_measure(_counts(row)))


def time_shares(row: Row, baseline: Row) -> list[float]:
    """Rules, features, scores, Viterbi and overall, as shares of the baseline's overall time."""
    unit = sum(baseline["seconds"])
    return [*(seconds / unit for seconds in row["seconds"]), sum(row["seconds"]) / unit]


def report(rows: Sequence[Row], report: Report) -> None:
    """Table 1 (a) and (b), each rule alone, the rules themselves."""
    ways = [row for row in rows if "way" in row]
    table = [row for row in ways if row["rules"] == "all"]
    alone = [row for row in ways if row["rules"] != "all"]
    if table:
        _accuracy(table, report)
        _times(table, report)
    if alone:
        _alone(alone, report)
    _rules([row for row in rows if "rule" in row], report)


def _accuracy(table: Sequence[Row], report: Report) -> None:
    report.heading("Table 1 (a): spans")
    lines = []
    for corpus, ways in PUBLISHED.items():
        base = ways["baseline"][2]
        for way, (p, r, f1, *_) in ways.items():
            gain = "–" if way == "baseline" else signed(f1 - base, 2)
            lines.append((f"published: {corpus}", way, f"{p:.2f}", f"{r:.2f}", f"{f1:.2f}", gain, "–", "–"))
    for row in table:
        counts = _counts(row)
        shares = (percent(float(measure(counts)), 2) for measure in (precision, recall, f_measure))
        more = _gain(row) if row["way"] != "baseline" else ("–", "–", "–")
        lines.append((f"here: Spanish, {row['size']} sentences", row["way"], *shares, *more))
    columns = "corpus", "method", "P %", "R %", "F1 %", "gain", "95 % interval", "p"
    report.table(columns, lines, left=2)
    for alone, first in _pairs(table):
        report.text(
            f"Trained on {alone['size']} sentences, rules first gain {signed(f1_of(first) - f1_of(alone), 2)} points of F1 over the field alone; "
            "published gains are "
            + ", ".join(
                f"{signed(w['rules first'][2] - w['baseline'][2], 2)} ({c})" for c, w in PUBLISHED.items()
            )
            + "."
        )


def _times(table: Sequence[Row], report: Report) -> None:
    report.heading("Table 1 (b): time by part")
    report.text(
        "Shares of the baseline's overall time. In the published table, scores are part of Viterbi. Seconds are those of all sentences; "
        "open is the share of tokens that get features."
    )
    lines: list[tuple[object, ...]] = []
    for corpus, ways in PUBLISHED.items():
        for way, (*_, rules, features, viterbi, overall) in ways.items():
            shown = (f"{rules:.2f}", f"{features:.2f}", "–", f"{viterbi:.2f}", f"{overall:.2f}")
            lines.append((f"published: {corpus}", way, *shown, "–", "–"))
    for row in table:
        shares = (f"{share:.2f}" for share in time_shares(row, _baseline(row, table)))
        seconds = number(sum(row["seconds"]))
        lines.append(
            (f"here: Spanish, {row['size']} sentences", row["way"], *shares, seconds, f"{row['open']:.2f}")
        )
    report.table(
        ("corpus", "method", "rules", "features", "scores", "Viterbi", "overall", "s", "open"), lines, left=2
    )
    for alone, first in _pairs(table):
        share = time_shares(first, alone)[-1]
        report.text(
            f"Trained on {alone['size']} sentences, rules first take {share:.2f} of the time of the field alone "
            f"({number(sum(alone['seconds']))} s for all sentences); published are "
            + ", ".join(f"{ways['rules first'][-1]:.2f} ({corpus})" for corpus, ways in PUBLISHED.items())
            + "."
        )
    _picture(table, report)


def _picture(table: Sequence[Row], report: Report) -> None:
    size = table[0]["size"]
    bars: list[tuple[str, tuple[float, ...]]] = [
        (f"{corpus}, {way}", (rules, features, 0.0, viterbi))
        for corpus, ways in PUBLISHED.items()
        for way, (*_, rules, features, viterbi, _) in ways.items()
    ]
    own = [row for row in table if row["size"] == size]
    bars += [(f"here, {row['way']}", tuple(time_shares(row, _baseline(row, table))[:-1])) for row in own]
    with report.picture("times", "Time by part, as shares of the baseline's", (7.2, 4.2)) as axes:
        names, places, left = [name for name, _ in bars], np.arange(len(bars))[::-1], np.zeros(len(bars))
        for number_, (stage, color) in enumerate(zip(STAGES, COLORS, strict=False)):
            widths = np.array([shares[number_] for _, shares in bars])
            axes.barh(
                places, widths, left=left, color=color, label="Viterbi" if stage == "viterbi" else stage
            )
            left += widths
        axes.set_yticks(places, names)
        axes.axvline(1, color="#7F7F7F", linewidth=1, linestyle=":")
        axes.set_xlabel("share of the baseline's time")
        axes.legend(frameon=False, fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _alone(alone: Sequence[Row], report: Report) -> None:
    report.heading("Each rule alone")
    lines = []
    for row in alone:
        if row["way"] != "baseline":
            gain = _gain(row)
            share = f"{time_shares(row, _baseline(row, alone))[-1]:.2f}"
            lines.append((row["size"], row["rules"], row["way"], f"{f1_of(row):.2f}", *gain, share))
    columns = "sentences", "rule", "method", "F1 %", "gain", "95 % interval", "p", "time"
    report.table(columns, lines, left=3)
    first = [row for row in alone if row["way"] == "rules first" and row["size"] == alone[0]["size"]]
    best, fast = (
        max(first, key=lambda row: row["gain"]),
        min(first, key=lambda row: time_shares(row, _baseline(row, alone))[-1]),
    )
    report.text(
        f"By itself, {best['rules']} gains most ({signed(100 * best['gain'], 2)} points of F1), and {fast['rules']} saves most time "
        f"({time_shares(fast, _baseline(fast, alone))[-1]:.2f} of the baseline's)."
    )


def _rules(rows: Sequence[Row], report: Report) -> None:
    report.heading("The rules")
    lines, words = [], {}
    for row in {(row["size"], row["rule"]): row for row in rows}.values():
        share, right = row["restricted"] / row["tokens"], row["right"] / max(1, row["restricted"])
        lines.append((row["size"], row["rule"], row["restricted"], percent(share), percent(right, 2)))
        if "firsts" in row:
            words[row["size"]] = (
                f"{row['suffixes']} suffixes and {row['firsts']} first words of companies from {row['size']} sentences"
            )
    report.table(("sentences", "rule", "restricted tokens", "% of all", "gold label left %"), lines, left=2)
    if words:
        report.text(f"Rule 2 has {'; '.join(words.values())}.")


def _gain(row: Row) -> tuple[str, str, str]:
    low, high = (signed(100 * row[name], 2) for name in ("low", "high"))
    return signed(100 * row["gain"], 2), f"{low} to {high}", f"{row['p']:.3f}"


def _pairs(table: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Baseline and rules first of each size."""
    return [(_baseline(row, table), row) for row in table if row["way"] == "rules first"]


def _baseline(row: Row, rows: Sequence[Row]) -> Row:
    same = ("size", "rules")
    return next(r for r in rows if r["way"] == "baseline" and all(r[name] == row[name] for name in same))


def _counts(row: Row) -> np.ndarray:
    return np.array([row[name] for name in ("predicted", "gold", "both")])
