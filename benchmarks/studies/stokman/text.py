"""The report: the thesis's tables beside ours, how far its searches are from the optimum, and what it left untried."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.report import Report, number, percent, signed
from benchmarks.studies.stokman import published as P
from benchmarks.studies.stokman.corpora import DUTCH, GENERATED, PERFECT, PREDICTED, RESUMES
from benchmarks.studies.stokman.decoding import (
    BASE,
    HARD,
    HEAVY,
    LIMIT,
    METHODS,
    MIXED,
    NO_FEATURES,
    NONE,
    ONE_ORGANIZATION,
    OPTIMUM,
    OTHERS,
    RULES,
)
from benchmarks.studies.stokman.estimates import CUTOFFS, ESTIMATES
from benchmarks.studies.stokman.learning import LEARNING, START
from benchmarks.studies.stokman.totals import (
    ALL,
    Documents,
    Setting,
    by_setting,
    change,
    f_of,
    reached,
    restricted,
    values,
)
from benchmarks.study import Row

Settings = Mapping[Setting, Documents]
TABLES = {
    "Table 7: English résumés": (P.TABLE_7, GENERATED, PREDICTED, BASE),
    "Table 8: a second language": (P.TABLE_8, DUTCH, PREDICTED, BASE),
    "Table 9: perfect items": (P.TABLE_9, GENERATED, PERFECT, BASE),
    "Table 12: a hard constraint and heavy features": (P.TABLE_12, GENERATED, PREDICTED, HEAVY),
    "Table 13: also at most one organization": (P.TABLE_13, GENERATED, PREDICTED, ONE_ORGANIZATION),
    "Table 13 on public résumés": (P.TABLE_13, RESUMES, PERFECT, ONE_ORGANIZATION),
    "Table 14: no features": (P.TABLE_14, GENERATED, PREDICTED, NO_FEATURES),
}
SHORT = "mixed", "evolutionary", "discrepancy"
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
CHANGES = ("P", "R", "F")


def report(rows: Sequence[Row], report: Report) -> None:
    """Everything, as far as there are rows."""
    settings = by_setting(row for row in rows if row["part"] != LEARNING)
    if settings:
        _base(settings, report)
        _tables(settings, report)
        _strategies(settings, report)
        _searches(settings, report)
        _other_rules(settings, report)
    _learning([row for row in rows if row["part"] == LEARNING], settings, report)
    _estimates([row for row in rows if row["part"] == ESTIMATES], report)
    _cutoffs([row for row in rows if row["part"] == CUTOFFS], report)


def _of(
    settings: Settings, corpus: str, segmentation: str, rules: str, method: str, limit: float = LIMIT
) -> Documents:
    return settings.get(Setting(corpus, segmentation, rules, method, limit), {})


def _baseline(settings: Settings, corpus: str, segmentation: str) -> Documents:
    return _of(settings, corpus, segmentation, "none", NONE)


def _base(settings: Settings, report: Report) -> None:
    report.heading("Base performance")
    report.text(
        "The thesis does not publish it. F in per cent of Viterbi's labellings, and how many of these break the "
        "rules of `resume`."
    )
    rows = []
    for corpus in (GENERATED, RESUMES, DUTCH):
        for segmentation in (PREDICTED, PERFECT):
            one = _baseline(settings, corpus, segmentation)
            if one:
                best = _of(settings, corpus, segmentation, BASE, OPTIMUM)
                broken = sum(row["broken"] for row in best.values())
                measures = (f"{f_of(one, ALL, unit):.1f}" for unit in ("characters", "lines", "spans"))
                rows.append((corpus, segmentation, len(values(one, "scores")), *measures, broken))
    report.table(
        ("corpus", "segmentation", "items", "characters F", "lines F", "spans F", "items that break a rule"),
        rows,
        2,
    )


def _tables(settings: Settings, report: Report) -> None:
    bars: dict[str, tuple[float, float, float | None]] = {}
    for title, (figures, corpus, segmentation, rules) in TABLES.items():
        base = _baseline(settings, corpus, segmentation)
        best, mixed = (_of(settings, corpus, segmentation, rules, method) for method in (OPTIMUM, MIXED))
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
        axes.set_xticks(places, list(bars))
        axes.set_ylabel("change of F for descriptions, points")
        axes.legend(frameon=False)


def _strategies(settings: Settings, report: Report) -> None:
    for title, figures, other in (
        ("Table 10: mixed strategy against the evolutionary algorithm alone", P.TABLE_10, "evolutionary"),
        ("Table 11: mixed strategy against discrepancy search alone", P.TABLE_11, "discrepancy"),
    ):
        rows = []
        for tag in P.TAGS:
            row = [f"{value:+g}".replace("-", "−") for value in figures[tag]]
            for variant in ("published", "strong"):
                one, two = (
                    _of(settings, GENERATED, PREDICTED, BASE, f"{name}, {variant}")
                    for name in ("mixed", other)
                )
                row += [signed(value, 2) for value in change(one, two, tag)[:3]] if one and two else ["–"] * 3
            rows.append((tag, *row))
        if any(cell != "–" for row in rows for cell in row[4:]):
            report.heading(title)
            report.text(
                "Differences in points, characters; searches as published, and as strong as this library has them."
            )
            kinds = ("published", "here, as published", "here, strong")
            report.table(("tag", *(f"{kind} {name}" for kind in kinds for name in CHANGES)), rows)


def _searches(settings: Settings, report: Report) -> None:
    report.heading("Searches and the optimum")
    lines = []
    for rules in RULES:
        best = _of(settings, GENERATED, PREDICTED, rules, OPTIMUM)
        base = _baseline(settings, GENERATED, PREDICTED)
        some = {
            key: documents
            for key, documents in settings.items()
            if key[:3] == (GENERATED, PREDICTED, rules) and key.method not in (NONE, OPTIMUM)
        }
        for key in sorted(some, key=lambda key: (list(METHODS).index(key.method), key.limit)):
            one = some[key]
            own = reached(one, best)
            gain = change(one, base, ALL).f
            spent = np.mean(values(one, "decoding"))
            lines.append(
                (
                    *(rules, key.method, number(1000 * key.limit), own.items, own.unsolved),
                    *(own.optimal, number(own.below), signed(gain, 2), number(spent)),
                )
            )
        if best and some:
            same = restricted(best, next(iter(some.values())))
            spent = np.mean(values(same, "decoding"))
            gain = change(same, base, ALL).f
            own = reached(same, same)
            lines.append(
                (
                    rules,
                    OPTIMUM,
                    "–",
                    own.items,
                    own.unsolved,
                    own.optimal,
                    number(0.0),
                    signed(gain, 2),
                    number(spent),
                )
            )
    if not lines:
        return
    report.text(
        "Generated items, predicted segmentation. As published, the floor of discrepancy search is on what is lost to the best "
        "choices, as the text of the thesis has it; “floor on scores” is its pseudocode, which presumes that the best score of "
        "each token is 0. `ms an item` is the whole call, formulation included; "
        f"tagging takes {number(_mean(settings, 'tagging'))} ms an item more."
    )
    report.table(
        (
            *("rules", "method", "limit, ms", "items", "without labelling", "at the optimum"),
            *("nats below, mean", "change of F, all tags", "ms an item"),
        ),
        lines,
        2,
    )
    _sentences(settings, report)


def _mean(settings: Settings, name: str) -> float:
    chosen = _of(settings, GENERATED, PREDICTED, BASE, OPTIMUM)
    return float(np.mean(values(chosen, name))) if chosen else 0.0


def _sentences(settings: Settings, report: Report) -> None:
    exact = [documents for key, documents in settings.items() if key.method == OPTIMUM]
    items = sum(len(values(one, "scores")) for one in exact)
    proved = sum(row["optimal"] for one in exact for row in one.values())
    slowest = max(value for one in exact for value in values(one, "decoding"))
    texts = [
        f"The engine proves {proved} of {items} optima of this part; the slowest takes {number(slowest)} ms."
    ]
    best, mixed = (_of(settings, GENERATED, PREDICTED, BASE, method) for method in (OPTIMUM, MIXED))
    if mixed:
        own = reached(mixed, best)
        texts.append(
            f"Under `{BASE}`, the mixed strategy as published reaches the optimum of {own.optimal} of {own.items} items "
            f"in {LIMIT:g} s each; the engine needs {number(_mean(settings, 'decoding'))} ms an item."
        )
    for rules in (HARD, HEAVY):
        mixed, best = (_of(settings, GENERATED, PREDICTED, rules, method) for method in (MIXED, OPTIMUM))
        if mixed:
            own = reached(mixed, best)
            texts.append(
                f"Under `{rules}`, the mixed strategy leaves {own.unsolved} of {own.items} items without a labelling "
                f"(published: {P.UNSOLVED if rules == HARD else 0} of {P.ITEMS}); the engine labels "
                f"{len(values(best, 'scores')) - values(best, 'scores').count(None)} of {len(values(best, 'scores'))}."
            )
    if mixed:
        base = _baseline(settings, GENERATED, PREDICTED)
        exact_f, search_f = (change(one, base, ALL).f for one in (restricted(best, mixed), mixed))
        texts.append(
            f"The heavy features of `{HEAVY}` change F of all tags by {signed(exact_f)} points at the optimum and by "
            f"{signed(search_f)} with the mixed strategy, on the same items: what a search misses of this optimum "
            "is to its advantage."
        )
    report.text("\n".join(f"- {text}" for text in texts))


def _other_rules(settings: Settings, report: Report) -> None:
    report.heading("All rule sets at the optimum")
    report.text(
        "Changes of F against Viterbi in points, all tags together, and the 95 % interval of that of characters. The thesis "
        f"mentions {', '.join(f'`{name}`' for name in OTHERS)} without figures, and `{HARD}` for its unsolved items."
    )
    rows = []
    for key, documents in settings.items():
        base = _baseline(settings, key.corpus, key.segmentation)
        if key.method == OPTIMUM and base:
            own = change(documents, base, ALL)
            gains = (signed(change(documents, base, ALL, unit).f, 2) for unit in ("lines", "spans"))
            interval = f"{signed(own.low, 2)} to {signed(own.high, 2)}"
            rows.append((key.corpus, key.segmentation, key.rules, signed(own.f, 2), interval, *gains))
    report.table(("corpus", "segmentation", "rules", "characters", "95 %", "lines", "spans"), rows, 3)


def _learning(rows: Sequence[Row], settings: Settings, report: Report) -> None:
    weights = {row["algorithm"]: row for row in rows if "weights" in row}
    if not weights:
        return
    report.heading("Learnt weights (section 7.1)")
    first = next(iter(weights.values()))
    report.text(
        f"Penalties and feature weights of `{START}` in nats, learnt from {first['sequences']} training items that are scored by "
        "models of other folds. The perceptron moves towards gold, the conservative one towards the best "
        "labelling within reach, as the thesis suggests; each starts at 0 or at the weights given. Changes of F against Viterbi in points, "
        "characters, at the optimum, on the generated items with predicted segmentation."
    )
    names = list(first["given"])
    report.table(
        ("rule or feature", "given", *weights),
        (
            (name, number(first["given"][name]), *(number(row["weights"][name]) for row in weights.values()))
            for name in names
        ),
    )
    base = _baseline(settings, GENERATED, PREDICTED)
    if not base:
        return
    learnt = {key.rules: documents for key, documents in by_setting(rows).items()}
    learnt = {"given": _of(settings, GENERATED, PREDICTED, START, OPTIMUM), **learnt}
    table = []
    for name, documents in learnt.items():
        each = [change(documents, base, tag) for tag in (*P.TAGS, ALL)]
        interval = f"{signed(each[-1].low, 2)} to {signed(each[-1].high, 2)}"
        spans = signed(change(documents, base, ALL, "spans").f, 2)
        table.append((name, *(signed(one.f, 2) for one in each), interval, spans))
    report.table(("weights", *P.TAGS, ALL, "95 % of all", "spans, all"), table)
    gains = ", ".join(
        f"{signed(change(documents, base, ALL).f)} ({name})"
        for name, documents in learnt.items()
        if documents
    )
    report.text(f"F of all tags changes by {gains} points.")


def _losses(rows: Sequence[Row]) -> tuple[str, str, str]:
    """Share that differs in per cent, mean and largest loss in nats, of those with a labelling."""
    some = [row for row in rows if row["loss"] is not None]
    losses = [row["loss"] for row in some]
    return (
        percent(float(np.mean([row["differs"] for row in some])), 0),
        f"{np.mean(losses):.3f}",
        f"{max(losses):.2f}",
    )


def _estimates(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("The estimate of a second-order model (eq. 45-48)")
    keys = list(dict.fromkeys((row["reading"], row["around"], row["rules"]) for row in rows))
    groups = {
        key: [row for row in rows if (row["reading"], row["around"], row["rules"]) == key] for key in keys
    }
    report.text(
        f"{len(groups[keys[0]])} references of Cora against the exact second-order optimum. `printed` is eq. 48 as it stands, a score by token; "
        "`first-order` keeps the step to the token before."
    )
    report.table(
        ("reading", "around the best of", "rules", "labelling differs, %", "mean loss, nats", "largest"),
        ((*key, *_losses(some)) for key, some in groups.items()),
        3,
    )


def _cutoffs(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("The cutoff of improbable labels (sections 3.1.2 and 6)")
    keys = list(dict.fromkeys((row["size"], row["delta"]) for row in rows))
    groups = {key: [row for row in rows if (row["size"], row["delta"]) == key] for key in keys}
    report.text(
        "References of Cora under `citations`. Labels and steps whose posterior probability is below δ are forbidden, as the tagger of the thesis "
        "did; losses are those under soft rules."
    )
    report.table(
        (
            *("training references", "δ", "no labelling, %", "no labelling, rules hard, %"),
            *("labelling differs, %", "mean loss, nats", "largest"),
        ),
        (
            (
                *(size, f"{delta:g}", percent(float(np.mean([row["loss"] is None for row in some])), 0)),
                *(percent(float(np.mean([row["none, hard"] for row in some])), 0), *_losses(some)),
            )
            for (size, delta), some in groups.items()
        ),
        2,
    )
