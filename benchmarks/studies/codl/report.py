"""Tables beside the published figures, paired differences, and two pictures."""

from collections.abc import Iterator, Mapping, Sequence

from pandas import DataFrame, Series

from benchmarks.report import Cells, Report, difference, draws_of, fixed, gain, groups, number
from benchmarks.studies.codl import cells as codl
from benchmarks.studies.codl import published
from benchmarks.studies.codl.tasks import KINDS
from benchmarks.study import Write

NAMES = {
    codl.SUPERVISED: "labelled references alone",
    "H": "hard EM (H)",
    "H&W": "weighted (H&W)",
    "H&W&C": "rules in learning (H&W&C)",
    "top 50": "fifty labellings each (top 50)",
}
"""What the settings of Table 2 are called in a picture."""
TICKS = 5, 10, 20, 300
ENDS = {"none": "no", "soft": "yes"}
"""Rules in the end, and what the tables say."""
TITLES = {"none": "decoded without rules", "soft": "decoded under rules"}
MEASURES = ("tokens", "spans", "whole")
LEARNT = (
    ("H&W", codl.SUPERVISED),
    ("H&W", "H"),
    ("H&W&C", "H&W"),
    ("top 50", "H&W&C"),
    (codl.GAMMAS[1], "H&W&C"),
)
POOLED = (
    ("H&W&C", "H&W"),
    (codl.GAMMAS[1], "H&W&C"),
    ("top 10", "beam 10"),
    ("top 10", "H&W&C"),
    ("counts", "H&W&C"),
    ("chosen", "H&W&C"),
    ("posterior", codl.GAMMAS[1]),
    ("posterior", "soft EM"),
    ("posterior, softer", "posterior"),
    ("posterior, chosen", "posterior"),
    ("posterior, chosen", "chosen"),
    ("posterior", codl.SUPERVISED),
)
"""Settings whose difference is shown."""


def text_of(draws: Series) -> str:
    return fixed(draws.mean())


def _table_2(frame: DataFrame, table: published.Table, report: Report) -> None:
    """Published figures and ours, by labelled sequences and rules in the end."""
    heads = (head for name in codl.COLUMNS for head in (f"{name}: published", f"{name}: here"))

    def line(size: int, side: int, end: str) -> Iterator[str]:
        for column, setting in enumerate(codl.COLUMNS):
            yield f"{table[size][2 * column + side]:.1f}"
            yield text_of(draws_of(frame, size=size, setting=setting, rules=end))

    report.table(
        ("N", "rules in the end", *heads),
        (
            (size, yes, *line(size, side, end))
            for size in table
            for side, (end, yes) in enumerate(ENDS.items())
        ),
        left=2,
    )


def _differences(frame: DataFrame, pairs: Sequence[tuple[str, str]], report: Report) -> None:
    """Points of token accuracy, mean ± standard error of the paired difference."""

    def lines() -> Iterator[list[object]]:
        for size in sorted(set(frame["size"])):
            for names in pairs:
                both = [[draws_of(frame, size=size, setting=n, rules=end) for n in names] for end in ENDS]
                if all(len(draws) for pair in both for draws in pair):
                    yield [size, " − ".join(names), *(gain(*pair) for pair in both)]

    columns = ("N", "points of token accuracy, ± standard error", "no rules in the end", "rules in the end")
    report.table(columns, lines(), left=2)


