"""The searches' tables."""

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table

from benchmarks.journal import Journal
from benchmarks.searches.summary import CAP, Outcome, Outcomes, borders, by_length, families, line, pair

WIDTH = 170
EDGES = (30, 60, 120, 240, 480, 10_000)
ABLATION = (
    "hybrid, printed",
    "hybrid",
    "hybrid, strong",
    "evolutionary",
    "evolutionary, varied",
    "lds, printed",
    "lds",
    "lds, going on",
    "annealing",
    "exact engine",
)
BEAMS = ("beam 10", "beam 50", "beam 200")
DEPTH_FIRST = ("lds, printed", "lds", "lds, going on", "lds, admissible", "lds, textbook")


def write(journal: Journal) -> str:
    """Every table, one below the other."""
    console = Console(file=StringIO(), width=WIDTH, highlight=False, markup=False)
    console.print(journal.about)
    console.print(
        "\nEvery search against the proved optimum, on the same sequences, in one run on one core. A gap is how many nats a "
        f"labelling scores below it; where gaps of all sequences are averaged, one counts {CAP:g} nats at most, and a sequence without a "
        "labelling that keeps the hard rules counts so many. Contenders without a limit of their own ran once, and count where "
        "they were done in time."
    )
    result = families(journal)
    for name, outcomes in result.items():
        notes = sorted({note for data, note in journal.notes.items() if data == name})
        console.print(f"\n== {name}{': ' if notes else ''}{'; '.join(notes)}")
        console.print(_shares(outcomes))
        console.print(_details(outcomes))
    if result:
        _claims(console, result)
        _ablation(console, result)
    _rates(console, journal)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def _shares(outcomes: Outcomes) -> Table:
    """By limit: how often the optimum is reached, and how far away labellings are."""
    limits = sorted({limit for own in outcomes.values() for limit in own})
    table = Table("within", box=None)
    for what in ("optimum reached", "mean gap, nats"):
        for limit in limits:
            table.add_column(f"{what}\n{1000 * limit:g} ms", justify="right")
    for name, own in outcomes.items():
        lines = [line(own[limit]) for limit in limits]
        table.add_row(name, *(f"{x.optimal:.1%}" for x in lines), *(number(x.capped_gap) for x in lines))
    return table


def _details(outcomes: Outcomes) -> Table:
    """At the longest limit."""
    table = Table("at the longest limit", box=None)
    names = (
        "sequences",
        "no labelling",
        "mean gap of labellings",
        "violations",
        "token accuracy",
        "median ms",
    )
    for column in (*names, "median ms to the first", "longest"):
        table.add_column(column, justify="right")
    for name, own in outcomes.items():
        x = line(own[max(own)])
        accuracy = "-" if x.accuracy is None else f"{x.accuracy:.2%}"
        shown = (number(x.gap), number(x.violations), accuracy, number(x.milliseconds))
        table.add_row(name, str(x.sequences), f"{x.none:.1%}", *shown, number(x.first), number(x.first_most))
    return table


def _claims(console: Console, result: dict[str, Outcomes]) -> None:
    """What Stokman 2011 (section 4.2.2) says for discrepancy search over a beam."""
    console.print("\n== discrepancy search over beam search: three claims of Stokman 2011, section 4.2.2")
    console.print(
        "first: sequences on which its first labelling comes before the beam's; gap: sequences on which it ends, at the "
        "longest limit, nearer to the optimum / further from it; none: sequences without a labelling at the longest limit"
    )
    table = Table("search", "beam", box=None)
    for column in ("first", "gap nearer", "gap further", "none", "none, beam"):
        table.add_column(column, justify="right")
    for search in DEPTH_FIRST:
        for beam in BEAMS:
            pairs = _pairs(result, search, beam)
            if pairs:
                sooner = [a.first is not None and (b.first is None or a.first < b.first) for a, b in pairs]
                shares = (
                    sooner,
                    [a.capped_gap < b.capped_gap - 1e-9 for a, b in pairs],
                    [a.capped_gap > b.capped_gap + 1e-9 for a, b in pairs],
                    [a.gap is None for a, _ in pairs],
                    [b.gap is None for _, b in pairs],
                )
                table.add_row(search, beam, *(f"{sum(share) / len(pairs):.1%}" for share in shares))
    console.print(table)


def _pairs(result: dict[str, Outcomes], one: str, other: str) -> list[tuple[Outcome, Outcome]]:
    """Outcomes of two contenders at the longest limit, on every sequence."""
    pairs = []
    for outcomes in result.values():
        if one in outcomes and other in outcomes:
            longest = max(outcomes[one])
            pairs += pair(outcomes[one][longest], outcomes[other][longest])
    return pairs


def _ablation(console: Console, result: dict[str, Outcomes]) -> None:
    """Hybrid, evolutionary and discrepancy search by length, and the best border (Stokman 2011, Tables 10 and 11)."""
    console.print("\n== by length, at the longest limit, all data sets together: mean gap, nats")
    pooled = {name: _pool(result, name) for name in ABLATION}
    counts = dict.fromkeys(EDGES, 0)
    for one in pooled[ABLATION[0]]:
        counts[next(edge for edge in EDGES if edge >= one.T)] += 1
    shown = [edge for edge, count in counts.items() if count]
    table = Table("tokens", *(f"up to {edge}" if edge < 10_000 else "more" for edge in shown), box=None)
    table.add_row("sequences", *(str(counts[edge]) for edge in shown))
    for name, outcomes in pooled.items():
        if outcomes:
            means = by_length(outcomes, EDGES)
            table.add_row(name, *(number(means.get(edge)) for edge in shown))
    console.print(table)
    for name in ("lds, printed", "lds, going on"):
        for long in ("evolutionary", "evolutionary, varied", "annealing"):
            if pooled[name] and pooled[long]:
                _border(console, name, long, borders(pooled[name], pooled[long]))


def _border(console: Console, short: str, long: str, gaps: dict[int, float]) -> None:
    best = min(gaps.values())
    at = [border for border, gap in gaps.items() if gap <= best + 1e-12]
    usual = gaps[max(border for border in gaps if border <= 60)]
    console.print(
        f"{short} up to a border, {long} beyond: best border {at[0]} to {at[-1]} tokens (mean gap {number(best)}); at 60 "
        f"tokens {number(usual)}; {long} alone {number(gaps[0])}; {short} alone {number(gaps[max(gaps)])}"
    )


def _pool(result: dict[str, Outcomes], name: str) -> Sequence[Outcome]:
    return [
        one for outcomes in result.values() if name in outcomes for one in outcomes[name][max(outcomes[name])]
    ]


def _rates(console: Console, journal: Journal) -> None:
    rows = [row for row in journal.rows.values() if row["data"] == "rates"]
    if not rows:
        return
    console.print(
        "\n== millions a second at T = 60, K = 9: nodes (lds), labellings (evolutionary), steps, prefixes kept (beam)"
    )
    rules = sorted({row["item"] for row in rows}, key=int)
    table = Table("search", *(f"{n} rule{'s' if n != '1' else ''}" for n in rules), box=None)
    for name in dict.fromkeys(row["method"] for row in rows):
        own = {row["item"]: row["rate"] for row in rows if row["method"] == name}
        table.add_row(name, *(f"{own[n] / 1e6:.2f}" if own.get(n) else "ended" for n in rules))
    console.print(table)


def number(value: float | None) -> str:
    """Three significant digits; a dash for none."""
    if value is None:
        return "-"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
