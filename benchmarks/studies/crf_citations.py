"""F1 of spans, tokens and whole references of CRFs on UMass and Cora, with and without rules, beside published figures."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from pandas import DataFrame

from benchmarks.data import evaluations as E
from benchmarks.data import umass
from benchmarks.data.corpora import drawn, train_and_dev, with_factor
from benchmarks.data.sets import Labelled
from benchmarks.report import Cells, Report, groups, percent
from benchmarks.study import Cell, Row, Sources, Study, grid
from formulations import RuleSet, Trellis, load_rules
from ilpinfer.decoding.decoder import Decoder

UMASS, CORA = "umass", "cora"
NONE, SCHEME, SOFT, HARD = "none", "labels keep their scheme", "mined, soft", "mined and never broken, hard"
CITATIONS = "`citations`"
RULES = {UMASS: (NONE, SCHEME, SOFT, HARD), CORA: (NONE, SCHEME, CITATIONS)}
ALL = 0
"""Stands for the whole training part."""
LIMIT = 0.8
PUBLISHED = {NONE: "94.44 (CRF)", SOFT: "95.39 (soft, learnt)", HARD: "94.60 (the same, all hard)"}
"""F1 of Anzaroot et al. 2014, on the test part."""
BREAKING = 23.7
"""Per cent of references whose best labelling without constraints breaks one, in the same place."""
AGAINST = {SCHEME: NONE, SOFT: SCHEME, HARD: SCHEME}
"""Rules, and those that they are compared with."""
PENG = {"tokens": 95.37, "whole": 77.33}


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A CRF each; `training` is its number of references, 0 for all, or the draw of a split."""
    if part == UMASS:
        umass.part(sources, "dev")
        return grid(part, training=sources(smoke=(ALL,), sample=(ALL, 400), full=(ALL, 100, 200, 400, 800)))
    train_and_dev(sources.folder, part)
    return grid(part, training=range(sources(smoke=1, sample=8, full=40)))


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    if cell.part == UMASS:
        train, dev = umass.training_part(sources, cell.training), umass.part(sources, "dev")
    else:
        train, dev = split(sources, cell.training)
    model = umass.crf(train)
    trellises = [model.trellis(tokens) for tokens, _ in dev]
    for name in RULES[cell.part]:
        rules = umass_rules(sources, cell.training, name) if cell.part == UMASS else cora_rules(name)
        yield {"rules": name, "sequences": len(dev), **outcome(trellises, dev, rules)}


def split(sources: Sources, draw: int) -> tuple[list[Labelled], list[Labelled]]:
    """300 references to train on and 100 to label; the natural ones for draw 0."""
    train, dev = train_and_dev(sources.folder, "cora")
    if sources.scale == "smoke":
        train, dev = train[:30], dev[:10]
    every = [*train, *dev]
    every = drawn(every, draw) if draw else every
    return every[: len(train)], every[len(train) :]


def umass_rules(sources: Sources, training: int, name: str) -> RuleSet:
    """Soft rules have the penalties that the miner counts; hard are those that no training reference breaks."""
    if name in (NONE, SCHEME):
        return cora_rules(name)
    mined = umass.mined_rules(sources.folder, sources.scale, training, umass.FOUR)
    kept = [one.rule for one in mined.entries if name == SOFT or not one.broken]
    return with_factor(umass.with_valid(kept, mined.rules.fields), np.inf if name == HARD else 1.0)


def cora_rules(name: str) -> RuleSet:
    if name == CITATIONS:
        return load_rules("citations")
    return RuleSet(() if name == NONE else (umass.VALID,))


def outcome(trellises: Sequence[Trellis], dev: Sequence[Labelled], rules: RuleSet) -> Row:
    """The best labellings under rules; `breaking` counts references whose best labelling without rules breaks one."""
    solutions = E.rechecked(trellises, rules, LIMIT)
    free = Decoder(rules, method="viterbi").decode_many(trellises)
    scheme = trellises[0].labels.scheme
    top = sorted({label.split("/")[0][2:] for _, labels in dev for label in labels if label != "O"})
    return {
        **E.row_of(E.beside_gold(dev, map(E.labels_of, solutions), scheme=scheme), range(len(dev)), top),
        "number": len(rules.rules),
        "breaking": sum(any(one.violations.values()) for one in free),
        **E.statuses(solutions, "optimal"),
    }


