"""Tables beside the published figures, sentences computed from rows, and two pictures."""

from collections.abc import Iterator, Sequence

from benchmarks.paired import gain, mean
from benchmarks.report import Report, number
from benchmarks.studies.codl import inference, published
from benchmarks.studies.codl.cells import (
    ADVERTISEMENTS,
    CITATIONS,
    COLUMNS,
    GAMMAS,
    LOOPS,
    MODELS,
    POOL,
    ROBUSTNESS,
    SUPERVISED,
    VIOLATIONS,
)
from benchmarks.studies.codl.draws import ENDS, Rows, draws_of, sizes_of, text_of
from benchmarks.studies.codl.tasks import BEST

NAMES = {
    SUPERVISED: "labelled references alone",
    "H": "hard EM (H)",
    "H&W": "weighted (H&W)",
    "H&W&C": "rules in learning (H&W&C)",
    "top 50": "fifty labellings each (top 50)",
}
"""What the settings of Table 2 are called in a picture."""
TICKS = 5, 10, 20, 300
TITLES = {"none": "decoded without rules", "soft": "decoded under rules"}


def report(rows: Rows, report: Report) -> None:
    """A section for each part that has rows."""
    for part, write in (
        (CITATIONS, _citations),
        (POOL, _pool),
        (ADVERTISEMENTS, _posts),
        (MODELS, inference.models),
        (VIOLATIONS, inference.violations),
        (ROBUSTNESS, inference.robustness),
    ):
        if some := [row for row in rows if row["part"] == part]:
            write(some, report)


def _citations(rows: Rows, report: Report) -> None:
    report.heading("Table 2 (a): citations, token accuracy, %")
    report.text("The plain HMM, and a pool of other citations. Dashes: not run at this scale.")
    _table_2(rows, published.CITATIONS, report)
    few = text_of(draws_of(rows, size=20, setting="H&W&C", rules="soft"))
    many = text_of(draws_of(rows, size=300, setting=SUPERVISED, rules="none"))
    report.text(
        f"Figure 4: H&W&C with rules in the end reaches {few} % with 20 labelled references (published: "
        f"{published.CITATIONS[20][7]} %), and supervised learning without rules {many} % with 300 (published: "
        f"{published.CITATIONS[300][0]} %)."
    )
    report.heading("Paired differences", 3)
    pairs = (("H&W", SUPERVISED), ("H&W", "H"), ("H&W&C", "H&W"), ("top 50", "H&W&C"), (GAMMAS[1], "H&W&C"))
    _differences(rows, pairs, report)
    report.text(
        "Figures with γ = 0.1: "
        + "; ".join(
            f"{name}, 20 labelled, {text_of(draws_of(rows, size=20, setting=name, rules='none'))} % without and "
            f"{text_of(draws_of(rows, size=20, setting=name, rules='soft'))} % with rules in the end"
            for name in GAMMAS
        )
        + "."
    )
    sizes = sizes_of(rows)
    caption = "Token accuracy by labelled references, here and as published"
    with report.picture("learning", caption, (9.5, 4.0), ncols=2, sharey=True) as axes:
        for side, (axis, name) in enumerate(zip(axes, ENDS, strict=True)):
            for column, setting in enumerate(COLUMNS):
                points = [(n, mean(draws_of(rows, size=n, setting=setting, rules=name))) for n in sizes]
                shown = [(n, value) for n, value in points if value is not None]
                line = (
                    axis.plot(*zip(*shown, strict=True), marker="o", label=NAMES[setting])[0]
                    if shown
                    else None
                )
                if line and column in (0, 3):
                    values = [table[2 * column + side] for table in published.CITATIONS.values()]
                    label = f"{NAMES[setting]}, published"
                    axis.plot(list(published.CITATIONS), values, "--", color=line.get_color(), label=label)
            axis.set(xscale="log", xlabel="labelled references", title=TITLES[name])
            axis.set_xticks(TICKS, map(str, TICKS))
            axis.minorticks_off()
        axes[0].set_ylabel("token accuracy, %")
        axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)


def _table_2(rows: Rows, table: published.Table, report: Report) -> None:
    """Published figures and ours, by labelled sequences and rules in the end."""
    heads = (head for name in COLUMNS for head in (f"{name}: published", "here"))

    def lines() -> Iterator[list[str]]:
        for size, values in table.items():
            for side, name in enumerate(ENDS):
                line = [str(size), ENDS[name]]
                for column, setting in enumerate(COLUMNS):
                    here = text_of(draws_of(rows, size=size, setting=setting, rules=name))
                    line += [f"{values[2 * column + side]:.1f}", here]
                yield line

    report.table(("N", "rules in the end", *heads), lines(), left=2)


