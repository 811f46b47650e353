"""The report: tables and sentences from rows alone."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from benchmarks.data.sets import SOLVERS
from benchmarks.methods import AGAIN, PLAIN
from benchmarks.report import Report, number, percent
from benchmarks.studies.engine import anytime, figures, programs
from benchmarks.studies.engine.decoding import CORA, GENERATED, RESUME, UMASS
from benchmarks.studies.engine.names import METHODS, TITLES
from benchmarks.studies.engine.summary import (
    fit,
    loss,
    milliseconds,
    multiple,
    of_lengths,
    pairs,
    passes,
    prefixes,
    share,
)
from benchmarks.study import Row

Groups = Mapping[str, list[Row]]
IN_PASSES = ("auto", AGAIN, "viterbi", "beam 10", "beam 50")


def write(rows: Sequence[Row], report: Report) -> None:
    """Everything that there are rows for."""
    decoded = [row for row in rows if row["part"] in (CORA, UMASS, RESUME, GENERATED)]
    groups = {name: list(some) for name, some in groupby(decoded, _title)}
    if groups:
        _main_table(groups, report)
        _exact_rivals(groups, report)
        _milliseconds(groups, report)
        _losses(groups, report)
        figures.within(rows, report)
    documents = [row for row in rows if row["part"] == GENERATED]
    if documents:
        _documents(documents, report)
        _exponents(documents, report)
        figures.cost(documents, report)
    anytime.report([row for row in rows if row["part"] == anytime.ANYTIME], report)
    programs.report_programs([row for row in rows if row["part"] == programs.PROGRAMS], report)
    programs.report_folded([row for row in rows if row["part"] == programs.FOLDED], report)


def _title(row: Row) -> str:
    name: str = GENERATED if row["part"] == GENERATED else row["data"]
    return TITLES.get(name, name)


def _main_table(groups: Groups, report: Report) -> None:
    report.heading("What it beats, and by how much")
    lines = []
    for title, rows in groups.items():
        auto, narrow = pairs(rows, "auto"), pairs(rows, "beam 50")
        lines.append(
            (
                title,
                f"{sum(pair.row['proved'] for pair in auto)} of {len(auto)}",
                *(number(passes(rows, name)) for name in IN_PASSES),
                f"{percent(share([pair.row['proved'] for pair in narrow]), 0)} %",
            )
        )
    columns = (*(METHODS[name] for name in IN_PASSES), "optima that the beam of 50 proves")
    report.table(("sequences", "`auto` proves, proof rechecked", *columns), lines)
    every = [row for rows in groups.values() for row in rows]
    auto, viterbi = pairs(every, "auto"), pairs(every, "viterbi")
    proved, broken = sum(pair.row["proved"] for pair in auto), sum(pair.row["breaks"] for pair in viterbi)
    report.text(
        "Times are in bare Viterbi passes: the median over sequences of the time of a call as a multiple of a bare compiled "
        "Viterbi pass over the same scores without rules, in the same run. The method `viterbi` ignores the rules in its search "
        "and counts what its labelling breaks. The rules are compiled, "
        "but meet the words of each 25 sequences anew; a second call on the same "
        f"words takes {_times(multiple(pairs(every, AGAIN)))} times what the first one takes.\n\n"
        f"The engine proves {proved} of {len(auto)} optima, and every proof is rechecked. The Viterbi labelling breaks a "
        f"rule in {broken} of {len(viterbi)} sequences. In all, the beam of 50 takes "
        f"{_times(multiple(pairs(every, 'beam 50')))} times as long as the engine and proves "
        f"{sum(pair.row['proved'] for pair in pairs(every, 'beam 50'))} of {len(pairs(every, 'beam 50'))} optima; "
        f"`auto` takes {number(passes(every, 'auto'))} bare Viterbi passes in the median, `viterbi` {number(passes(every, 'viterbi'))}, "
        f"and `auto` on words that it has met before {number(passes(every, AGAIN))}."
    )


def _times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _exact_rivals(groups: Groups, report: Report) -> None:
    report.heading("Solvers, and a wide beam")
    lines = []
    for title, rows in groups.items():
        for name in ("beam 200", *SOLVERS):
            if both := pairs(rows, name):
                done = sum(pair.row["status"] in ("optimal", "infeasible") for pair in both)
                lines.append((title, METHODS[name], f"{done} of {len(both)}", number(multiple(both))))
    report.table(("sequences", "method", "optimal", "time / `auto`"), lines, left=2)
    report.text(
        "Total times as multiples of `auto`'s on the same sequences in the same run. Solvers get the whole program; where "
        "they prove fewer optima than sequences, the ratio is a lower bound. What a solver calls optimal is its word; its score "
        "equals the rechecked optimum."
    )


def _milliseconds(groups: Groups, report: Report) -> None:
    report.heading("Milliseconds a sequence")
    lines = []
    for title, rows in groups.items():
        for name in METHODS:
            if (both := pairs(rows, name)) and name not in SOLVERS:
                own = milliseconds(pair.row for pair in both)
                figures_of_times = (np.median(own), np.percentile(own, 90), own.max())
                lines.append((title, METHODS[name], len(own), *(number(float(x)) for x in figures_of_times)))
    report.table(("sequences", "method", "number", "median", "90th percentile", "largest"), lines, left=2)


def _losses(groups: Groups, report: Report) -> None:
    report.heading("What heuristics lose")
    lines = []
    for title, rows in groups.items():
        for name in ("viterbi", "beam 10", "beam 50", "beam 200"):
            if both := pairs(rows, name):
                one = loss(both)
                speed = number(prefixes(both) / 1e6, 2) if name.startswith("beam") else "–"
                parts = (one.optima, one.missed, one.without, number(one.mean), number(one.largest))
                lines.append((title, METHODS[name], *parts, speed))
    columns = (
        "optima known",
        "missed",
        "no labelling",
        "mean loss, nats",
        "largest loss, nats",
        "million prefixes a second",
    )
    report.table(("sequences", "method", *columns), lines, left=2)


def _documents(rows: Sequence[Row], report: Report) -> None:
    report.heading("Generated documents")
    methods = [name for name in METHODS if name not in ("auto", PLAIN) and pairs(rows, name)]
    lines = []
    for _, some in groupby(rows, lambda row: row["data"]):
        own = list(some)
        auto = pairs(own, "auto")
        broken = share([pair.row["breaks"] for pair in pairs(own, "viterbi")])
        lines.append(
            (
                own[0]["T"],
                own[0]["K"],
                f"{sum(pair.row['proved'] for pair in auto)} of {len(auto)}",
                percent(broken, 0),
                number(float(np.median(milliseconds(pair.row for pair in auto)))),
                number(passes(own, "auto")),
                *(number(multiple(pairs(own, name))) for name in methods),
            )
        )
    columns = (
        "T",
        "K",
        "`auto` proves",
        "Viterbi breaks a rule, %",
        "`auto`, median ms",
        "`auto`, bare passes",
    )
    report.table((*columns, *(f"{METHODS[name]} / `auto`" for name in methods)), lines, left=0)


def _exponents(rows: Sequence[Row], report: Report) -> None:
    report.heading("Exponents of cost")
    lines, quoted = [], ""
    for name in METHODS:
        own = [pair.row for pair in pairs(rows, name)]
        if result := fit(own, exact=name in ("auto", *SOLVERS)):
            spans = (f"{values[0]} to {values[-1]}" for values in (result.lengths, result.sizes))
            texts = result.of_length.text(), result.of_size.text()
            lines.append((METHODS[name], *spans, result.documents, result.left_out, *texts))
            if name == "auto":
                quoted = f"The engine's time grows as T^{texts[0]} · K^{texts[1]} (95 % intervals). "
    columns = ("method", "T", "K", "documents", "not optimal in time", "exponent of T", "exponent of K")
    report.table(columns, lines, left=3)
    report.text(
        f"{quoted}Least squares on the logarithms of T, K and seconds together, from 120 tokens on where at least three "
        "such lengths are there; with intervals of 95 %. Exponents below 1 are those of a range where fixed costs still count."
    )
    table = {
        name: of_lengths([pair.row for pair in pairs(rows, name)]) for name in ("auto", PLAIN, "beam 50")
    }
    sizes = sorted({K for line in table.values() for K in line})
    if sizes:
        texts_of = {
            name: [line[K].text() if K in line else "–" for K in sizes] for name, line in table.items()
        }
        report.table(
            ("exponent of T", *(f"K = {K}" for K in sizes)),
            ((METHODS[name], *texts) for name, texts in texts_of.items()),
        )
