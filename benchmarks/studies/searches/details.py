"""Tables by length, by model, by number of rules and hardness, and of what publications claim."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.report import Report, number, percent, signed
from benchmarks.studies.searches.contenders import BEAMS, DEPTH_FIRST, EXACT, OPTIMUM
from benchmarks.studies.searches.measuring import NATS
from benchmarks.studies.searches.outcomes import (
    Outcome,
    accuracy,
    borders,
    by_length,
    grouped,
    line,
    longest,
    losses,
    optima,
    pair,
)
from benchmarks.study import Row

EDGES = (30, 60, 120, 240, 480, 10_000)
"""Tokens; the last one stands for all longer sequences."""
PUBLISHED = (
    ("Description", "+0.36", "+0.30"),
    ("Job Title", "+0.05", "−0.01"),
    ("Date", "+0.03", "0.0"),
    ("Organization", "+0.02", "+0.02"),
)
"""Changes of F, in points, by the hybrid against evolution alone and against discrepancy search alone (Stokman 2011, Tables 10, 11)."""


def lengths(rows: Sequence[Row], report: Report) -> None:
    """Share of optima and mean gap by tokens, at the longest limit."""
    table = {name: by_length(own, EDGES) for name, own in longest(rows).items()}
    edges = list(next(iter(table.values())))
    report.heading("By length")
    report.text(
        "All data sets together, with the longest limit: per cent of optima reached; mean gap in nats."
    )
    columns = (f"up to {edge}" if edge < EDGES[-1] else "more tokens" for edge in edges)
    report.table(
        ("method", *columns),
        (
            ("sequences", *(len(table[EXACT][edge]) for edge in edges)),
            *((name, *(_cell(own[edge]) for edge in edges)) for name, own in table.items()),
        ),
    )


def claims(rows: Sequence[Row], report: Report) -> None:
    """Discrepancy search beside beams."""
    outcomes = longest(rows)
    report.heading("Discrepancy search beside beam search")
    report.text(
        "Stokman 2011, section 4.2.2, gives three advantages over a beam, without figures: an earlier first labelling, better pruning, and a labelling "
        "in the end. Here, in per cent of the sequences with the longest limit: its first labelling comes before the beam's; "
        "it ends nearer to the optimum, or further from it; there is no labelling."
    )
    report.table(
        ("search", "beam", "first sooner", "nearer", "further", "none", "none, beam"),
        (
            (search, beam, *_claims(pair(outcomes[search], outcomes[beam])))
            for search in DEPTH_FIRST
            for beam in BEAMS
        ),
        left=2,
    )


def _claims(pairs: Sequence[tuple[Outcome, Outcome]]) -> list[str]:
    columns = (
        [a.first is not None and (b.first is None or a.first < b.first) for a, b in pairs],
        [a.capped_gap < b.capped_gap - NATS for a, b in pairs],
        [a.capped_gap > b.capped_gap + NATS for a, b in pairs],
        [a.gap is None for a, _ in pairs],
        [b.gap is None for _, b in pairs],
    )
    return [percent(float(np.mean(column))) for column in columns]


def hybrids(rows: Sequence[Row], report: Report) -> None:
    """The border between discrepancy search and evolution, and what the hybrid gains."""
    outcomes = longest(rows)
    report.heading("Hybrids of discrepancy search and evolution")
    report.text(
        "Discrepancy search up to a border, the other search beyond (Stokman 2011 took 60 tokens, and expected another border to be better). "
        "Mean gaps in nats, with the longest limit, over all data sets:"
    )
    report.table(
        (
            "up to the border",
            "beyond",
            "best border, tokens",
            "its gap",
            "at 60",
            "first alone",
            "second alone",
        ),
        (
            (short, long, *_border(borders(outcomes[short], outcomes[long])))
            for short in ("lds, printed", "lds, going on", "lds, admissible")
            for long in ("evolutionary", "evolutionary, varied", "annealing")
        ),
        left=2,
    )
    gains = _gains({name: own for name, own in grouped(rows, "family").items() if name.startswith("résumés")})
    report.text("Change of F, in points, by the hybrid against either of its parts alone:")
    report.table(
        ("fields", "against evolution alone (Table 10)", "against discrepancy search alone (Table 11)"),
        (*((f"published: {tag}", one, other) for tag, one, other in PUBLISHED), *gains),
    )


def _border(gaps: Mapping[int, float]) -> tuple[str, ...]:
    best = min(gaps.values())
    at = [border for border, gap in gaps.items() if gap <= best + NATS]
    usual = gaps[max(border for border in gaps if border <= 60)]
    where = f"{at[0]}" if len(at) == 1 else f"{at[0]} to {at[-1]}"
    return where, number(best), number(usual), number(gaps[max(gaps)]), number(gaps[0])


def _gains(families: Mapping[str, Sequence[Row]]) -> list[tuple[str, ...]]:
    result = []
    for family, rows in families.items():
        outcomes = longest(rows)
        for hybrid, parts in (
            ("hybrid, printed", ("evolutionary", "lds, printed")),
            ("hybrid", ("evolutionary", "lds")),
        ):
            whole = {name: accuracy(outcomes[name]) for name in (hybrid, *parts) if name in outcomes}
            shares = [one[2] for one in whole.values() if one is not None]
            if len(shares) == 3:
                changes = (signed(shares[0] - other, 2) for other in shares[1:])
                result.append((f"here: all of {family} ({hybrid})", *changes))
    return result


def sizes(rows: Sequence[Row], report: Report) -> None:
    """What methods lose with models of little and much training data."""
    report.heading("By size of the training data")
    for level, own in grouped(rows, "level").items():
        outcomes, best = longest(own), optima(own)
        if not outcomes:
            continue
        engine, total = line(outcomes[EXACT]), len(outcomes[EXACT])
        exact, bare, beam = (
            accuracy(some) or (0.0,) * 3 for some in (best, outcomes["Viterbi"], outcomes["beam 10"])
        )
        report.text(
            f"**HMM of {level} references.** {_count(outcomes['Viterbi'], 'violations')} of {total} Viterbi labellings break a rule. Viterbi misses "
            f"{_missed(outcomes['Viterbi'])} optima, a beam of 10 misses {_missed(outcomes['beam 10'])}, by up to {_most(outcomes['beam 10'])} nats. Accuracy of fields and span F1: "
            f"Viterbi {bare[1]:.1f} / {bare[2]:.1f}, beam of 10 {beam[1]:.1f} / {beam[2]:.1f}, optimum {exact[1]:.1f} / {exact[2]:.1f} %."
        )
        report.table(
            (
                "method",
                "optima missed",
                "mean gap",
                "largest gap",
                "with violations",
                "labels %",
                "fields %",
                "span F1 %",
                "fields ±",
                "span F1 ±",
                "ms",
                "× exact engine",
            ),
            (
                (
                    name,
                    _missed(some),
                    number(x.capped_gap),
                    _most(some),
                    _count(some, "violations"),
                    *(f"{share:.1f}" for share in accuracy(some) or ()),
                    *(signed(-points + 0.0) for points in (losses(some, best) or ())[1:]),
                    number(x.milliseconds),
                    number(x.milliseconds / engine.milliseconds),
                )
                for name, some, x in ((name, some, line(some)) for name, some in outcomes.items())
            ),
        )


def varied(title: str, rows: Sequence[Row], report: Report) -> None:
    """Shares, gaps, violations and losses by what is varied."""
    report.heading(title)
    for family, own in grouped(rows, "family").items():
        levels = {level: some for level, some in grouped(own, "level").items() if longest(some)}
        outcomes = {level: longest(some) for level, some in levels.items()}
        best = {level: optima(some) for level, some in levels.items()}
        report.heading(family, 3)
        statuses = grouped((row for row in own if row["method"] == OPTIMUM), "status")
        limit = next(row["limit"] for row in own if row["method"] == EXACT)
        report.text(
            f"{1000 * limit:g} ms a sequence for methods that a limit changes; problems: {', '.join(f'{len(some)} {name}' for name, some in statuses.items())}. "
            "Per cent of optima reached; mean gap in nats:"
        )
        methods = list(dict.fromkeys(name for one in outcomes.values() for name in one))
        report.table(
            ("method", *levels),
            (
                ("sequences", *(len(one[EXACT]) for one in outcomes.values())),
                *((name, *(_cell(one[name]) for one in outcomes.values())) for name in methods),
            ),
        )
        report.text(
            "Per cent of sequences with a violation; points of accuracy of fields and of span F1 against the optimum's:"
        )
        report.table(
            ("method", *levels),
            (
                ("optimum", *(_broken(one[EXACT], best[level], None) for level, one in outcomes.items())),
                *(
                    (name, *(_broken(one[name], one[name], best[level]) for level, one in outcomes.items()))
                    for name in methods
                ),
            ),
        )


def _cell(outcomes: Sequence[Outcome]) -> str:
    x = line(outcomes)
    return f"{percent(x.optimal, 0)}; {number(x.capped_gap)}"


def _broken(outcomes: Sequence[Outcome], judged: Sequence[Outcome], best: Sequence[Outcome] | None) -> str:
    """Losses against the optimum, or the optimum's own accuracy."""
    broken = percent(line(outcomes).breaking, 0)
    if best is None:
        own = accuracy(judged)
        return broken if own is None else f"{broken}; {own[1]:.1f}, {own[2]:.1f} %"
    lost = losses(judged, best)
    return broken if lost is None else f"{broken}; {signed(-lost[1] + 0.0)}, {signed(-lost[2] + 0.0)}"


def _missed(outcomes: Sequence[Outcome]) -> int:
    return sum(not one.optimal for one in outcomes)


def _most(outcomes: Sequence[Outcome]) -> str:
    return number(max((one.gap for one in outcomes if one.gap is not None), default=None))


def _count(outcomes: Sequence[Outcome], name: str) -> int:
    return sum(bool(getattr(one, name)) for one in outcomes)
