"""Items decoded under rules by one method, and what becomes of each document."""

from collections.abc import Iterable, Iterator, Sequence

import ilpinfer
from benchmarks import optimum
from benchmarks.studies.stokman.corpora import DUTCH, GENERATED, PERFECT, PREDICTED, RESUMES, Document, corpus
from benchmarks.study import Cell, Row, Sources, grid
from benchmarks.timing import timed
from formulations import LabelSet, RuleSet
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.sequence_model import SequenceModel

NONE, OPTIMUM, MIXED = "Viterbi", "optimum", "mixed, published"
METHODS = {
    NONE: "viterbi",
    OPTIMUM: "auto",
    MIXED: "hybrid:variant=published:zero=best",
    "evolutionary, published": "evolutionary:variant=published",
    "discrepancy, published": "lds:variant=published:zero=best",
    "mixed, floor on scores": "hybrid:variant=published",
    "mixed, strong": "hybrid",
    "evolutionary, strong": "evolutionary",
    "discrepancy, strong": "lds",
}
"""As published, discrepancy search has its floor on what is lost to the best choices, as the text says; the pseudocode has it
on the scores themselves, which presumes that the best score of each token is 0."""
BASE, HARD, HEAVY = "resume", "resume-hard", "resume-strong-features"
ONE_ORGANIZATION, NO_FEATURES = "resume-one-organization", "resume-no-features"
SEARCHED = {(GENERATED, PERFECT): BASE, (DUTCH, PERFECT): BASE, (DUTCH, PREDICTED): BASE}
"""The rules under which the mixed strategy decodes; predicted generated items have more."""
OTHERS = ("resume-title-first", "resume-one-each", "resume-both")
RULES = (BASE, HARD, HEAVY, ONE_ORGANIZATION, NO_FEATURES, *OTHERS)
LIMIT = 0.8
"""Seconds an item (Table 6)."""
SHORTER = (0.1, 0.4)
SMOKE_LIMIT = 0.01
CHUNK = 8
"""Documents of a cell."""
CORPORA = (
    (GENERATED, PREDICTED),
    (GENERATED, PERFECT),
    (RESUMES, PERFECT),
    (RESUMES, PREDICTED),
    (DUTCH, PERFECT),
    (DUTCH, PREDICTED),
)
SMOKE = ("none", BASE, ONE_ORGANIZATION)
"""The rules that are decoded at the smallest scale."""
TABLES, STRATEGIES = "tables", "strategies"


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """Eight documents under one rule set, decoded by one method."""
    few = sources(smoke=1, sample=2, full=1000)
    for name, segmentation in CORPORA[:: sources(smoke=2, sample=1, full=1)]:
        chunks = -(-len(corpus(name, sources).test) // CHUNK)
        main = (name, segmentation) == CORPORA[0]
        if part == TABLES:
            settings = [(rules, method, LIMIT) for rules, method in _settings(name, segmentation)]
        else:
            settings = list(_strategies()) if main else []
        for rules, method, limit in settings:
            if rules in SMOKE or sources.scale != "smoke":
                number = chunks if method in (NONE, OPTIMUM) else min(few, chunks)
                about = {"corpus": [name], "segmentation": [segmentation], "rules": [rules]}
                yield from grid(part, **about, method=[method], limit=[limit], chunk=range(number))


def _settings(name: str, segmentation: str) -> Iterator[tuple[str, str]]:
    yield "none", NONE
    of_others = (BASE, HARD, NO_FEATURES) if name == DUTCH else (BASE, ONE_ORGANIZATION, *OTHERS)
    for rules in RULES if name == GENERATED else of_others:
        yield rules, OPTIMUM
        searched = SEARCHED.get((name, segmentation))
        if rules == searched or ((name, segmentation) == CORPORA[0] and rules not in OTHERS):
            yield rules, MIXED


def _strategies() -> Iterator[tuple[str, str, float]]:
    """The other methods, and shorter limits of two."""
    for method in METHODS:
        if method not in (NONE, OPTIMUM, MIXED):
            yield BASE, method, LIMIT
    for limit in SHORTER:
        for method in (MIXED, "mixed, strong"):
            yield BASE, method, limit


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    return decoded(sources, cell, corpus(cell.corpus, sources).rules(cell.rules))


def decoded(
    sources: Sources, cell: Cell, rules: RuleSet, tagger: SequenceModel | None = None
) -> Iterator[Row]:
    """The documents of a cell under rules, scored by a tagger or by that of the corpus."""
    chosen = corpus(cell.corpus, sources)
    tagger = tagger or chosen.tagger
    first = cell.chunk * CHUNK
    limit = sources(smoke=SMOKE_LIMIT, sample=cell.limit)
    limit = optimum.LIMIT if cell.method == OPTIMUM else limit
    decoder = ilpinfer.Decoder(rules, method=METHODS[cell.method], time_limit=limit)
    labels = tagger.labels
    for number, document in enumerate(chosen.test[first : first + CHUNK], first):
        result = [chosen.outside] * len(document.tokens)
        row: Row = {
            "document": number,
            "scores": [],
            "tagging": [],
            "decoding": [],
            "optimal": 0,
            "broken": 0,
        }
        for item in chosen.segments(document, cell.segmentation):
            places = document.part(item, chosen.breaks)
            if not places:
                continue
            trellis, tagging = timed(tagger.trellis, tuple(document.tokens[t] for t in places))
            solution, decoding = timed(decoder.decode, trellis)
            row["tagging"].append(round(1000 * tagging, 3))
            row["decoding"].append(round(1000 * decoding, 3))
            if cell.method == OPTIMUM:
                optimum.recheck(trellis, rules, solution)
            row["scores"].append(round(solution.score, 6) if _solved(solution) else None)
            row["optimal"] += solution.status == "optimal"
            row["broken"] += any(ilpinfer.decode(trellis, rules, method="viterbi").violations.values())
            kept = solution if _solved(solution) else ilpinfer.decode(trellis, method="viterbi")
            for t, label in zip(places, kept.labels, strict=True):
                result[t] = label
        yield row | _counts(document, result, labels, chosen.outside)


def _solved(solution: Solution) -> bool:
    return solution.has_labelling and solution.score > float("-inf")


def _counts(document: Document, predicted: Sequence[str], labels: LabelSet, outside: str) -> Row:
    """Predicted, gold and common characters, lines and spans of each field, and right tokens."""
    names = tuple(sorted({*labels.names, *document.labels, outside}))
    pair = Pair(document.tokens, tuple(predicted), document.labels)
    leave_out = () if outside == "O" else (outside,)
    result = evaluate([pair], scheme="plain", leave_out=leave_out, labels=LabelSet(names, "plain"))
    units = {
        unit: {field: result.of_field(field, unit).tolist() for field in result.fields}
        for unit in ("characters", "lines", "spans")
    }
    return units | {"right": int(result.correct.sum()), "tokens": int(result.tokens.sum())}
