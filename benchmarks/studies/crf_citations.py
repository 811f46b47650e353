"""References tagged by conditional random fields, with and without rules, beside published figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pandas import DataFrame

from benchmarks.data import umass
from benchmarks.data.corpora import drawn, train_and_dev
from benchmarks.data.evaluations import (
    MEASURES,
    beside_gold,
    evaluation_of,
    field_counts,
    gains,
    labels_of,
    measures,
    rechecked,
    row_of,
    span_measures,
)
from benchmarks.data.sets import Labelled
from benchmarks.report import Report, groups, percent
from benchmarks.study import Design, Row, Sources, Study
from formulations import Rule, RuleSet, Trellis, load_rules
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
PENG = {"tokens": 95.37, "whole": 77.33}


@dataclass(frozen=True)
class Cell:
    """One CRF; `training` is its number of references, 0 for all, or the draw of a split."""

    part: str
    training: int


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    if part == UMASS:
        umass.part(sources, "dev")
        some = sources(smoke=(ALL,), sample=(ALL, 400), full=(ALL, 100, 200, 400, 800))
    else:
        train_and_dev(sources.folder, part)
        some = tuple(range(sources(smoke=1, sample=8, full=40)))
    return (Cell(part, training) for training in some)


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
        return RuleSet(() if name == NONE else (umass.VALID,))
    mined = umass.mined_rules(sources.folder, sources.scale, training, umass.FOUR)
    kept = [one.rule for one in mined.rules if name == SOFT or not one.broken]
    rules: list[Rule] = [replace(rule, penalty=np.inf) if name == HARD else rule for rule in kept]
    return umass.with_valid(rules, mined.rule_set.fields)


def cora_rules(name: str) -> RuleSet:
    if name == CITATIONS:
        return load_rules("citations")
    return RuleSet(() if name == NONE else (umass.VALID,))


def outcome(trellises: Sequence[Trellis], dev: Sequence[Labelled], rules: RuleSet) -> Row:
    """The best labellings under rules; `breaking` counts references whose best labelling without rules breaks one."""
    solutions = rechecked(trellises, rules, LIMIT)
    free = Decoder(rules, method="viterbi").decode_many(trellises)
    scheme = trellises[0].labels.scheme
    top = sorted({label.split("/")[0][2:] for _, labels in dev for label in labels if label != "O"})
    return {
        **row_of(beside_gold(dev, map(labels_of, solutions), scheme=scheme), range(len(dev)), top),
        "number": len(rules.rules),
        "breaking": sum(any(one.violations.values()) for one in free),
        "optimal": sum(one.status == "optimal" for one in solutions),
    }


def _umass(frame: DataFrame, report: Report) -> None:
    rows = frame.to_dict("records")
    report.heading("UMass: F1 of exact spans at all levels")
    known = {(row["training"] or "all", row["rules"]): row for row in rows}
    more = ("break a rule without them %", "no labelling", "proved", "published F1 %")

    def line(row: Row) -> tuple[Any, ...]:
        breaking = percent(row["breaking"] / row["sequences"])
        own = breaking, row["missing"], row["optimal"], PUBLISHED.get(row["rules"], "–")
        return row["number"], *measures(evaluation_of([row])), *own

    columns = ("training references", "rules", "number", *MEASURES, *more)
    report.table(columns, ((*names, *line(row)) for names, row in known.items()), left=2)
    report.text(
        f"In the publication, the best labelling without rules breaks a rule on {BREAKING} % of the references."
    )
    report.heading("Differences on UMass, 95 % intervals", 3)
    others = {SCHEME: NONE, SOFT: SCHEME, HARD: SCHEME}
    report.table(
        (
            "training references",
            "rules",
            "against",
            *(f"{n}, points" for n in ("tokens", "F1 of spans", "whole references")),
        ),
        (
            (size, rules, other, *gains(evaluation_of([row]), evaluation_of([known[size, other]])))
            for (size, rules), row in known.items()
            if (other := others.get(rules, "")) and (size, other) in known
        ),
        left=3,
    )
    some = [known["all", rules] for rules in (NONE, SCHEME) if ("all", rules) in known]
    if not some:
        return
    report.heading("Top fields of UMass, whole training part", 3)
    titles = (f"{name} %, rules: {row['rules']}" for row in some for name in ("P", "R", "F1"))
    report.table(
        ("field", "spans", *titles),
        (
            (field, counts[1], *(text for row in some for text in span_measures(field_counts([row])[field])))
            for field, counts in field_counts(some[:1]).items()
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
        each = [evaluation_of([row]) for row in own.to_dict("records")]
        values = DataFrame(
            (one.accuracy, float(span_measures(one.of_all())[2]) / 100, one.whole_sequences) for one in each
        )
        lines.append(("draw 0", rules, *(percent(value, 2) for value in values.iloc[0])))
        if len(each) > 1:
            both = zip(values.mean(), values.sem(), strict=True)
            lines.append(("mean", rules, *(f"{percent(m, 2)} ± {percent(e, 2)}" for m, e in both)))
    report.table(("CRF", "rules", "tokens %", "span F1 %", "whole references %"), lines, left=2)


STUDY = Study(
    title="Conditional random fields of references",
    summary="F1 of spans, tokens and whole references of CRFs on UMass and Cora, with and without rules, beside published figures.",
    design=Design(
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
    ),
    parts=(UMASS, CORA),
    cells=cells,
    measure=measure,
    report={UMASS: _umass, CORA: _cora},
)
