"""Items decoded under rules by one method, and what becomes of each document."""

from collections.abc import Iterator, Sequence

import ilpinfer
from benchmarks import optimum
from benchmarks.studies.stokman.corpora import OUTSIDE, PERFECT, PREDICTED, Document, corpus, tested
from benchmarks.study import Cell, Row, Sources, grid
from benchmarks.timing import timed
from formulations import LabelSet, RuleSet, load_rules
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.evaluation import Pair, evaluate

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
RULES = (BASE, HARD, HEAVY, ONE_ORGANIZATION, NO_FEATURES)
SETTINGS = {PREDICTED: RULES, PERFECT: (BASE,)}
"""The rules under which the items of a segmentation are decoded."""
LIMIT = 0.8
"""Seconds an item (Table 6)."""
SMOKE_LIMIT = 0.01
CHUNK = 8
"""Documents of a cell."""
SMOKE = ("none", BASE, ONE_ORGANIZATION)
"""The rules that are decoded at the smallest scale."""
TABLES, STRATEGIES = "tables", "strategies"


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """Eight documents under one rule set, decoded by one method."""
    chunks = -(-len(tested(sources)) // CHUNK)
    few = min(chunks, sources(smoke=1, sample=2, full=chunks))
    methods = [OPTIMUM, MIXED]
    if part == STRATEGIES:
        methods = [method for method in METHODS if method not in (NONE, OPTIMUM, MIXED)]
    for segmentation, rule_sets in SETTINGS.items() if part == TABLES else [(PREDICTED, (BASE,))]:
        settings = [(rules, method) for rules in rule_sets for method in methods]
        for rules, method in [("none", NONE)] * (part == TABLES) + settings:
            if rules in SMOKE or sources.scale != "smoke":
                number = chunks if method in (NONE, OPTIMUM) else few
                about = {"segmentation": [segmentation], "rules": [rules], "method": [method]}
                yield from grid(part, **about, chunk=range(number))


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    """The documents of a cell under rules."""
    chosen = corpus(sources)
    rules, tagger = RuleSet(()) if cell.rules == "none" else load_rules(cell.rules), chosen.tagger
    first = cell.chunk * CHUNK
    limit = optimum.LIMIT if cell.method == OPTIMUM else sources(smoke=SMOKE_LIMIT, sample=LIMIT)
    decoder = ilpinfer.Decoder(rules, method=METHODS[cell.method], time_limit=limit)
    for number, document in enumerate(chosen.test[first : first + CHUNK], first):
        result = [OUTSIDE] * len(document.tokens)
        row: Row = {"document": number, "scores": [], "decoding": [], "optimal": 0}
        for item in chosen.segments(document, cell.segmentation):
            place = slice(item.first, item.last + 1)
            trellis = tagger.trellis(document.tokens[place])
            solution, decoding = timed(decoder.decode, trellis)
            row["decoding"].append(round(1000 * decoding, 3))
            if cell.method == OPTIMUM:
                optimum.recheck(trellis, rules, solution)
            row["scores"].append(round(solution.score, 6) if _solved(solution) else None)
            row["optimal"] += solution.status == "optimal"
            kept = solution if _solved(solution) else ilpinfer.decode(trellis, method="viterbi")
            result[place] = kept.labels
        yield row | {"characters": _counts(document, result, tagger.labels)}


def _solved(solution: Solution) -> bool:
    return solution.has_labelling and solution.score > float("-inf")


def _counts(document: Document, predicted: Sequence[str], labels: LabelSet) -> Row:
    """Predicted, gold and common characters of each field."""
    names = tuple(sorted({*labels.names, *document.labels, OUTSIDE}))
    pair = Pair(document.tokens, tuple(predicted), document.labels)
    result = evaluate([pair], scheme="plain", leave_out=(OUTSIDE,), labels=LabelSet(names, "plain"))
    return {field: result.of_field(field, "characters").tolist() for field in result.fields}
