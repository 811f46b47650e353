"""Report of the study, from rows alone."""

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.report import COLORS, Report, number, percent, signed
from benchmarks.studies.fersini.measuring import FRONTIER, TAUS
from benchmarks.studies.fersini.totals import (
    CHOSEN_WEIGHT,
    Title,
    best_score,
    by_title,
    methods_of,
    rows_of,
    sums,
    values_of,
)
from benchmarks.study import Row

PUBLISHED = (
    ("Cora", "CRF of 350, 150 to test (Peng and McCallum 2004)", 95.37, None, 77.33),
    ("UMass, test part", "CRF (Anzaroot et al. 2014)", None, 94.44, None),
    ("UMass, test part", "CRF, learnt soft rules (Anzaroot et al. 2014)", None, 95.39, None),
)
"""Corpus, method, tokens, F1, whole; per cent."""
PANELS = 4


def report(rows: Sequence[Row], report: Report) -> None:
    """Rules, methods, the curve over tau, frontiers."""
    groups = by_title(rows)
    _rules(groups, report)
    _methods(groups, report)
    _taus(groups, report)
    _frontiers(groups, report)


def _rules(groups: Sequence[tuple[Title, list[Row]]], report: Report) -> None:
    report.heading("Rules by category")
    lines = []
    for title, own in groups:
        some = [row for row in own if "category" in row]
        texts = [
            f"{row['number']}: {number(row['least'], 2)}–{number(row['greatest'], 2)}"
            if row["number"]
            else "0"
            for row in some
        ]
        lines.append((title, *texts, sum(row["number"] for row in some)))
    names = dict.fromkeys(row["category"] for _, own in groups for row in own if "category" in row)
    report.text("Number of rules, and their least and greatest cost of eq. 30 in nats.")
    report.table(("", *names, "all"), lines)


def _methods(groups: Sequence[tuple[Title, list[Row]]], report: Report) -> None:
    report.heading("Methods")
    report.text(
        "Cost and loss are nats a sequence: penalties of the soft rules, and score below the best under the hard rules. Milliseconds are "
        "those of a sequence, and of one tau. Values of tau and weight are those chosen for the two halves."
    )
    columns = "", "method", "tokens %", "span F1 %", "whole %", "cost", "loss", "ms", "proved", "values"
    lines: list[Sequence[Any]] = []
    for title, own in groups:
        best = best_score(own)
        for name, total, values in methods_of(own):
            shares = (percent(share) for share in total.measures)
            loss = (best - total.score) / total.sequences
            lines.append(
                (
                    title,
                    name,
                    *shares,
                    number(total.cost / total.sequences),
                    f"{max(0.0, loss):.2f}",
                    number(total.milliseconds / total.sequences) if total.milliseconds else "–",
                    f"{total.proved} of {total.sequences}" if name != CHOSEN_WEIGHT else "–",
                    ", ".join(f"{value:g}" for value in values) or "–",
                )
            )
    for corpus, name, *figures in PUBLISHED:
        shown = ("–" if f is None else f"{f:.2f}" for f in figures)
        lines.append((f"published: {corpus}", name, *shown, "–", "–", "–", "–", "–"))
    report.table(columns, lines, left=2)
    report.text("\n".join(_sentences(groups)))
    proofs = [
        row
        for _, own in groups
        for row in own
        if row.get("kind") == "method" and row["method"] in ("one phase", *TAUS)
    ]
    report.text(
        f"Of {sum(row['proved'] for row in proofs)} labellings of one and two phases that the engine calls optimal, "
        f"{sum(row['unchecked'] for row in proofs)} have a proof that is too large for the checker."
    )


def _sentences(groups: Sequence[tuple[Title, list[Row]]]) -> Iterator[str]:
    for title, own in groups:
        by_name = {name: total.measures for name, total, _ in methods_of(own)}
        base = by_name["Viterbi"]
        two = max((name for name in TAUS if name in by_name), key=lambda name: by_name[name].accuracy)
        gains = {name: by_name[name] for name in ("one phase", CHOSEN_WEIGHT) if name in by_name} | {
            f"two phases ({two})": by_name[two]
        }
        texts = [
            f"{name} {signed(100 * (m.accuracy - base.accuracy))} / {signed(100 * (m.f1 - base.f1))}"
            for name, m in gains.items()
        ]
        yield f"- {title}: points of tokens / span F1 against Viterbi: {'; '.join(texts)}.".replace(
            "-0.0", "+0.0"
        )


