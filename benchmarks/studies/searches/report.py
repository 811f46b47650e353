"""The report: what every search reaches, by limit, length, model, rules and penalties."""

from collections.abc import Callable, Mapping

import numpy as np
from pandas import DataFrame

from benchmarks.report import Cells, Report, fixed, groups, number, percent, signed
from benchmarks.studies.searches import outcomes
from benchmarks.studies.searches.contenders import BEAMS, DEPTH_FIRST, EXACT, OPTIMUM
from benchmarks.studies.searches.measuring import NATS
from benchmarks.studies.searches.pictures import draw

SETS = ("cora", "umass", "resume", "generator")
"""Parts on which every contender runs at every limit."""
RATIOS = (1, 2, 10, 100)
EDGES = (30, 60, 120, 240, 480, 10_000)
"""Tokens; the last one stands for all longer sequences."""
PUBLISHED = (
    ("Description", "+0.36", "+0.30"),
    ("Job Title", "+0.05", "−0.01"),
    ("Date", "+0.03", "0.0"),
    ("Organization", "+0.02", "+0.02"),
)
"""Changes of F, in points, by the hybrid against evolution alone and against discrepancy search alone (Stokman 2011, Tables 10, 11)."""
METHOD = {"method": "method"}


def every_search(rows: DataFrame, report: Report) -> None:
    known, table, best = rows[rows.method == OPTIMUM], outcomes.outcomes(rows), outcomes.optima(rows)
    if len(table):
        _summary(known, table, report)
        for (family,), own in groups(known, "family"):
            _family(
                own, table[table.family == family], best[best.family == family] if len(best) else best, report
            )
        report.heading("Gaps over time and by limit")
        draw(table, report)
        last = outcomes.longest(table)
        _profiles(last, report)
        _lengths(last, report)
        _beside_beams(last, report)
        _hybrids(last, report)


def _summary(known: DataFrame, table: DataFrame, report: Report) -> None:
    counts = known.status.value_counts(sort=False).drop("optimal", errors="ignore")
    ends = ", ".join(f"{count} {status}" for status, count in counts.items())
    report.heading("In short")
    report.text(
        f"{(known.status == 'optimal').sum()} of {len(known)} optima are proved within 60 s{f' ({ends})' if ends else ''}. A gap is how many nats a labelling scores below the "
        f"optimum. Where gaps of all sequences are averaged, one counts {outcomes.CAP:g} nats at most, and so does a sequence without a "
        "labelling that keeps the hard rules. The relative gap is a mean over labellings: the gap divided by the absolute score of the optimum. Callbacks record every incumbent, "
        "so that times of the exact engine are those of its general path; without a callback its compiled path is faster."
    )
    exact = outcomes.of(table, EXACT).groupby("limit").optimal.mean()
    shares = ", ".join(f"{percent(share, 0)} % with {1000 * limit:g} ms" for limit, share in exact.items())
    last = outcomes.longest(table[table.method != EXACT]).groupby("method", sort=False)
    gaps, reached, missed = last.capped.mean(), last.optimal.mean(), last.optimal.agg(lambda x: (~x).sum())
    nearest, most = gaps.idxmin(), reached.idxmax()
    usual = ["Viterbi", "beam 10", "beam 50"]
    report.text(
        f"- The exact engine has the optimum of {shares}.\n"
        f"- The heuristic with the smallest mean gap with {1000 * exact.index[-1]:g} ms is {nearest}: {number(gaps[nearest])} nats, and "
        f"{percent(reached[nearest], 0)} % of the optima. The one with most optima is {most}: {percent(reached[most], 0)} %.\n"
        f"- The mean gap of Viterbi is {number(gaps['Viterbi'])} nats, that of a beam of 10 {number(gaps['beam 10'])}, and "
        f"of a beam of 50 {number(gaps['beam 50'])}; they miss {missed['Viterbi']}, {missed['beam 10']} and "
        f"{missed['beam 50']} of {last.size()[usual[0]]} optima."
    )


