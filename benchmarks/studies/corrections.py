"""Labels that a person has to tell until a reference is right, with and without rules."""

from collections.abc import Iterable

import numpy as np
from pandas import DataFrame, Series

import ilpinfer
from benchmarks.data import umass
from benchmarks.data.corpora import split
from benchmarks.data.evaluations import mined
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.optimum import recheck
from benchmarks.report import Cells, Report, fixed, groups, percent, signed
from benchmarks.study import RESPLIT, Cell, Row, SecondDraw, Sources, Study, grid
from formulations import RuleSet, Trellis, load_rules
from ilpinfer.decoding.questions import Measure
from ilpinfer.models.sequence_model import SequenceModel

ALONE, FIRST = "every wrong token", "first wrong token"
CHANGES, ENTROPY = "question of most changes", "question of most entropy"
WAYS = (ALONE, FIRST, CHANGES, ENTROPY)
WITHOUT, WITH = "without rules", "with rules"
CORA, UMASS = "cora", "umass"
SIZES, MINED, LABELLINGS = (20, 300), 5, 50
RESAMPLES = 1999


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A way of correction on all sequences of one model, with rules or without."""
    split(sources, part)
    models = [f"HMM of {size}" for size in SIZES] if part == CORA else ["CRF of 400"]
    return grid(part, model=models, rules=(WITHOUT, WITH), way=WAYS)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    model, rules, dev = _setting(sources, cell)
    decoder = ilpinfer.Decoder(rules)
    known = [pair for pair in dev if {*pair[1]} <= {*model.labels.names}]
    for tokens, gold in known[: sources(smoke=2, sample=100, full=1000)]:
        yield corrected(decoder, model.trellis(tokens), list(gold), cell.way)


def _setting(sources: Sources, cell: Cell) -> tuple[SequenceModel, RuleSet, list[Labelled]]:
    size = int(cell.model.split()[-1])
    train, dev = split(sources, cell.part)
    train = train[: sources(smoke=min(20, size), sample=size)]
    if cell.part == CORA:
        rules = load_rules("citations") if cell.rules == WITH else RuleSet(())
        return trained("hmm", train), rules, dev
    model = trained("crf", train, template="citations", max_iterations=60)
    return model, umass.with_valid([*mined(train, MINED)] if cell.rules == WITH else []), dev


def corrected(decoder: ilpinfer.Decoder, trellis: Trellis, gold: list[str], way: str) -> Row:
    """The labels that a person tells until the best labelling is gold; all of them where no labelling is left."""
    given: dict[int, str] = {}
    wrong, corrections = -1, 0
    while True:
        solution = decoder.decode(trellis, given=given)
        labels = solution.labels if solution.has_labelling else [""] * len(gold)
        errors = [t for t, (a, b) in enumerate(zip(labels, gold, strict=True)) if a != b]
        wrong = len(errors) if wrong < 0 else wrong
        if way == ALONE or not errors or not solution.has_labelling:
            break
        token = errors[0]
        if way != FIRST:
            by: Measure = "changes" if way == CHANGES else "entropy"
            question = ilpinfer.next_question(
                trellis, decoder.rules, given=given, by=by, labellings=LABELLINGS
            )
            token = errors[0] if question is None else question.token
        given[token] = gold[token]
        corrections += token in errors
    recheck(trellis.with_given(given), decoder.rules, solution)
    answers = len(gold) if not solution.has_labelling else len(errors) if way == ALONE else len(given)
    return {
        "tokens": len(gold),
        "wrong": wrong,
        "answers": answers,
        "corrections": len(errors) if way == ALONE else corrections,
        "right": not errors or way == ALONE,
    }


def report(frame: DataFrame, report: Report) -> None:
    for (part, model), some in groups(frame, "part", "model"):
        report.heading(f"{part}, {model}")
        cells: Cells = {
            "answers": lambda x: _interval(x.answers),
            "corrections": lambda x: _interval(x.corrections),
            ("right after 0 %", "1 %", "2 %", "5 %"): lambda x: [
                percent(float((x.answers <= n).mean())) for n in (0, 1, 2, 5)
            ],
            "never right": lambda x: int((~x.right).sum()),
        }
        report.pivot(some, {"rules": "rules", "way": "way"}, cells)
        first = some[(some.rules == WITHOUT) & (some.way == ALONE)]
        report.text(f"{len(first)} references of {first.tokens.mean():.1f} tokens.")
    report.heading("With rules less without, answers of the same references")

    def difference(some: DataFrame) -> str:
        two = [some[some.rules == rules].answers.reset_index(drop=True) for rules in (WITH, WITHOUT)]
        return _interval(two[0] - two[1], sign=True)

    report.pivot(frame, {name: name for name in ("part", "model", "way")}, {"answers": difference})


def _interval(values: Series, *, sign: bool = False) -> str:
    """The mean with a 95 % interval of the bootstrap over references."""
    array = values.to_numpy(float)
    drawn = np.random.default_rng(0).integers(0, len(array), (RESAMPLES, len(array)))
    low, high = np.percentile(array[drawn].mean(axis=1), (2.5, 97.5))
    shown = signed if sign else fixed
    return f"{shown(float(array.mean()), 2)} [{shown(float(low), 2)}, {shown(float(high), 2)}]"


STUDY = Study(
    title="Corrections by a person",
    source="Liao et al. 2009, section 2, after Culotta et al. 2006: corrections propagate, since decoding keeps known labels",
    corpus="Cora and UMass references, the first 100 of each development part whose labels the model knows (all scales: 2, "
    "100, 1000)",
    model="HMMs of 20 and 300 Cora references; a CRF of 400 UMass references",
    rules=f"none and `citations` for Cora; the scheme, and {MINED} mined soft rules beside it, for UMass",
    methods="the person corrects every wrong token, without decoding again; or the first wrong token, and the rest is decoded "
    "again; or answers `next_question`, by expected changes or by entropy, "
    f"with the best {LABELLINGS} labellings in place of all. Answers are gold labels",
    measures="answers until the whole reference is right, among them those that differ from the label shown (corrections); "
    "means with 95 % intervals of the bootstrap over references (1999 resamples). Where known labels and hard rules leave no "
    "labelling, every token is told. The last optimum of each reference is rechecked",
    parts=(CORA, UMASS),
    second=SecondDraw(
        RESPLIT,
        ("part", "model", "rules", "way"),
        {"answers": lambda x: _interval(x.answers), "corrections": lambda x: _interval(x.corrections)},
    ),
)
