"""The report: a table for each corpus and model, what stands out in it, and a picture of F1."""

from collections.abc import Iterator, Sequence

from pandas import DataFrame

from benchmarks.report import Cells, Report, groups, number, signed
from benchmarks.study import Row

ALL = "all rules"
POINTS = ("tokens", "span F1", "95 % of F1", "whole", "bare Viterbi passes")
BREAKS = ("not proved", "gold breaks", "Viterbi breaks")


def report(rows: Sequence[Row], report: Report) -> None:
    report.text(
        "Differences in points: alone, against no rule; without it, against all rules. A rule that helps has positive "
        "numbers alone and negative ones where it is left out."
    )
    tables = {key: table_of(own) for key, own in groups(DataFrame(rows), "part", "model")}
    for (part, model), own in tables.items():
        report.heading(f"{part.capitalize()}, {model}")
        _table(own, report)
    _picture(
        {model: own for (part, model), own in tables.items() if part == rows[0]["part"]},
        rows[0]["part"],
        report,
    )


def _table(own: DataFrame, report: Report) -> None:
    unit = own.unit.iloc[0]
    report.text(
        f"{own.sequences.iloc[0]} sequences; the unit, a bare Viterbi pass without rules, takes {number(unit)} µs a sequence."
    )

    def points(some: DataFrame, without: bool) -> list[str]:
        if not len(one := some[some.without == without]):
            return ["–"] * 5
        (_, tokens, *_), (_, spans, low, high), (_, whole, *_), spent = one[
            ["tokens", "spans", "whole", "microseconds"]
        ].iloc[0]
        interval = f"{signed(low, 2)} to {signed(high, 2)}"
        return [signed(tokens, 2), signed(spans, 2), interval, signed(whole, 2), number(spent / unit)]

    def breaks(some: DataFrame) -> list[str]:
        alone = some[~some.without].iloc[0]
        return [str(alone.open), *(number(alone.get(who), 9) for who in ("gold", "viterbi"))]

    cells: Cells = {
        POINTS: lambda x: points(x, False),
        BREAKS: breaks,
        ("without it: tokens", *POINTS[1:]): lambda x: points(x, True),
    }
    report.pivot(own, {"rule": "rule"}, cells)
    report.text("\n".join(f"- {text}" for text in sentences(own)))


def table_of(frame: DataFrame) -> DataFrame:
    """The rows of rules that were tried alone, in the order of rules, with the gain and interval of F1."""
    own = frame[frame.rule.isin(frame.rule[~frame.without])]
    return own.assign(gain=own.spans.str[1], low=own.spans.str[2], high=own.spans.str[3])


def sentences(own: DataFrame) -> Iterator[str]:
    """The rules that help and harm most, and those that help only together with others, or only alone."""
    rules = own[own.rule != ALL]
    alone, without = rules[~rules.without], rules[rules.without]
    for together in own[own.rule == ALL].itertuples():
        yield (
            f"All {len(alone)} rules and features: {signed(together.tokens[1])} points of tokens, {signed(together.spans[1])} of "
            f"span F1, {signed(together.whole[1])} of whole sequences, at {number(together.microseconds / together.unit)} "
            f"times bare Viterbi; {together.open} of {together.sequences} not proved."
        )
    if len(alone) and alone.gain.max() > 0:
        best = alone.loc[alone.gain.idxmax()]
        yield f"Alone, “{best.rule}” gains most: {signed(best.gain)} points of span F1."
    changes = rules.assign(
        change=[any(one[1] for one in row) for row in rules[["tokens", "spans", "whole"]].to_numpy()]
    )
    idle = changes.groupby("rule", sort=False).change.agg(["any", "size"])
    for text, names in (
        ("Harmful alone, with an interval below 0", alone.rule[alone.high < 0]),
        ("Better left out, with an interval above 0", without.rule[without.low > 0]),
        ("Without any effect, alone or left out", idle.index[~idle["any"] & (idle["size"] == 2)]),
    ):
        if len(names):
            yield f"{text}: {', '.join(f'“{name}”' for name in names)}."


def _picture(chosen: dict[str, DataFrame], part: str, report: Report) -> None:
    names = [name for name in next(iter(chosen.values())).rule.unique() if name != ALL]
    caption = f"{part.capitalize()}: span F1 gained by each rule alone, and lost without it"
    look = {"ncols": len(chosen), "sharey": True, "squeeze": False}
    with report.picture("alone", caption, (9.0, 0.8 + 0.28 * len(names)), **look) as axes:
        for place, (model, own) in zip(axes[0], chosen.items(), strict=True):
            for shift, without, label in ((-0.2, False, "gained alone"), (0.2, True, "lost without it")):
                gains = own[own.without == without].set_index("rule").gain.reindex(names).fillna(0.0)
                heights = [n + shift for n in range(len(names))]
                place.barh(heights, -gains if without else gains, 0.4, label=label)
            place.set_yticks(range(len(names)), names)
            place.set_title(model, fontsize=9)
            place.set_xlabel("points of span F1")
            place.axvline(0, color="black", linewidth=0.6)
        axes[0][0].invert_yaxis()
        axes[0][0].legend(frameon=False, fontsize=8)