def _family(known: DataFrame, table: DataFrame, best: DataFrame, report: Report) -> None:
    T, K, rules = known["T"], known["K"].iloc[0], known.rules.iloc[0]
    report.heading(known.family.iloc[0])
    report.text(f"{len(known)} sequences of {T.min()} to {T.max()} tokens, {K} labels, {rules} rules.")
    if not len(table):
        report.text("No optimum is proved.")
        return
    limits, last = sorted(table.limit.unique()), outcomes.longest(table)
    report.text("Share of optima that is reached, and mean gap in nats, by limit:")

    def by_limit(column: str, text: Callable[[float], str]) -> Callable[[DataFrame], list[str]]:
        return lambda x: [text(x[column][x.limit == limit].mean()) for limit in limits]

    cells: Cells = {
        tuple(f"optimum %, {1000 * limit:g} ms" for limit in limits): by_limit(
            "optimal", lambda x: percent(x, 0)
        ),
        tuple(f"gap, {1000 * limit:g} ms" for limit in limits): by_limit("capped", number),
    }
    report.pivot(table, METHOD, cells)
    report.text("With the longest limit (milliseconds are medians):")
    more: Cells = {
        "no labelling %": lambda x: percent(x.gap.isna().mean(), 0),
        "gap of labellings, nats": lambda x: number(x.gap.mean()),
        "relative gap %": lambda x: number(100 * x.relative.mean()),
        "violations": lambda x: x.violations.sum(),
        "sequences with any %": lambda x: percent((x.violations > 0).mean(), 0),
        "ms": lambda x: number(1000 * x.seconds.median()),
        "most ms": lambda x: number(1000 * x.seconds.max()),
        "ms to the first labelling": lambda x: number(1000 * x["first"].where(x.gap.notna()).median()),
    }
    report.pivot(last, METHOD, more)
    _accuracy(last, best, report)
    _errors(last, report)


def _accuracy(last: DataFrame, best: DataFrame, report: Report) -> None:
    own = outcomes.accuracy(best)
    if own is None:
        return
    report.text(
        f"Accuracy of the optimum: {own[0]:.1f} % of the labels, {own[1]:.1f} % of the fields of tokens, span F1 {own[2]:.1f} %. What a method loses "
        "against it, in points (a plus is better than the optimum; no labelling is all wrong):"
    )
    cells: Cells = {
        ("labels %", "fields %", "span F1 %"): lambda x: map(fixed, outcomes.accuracy(x) or [None] * 3),
        ("labels ±", "fields ±", "span F1 ±"): lambda x: _gains(x, best),
    }
    report.pivot(last, METHOD, cells)


def _gains(some: DataFrame, best: DataFrame) -> list[str]:
    return [
        signed(None if lost is None else -lost + 0.0) for lost in outcomes.losses(some, best) or [None] * 3
    ]


def _errors(last: DataFrame, report: Report) -> None:
    own = last[last.gold.astype(bool)]
    if not len(own):
        return
    report.text(
        f"Search errors (the labelling scores below the optimum) and model errors (the gold labelling scores below the optimum, or the "
        f"model has no score for it), in per cent of {own.key.nunique()} sequences:"
    )
    cells: Cells = {
        "neither": lambda x: x.optimal & ~x.model_error,
        "model only": lambda x: x.optimal & x.model_error,
        "search only": lambda x: ~x.optimal & ~x.model_error,
        "both": lambda x: ~x.optimal & x.model_error,
        "gold scores above the labelling": lambda x: x.below_gold,
    }
    shares = {name: lambda x, kind=kind: percent(kind(x).mean(), 0) for name, kind in cells.items()}
    report.pivot(own, METHOD, shares)


def _profiles(last: DataFrame, report: Report) -> None:
    report.text(
        "The same in figures, for all methods, Viterbi among them: per cent of the sequences on which the optimum is there within so many times the fastest "
        "method's time, and at all:"
    )
    columns = ("method", *(f"× {ratio}" for ratio in RATIOS), "at all")
    report.table(
        columns,
        (
            (name, *(percent((own <= ratio).sum() / count, 0) for ratio in (*RATIOS, np.inf)))
            for name, own, count in outcomes.profiles(last)
        ),
    )


