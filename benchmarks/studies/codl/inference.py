"""Sections on rules in the end: kinds of HMM, hard and soft rules, distances, and wrong penalties."""

from collections.abc import Iterator

from benchmarks.paired import difference, gain, mean
from benchmarks.report import Report
from benchmarks.studies.codl import published
from benchmarks.studies.codl.cells import FACTORS, WAYS
from benchmarks.studies.codl.draws import ENDS, Rows, draws_of, shown, sizes_of, text_of
from benchmarks.studies.codl.tasks import KINDS


def models(rows: Rows, report: Report) -> None:
    """The section of that part."""
    report.heading("Kinds of HMM without and with rules, %")

    def lines() -> Iterator[list[object]]:
        for kind in KINDS:
            for size in sizes_of(rows):
                own = {"kind": kind, "size": size}
                bare, ruled = (draws_of(rows, rules=name, **own) for name in ENDS)
                if bare:
                    spans = (text_of(draws_of(rows, "spans", rules=name, **own)) for name in ENDS)
                    yield [kind, size, text_of(bare), text_of(ruled), gain(ruled, bare), *spans]

    columns = ("HMM", "N", "tokens, no rules", "tokens, rules", "gain", "span F1, no rules", "span F1, rules")
    report.table(columns, lines())


def violations(rows: Rows, report: Report) -> None:
    """The section of that part."""
    report.heading("Section 7: hard and soft rules, and distances")
    report.text(
        "Supervised learning with the plain HMM; % of tokens, and points over no rules. Count: one for each token, run or change "
        "that breaks a rule, as the paper has it; binary: one for each rule that a sequence breaks; hamming: tokens to relabel, for rules on runs. "
        "Where hard rules leave no labelling, or the search has none in its time, the one without rules is counted."
    )

    def lines() -> Iterator[list[object]]:
        for corpus, size in dict.fromkeys((row["corpus"], row["size"]) for row in rows):
            none = draws_of(rows, corpus=corpus, size=size, rules="none")
            for way in WAYS:
                own = {"corpus": corpus, "size": size, "rules": way}
                values, spans = draws_of(rows, **own), draws_of(rows, "spans", **own)
                paper = published.SECTION_7.get(way) if corpus == "posts" and size == 100 else None
                counts = (
                    sum(draws_of(rows, name, **own).values())
                    for name in ("optimal", "infeasible", "sequences")
                )
                yield [
                    f"{corpus}, {size}",
                    way,
                    shown(paper),
                    text_of(values),
                    gain(values, none),
                    text_of(spans),
                    *counts,
                ]

    columns = (
        "corpus, N",
        "rules",
        "published (advertisements)",
        "here",
        "gain",
        "span F1",
        "optimal",
        "infeasible",
        "of",
    )
    report.table(columns, lines(), left=2)
    for corpus, size in dict.fromkeys((row["corpus"], row["size"]) for row in rows):
        count, hard, binary, hamming = (
            draws_of(rows, corpus=corpus, size=size, rules=way)
            for way in ("count", "hard", "binary", "hamming")
        )
        report.text(
            f"{corpus}, {size} labelled: soft rules differ from hard ones by {gain(count, hard)} points, counts from binary "
            f"violations by {gain(count, binary)}, Hamming distances from counts by {gain(hamming, count)}."
        )


def robustness(rows: Rows, report: Report) -> None:
    """The section of that part."""
    report.heading("Wrong penalties")
    report.text(
        "Every penalty of `citations`, 9.21 nats, is multiplied by the factor, in the end and in learning; the pool are the other "
        "references, the HMM is the plain one. % of tokens / span F1, and points of tokens over factor 1."
    )
    series = list(dict.fromkeys((row["size"], row["method"]) for row in rows))
    texts = [f"{factor:g}" for factor in FACTORS]

    def cell(size: int, method: str, factor: str) -> str:
        own = {"size": size, "method": method}
        values, one = (draws_of(rows, rules=f, **own) for f in (factor, "1"))
        change = "" if factor == "1" else f" ({gain(values, one)})"
        return f"{text_of(values)} / {text_of(draws_of(rows, 'spans', rules=factor, **own))}{change}"

    report.table(
        ("learning, N", *(f"× {text}" for text in texts)),
        ([f"{method}, {size}", *(cell(size, method, text) for text in texts)] for size, method in series),
    )
    changes = [
        (change[0], text, size, method)
        for size, method in series
        for text in texts
        for change in [difference(*(draws_of(rows, size=size, method=method, rules=f) for f in (text, "1")))]
        if change
    ]
    worst, best = min(changes), max(changes)
    report.text(
        f"A wrong factor costs at most {-worst[0]:.1f} points of token accuracy (× {worst[1]}, {worst[3]}, {worst[2]} labelled), "
        f"and gains at most {best[0]:.1f} (× {best[1]}, {best[3]}, {best[2]} labelled)."
    )
    with report.picture("penalties", "Token accuracy by the factor on all penalties") as axis:
        for size, method in series:
            values = [mean(draws_of(rows, size=size, method=method, rules=text)) for text in texts]
            axis.plot(FACTORS, values, marker="o", label=f"{method}, {size} labelled")
        axis.set(xscale="log", xlabel="factor on all penalties", ylabel="token accuracy, %")
        axis.set_xticks(FACTORS, texts)
        axis.minorticks_off()
        axis.legend(fontsize=7)
