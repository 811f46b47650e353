"""The report: the thesis's tables beside ours, how far its searches are from the optimum, and what it left untried."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pandas import DataFrame

from benchmarks.report import Report, fixed, number, percent, signed
from benchmarks.studies.stokman import published as P
from benchmarks.studies.stokman.corpora import DUTCH, GENERATED, PERFECT, PREDICTED, RESUMES
from benchmarks.studies.stokman.decoding import (
    BASE,
    HARD,
    HEAVY,
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
from benchmarks.studies.stokman.learning import LEARNING, LIKELIHOOD, RATES, SMALL, START
from benchmarks.studies.stokman.totals import (
    ALL,
    Change,
    Documents,
    Settings,
    by_setting,
    change,
    f_of,
    of,
    reached,
    restricted,
    values,
)
from benchmarks.study import Row
from ilpinfer.learning import PenaltyLearner

TABLES = {
    "Table 7: English résumés": (P.TABLE_7, GENERATED, PREDICTED, BASE),
    "Table 8: a second language": (P.TABLE_8, DUTCH, PREDICTED, BASE),
    "Table 9: perfect items": (P.TABLE_9, GENERATED, PERFECT, BASE),
    "Table 12: a hard constraint and heavy features": (P.TABLE_12, GENERATED, PREDICTED, HEAVY),
    "Table 13: also at most one organization": (P.TABLE_13, GENERATED, PREDICTED, ONE_ORGANIZATION),
    "Table 13 on public résumés": (P.TABLE_13, RESUMES, PERFECT, ONE_ORGANIZATION),
    "Table 14: no features": (P.TABLE_14, GENERATED, PREDICTED, NO_FEATURES),
}
STRATEGIES = {
    "Table 10: mixed strategy against the evolutionary algorithm alone": (P.TABLE_10, "evolutionary"),
    "Table 11: mixed strategy against discrepancy search alone": (P.TABLE_11, "discrepancy"),
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
MAIN = (GENERATED, PREDICTED)
UNITS = ("characters", "lines", "spans")


def report(rows: Sequence[Row], report: Report) -> None:
    settings = by_setting(row for row in rows if row["part"] != LEARNING)
    if settings:
        _base(settings, report)
        _tables(settings, report)
        _strategies(settings, report)
        _searches(settings, report)
        _other_rules(settings, report)
    _learning([row for row in rows if row["part"] == LEARNING], settings, report)
    for part, write in ((ESTIMATES, _estimates), (CUTOFFS, _cutoffs)):
        if some := [row for row in rows if row["part"] == part]:
            write(DataFrame(some), report)


def _points(one: Change) -> list[str]:
    return [signed(value, 2) for value in one[:3]]


def _interval(one: Change) -> str:
    return f"{signed(one.low, 2)} to {signed(one.high, 2)}"


def _published(points: Sequence[float]) -> list[str]:
    return [f"{value:+g}".replace("-", "−") for value in points]


def _base(settings: Settings, report: Report) -> None:
    report.heading("Base performance")
    report.text(
        "The thesis does not publish it. F in per cent of Viterbi's labellings, and how many of these break the "
        "rules of `resume`."
    )
    rows = []
    for key in ((c, s) for c in (GENERATED, RESUMES, DUTCH) for s in (PREDICTED, PERFECT)):
        if one := of(settings, *key):
            broken = sum(row["broken"] for row in of(settings, *key, BASE, OPTIMUM).values())
            shares = (fixed(f_of(one, ALL, unit)) for unit in UNITS)
            rows.append((*key, len(values(one, "scores")), *shares, broken))
    columns = (*(f"{unit} F" for unit in UNITS), "items that break a rule")
    report.table(("corpus", "segmentation", "items", *columns), rows, 2)


def _tables(settings: Settings, report: Report) -> None:
    bars: dict[str, tuple[float, float, float | None]] = {}
    for title, (figures, corpus, segmentation, rules) in TABLES.items():
        base = of(settings, corpus, segmentation)
        best, mixed = (of(settings, corpus, segmentation, rules, method) for method in (OPTIMUM, MIXED))
        if not base or not best:
            continue
        report.heading(title)
        same = f", the mixed strategy as published of the first {len(values(mixed, 'scores'))}, beside the optimum of the same"
        report.text(
            f"Corpus: {corpus}, {segmentation} segmentation, rules `{rules}`. Changes against Viterbi in points, characters. "
            f"The optimum is of {len(values(best, 'scores'))} items{same if mixed else ''}."
        )
        rows = []
        for tag in P.TAGS:
            ours = ["–"] * 6
            if field := FIELDS[corpus].get(tag):
                own, mixed_f = change(best, base, field), None
                ours = [*_points(own), _interval(own), "–", "–"]
                if mixed:
                    mixed_f = change(mixed, base, field).f
                    ours[4:] = (
                        signed(f, 2) for f in (mixed_f, change(restricted(best, mixed), base, field).f)
                    )
                if tag == "description":
                    bars[title.partition(":")[0]] = figures[tag][2], own.f, mixed_f
            rows.append((tag, *_published(figures[tag]), *ours))
        columns = (f"{kind} {name}" for kind in ("published", "optimum") for name in "PRF")
        report.table(("tag", *columns, "95 % of F", "mixed F", "optimum F, same items"), rows)
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


def _strategies(settings: Settings, report: Report) -> None:
    kinds = {"published": "here, as published", "strong": "here, strong"}
    for title, (figures, other) in STRATEGIES.items():
        pairs = {
            kind: [of(settings, *MAIN, BASE, f"{name}, {kind}") for name in ("mixed", other)]
            for kind in kinds
        }
        if not any(map(all, pairs.values())):
            continue
        report.heading(title)
        report.text(
            "Differences in points, characters; searches as published, and as strong as this library has them."
        )
        columns = (f"{kind} {name}" for kind in ("published", *kinds.values()) for name in "PRF")

        def line(tag: str, pairs: dict[str, list[Documents]] = pairs) -> list[str]:
            both = (_points(change(a, b, tag)) if a and b else ["–"] * 3 for a, b in pairs.values())
            return [cell for cells in both for cell in cells]

        report.table(("tag", *columns), ((tag, *_published(figures[tag]), *line(tag)) for tag in P.TAGS))


def _searches(settings: Settings, report: Report) -> None:
    base, lines = of(settings, *MAIN), []

    def line(rules: str, method: str, limit: str, one: Documents, best: Documents) -> tuple[Any, ...]:
        items, unsolved, optimal, below = reached(one, best)
        gain, spent = signed(change(one, base).f, 2), number(float(np.mean(values(one, "decoding"))))
        return rules, method, limit, items, unsolved, optimal, number(below), gain, spent

    for rules in RULES:
        best = of(settings, *MAIN, rules, OPTIMUM)
        some = {key: one for key, one in settings.items() if key[:3] == (*MAIN, rules)}
        some = {key: one for key, one in some.items() if key.method not in (NONE, OPTIMUM)}
        for key in sorted(some, key=lambda key: (list(METHODS).index(key.method), key.limit)):
            lines.append(line(rules, key.method, number(1000 * key.limit), some[key], best))
        if best and some:
            same = restricted(best, next(iter(some.values())))
            lines.append(line(rules, OPTIMUM, "–", same, same))
    if not lines:
        return
    report.heading("Searches and the optimum")
    tagging = values(of(settings, *MAIN, BASE, OPTIMUM), "tagging")
    report.text(
        "Generated items, predicted segmentation. As published, the floor of discrepancy search is on what is lost to the best "
        "choices, as the text of the thesis has it; “floor on scores” is its pseudocode, which presumes that the best score of "
        "each token is 0. `ms an item` is the whole call, formulation included; "
        f"tagging takes {number(float(np.mean(tagging)) if tagging else 0.0)} ms an item more. Published: {P.UNSOLVED} of {P.ITEMS} items "
        f"without a labelling under `{HARD}`."
    )
    columns = ("rules", "method", "limit, ms", "items", "without labelling", "at the optimum")
    report.table((*columns, "nats below, mean", "change of F, all tags", "ms an item"), lines, 2)
    exact = [documents for key, documents in settings.items() if key.method == OPTIMUM]
    proved = sum(row["optimal"] for one in exact for row in one.values())
    report.text(
        f"The engine proves {proved} of {sum(len(values(one, 'scores')) for one in exact)} optima of this part; the slowest takes "
        f"{number(max(value for one in exact for value in values(one, 'decoding')))} ms."
    )


def _other_rules(settings: Settings, report: Report) -> None:
    report.heading("All rule sets at the optimum")
    report.text(
        "Changes of F against Viterbi in points, all tags together, and the 95 % interval of that of characters. The thesis "
        f"mentions {', '.join(f'`{name}`' for name in OTHERS)} without figures, and `{HARD}` for its unsolved items."
    )
    rows = []
    for key, documents in settings.items():
        base = of(settings, key.corpus, key.segmentation)
        if key.method == OPTIMUM and base:
            own, *others = (change(documents, base, ALL, unit) for unit in UNITS)
            rows.append((*key[:3], signed(own.f, 2), _interval(own), *(signed(one.f, 2) for one in others)))
    report.table(("corpus", "segmentation", "rules", "characters", "95 %", "lines", "spans"), rows, 3)


def _learning(rows: Sequence[Row], settings: Settings, report: Report) -> None:
    weights = {row["algorithm"]: row for row in rows if "weights" in row and row["algorithm"] != LIKELIHOOD}
    if not weights:
        return
    first = next(iter(weights.values()))
    report.heading("Learnt weights (section 7.1)")
    report.text(
        f"Penalties and feature weights of `{START}` in nats, learnt from {first['sequences']} training items that are scored by "
        "models of other folds. The perceptron moves towards gold, the conservative one towards the best "
        "labelling within reach, as the thesis suggests; each starts at 0 or at twice the penalties given. Changes of F against Viterbi in points, "
        "characters, at the optimum, on the generated items with predicted segmentation."
    )
    report.table(
        ("rule or feature", "in gold, an item", "given", *weights),
        (
            (
                name,
                fixed(first["counts"][name]),
                number(given),
                *(number(row["weights"][name]) for row in weights.values()),
            )
            for name, given in first["given"].items()
        ),
    )
    largest = max(first["counts"], key=first["counts"].__getitem__)
    report.text(
        f"The perceptron's step is {PenaltyLearner.rate:g} nats times a difference of raw counts. “{largest}” counts "
        f"{number(first['counts'][largest])} in gold labels, so that a single step can move its weight by tens of nats, beyond any use: its mean works "
        "like the heavy features of Table 12, and nearly everything becomes a description. "
        f"With steps of {RATES[SMALL]:g} it stays small. All weights take the margin's step, which is divided by the squared difference of counts; they "
        "are learnt on held-out scores, or on the model's own."
    )
    if not (base := of(settings, *MAIN)):
        return
    learnt = {"given": of(settings, *MAIN, START, OPTIMUM)}
    learnt |= {key.rules: documents for key, documents in by_setting(rows).items()}
    table = []
    for name, documents in learnt.items():
        each = [change(documents, base, tag) for tag in (*P.TAGS, ALL)]
        spans = signed(change(documents, base, ALL, "spans").f, 2)
        table.append((name, *(signed(one.f, 2) for one in each), _interval(each[-1]), spans))
    report.table(("weights", *P.TAGS, ALL, "95 % of all", "spans, all"), table)


LOSSES = ("labelling differs, %", "mean loss, nats", "largest")


def losses(some: DataFrame) -> tuple[str, str, str]:
    """Share that differs, mean and largest loss of those with a labelling."""
    nats, differs = some.loss.astype(float), some.differs[some.loss.notna()].astype(float)
    return percent(differs.mean(), 0), fixed(nats.mean(), 3), fixed(nats.max(), 2)


def _estimates(frame: DataFrame, report: Report) -> None:
    report.heading("The estimate of a second-order model (eq. 45-48)")
    by = {"reading": "reading", "around the best of": "around", "rules": "rules"}
    report.text(
        f"{frame.groupby(list(by.values()), sort=False).size().iloc[0]} references of Cora against the exact second-order optimum. "
        "`printed` is eq. 48 as it stands, a score by token; `first-order` keeps the step to the token before."
    )
    report.pivot(frame, by, {LOSSES: losses})


def _cutoffs(frame: DataFrame, report: Report) -> None:
    report.heading("The cutoff of improbable labels (sections 3.1.2 and 6)")
    report.text(
        "References of Cora under `citations`. Labels and steps whose posterior probability is below δ are forbidden, as the tagger of the thesis "
        "did; losses are those under soft rules."
    )
    report.pivot(
        frame.assign(delta=[f"{delta:g}" for delta in frame.delta]),
        {"training references": "size", "δ": "delta"},
        {
            "no labelling, %": lambda x: percent(x.loss.isna().mean(), 0),
            "no labelling, rules hard, %": lambda x: percent(x["none, hard"].mean(), 0),
            LOSSES: losses,
        },
    )