def _differences(rows: Rows, pairs: Sequence[tuple[str, str]], report: Report) -> None:
    """Points of token accuracy, mean ± standard error of the paired difference."""

    def lines() -> Iterator[list[str]]:
        for size in sizes_of(rows):
            for one, other in pairs:
                both = [
                    (
                        draws_of(rows, size=size, setting=one, rules=name),
                        draws_of(rows, size=size, setting=other, rules=name),
                    )
                    for name in ENDS
                ]
                if all(map(all, both)):
                    yield [str(size), f"{one} − {other}", *(gain(*each) for each in both)]

    columns = ("N", "points of token accuracy, ± standard error", "no rules in the end", "rules in the end")
    report.table(columns, lines(), left=2)


def _pool(rows: Rows, report: Report) -> None:
    report.heading("The other references as the pool")
    report.text(
        "Pairs are without / with rules in the end, %; processor seconds of a fit. Counts and posterior mix counts, of which the "
        "labelled references have 0.6; posterior has the rules in its E-step, soft EM has not; softer: 3 nats for changes without "
        "punctuation in the E-step, and 0.4 of the counts. Both were chosen on draws from 100 on, which are not reported."
    )
    kinds = dict.fromkeys(row["kind"] for row in rows)

    def lines() -> Iterator[list[str]]:
        for kind in kinds:
            for size in sizes_of(rows):
                for setting in (SUPERVISED, *LOOPS):
                    own = {"kind": kind, "size": size, "setting": setting}
                    if not draws_of(rows, **own):
                        continue
                    pairs = (
                        " / ".join(text_of(draws_of(rows, one, rules=name, **own)) for name in ENDS)
                        for one in ("tokens", "spans", "whole")
                    )
                    spent = number(mean(draws_of(rows, "seconds", rules="soft", **own)), 2)
                    yield [f"{kind}, {size}", setting, *pairs, spent]

    report.table(("HMM, N", "learning", "tokens", "span F1", "whole references", "s"), lines(), left=2)
    pairs = (
        ("H&W&C", "H&W"),
        (GAMMAS[1], "H&W&C"),
        ("top 10", "beam 10"),
        ("top 10", "H&W&C"),
        ("counts", "H&W&C"),
        ("posterior", GAMMAS[1]),
        ("posterior", "soft EM"),
        ("posterior, softer", "posterior"),
    )
    for kind in kinds:
        report.heading(f"Paired differences, {kind} HMM", 3)
        _differences([row for row in rows if row["kind"] == kind], pairs, report)
    own = {"kind": BEST, "size": 20}
    if values := draws_of(rows, setting="posterior", rules="soft", **own):
        bare = draws_of(rows, setting=SUPERVISED, rules="none", **own)
        ruled = draws_of(rows, setting=SUPERVISED, rules="soft", **own)
        report.text(
            f"With 20 labelled references, rules in the end raise the best HMM from {text_of(bare)} to {text_of(ruled)} % of tokens, and "
            f"learning with the posterior under rules to {text_of(values)} % ({gain(values, ruled)} points)."
        )


def _posts(rows: Rows, report: Report) -> None:
    report.heading("Table 2 (b): a stand-in for advertisements, token accuracy, %")
    report.text(
        "Published figures are of apartment advertisements, ours of bids for hotels: gains can be compared, levels cannot."
    )
    _table_2(rows, published.ADVERTISEMENTS, report)
    _differences(rows, (("H&W", SUPERVISED), ("H&W&C", "H&W"), ("top 50", "H&W&C")), report)
    gains = [
        f"{size} labelled: {_learning_gain(rows, size)} (published: {values[7] - values[5]:+.1f})"
        for size, values in published.ADVERTISEMENTS.items()
        if draws_of(rows, size=size, setting="H&W&C")
    ]
    report.text(
        f"Figure 3, points that constraints in learning add where they are used in the end anyway: {'; '.join(gains)}."
    )


def _learning_gain(rows: Rows, size: int) -> str:
    one, other = (draws_of(rows, size=size, setting=name, rules="soft") for name in ("H&W&C", "H&W"))
    return gain(one, other)
