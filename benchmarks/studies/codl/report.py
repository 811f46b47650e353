"""Tables beside the published figures, paired differences, and a picture."""

from collections.abc import Iterator, Mapping

from pandas import DataFrame, Series

from benchmarks.report import Report, draws_of, fixed, groups, number
from benchmarks.studies.codl import cells as codl
from benchmarks.studies.codl import published
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


def text_of(draws: Series) -> str:
    return fixed(draws.mean())


def _table_2(frame: DataFrame, report: Report) -> None:
    """Published figures and ours, by labelled sequences and rules in the end."""
    table = published.CITATIONS
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


def _citations(frame: DataFrame, report: Report) -> None:
    report.heading("Table 2 (a): citations, token accuracy, %")
    report.text("The plain HMM, and a pool of other citations. Dashes: not run at this scale.")
    _table_2(frame, report)
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
        "labelled references have 0.6; perceptron is counts with the averaged perceptron as M-step, and mixes scores; posterior has the rules in its E-step, soft EM has not; softer: 3 nats for changes without "
        "punctuation in the E-step, and 0.4 of the counts. Both were chosen on draws from 100 on, which are not reported."
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


WRITERS: Mapping[str | tuple[str, ...], Write] = {
    codl.CITATIONS: _citations,
    codl.POOL: _pool,
}
