"""A hand-written tagger, two conditional random fields, and rewards and rules beside them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from pandas import DataFrame, concat

from benchmarks import optimum
from benchmarks.data.corpora import read_labelled
from benchmarks.data.line_breaks import trained_between_breaks, with_breaks
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.report import Cells, Report, groups, percent
from benchmarks.studies.trompper.tagger import BREAK, LABELS, TITLE, tag
from benchmarks.study import Cell, Row, SecondDraw, Sources, Study, grid
from formulations import RuleSet, load_rules
from formulations import constraints as C
from ilpinfer.evaluation.counts import Counts, f_measure, precision, recall
from ilpinfer.evaluation.evaluation import Pair
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.cross_validation import make_folds

TAGGER, FIELDS = "tagger", "fields"
KEPT, OMITTED = "newlines kept", "newlines omitted"
REGULARISATION = {"unregularised": 0.0, "L2": 1.0}
REWARDS = (-2.4, -1.2, -0.6, 0.0, 0.6, 1.2, 1.8, 2.4, 3.6)
"""Nats for each section title."""
CATALOGUE = "catalogue"
FOLDS, ITERATIONS = 5, 200
BETAS = {"F1": 1.0, "F0.5": 0.5}
PUBLISHED: dict[str, dict[str, tuple[float | None, ...]]] = {
    "deterministic tagger": {"text": (96, 74, None, None), "file": (96.5, 75.0, 84.4, None)},
    KEPT: {"text": (91, 91, 91, 91), "file": (93.4, 85.5, 89.2, None)},
    OMITTED: {"text": (None, None, None, None), "file": (91.9, 84.5, 88.0, None)},
}
"""P, R, F1 and F0.5 of titles in per cent: of the text, and of `js/tagger-results.json` in the thesis's repository."""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """A model trained on all folds but one; the tagger, which needs no training, labels everything at once."""
    _documents(sources)
    if part == TAGGER:
        yield from grid(part, condition=["deterministic tagger"], regularisation=["–"], shuffle=[0], fold=[0])
        return
    folds = range(sources(smoke=1, sample=FOLDS))
    for n in range(sources(smoke=1, sample=3, full=20)):
        conditions = (KEPT, OMITTED)
        yield from grid(part, condition=conditions, regularisation=REGULARISATION, shuffle=[n], fold=folds)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    documents = _documents(sources)
    if cell.part == TAGGER:
        pairs = [Pair(tokens, tuple(tag(tokens)), gold) for tokens, gold in documents]
        yield {"rules": "none", "reward": 0.0, "confusion": confusion(pairs)}
        return
    held_out = make_folds(range(len(documents)), FOLDS, sources.seed(cell.shuffle))[cell.fold]
    left = set(held_out)
    training = [pair for place, pair in enumerate(documents) if place not in left]
    parameters = {
        "c2": REGULARISATION[cell.regularisation],
        "max_iterations": sources(smoke=20, sample=ITERATIONS),
    }
    model: SequenceModel = (
        trained_between_breaks(training, "case-law", **parameters)
        if cell.condition == OMITTED
        else trained("crf", training, template="case-law", **parameters)
    )
    for name, reward, rules in _rule_sets(cell.condition):
        pairs = [_labelled(model, documents[place], rules, cell.condition) for place in held_out]
        yield {"rules": name, "reward": reward, "confusion": confusion(pairs)}


def _rule_sets(condition: str) -> Iterator[tuple[str, float, RuleSet]]:
    """Rules of the catalogue speak of newlines, so that they need them."""
    for reward in REWARDS:
        yield "reward", reward, RuleSet((C.feature(to=TITLE, weight=reward),) if reward else ())
    if condition == KEPT:
        yield CATALOGUE, 0.0, load_rules("case-law")


def _labelled(model: SequenceModel, document: Labelled, rules: RuleSet, condition: str) -> Pair:
    tokens, gold = document
    solution = optimum.optimum(model.trellis(tokens), rules)
    labels = with_breaks(tokens, solution.labels, BREAK) if condition == OMITTED else solution.labels
    return Pair(tokens, tuple(labels), gold)


def confusion(pairs: Sequence[Pair]) -> list[list[int]]:
    """Tokens [gold, predicted] in the order of LABELS."""
    result = np.zeros((len(LABELS), len(LABELS)), np.int64)
    for pair in pairs:
        for gold, predicted in zip(pair.gold, pair.predicted or (), strict=True):
            result[LABELS.index(gold), LABELS.index(predicted)] += 1
    return result.tolist()


def _documents(sources: Sources) -> list[Labelled]:
    return read_labelled(sources.folder / "rechtspraak" / "all.tsv")