def _umass(frame: DataFrame, report: Report) -> None:
    frame = frame.assign(size=[training or "all" for training in frame.training])
    by = {"training references": "size", "rules": "rules"}
    report.heading("UMass: F1 of exact spans at all levels")
    cells: Cells = {
        "number": lambda x: x.number.iloc[0],
        E.MEASURES: lambda x: E.measures(E.evaluation_of(x)),
        "break a rule without them %": lambda x: percent((x.breaking / x.sequences).iloc[0]),
        ("no labelling", "proved"): lambda x: x[["missing", "optimal"]].iloc[0],
        "published F1 %": lambda x: PUBLISHED.get(x.rules.iloc[0], "–"),
    }
    report.pivot(frame, by, cells)
    report.text(
        f"In the publication, the best labelling without rules breaks a rule on {BREAKING} % of the references."
    )
    report.heading("Differences on UMass, 95 % intervals", 3)
    own = frame.assign(other=frame.rules.map(AGAINST)).dropna(subset="other")

    def points(some: DataFrame) -> tuple[str, ...]:
        other = frame[(frame["size"] == some["size"].iloc[0]) & (frame.rules == some.other.iloc[0])]
        return E.gains(E.evaluation_of(some), E.evaluation_of(other))

    titles = tuple(f"{name}, points" for name in ("tokens", "F1 of spans", "whole references"))
    report.pivot(own, by | {"against": "other"}, {titles: points})
    whole = frame[(frame.training == ALL) & frame.rules.isin([NONE, SCHEME])]
    some = [rows for _, rows in groups(whole, "rules")]
    if not some:
        return
    report.heading("Top fields of UMass, whole training part", 3)
    heads = (f"{name} %, rules: {rows.rules.iloc[0]}" for rows in some for name in ("P", "R", "F1"))
    report.table(
        ("field", "spans", *heads),
        (
            (field, counts[1], *(x for rows in some for x in E.span_measures(E.field_counts(rows)[field])))
            for field, counts in E.field_counts(some[0]).items()
        ),
    )


def _cora(frame: DataFrame, report: Report) -> None:
    report.heading("Cora: tokens and whole references")
    report.text(
        f"Draw 0 is the natural split; the mean is over {frame.training.nunique()} draws, with its standard error."
    )
    lines: list[tuple[str, ...]] = [
        ("Peng and McCallum 2004, CRF, 350 references", "none", f"{PENG['tokens']}", "–", f"{PENG['whole']}")
    ]
    for (rules,), own in groups(frame, "rules"):
        each = [E.evaluation_of([row]) for row in E.rows_of(own)]
        values = DataFrame(
            (one.accuracy, float(E.span_measures(one.of_all())[2]) / 100, one.whole_sequences) for one in each
        )
        lines.append(("draw 0", rules, *(percent(value, 2) for value in values.iloc[0])))
        if len(each) > 1:
            both = zip(values.mean(), values.sem(), strict=True)
            lines.append(("mean", rules, *(f"{percent(m, 2)} ± {percent(e, 2)}" for m, e in both)))
    report.table(("CRF", "rules", "tokens %", "span F1 %", "whole references %"), lines, left=2)


STUDY = Study(
    title="Conditional random fields of references",
    source="Anzaroot, Passos, Belanger and McCallum 2014 (UMass: results of CRF, soft and hard constraints); Peng and McCallum "
    "2004 (Cora: headline figures of the CRF)",
    corpus="UMass references, all 660 of the development part, by CRFs of the whole training part (1457) and of 400 evenly spaced "
    "references (full: 100, 200 and 800, too; smoke: 12 references of each part). Cora: 300 references to train on and 100 to label, in the "
    "natural split and in 7 random splits of the same 400 (full: 39 random splits; smoke: the natural one, 30 and 10 references)",
    model="linear-chain CRF with the template `citations`; L-BFGS with c1 = 0.05, c2 = 0.3, 120 iterations. A cell that trains on "
    "the whole of UMass takes minutes",
    rules="none; labels keep their scheme. UMass: rules of four families mined from the references that the CRF is trained on, soft with "
    "penalties as counted, or hard where no training reference breaks them. Cora: the rules of `citations`",
    methods="`auto`; Viterbi without rules tells which references break a rule",
    limits=f"{LIMIT:g} s a reference; a reference without a labelling counts as wrong",
    seeds="splits of Cora: the number of the draw; bootstrap: 0",
    measures="in per cent: right tokens, precision, recall and F1 of exact spans, whole references. On UMass spans of all levels count. "
    "Gains in points with 95 % intervals of the paired bootstrap over references (1999 resamples). Every optimum is rechecked",
    stand_ins="The test part of UMass (367 references) is not here: the development part takes its place, and neither features nor "
    "constraints are those of the publication, whose penalties are learnt (see the study umass-rules). Peng and McCallum train on 350 and "
    "label 150 of 500 Cora references; here are 400 of them, with punctuation as tokens of its own. A whole reference has the gold "
    "spans here, the gold label of every token there",
    parts=(UMASS, CORA),
    report={UMASS: _umass, CORA: _cora},
)