def _citations(frame: DataFrame, report: Report) -> None:
    report.heading("Table 2 (a): citations, token accuracy, %")
    report.text("The plain HMM, and a pool of other citations. Dashes: not run at this scale.")
    _table_2(frame, published.CITATIONS, report)
    report.heading("Paired differences", 3)
    _differences(frame, LEARNT, report)
    shares = (
        f"{name}, 20 labelled, {text_of(draws_of(frame, size=20, setting=name, rules='none'))} % without and "
        f"{text_of(draws_of(frame, size=20, setting=name, rules='soft'))} % with rules in the end"
        for name in codl.GAMMAS
    )
    report.text(f"Figures with γ = 0.1: {'; '.join(shares)}.")
    caption = "Token accuracy by labelled references, here and as published"
    with report.picture("learning", caption, (9.5, 4.0), ncols=2, sharey=True) as axes:
        for side, (axis, end) in enumerate(zip(axes, ENDS, strict=True)):
            for column, setting in enumerate(codl.COLUMNS):
                own = frame[(frame.setting == setting) & (frame.rules == end)].groupby("size").tokens.mean()
                if not len(own):
                    continue
                [line] = axis.plot(own.index, own, marker="o", label=NAMES[setting])
                if column in (0, 3):
                    values = [table[2 * column + side] for table in published.CITATIONS.values()]
                    label = f"{NAMES[setting]}, published"
                    axis.plot(list(published.CITATIONS), values, "--", color=line.get_color(), label=label)
            axis.set(xscale="log", xlabel="labelled references", title=TITLES[end])
            axis.set_xticks(TICKS, map(str, TICKS))
            axis.minorticks_off()
        axes[0].set_ylabel("token accuracy, %")
        axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)


def _pool(frame: DataFrame, report: Report) -> None:
    report.heading("The other references as the pool")
    report.text(
        "Pairs are without / with rules in the end, %; processor seconds of a fit. Counts and posterior mix counts, of which the "
        "labelled references have 0.6; posterior has the rules in its E-step, soft EM has not; softer: 3 nats for changes without "
        "punctuation in the E-step, and 0.4 of the counts. Both were chosen on draws from 100 on, which are not reported. Chosen: settings by default, "
        "the best of a grid on five folds of the labelled references."
    )

    def lines() -> Iterator[list[str]]:
        for (kind, size), own in groups(frame.sort_values("size", kind="stable"), "kind", "size"):
            for setting in (name for name in (codl.SUPERVISED, *codl.LOOPS) if name in set(own.setting)):
                pairs = (
                    " / ".join(text_of(draws_of(own, one, setting=setting, rules=end)) for end in ENDS)
                    for one in MEASURES
                )
                spent = draws_of(own, "seconds", setting=setting, rules="soft").mean()
                yield [f"{kind}, {size}", setting, *pairs, number(spent, 2)]

    report.table(("HMM, N", "learning", "tokens", "span F1", "whole references", "s"), lines(), left=2)
    for (kind,), own in groups(frame, "kind"):
        report.heading(f"Paired differences, {kind} HMM", 3)
        _differences(own, POOLED, report)


def _posts(frame: DataFrame, report: Report) -> None:
    report.heading("Table 2 (b): a stand-in for advertisements, token accuracy, %")
    report.text(
        "Published figures are of apartment advertisements, ours of bids for hotels: gains can be compared, levels cannot."
    )
    _table_2(frame, published.ADVERTISEMENTS, report)
    _differences(frame, (("H&W", codl.SUPERVISED), ("H&W&C", "H&W"), ("top 50", "H&W&C")), report)


def _models(frame: DataFrame, report: Report) -> None:
    report.heading("Kinds of HMM without and with rules, %")

    def pair(some: DataFrame, measure: str = "tokens") -> list[Series]:
        return [draws_of(some, measure, rules=end) for end in ENDS]

    order = {kind: place for place, kind in enumerate(KINDS)}
    cells: Cells = {
        ("tokens, no rules", "tokens, rules"): lambda x: map(text_of, pair(x)),
        "gain": lambda x: gain(*reversed(pair(x))),
        ("span F1, no rules", "span F1, rules"): lambda x: map(text_of, pair(x, "spans")),
    }
    report.pivot(
        frame.sort_values(["kind", "size"], key=lambda x: x.map(order) if x.name == "kind" else x),
        {"HMM": "kind", "N": "size"},
        cells,
        left=1,
    )


