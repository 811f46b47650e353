"""F1 of names where equal capitalised words of a document, or of a sentence, have the same kind of name, beside a CRF alone."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pandas import DataFrame

from benchmarks.data import evaluations as E
from benchmarks.data.corpora import train_and_dev
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.report import Cells, Report, groups
from benchmarks.study import Cell, Row, Sources, Study, grid
from formulations import RuleSet, join, load_rules
from formulations import constraints as C
from ilpinfer.evaluation.counts import f_measure
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.pipelines.cross_validation import make_folds

PARAMETERS = {"template": "entities", "c1": 0.05, "c2": 0.1, "max_iterations": 100}
FOLDS, LIMIT = 4, 5.0
FIRST = 10_000
"""Place of the first document of a fold, in multiples of the fold's number plus 1."""
CHOICE, SECOND, DEV = "choice", "second", "dev"
PARTS = {
    CHOICE: "Two folds of the training part, where the penalties are chosen",
    SECOND: "The other two folds, on which no choice was made",
    DEV: "Development part",
}
SCHEME, ENTITIES = "labels keep their scheme", "`entities`"
SENTENCE, DOCUMENT = "equal words of a sentence", "equal words of a document"
NONE, HARD = "–", "hard"
PENALTIES = ("1", "2", "3", "5", HARD)
"""Nats for each word with another kind of name than the equal word before it."""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """Documents, and the rules that they are labelled under beside the scheme."""
    train_and_dev(sources.folder, "names")
    folds = {CHOICE: range(FOLDS // 2), SECOND: range(FOLDS // 2, FOLDS), DEV: [-1]}[part]
    penalties = sources(smoke=PENALTIES[1:2], sample=PENALTIES)
    for fold in folds:
        yield from grid(part, fold=[fold], rules=(SCHEME, ENTITIES), penalty=[NONE])
        yield from grid(part, fold=[fold], rules=(SENTENCE, DOCUMENT), penalty=penalties)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    model, some = _setting(sources, cell.fold)
    trellises = [[model.trellis(tokens) for tokens, _ in document] for document in some]
    groups_of = trellises if cell.rules == DOCUMENT else [[one] for each in trellises for one in each]
    joined = list(map(join, groups_of))
    solutions = E.rechecked([each.trellis for each in joined], _rules(cell), LIMIT)
    labellings = [
        labels
        for each, solution in zip(joined, solutions, strict=True)
        for labels in (
            each.split(solution.labels) if solution.has_labelling else [None] * len(each.sequences)
        )
    ]
    pairs = [pair for document in some for pair in document]
    places = [FIRST * (1 + cell.fold) + place for place, document in enumerate(some) for _ in document]
    yield {
        **E.row_of(E.beside_gold(pairs, labellings), places),
        "documents": len(some),
        "decoded": len(solutions),
        **E.statuses(solutions, "optimal"),
    }


def _rules(cell: Cell) -> RuleSet:
    scheme = C.valid_scheme()
    if cell.rules == ENTITIES:
        entities = load_rules("entities")
        return RuleSet((scheme, *entities.items), entities.fields)
    if cell.penalty == NONE:
        return RuleSet((scheme,))
    nats = float("inf") if cell.penalty == HARD else float(cell.penalty)
    return RuleSet((scheme, C.consistent(token_class="capitalised", penalty=nats)))


def _setting(sources: Sources, fold: int) -> tuple[TrainedModel, list[list[Labelled]]]:
    """The model and the documents of a fold, which it has not seen; of the development part for -1."""
    train, dev = (documents(part) for part in train_and_dev(sources.folder, "names"))
    most = sources(smoke=8, sample=len(train), full=len(train))
    train, dev = train[:most], dev[: sources(smoke=2, sample=len(dev), full=len(dev))]
    left = set(make_folds(range(len(train)), FOLDS, 0)[fold]) if fold >= 0 else set[int]()
    chosen = [pair for place, document in enumerate(train) if place not in left for pair in document]
    model = trained("crf", chosen, **PARAMETERS)
    return model, [train[place] for place in sorted(left)] if left else dev


def documents(sentences: Sequence[Labelled]) -> list[list[Labelled]]:
    """Sentences of each report of the news agency: it begins with a dateline, such as `Madrid , 23 may ( EFE ) .`"""
    result: list[list[Labelled]] = []
    for tokens, labels in sentences:
        dateline = any(before == "(" and token.startswith("EFE") for before, token in pairwise(tokens))
        if dateline or not result:
            result.append([])
        result[-1].append((tokens, labels))
    return result


def report(frame: DataFrame, report: Report) -> None:
    best = {
        name: _best(frame[(frame.part == CHOICE) & (frame.rules == name)]) for name in (SENTENCE, DOCUMENT)
    }
    chosen = (frame.part != CHOICE) & (frame.penalty == frame.rules.map(best))
    frame["nats"] = frame.penalty.where(~chosen, frame.penalty + " (chosen)")
    base = {part: own for (part,), own in groups(frame[frame.rules == SCHEME], "part")}
    cells: Cells = {
        E.MEASURES: lambda x: E.measures(E.evaluation_of(x)),
        "F1, points over the first line": E.gain_over(lambda x: base[x.part.iloc[0]]),
        "proved": lambda x: f"{x.optimal.sum()} of {x.decoded.sum()}",
    }
    for (part,), some in groups(frame, "part"):
        report.heading(PARTS[part])
        report.pivot(some, {"rules": "rules", "penalty, nats": "nats"}, cells)
        documents = some.documents[some.rules == SCHEME].sum()
        report.text(f"{documents} documents of {E.evaluation_of(base[part]).tokens.sum()} tokens.")


def _best(some: DataFrame) -> str:
    """The penalty with the best F1."""
    scores = {nats: f_measure(E.evaluation_of(own).of_all()) for (nats,), own in groups(some, "penalty")}
    return max(scores, key=scores.__getitem__, default=NONE)


STUDY = Study(
    title="Equal words of a document",
    source="Finkel, Grenager and Manning 2005; Sutton and McCallum 2004: equal words of a document tend to have one label",
    corpus="CoNLL-2002 Spanish: the development part, and four folds of the training part by document (smoke: 2 and 8 documents). Penalties are "
    "chosen on two of the folds. A document begins at a dateline of the agency, such as `Madrid , 23 may ( EFE ) .`, which tokens alone tell",
    model="linear-chain CRF with the template `entities`; L-BFGS with c1 = 0.05, c2 = 0.1, 100 iterations; of the other three folds, or of the "
    "whole training part",
    rules="labels keep their scheme, hard; beside it the catalogue `entities`, or a penalty for each capitalised word with another kind of name than "
    "the equal one before it, in the sentence or in the document",
    methods="`auto`, on sentences or on documents joined of their sentences",
    limits=f"{LIMIT:g} s a sentence or document; what has no labelling counts as wrong",
    seeds="folds 0; bootstrap 0",
    measures="in per cent: right tokens, precision, recall and F1 of exact spans, sentences that are right as a whole. Gains in points with 95 % "
    "intervals of the paired bootstrap over documents (1999 resamples). Every optimum is rechecked",
    parts=tuple(PARTS),
)
