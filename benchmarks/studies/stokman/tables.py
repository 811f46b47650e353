"""Base performance, and the tables of the thesis beside ours."""

from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.report import Report, number, signed
from benchmarks.studies.stokman import published as P
from benchmarks.studies.stokman.corpora import DUTCH, GENERATED, PERFECT, PREDICTED, RESUMES
from benchmarks.studies.stokman.decoding import BASE, HEAVY, MIXED, NO_FEATURES, ONE_ORGANIZATION, OPTIMUM
from benchmarks.studies.stokman.totals import (
    ALL,
    CHANGES,
    Documents,
    Settings,
    baseline,
    change,
    documents_of,
    f_of,
    restricted,
    values,
)

TABLES = {
    "Table 7: English résumés": (P.TABLE_7, GENERATED, PREDICTED, BASE),
    "Table 8: a second language": (P.TABLE_8, DUTCH, PREDICTED, BASE),
    "Table 9: perfect items": (P.TABLE_9, GENERATED, PERFECT, BASE),
    "Table 12: a hard constraint and heavy features": (P.TABLE_12, GENERATED, PREDICTED, HEAVY),
    "Table 13: also at most one organization": (P.TABLE_13, GENERATED, PREDICTED, ONE_ORGANIZATION),
    "Table 13 on public résumés": (P.TABLE_13, RESUMES, PERFECT, ONE_ORGANIZATION),
    "Table 14: no features": (P.TABLE_14, GENERATED, PREDICTED, NO_FEATURES),
}
FIELDS = {
    GENERATED: {tag: tag for tag in P.TAGS},
    RESUMES: {
        "job title": "Designation",
        "date": "Years_of_Experience",
        "organization": "Companies_worked_at",
    },
    DUTCH: {"description": "TEXT_BLOCK", "job title": "SECTION_TITLE"},
}
"""The fields of each corpus that stand for the tags of the thesis."""


def base(settings: Settings, report: Report) -> None:
    report.heading("Base performance")
    report.text(
        "The thesis does not publish it. F in per cent of Viterbi's labellings, and how many of these break the "
        "rules of `resume`."
    )
    rows = []
    for corpus in (GENERATED, RESUMES, DUTCH):
        for segmentation in (PREDICTED, PERFECT):
            one = baseline(settings, corpus, segmentation)
            if one:
                best = documents_of(settings, corpus, segmentation, BASE, OPTIMUM)
                broken = sum(row["broken"] for row in best.values())
                measures = (f"{f_of(one, ALL, unit):.1f}" for unit in ("characters", "lines", "spans"))
                rows.append((corpus, segmentation, len(values(one, "scores")), *measures, broken))
    report.table(
        ("corpus", "segmentation", "items", "characters F", "lines F", "spans F", "items that break a rule"),
        rows,
        2,
    )


def tables(settings: Settings, report: Report) -> None:
    bars: dict[str, tuple[float, float, float | None]] = {}
    for title, (figures, corpus, segmentation, rules) in TABLES.items():
        base = baseline(settings, corpus, segmentation)
        best, mixed = (
            documents_of(settings, corpus, segmentation, rules, method) for method in (OPTIMUM, MIXED)
        )
        if not base or not best:
            continue
        report.heading(title)
        report.text(
            f"Corpus: {corpus}, {segmentation} segmentation, rules `{rules}`. Changes against Viterbi in points, characters. "
            f"The optimum is of {len(values(best, 'scores'))} items"
            + (
                f", the mixed strategy as published of the first {len(values(mixed, 'scores'))}, beside the optimum of the same."
                if mixed
                else "."
            )
        )
        rows = []
        for tag in P.TAGS:
            field = FIELDS[corpus].get(tag)
            ours = _changes(best, base, mixed, field) if field else ["–"] * 6
            rows.append((tag, *(f"{value:+g}".replace("-", "−") for value in figures[tag]), *ours))
            if tag == "description" and field:
                other = change(mixed, base, field).f if mixed else None
                bars[title.partition(":")[0]] = figures[tag][2], change(best, base, field).f, other
        report.table(
            (
                "tag",
                *(f"published {name}" for name in CHANGES),
                *(f"optimum {name}" for name in CHANGES),
                "95 % of F",
                "mixed F",
                "optimum F, same items",
            ),
            rows,
        )
    _picture(bars, report)


def _changes(best: Documents, base: Documents, mixed: Documents, field: str) -> Iterator[str]:
    own = change(best, base, field)
    yield from (signed(value, 2) for value in own[:3])
    yield f"{signed(own.low, 2)} to {signed(own.high, 2)}"
    if mixed:
        yield signed(change(mixed, base, field).f, 2)
        yield signed(change(restricted(best, mixed), base, field).f, 2)
    else:
        yield from ("–", "–")


def _picture(bars: Mapping[str, tuple[float, float, float | None]], report: Report) -> None:
    if not bars:
        return
    with report.picture("descriptions", "Change of F for descriptions, published and here") as axes:
        places = np.arange(len(bars))
        for n, name in enumerate(("published", "optimum", "mixed strategy as published")):
            heights = [each[n] or 0.0 for each in bars.values()]
            axes.bar(places + 0.27 * (n - 1), heights, 0.25, label=name)
        axes.axhline(0, color="black", linewidth=0.6)
        axes.set_yscale("symlog", linthresh=1)
        axes.yaxis.set_major_formatter(lambda value, _: number(value))
        axes.set_yticks([-10, -5, -2, -1, 0, 1, 2, 5])
        axes.set_xticks(places, list(bars))
        axes.set_ylabel("change of F for descriptions, points (logarithmic beyond 1)")
        axes.legend(frameon=False)
