"""Tables 10 and 11, how far the searches are from the optimum, and other rules."""

import numpy as np

from benchmarks.report import Report, number, signed
from benchmarks.studies.stokman import published as P
from benchmarks.studies.stokman.corpora import GENERATED, PREDICTED
from benchmarks.studies.stokman.decoding import (
    BASE,
    HARD,
    HEAVY,
    LIMIT,
    METHODS,
    MIXED,
    NONE,
    OPTIMUM,
    OTHERS,
    RULES,
)
from benchmarks.studies.stokman.totals import (
    ALL,
    CHANGES,
    Settings,
    baseline,
    change,
    documents_of,
    reached,
    restricted,
    values,
)

SHORT = "mixed", "evolutionary", "discrepancy"


def strategies(settings: Settings, report: Report) -> None:
    for title, figures, other in (
        ("Table 10: mixed strategy against the evolutionary algorithm alone", P.TABLE_10, "evolutionary"),
        ("Table 11: mixed strategy against discrepancy search alone", P.TABLE_11, "discrepancy"),
    ):
        rows = []
        for tag in P.TAGS:
            row = [f"{value:+g}".replace("-", "−") for value in figures[tag]]
            for variant in ("published", "strong"):
                one, two = (
                    documents_of(settings, GENERATED, PREDICTED, BASE, f"{name}, {variant}")
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


def searches(settings: Settings, report: Report) -> None:
    report.heading("Searches and the optimum")
    lines = []
    for rules in RULES:
        best = documents_of(settings, GENERATED, PREDICTED, rules, OPTIMUM)
        base = baseline(settings, GENERATED, PREDICTED)
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
    chosen = documents_of(settings, GENERATED, PREDICTED, BASE, OPTIMUM)
    return float(np.mean(values(chosen, name))) if chosen else 0.0


def _sentences(settings: Settings, report: Report) -> None:
    exact = [documents for key, documents in settings.items() if key.method == OPTIMUM]
    items = sum(len(values(one, "scores")) for one in exact)
    proved = sum(row["optimal"] for one in exact for row in one.values())
    slowest = max(value for one in exact for value in values(one, "decoding"))
    texts = [
        f"The engine proves {proved} of {items} optima of this part; the slowest takes {number(slowest)} ms."
    ]
    best, mixed = (documents_of(settings, GENERATED, PREDICTED, BASE, method) for method in (OPTIMUM, MIXED))
    if mixed:
        own = reached(mixed, best)
        texts.append(
            f"Under `{BASE}`, the mixed strategy as published reaches the optimum of {own.optimal} of {own.items} items "
            f"in {LIMIT:g} s each; the engine needs {number(_mean(settings, 'decoding'))} ms an item."
        )
    for rules in (HARD, HEAVY):
        mixed, best = (
            documents_of(settings, GENERATED, PREDICTED, rules, method) for method in (MIXED, OPTIMUM)
        )
        if mixed:
            own = reached(mixed, best)
            texts.append(
                f"Under `{rules}`, the mixed strategy leaves {own.unsolved} of {own.items} items without a labelling "
                f"(published: {P.UNSOLVED if rules == HARD else 0} of {P.ITEMS}); the engine labels "
                f"{len(values(best, 'scores')) - values(best, 'scores').count(None)} of {len(values(best, 'scores'))}."
            )
    if mixed:
        base = baseline(settings, GENERATED, PREDICTED)
        exact_f, search_f = (change(one, base, ALL).f for one in (restricted(best, mixed), mixed))
        texts.append(
            f"The heavy features of `{HEAVY}` change F of all tags by {signed(exact_f)} points at the optimum and by "
            f"{signed(search_f)} with the mixed strategy, on the same items: what a search misses of this optimum "
            "is to its advantage."
        )
    report.text("\n".join(f"- {text}" for text in texts))


def other_rules(settings: Settings, report: Report) -> None:
    report.heading("All rule sets at the optimum")
    report.text(
        "Changes of F against Viterbi in points, all tags together, and the 95 % interval of that of characters. The thesis "
        f"mentions {', '.join(f'`{name}`' for name in OTHERS)} without figures, and `{HARD}` for its unsolved items."
    )
    rows = []
    for key, documents in settings.items():
        base = baseline(settings, key.corpus, key.segmentation)
        if key.method == OPTIMUM and base:
            own = change(documents, base, ALL)
            gains = (signed(change(documents, base, ALL, unit).f, 2) for unit in ("lines", "spans"))
            interval = f"{signed(own.low, 2)} to {signed(own.high, 2)}"
            rows.append((key.corpus, key.segmentation, key.rules, signed(own.f, 2), interval, *gains))
    report.table(("corpus", "segmentation", "rules", "characters", "95 %", "lines", "spans"), rows, 3)