def _beside(tables: Mapping[str, DataFrame], report: Report) -> None:
    """Shares of optima, and gaps, in a column for each table."""

    def cell(some: DataFrame) -> str:
        return f"{percent(some.optimal.mean(), 0)}; {number(some.capped.mean())}"

    counts = ("sequences", *(len(outcomes.of(some, EXACT)) for some in tables.values()))
    methods = dict.fromkeys(name for some in tables.values() for name in some.method)
    lines = ((name, *(cell(outcomes.of(some, name)) for some in tables.values())) for name in methods)
    report.table(("method", *tables), (counts, *lines))


def _lengths(last: DataFrame, report: Report) -> None:
    report.heading("By length")
    report.text(
        "All data sets together, with the longest limit: per cent of optima reached; mean gap in nats."
    )
    own = last.assign(edge=[next(edge for edge in EDGES if edge >= T) for T in last["T"]])
    edges = {edge: some for edge in EDGES if len(some := own[own.edge == edge])}
    _beside(
        {f"up to {edge}" if edge < EDGES[-1] else "more tokens": some for edge, some in edges.items()},
        report,
    )


def _beside_beams(last: DataFrame, report: Report) -> None:
    report.heading("Discrepancy search beside beam search")
    report.text(
        "Stokman 2011, section 4.2.2, gives three advantages over a beam, without figures: an earlier first labelling, better pruning, and a labelling "
        "in the end. Here, in per cent of the sequences with the longest limit: its first labelling comes before the beam's; "
        "it ends nearer to the optimum, or further from it; there is no labelling."
    )

    def shares(search: str, beam: str) -> list[str]:
        a, b = outcomes.paired(outcomes.of(last, search), outcomes.of(last, beam))
        sooner = a.gap.notna() & a["first"].notna() & ~(a["first"] >= b["first"].where(b.gap.notna()))
        columns = (sooner, a.capped < b.capped - NATS, a.capped > b.capped + NATS, a.gap.isna(), b.gap.isna())
        return [percent(column.mean()) for column in columns]

    report.table(
        ("search", "beam", "first sooner", "nearer", "further", "none", "none, beam"),
        ((search, beam, *shares(search, beam)) for search in DEPTH_FIRST for beam in BEAMS),
        left=2,
    )


def _hybrids(last: DataFrame, report: Report) -> None:
    report.heading("Hybrids of discrepancy search and evolution")
    report.text(
        "Discrepancy search up to a border, the other search beyond (Stokman 2011 took 60 tokens, and expected another border to be better). "
        "Mean gaps in nats, with the longest limit, over all data sets:"
    )

    def border(short: str, long: str) -> tuple[str, ...]:
        gaps = outcomes.borders(outcomes.of(last, short), outcomes.of(last, long))
        best = min(gaps.values())
        at = [border for border, gap in gaps.items() if gap <= best + NATS]
        usual = gaps[max(border for border in gaps if border <= 60)]
        where = f"{at[0]}" if len(at) == 1 else f"{at[0]} to {at[-1]}"
        return where, number(best), number(usual), number(gaps[max(gaps)]), number(gaps[0])

    gaps = ("best border, tokens", "its gap", "at 60", "first alone", "second alone")
    report.table(
        ("up to the border", "beyond", *gaps),
        (
            (short, long, *border(short, long))
            for short in ("lds, printed", "lds, going on", "lds, admissible")
            for long in ("evolutionary", "evolutionary, varied")
        ),
        left=2,
    )
    report.text("Change of F, in points, by the hybrid against either of its parts alone:")
    lines = [(f"published: {tag}", one, other) for tag, one, other in PUBLISHED]
    for (family,), own in groups(last[last.family.str.startswith("résumés")], "family"):
        for hybrid, search in (("hybrid, printed", "lds, printed"), ("hybrid", "lds")):
            whole, one, other = (
                outcomes.accuracy(outcomes.of(own, name)) for name in (hybrid, "evolutionary", search)
            )
            if whole and one and other:
                changes = (signed(whole[2] - one[2], 2), signed(whole[2] - other[2], 2))
                lines.append((f"here: all of {family} ({hybrid})", *changes))
    report.table(
        ("fields", "against evolution alone (Table 10)", "against discrepancy search alone (Table 11)"), lines
    )


