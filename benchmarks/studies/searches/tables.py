"""The report: sentences and tables from rows."""

from collections.abc import Mapping, Sequence

from benchmarks.report import Report, number, percent, signed
from benchmarks.studies.searches import details, rates
from benchmarks.studies.searches.contenders import EXACT, OPTIMUM
from benchmarks.studies.searches.outcomes import (
    CAP,
    Line,
    Outcome,
    accuracy,
    errors,
    grouped,
    line,
    longest,
    losses,
    optima,
    outcomes_of,
    profiles,
)
from benchmarks.studies.searches.pictures import draw
from benchmarks.study import Row

SETS = ("cora", "umass", "resume", "generator")
"""Parts on which every contender runs at every limit."""
RATIOS = (1, 2, 10, 100)


def write(rows: Sequence[Row], report: Report) -> None:
    """Everything that there are rows for."""
    parts = grouped(rows, "part")
    main = [row for part in SETS for row in parts.get(part, ())]
    if any(row["method"] != OPTIMUM for row in main):
        _summary(main, report)
        for family, own in grouped(main, "family").items():
            _family(family, own, report)
        report.heading("Gaps over time and by limit")
        draw([row for row in main if row["method"] != OPTIMUM], report)
        _profiles(longest(main), report)
        details.lengths(main, report)
        details.claims(main, report)
        details.hybrids(main, report)
    if "sizes" in parts:
        details.sizes(parts["sizes"], report)
    for part, title in (("rules", "By number of rules"), ("hardness", "By hardness of penalties")):
        if part in parts:
            details.varied(title, parts[part], report)
    if "rates" in parts:
        rates.show(parts["rates"], report)


def _summary(rows: Sequence[Row], report: Report) -> None:
    """Of all sequences on which every contender runs."""
    known = [row for row in rows if row["method"] == OPTIMUM]
    closed = [row for row in known if row["status"] == "optimal"]
    report.heading("In short")
    ends = ", ".join(
        f"{len(own)} {status}" for status, own in grouped(known, "status").items() if status != "optimal"
    )
    report.text(
        f"{len(closed)} of {len(known)} optima are proved within 60 s{f' ({ends})' if ends else ''}. A gap is how many nats a labelling scores below the "
        f"optimum. Where gaps of all sequences are averaged, one counts {CAP:g} nats at most, and so does a sequence without a "
        "labelling that keeps the hard rules. The relative gap is a mean over labellings: the gap divided by the absolute score of the optimum. Callbacks record every incumbent, "
        "so that times of the exact engine are those of its general path; without a callback its compiled path is faster."
    )
    outcomes = outcomes_of(rows)
    limits = sorted(outcomes[EXACT])
    shares = ", ".join(
        f"{percent(line(outcomes[EXACT][limit]).optimal, 0)} % with {1000 * limit:g} ms" for limit in limits
    )
    best = {name: line(own[max(own)]) for name, own in outcomes.items() if name != EXACT}
    nearest = min(best, key=lambda name: best[name].capped_gap)
    most = max(best, key=lambda name: best[name].optimal)
    report.text(
        f"- The exact engine has the optimum of {shares}.\n"
        f"- The heuristic with the smallest mean gap with {1000 * limits[-1]:g} ms is {nearest}: {number(best[nearest].capped_gap)} nats, and "
        f"{percent(best[nearest].optimal, 0)} % of the optima. The one with most optima is {most}: {percent(best[most].optimal, 0)} %.\n"
        f"- The mean gap of Viterbi is {number(best['Viterbi'].capped_gap)} nats, that of a beam of 10 {number(best['beam 10'].capped_gap)}, and "
        f"of a beam of 50 {number(best['beam 50'].capped_gap)}; they miss {_missed(best['Viterbi'])}, {_missed(best['beam 10'])} and "
        f"{_missed(best['beam 50'])} of {best['Viterbi'].sequences} optima."
    )


def _missed(one: Line) -> str:
    return f"{round((1 - one.optimal) * one.sequences)}"