def counts_of(confusions: Iterable[Sequence[Sequence[int]]]) -> Counts:
    """(3,) tokens of titles: predicted, gold and both."""
    total, place = np.sum(list(confusions), axis=0), LABELS.index(TITLE)
    return np.array([total[:, place].sum(), total[place].sum(), total[place, place]])


def chosen(own: DataFrame, beta: float) -> DataFrame:
    """For each fold the reward with the best F measure of titles on the other folds of its shuffle."""
    result = []
    for (shuffle, fold), some in groups(own, "shuffle", "fold"):
        others = own[(own.shuffle == shuffle) & (own.fold != fold)]
        by_reward = groups(others if len(others) else some, "reward")
        values = {reward: float(f_measure(counts_of(each.confusion), beta)) for (reward,), each in by_reward}
        result.append(some[some.reward == max(some.reward, key=values.__getitem__)])
    return concat(result)


def _methods(frame: DataFrame) -> DataFrame:
    """The rows of each method, named by condition, training and rules."""
    result = []
    for _, own in groups(frame, "condition", "regularisation"):
        rewards, catalogue = own[own.rules == "reward"], own[own.rules == CATALOGUE]
        result.append(own[(own.reward == 0) & (own.rules != CATALOGUE)].assign(method="none"))
        if len(rewards):
            result += (
                chosen(rewards, beta).assign(method=f"title reward chosen for {name}")
                for name, beta in BETAS.items()
            )
        result.append(catalogue.assign(method="case-law rules"))
    return concat(result)


def shares(confusions: Iterable[Any]) -> tuple[float, float, float, float]:
    """Precision, recall, F1 and F0.5 of titles."""
    counts = counts_of(confusions)
    measures = precision(counts), recall(counts), *(f_measure(counts, beta) for beta in BETAS.values())
    return tuple(map(float, measures))  # type: ignore[return-value]


def _rewarded(frame: DataFrame) -> DataFrame:
    return frame[frame.rules == "reward"]


def _f1(frame: DataFrame) -> str:
    return percent(shares(frame.confusion)[2])


NAMES = {"condition": "condition", "training": "regularisation", "rules": "method"}
FIGURES = ("P %", "R %", "F1 %", "F0.5 %")


def report(frame: DataFrame, report: Report) -> None:
    methods = _methods(frame)
    report.heading("Figure 8: section titles")
    cells: Cells = {
        FIGURES: lambda x: map(percent, shares(x.confusion)),
        ("published P", "R", "F1", "F0.5", "file P", "R", "F1"): _published,
    }
    report.pivot(methods, NAMES, cells)


def _published(some: DataFrame) -> list[str]:
    condition, training, rules = some[[*NAMES.values()]].iloc[0]
    if rules != "none" or training == "L2":
        return ["–"] * 7
    figures = (*PUBLISHED[condition]["text"], *PUBLISHED[condition]["file"][:3])
    return ["–" if f is None else f"{f:g}" for f in figures]


STUDY = Study(
    title="Section titles in Dutch case law",
    source="Trompper 2016, chapter Tagging Elements, Figure 8; figures of its text, and of the file `js/tagger-results.json` "
    "of its repository, which differ",
    corpus="50 public documents of case law; a token is a whole text element. All documents are decoded at each scale; shuffles of the "
    "documents: smoke 1 (one fold), sample 3, full 20",
    model="the deterministic tagger, written after the chapter's description; CRFs with the template `case-law`, at most "
    f"{ITERATIONS} iterations of L-BFGS, newlines kept or omitted (then put back), unregularised as published or with L2 of "
    f"{REGULARISATION['L2']:g}",
    rules="none; a reward for each section title, chosen for each fold on the other folds, for F1 and for F0.5; the catalogue's "
    "`case-law` (penalties counted on all 50 documents, so that its rows are a little too good)",
    methods="exact decoding (`auto`); with no rules this is Viterbi",
    seeds="numbers of shuffles",
    measures=f"precision, recall, F1 and F0.5 of the tokens of titles, in per cent, over {FOLDS} folds by document",
    stand_ins="The 100 annotated documents of the chapter are not public as a whole; 50 are, so that a field is trained on 40 of them. "
    "The chapter tests on documents that it does not name; here these are the folds. It has 250 binary features; the template has "
    "the same kinds of features and more. The chapter's figures have no numbers in the text that is at hand",
    parts=(TAGGER, FIELDS),
    second=SecondDraw(
        "as many other shuffles of the same documents into folds",
        ("condition", "regularisation"),
        {
            "F1 % of titles without rules": lambda x: _f1(_rewarded(x[x.reward == 0])),
            "with a reward chosen for F1": lambda x: _f1(chosen(_rewarded(x), 1.0)),
        },
        lambda cell: cell.part == FIELDS,
    ),
)