def sizes(rows: DataFrame, report: Report) -> None:
    """What methods lose with models of little and much training data."""
    report.heading("By size of the training data")
    for (level,), own in groups(rows, "level"):
        last, best = outcomes.longest(outcomes.outcomes(own)), outcomes.optima(own)
        if len(last):
            _size(level, last, best, report)


def _size(level: str, last: DataFrame, best: DataFrame, report: Report) -> None:
    exact, bare, beam = (
        outcomes.accuracy(some) or (0.0,) * 3
        for some in (best, outcomes.of(last, "Viterbi"), outcomes.of(last, "beam 10"))
    )
    viterbi, narrow, engine = (outcomes.of(last, name) for name in ("Viterbi", "beam 10", EXACT))
    report.text(
        f"**HMM of {level} references.** {(viterbi.violations > 0).sum()} of {len(engine)} Viterbi labellings break a rule. Viterbi misses "
        f"{(~viterbi.optimal).sum()} optima, a beam of 10 misses {(~narrow.optimal).sum()}, by up to {number(narrow.gap.max())} nats. Accuracy of fields and span F1: "
        f"Viterbi {bare[1]:.1f} / {bare[2]:.1f}, beam of 10 {beam[1]:.1f} / {beam[2]:.1f}, optimum {exact[1]:.1f} / {exact[2]:.1f} %."
    )
    unit = engine.seconds.median()
    cells: Cells = {
        "optima missed": lambda x: (~x.optimal).sum(),
        "mean gap": lambda x: number(x.capped.mean()),
        "largest gap": lambda x: number(x.gap.max()),
        "with violations": lambda x: (x.violations > 0).sum(),
        ("labels %", "fields %", "span F1 %"): lambda x: map(fixed, outcomes.accuracy(x) or ()),
        ("fields ±", "span F1 ±"): lambda x: _gains(x, best)[1:],
        "ms": lambda x: number(1000 * x.seconds.median()),
        "× exact engine": lambda x: number(x.seconds.median() / unit),
    }
    report.pivot(last, METHOD, cells)


def varied(title: str) -> Callable[[DataFrame, Report], None]:
    """Shares, gaps, violations and losses by what is varied."""

    def write(rows: DataFrame, report: Report) -> None:
        report.heading(title)
        for (family,), own in groups(rows, "family"):
            _varied(family, own, report)

    return write


def _varied(family: str, rows: DataFrame, report: Report) -> None:
    levels = {level: own for (level,), own in groups(rows, "level")}
    tables = {
        level: last for level, own in levels.items() if len(last := outcomes.longest(outcomes.outcomes(own)))
    }
    best = {level: outcomes.optima(levels[level]) for level in tables}
    report.heading(family, 3)
    statuses = rows.status[rows.method == OPTIMUM].value_counts(sort=False)
    problems = ", ".join(f"{count} {name}" for name, count in statuses.items())
    report.text(
        f"{1000 * outcomes.of(rows, EXACT).limit.iloc[0]:g} ms a sequence for methods that a limit changes; problems: {problems}. "
        "Per cent of optima reached; mean gap in nats:"
    )
    _beside(tables, report)
    report.text(
        "Per cent of sequences with a violation; points of accuracy of fields and of span F1 against the optimum's:"
    )

    def broken(name: str, level: str) -> str:
        some = outcomes.of(tables[level], EXACT if name == "optimum" else name)
        text, own = percent((some.violations > 0).mean(), 0), outcomes.accuracy(best[level])
        if name == "optimum" or own is None:
            return text if own is None else f"{text}; {own[1]:.1f}, {own[2]:.1f} %"
        return f"{text}; {', '.join(_gains(some, best[level])[1:])}"

    methods = dict.fromkeys(name for one in tables.values() for name in one.method)
    lines = ((name, *(broken(name, level) for level in tables)) for name in ("optimum", *methods))
    report.table(("method", *tables), lines)