def _family(family: str, rows: Sequence[Row], report: Report) -> None:
    known = [row for row in rows if row["method"] == OPTIMUM]
    tokens = sorted(row["T"] for row in known)
    report.heading(family)
    report.text(
        f"{len(known)} sequences of {tokens[0]} to {tokens[-1]} tokens, {known[0]['K']} labels, {known[0]['rules']} rules."
    )
    if not any(row["method"] != OPTIMUM for row in rows):
        report.text("No optimum is proved.")
        return
    _by_limit(outcomes_of(rows), report)
    last = longest(rows)
    _at_longest(last, report)
    _accuracy(last, optima(rows), report)
    _errors(last, report)


def _by_limit(outcomes: Mapping[str, Mapping[float, Sequence[Outcome]]], report: Report) -> None:
    limits = sorted({limit for own in outcomes.values() for limit in own})
    columns = [f"{what}, {1000 * limit:g} ms" for what in ("optimum %", "gap") for limit in limits]
    lines = {name: [line(own[limit]) for limit in limits] for name, own in outcomes.items()}
    report.text("Share of optima that is reached, and mean gap in nats, by limit:")
    report.table(
        ("method", *columns),
        (
            (name, *(percent(x.optimal, 0) for x in own), *(number(x.capped_gap) for x in own))
            for name, own in lines.items()
        ),
    )


def _at_longest(outcomes: Mapping[str, Sequence[Outcome]], report: Report) -> None:
    report.text("With the longest limit (milliseconds are medians):")
    report.table(
        (
            "method",
            "no labelling %",
            "gap of labellings, nats",
            "relative gap %",
            "violations",
            "sequences with any %",
            "ms",
            "most ms",
            "ms to the first labelling",
        ),
        (
            (
                name,
                percent(x.none, 0),
                number(x.gap),
                "–" if x.relative is None else number(100 * x.relative),
                x.violations,
                percent(x.breaking, 0),
                number(x.milliseconds),
                number(x.most_milliseconds),
                number(x.first),
            )
            for name, x in ((name, line(own)) for name, own in outcomes.items())
        ),
    )


def _accuracy(outcomes: Mapping[str, Sequence[Outcome]], best: Sequence[Outcome], report: Report) -> None:
    own = accuracy(best)
    if own is None:
        return
    report.text(
        f"Accuracy of the optimum: {own[0]:.1f} % of the labels, {own[1]:.1f} % of the fields of tokens, span F1 {own[2]:.1f} %. What a method loses "
        "against it, in points (a plus is better than the optimum; no labelling is all wrong):"
    )
    columns = ("method", "labels %", "fields %", "span F1 %", "labels ±", "fields ±", "span F1 ±")
    report.table(columns, (_accuracy_row(name, some, best) for name, some in outcomes.items()))


def _accuracy_row(name: str, own: Sequence[Outcome], best: Sequence[Outcome]) -> tuple[str, ...]:
    shares, lost = accuracy(own), losses(own, best)
    if shares is None or lost is None:
        return (name, *["–"] * 6)
    return (name, *(f"{share:.1f}" for share in shares), *(signed(-points + 0.0) for points in lost))


def _errors(outcomes: Mapping[str, Sequence[Outcome]], report: Report) -> None:
    table = {name: errors(own) for name, own in outcomes.items()}
    total = sum(next(iter(table.values())).values())
    if not total:
        return
    report.text(
        f"Search errors (the labelling scores below the optimum) and model errors (the gold labelling scores below the optimum, or the "
        f"model has no score for it), in per cent of {total} sequences:"
    )
    kinds = {
        "neither": (False, False),
        "model only": (False, True),
        "search only": (True, False),
        "both": (True, True),
    }
    report.table(
        ("method", *kinds, "gold scores above the labelling"),
        (
            (
                name,
                *(percent(counts[kind] / total, 0) for kind in kinds.values()),
                percent(sum(one.gold and one.below_gold for one in outcomes[name]) / total, 0),
            )
            for name, counts in table.items()
        ),
    )


def _profiles(outcomes: Mapping[str, Sequence[Outcome]], report: Report) -> None:
    ratios = profiles(outcomes)
    report.text(
        "The same in figures, for all methods, Viterbi among them: per cent of the sequences on which the optimum is there within so many times the fastest "
        "method's time, and at all:"
    )
    report.table(
        ("method", *(f"× {ratio}" for ratio in RATIOS), "at all"),
        (
            (
                name,
                *(
                    percent(sum(one <= ratio for one in own) / len(outcomes[name]), 0)
                    for ratio in (*RATIOS, float("inf"))
                ),
            )
            for name, own in ratios.items()
        ),
    )