def _violations(frame: DataFrame, report: Report) -> None:
    report.heading("Section 7: hard and soft rules, and distances")
    report.text(
        "Supervised learning with the plain HMM; % of tokens, and points over no rules. Count: one for each token, run or change "
        "that breaks a rule, as the paper has it; binary: one for each rule that a sequence breaks; hamming: tokens to relabel, for rules on runs. "
        "Where hard rules leave no labelling, or the search has none in its time, the one without rules is counted."
    )
    lines, differences = [], []
    for (corpus, size), some in groups(frame, "corpus", "size"):
        name, draws = f"{corpus}, {size}", {way: draws_of(some, rules=way) for way in codl.WAYS}
        for way in codl.WAYS:
            paper = published.SECTION_7.get(way) if (corpus, size) == ("posts", 100) else None
            spans = text_of(draws_of(some, "spans", rules=way))
            counts = (draws_of(some, one, rules=way).sum() for one in ("optimal", "infeasible", "sequences"))
            own = draws[way]
            lines.append([name, way, fixed(paper), text_of(own), gain(own, draws["none"]), spans, *counts])
        pairs = (("count", "hard"), ("count", "binary"), ("hamming", "count"))
        differences.append([name, *(gain(draws[one], draws[other]) for one, other in pairs)])
    columns = ("rules", "published (advertisements)", "here", "gain", "span F1")
    report.table(("corpus, N", *columns, "optimal", "infeasible", "of"), lines, left=2)
    report.text("Differences in points:")
    heads = ("corpus, N", "counts − hard rules", "counts − binary", "Hamming distances − counts")
    report.table(heads, differences)


def _robustness(frame: DataFrame, report: Report) -> None:
    report.heading("Wrong penalties")
    report.text(
        "Every penalty of `citations`, 9.21 nats, is multiplied by the factor, in the end and in learning; the pool are the other "
        "references, the HMM is the plain one. % of tokens / span F1, and points of tokens over factor 1."
    )
    texts = [f"{factor:g}" for factor in codl.FACTORS]
    series = {(method, size): some for (size, method), some in groups(frame, "size", "method")}

    def cell(some: DataFrame, factor: str) -> str:
        values, one = (draws_of(some, rules=f) for f in (factor, "1"))
        change = "" if factor == "1" else f" ({gain(values, one)})"
        return f"{text_of(values)} / {text_of(draws_of(some, 'spans', rules=factor))}{change}"

    report.table(
        ("learning, N", *(f"× {text}" for text in texts)),
        (
            [f"{method}, {size}", *(cell(some, text) for text in texts)]
            for (method, size), some in series.items()
        ),
    )
    changes = [
        (difference(draws_of(some, rules=text), draws_of(some, rules="1")).mean(), text, *names)
        for names, some in series.items()
        for text in texts
    ]
    worst, best = min(changes), max(changes)
    report.text(
        f"A wrong factor costs at most {-worst[0]:.1f} points of token accuracy (× {worst[1]}, {worst[2]}, {worst[3]} labelled), "
        f"and gains at most {best[0]:.1f} (× {best[1]}, {best[2]}, {best[3]} labelled)."
    )
    with report.picture("penalties", "Token accuracy by the factor on all penalties") as axis:
        for (method, size), some in series.items():
            values = [draws_of(some, rules=text).mean() for text in texts]
            axis.plot(codl.FACTORS, values, marker="o", label=f"{method}, {size} labelled")
        axis.set(xscale="log", xlabel="factor on all penalties", ylabel="token accuracy, %")
        axis.set_xticks(codl.FACTORS, texts)
        axis.minorticks_off()
        axis.legend(fontsize=7)


WRITERS: Mapping[str | tuple[str, ...], Write] = {
    codl.CITATIONS: _citations,
    codl.POOL: _pool,
    codl.ADVERTISEMENTS: _posts,
    codl.MODELS: _models,
    codl.VIOLATIONS: _violations,
    codl.ROBUSTNESS: _robustness,
}
