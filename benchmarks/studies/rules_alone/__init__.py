"""What each rule of the catalogue gains and costs by itself, and what is lost without it."""

from collections.abc import Iterable, Iterator

from pandas import DataFrame

from benchmarks import optimum
from benchmarks.data.evaluations import labels_of
from benchmarks.report import Cells, Report, groups, number, signed
from benchmarks.studies.rules_alone.settings import MODELS, SPLIT, Problems, pairs_of, problems, rules_of
from benchmarks.study import RESPLIT, Cell, Row, SecondDraw, Sources, Study, grid
from formulations.problem.compiled_rules import unique_names
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.significance import compare

ALL = "all rules"
POINTS = ("tokens", "span F1", "95 % of F1", "whole", "bare Viterbi passes")
BREAKS = ("not proved", "gold breaks", "Viterbi breaks")


def report(frame: DataFrame, report: Report) -> None:
    report.text(
        "Differences in points: alone, against no rule; without it, against all rules. A rule that helps has positive "
        "numbers alone and negative ones where it is left out."
    )
    tables = {key: table_of(own) for key, own in groups(frame, "part", "model")}
    for (part, model), own in tables.items():
        report.heading(f"{part.capitalize()}, {model}")
        _table(own, report)
    first = frame.part.iloc[0]
    _picture({model: own for (part, model), own in tables.items() if part == first}, first, report)


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


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """One rule, alone or left out, or all rules together."""
    pairs_of(part, sources)
    names = tuple(unique_names(rules_of(part, sources)))[: sources(smoke=1, sample=None)]
    for model in MODELS[part]:
        yield from grid(part, model=[model], rule=[ALL], without=[False])
        yield from grid(part, model=[model], rule=names, without=(False, True))


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    own = problems(cell.part, cell.model, sources)
    bare = own.baseline
    if cell.rule == ALL:
        rules, (result, spent), against = own.rules, own.complete, bare
    else:
        rules = own.chosen(cell.rule, cell.without)
        result, spent = own.decoded(rules)
        against = own.complete[0] if cell.without else bare
    row = _gains(own, result, against, sources(smoke=19, sample=999, full=9999))
    for trellis, solution in zip(own.trellises, result, strict=True):
        optimum.recheck(trellis, rules, solution)
    if cell.rule != ALL and not cell.without:
        row |= {"gold": own.broken(cell.rule, [gold for _, gold in own.pairs])}
        row |= {"viterbi": own.broken(cell.rule, [solution.labels for solution in bare])}
    yield row | {
        "microseconds": spent,
        "unit": own.unit,
        "open": sum(solution.status not in ("optimal", "infeasible") for solution in result),
        "sequences": len(result),
    }


def _gains(own: Problems, result: list[Solution], against: list[Solution], resamples: int) -> Row:
    one, other = (own.evaluated([labels_of(solution) for solution in some]) for some in (result, against))
    differences = zip(("tokens", "spans", "whole"), compare(one, other, resamples=resamples), strict=True)
    return {name: [100 * x for x in (d.value, d.gain, d.low, d.high)] for name, d in differences}


STUDY = Study(
    title="Each rule alone",
    corpus="the 100 development references of Cora; generated résumé items and the items of the odd-numbered public "
    "résumés; the odd-numbered documents of Dutch case law; development sentences of CoNLL-2002 Spanish. Scales: 3 "
    "sequences and one rule each; at most 200 sequences; all sequences (and 3120 generated items)",
    model="HMMs of 20 and 300 references and a CRF of 300; HMMs of 300 generated items and of the items of 56 résumés; CRFs of "
    "25 documents of case law and of 400 sentences",
    rules="`citations` with `citations-order` and `bio`; the rules and features of `resume` and its variants, without those "
    "about descriptions on public résumés, which do not label them; `case-law`; `entities` with `bio`. The "
    "lists of `newswire` are examples and are left out. Penalties are those of the catalogue",
    methods="`auto` with one rule, with all, and with all but one; Viterbi without rules",
    limits="1 s a sequence",
    seeds="0 for resampling",
    measures="differences in points of right tokens, F1 of exact spans and whole sequences, the 95 % interval of F1 by the paired "
    "bootstrap; processor time as a ratio to a bare compiled Viterbi pass without rules, which is the unit; sequences "
    "not proved; sequences in which gold and Viterbi's labelling break the rule",
    stand_ins="generated items stand for résumés with labelled descriptions",
    parts=tuple(MODELS),
    second=SecondDraw(
        f"{RESPLIT}; of case law, the other half of the documents",
        ("part", "model", "rule"),
        {
            "tokens": lambda x: signed(x.tokens.iloc[0][1], 2),
            "span F1": lambda x: "{1} ({2} to {3})".format(*(signed(each, 2) for each in x.spans.iloc[0])),
        },
        lambda cell: cell.rule == ALL and cell.part in SPLIT,
    ),
    timed=True,
)