def _taus(groups: Sequence[tuple[Title, list[Row]]], report: Report) -> None:
    report.heading("Accuracy against tau")
    for bound, taus in TAUS.items():
        report.text(
            f"{bound.capitalize()}; right tokens in per cent / span F1, and the number of labellings not proved."
        )
        lines = []
        for title, own in groups:
            totals = [sums(rows_of(own, bound, tau)) for tau in taus]
            shown = [f"{percent(t.measures.accuracy)} / {percent(t.measures.f1)}" for t in totals]
            lines.append((title, *shown, sum(t.sequences - t.proved for t in totals)))
        report.table(("", *(f"{tau:g}" for tau in taus), "not proved"), lines)
    some = groups[:: -(-len(groups) // PANELS)]
    caption = "Right tokens by tau, relative and by odds, beside Viterbi and one phase"
    grid = {"nrows": 2, "ncols": len(some), "squeeze": False, "sharey": "col"}
    with report.picture("tau", caption, (2.7 * len(some) + 0.6, 5.0), **grid) as axes:
        for column, (title, own) in enumerate(some):
            for row, bounds in enumerate((("relative",), ("odds",))):
                one = axes[row][column]
                for bound, color in zip(bounds, (COLORS[row],), strict=True):
                    y = [100 * sums(rows_of(own, bound, tau)).measures.accuracy for tau in TAUS[bound]]
                    one.plot(TAUS[bound], y, "o-", color=color, markersize=4, label=f"two phases, {bound}")
                for name, dash in (("Viterbi", ":"), ("one phase", "--")):
                    level = 100 * sums(r for r in own if r["method"] == name).measures.accuracy
                    one.axhline(level, color="#7F7F7F", linestyle=dash, linewidth=1, label=name)
                one.set_xlabel(f"tau, {bounds[0]}")
                one.invert_xaxis()
                if bounds == ("odds",):
                    one.set_xscale("log")
            axes[0][column].set_title("\n".join(str(title).split(", ", 1)), fontsize=9)
        for row in axes:
            row[0].set_ylabel("right tokens, per cent")
            row[0].legend(frameon=False, fontsize=7)


def _frontiers(groups: Sequence[tuple[Title, list[Row]]], report: Report) -> None:
    report.heading("Pareto frontiers of score and cost of violations")
    columns = (
        "",
        "points a sequence",
        "at most",
        "unsupported",
        "complete",
        "bare Viterbi passes a point",
        "90th percentile",
    )
    lines = []
    for title, own in groups:
        some = [row for row in own if row.get("kind") == "sizes"]
        multiples = sorted(value for row in some for value in row["multiples"])
        total = {
            name: sum(row[name] for row in some)
            for name in ("points", "unsupported", "complete", "sequences")
        }
        lines.append(
            (
                title,
                f"{total['points'] / total['sequences']:.1f}",
                max(row["most"] for row in some),
                f"{total['unsupported']} of {total['points']}",
                f"{total['complete']} of {total['sequences']}",
                number(statistics.median(multiples)),
                number(multiples[int(0.9 * len(multiples))]),
            )
        )
    report.table(columns, lines)
    agreed = [
        title
        for title, own in groups
        if all(r["complete"] == r["sequences"] for r in own if r.get("kind") == "sizes")
    ]
    report.text(
        f"All frontiers of {len(agreed)} of {len(groups)} models are complete; there, two phases have the cost of the frontier at every floor "
        "whose labellings are all proved."
    )
    panels = groups[:: -(-len(groups) // PANELS)]
    with report.picture(
        "frontier",
        "Mean cost of violations against the mean loss of score",
        (2.7 * len(panels) + 0.6, 3.2),
        ncols=len(panels),
        squeeze=False,
    ) as axes:
        for one, (title, own) in zip(axes[0], panels, strict=True):
            best, curves = (
                best_score(own),
                {"one phase, by weight": FRONTIER, **{f"two phases, {b}": b for b in TAUS}},
            )
            for (line, method), mark in zip(curves.items(), ("-", "o", "s", "D"), strict=True):
                totals = [sums(rows_of(own, method, value)) for value in values_of(own, method)]
                x = [(best - t.score) / t.sequences for t in totals]
                one.plot(
                    x, [t.cost / t.sequences for t in totals], mark, markersize=3.5, linewidth=1, label=line
                )
            one.set_title("\n".join(str(title).split(", ", 1)), fontsize=9)
            one.set_xlabel("loss of score, nats")
        axes[0][0].set_ylabel("cost of violations, nats")
        axes[0][0].legend(frameon=False, fontsize=7)
