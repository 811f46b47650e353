"""The best set of overlapping candidate spans beside the greedy choice: how often it is better, and by how much."""

import math
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.data.models import trained
from benchmarks.report import Cells, Report, groups, number, percent
from benchmarks.study import Cell, Disagreement, Row, SecondDraw, Sources, Study, grid
from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.corpus.resumes import items
from ilpinfer.evaluation.counts import f_measure, named_spans

GENERATED, ITEMS = "generated", "tagger"
LABELS = ("person", "place", "date", "company")
LIST, NOISE = 50, 1.5
"""Labellings of a tagger's list, and the deviation of log odds about those of a planted span."""
SOFT = (
    C.at_most_runs(C.EACH_FIELD, 4, penalty=1.0),
    C.requires_before("person", "company", penalty=1.0),
)
FIELDS = ("date", "description", "job title", "organization")
RULES = {
    GENERATED: {
        "none": RuleSet((), LABELS),
        "soft": RuleSet(SOFT, LABELS),
        "hard": RuleSet(tuple(replace(rule, penalty=math.inf) for rule in SOFT), LABELS),
    },
    ITEMS: {
        "none": RuleSet((), FIELDS),
        "soft": RuleSet((C.at_most_runs(C.EACH_FIELD, 1, penalty=2.0),), FIELDS),
        "hard": RuleSet((C.at_most_runs(C.EACH_FIELD, 1),), FIELDS),
    },
}


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """All sets of candidates of a kind, under some rules."""
    return grid(part, rules=RULES[part])


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    count = sources(smoke=5, sample=300, full=2000)
    items_of = generated if cell.part == GENERATED else of_tagger
    sets = items_of(count if cell.part == GENERATED else sources(smoke=5, sample=200, full=500), sources)
    rules = RULES[cell.part][cell.rules]
    for tokens, candidates, gold in sets:
        began = time.process_time()
        chosen = ilpinfer.select_spans(tokens, candidates, rules, fields=rules.fields)
        seconds = time.process_time() - began
        if chosen.solution.status == "optimal" and chosen.loss < 0:
            raise Disagreement(f"the greedy choice is worth {-chosen.loss} nats more than the proved optimum")
        yield {
            "tokens": len(tokens),
            "candidates": len(candidates),
            "status": str(chosen.solution.status.value),
            "loss": None if math.isinf(chosen.loss) else round(chosen.loss, 6),
            "seconds": round(max(seconds, 0.0), 6),
            **{
                name: _counts(spans, gold)
                for name, spans in (("best", chosen.spans), ("greedy", chosen.greedy))
            },
        }


Spans = set[tuple[str, int, int]]
"""Label, first and last token."""


def _counts(spans: Sequence[ilpinfer.Candidate], gold: Spans) -> list[int]:
    found = {(each.label, each.start, each.end - 1) for each in spans}
    return [len(found), len(gold), len(found & gold)]


def generated(count: int, sources: Sources) -> Iterator[tuple[list[str], list[ilpinfer.Candidate], Spans]]:
    """Texts of 60 tokens with planted spans that keep the rules, among candidates that overlap them."""
    draw = random.Random(sources.seed(0))
    for _ in range(count):
        at, gold = 0, list[tuple[int, int, str]]()
        while (at := at + draw.randint(1, 6)) < 57:
            used = [label for _, _, label in gold]
            free = [
                label
                for label in LABELS
                if used.count(label) < 4 and (label != "company" or "person" in used)
            ]
            gold.append((at, at + draw.randint(1, 4), draw.choice(free)))
            at = gold[-1][1]
        spans = dict.fromkeys(gold, 1.5)
        for start, end, label in [gold[n % len(gold)] for n in range(3 * len(gold))]:
            first = max(0, start + draw.randint(-2, 1))
            last = min(60, max(first + 1, end + draw.randint(-1, 2)))
            spans.setdefault((first, last, draw.choice((label, *LABELS))), 0.0)
        candidates = [
            ilpinfer.Candidate(*place, 1 / (1 + math.exp(-draw.gauss(odds, NOISE))))
            for place, odds in spans.items()
        ]
        yield ["w"] * 60, candidates, {(label, start, end - 1) for start, end, label in gold}


def of_tagger(count: int, sources: Sources) -> Iterator[tuple[list[str], list[ilpinfer.Candidate], Spans]]:
    """Spans of the best labellings of generated résumé items by a hidden Markov model, each with the share of these that has it."""
    model = trained("hmm", [(item.tokens, item.labels) for item in items(60, seed=2)])
    for item in items(count, seed=sources.seed(3)):
        best = ilpinfer.decode(model.trellis(item.tokens), top=LIST)
        weights = np.exp([each.score - best[0].score for each in best])
        shares = dict[tuple[str, int, int], float]()
        for each, weight in zip(best, weights / weights.sum(), strict=True):
            for span in _spans(each.labels):
                shares[span] = shares.get(span, 0.0) + float(weight)
        candidates = [
            ilpinfer.Candidate(first, last + 1, label, min(share, 1.0))
            for (label, first, last), share in shares.items()
        ]
        yield list(item.tokens), candidates, _spans(item.labels)


def _spans(labels: Sequence[str]) -> Spans:
    return {span for span in named_spans(labels, "plain") if span[0] in FIELDS}


def report(frame: DataFrame, report: Report) -> None:
    report.heading("Greedy choice and optimum")
    cells: Cells = {
        "sets": len,
        "candidates": lambda x: number(x.candidates.mean()),
        "proved %": lambda x: percent((x.status == "optimal").mean()),
        "improved %": lambda x: percent((x.loss.isna() | (x.loss > 1e-6)).mean()),
        "rule broken %": lambda x: percent(x.loss.isna().mean()),
        "mean gain, nats": lambda x: number(x.loss[x.loss > 1e-6].mean()),
        "greedy F1 %": lambda x: percent(_f1(x.greedy)),
        "optimum F1 %": lambda x: percent(_f1(x.best)),
        "median ms": lambda x: number(1000 * x.seconds.median()),
    }
    report.pivot(frame, {"candidates of": "part", "rules": "rules"}, cells)
    report.text(
        "Improved: the best set is worth more than the greedy one, or the greedy one breaks a hard rule. Gain: of those that are improved and "
        "break none."
    )
    for (part,), some in groups(frame, "part"):
        own = some[some.rules == "none"]
        report.text(
            f"{part}: without rules the greedy choice loses {number(own.loss.sum() / len(own))} nats a set in the mean, and at most "
            f"{number(own.loss.max())}."
        )


def _f1(counts: Iterable[Sequence[int]]) -> float:
    return float(f_measure(np.sum(list(counts), axis=0)))


STUDY = Study(
    title="Overlapping candidate spans",
    corpus="generated texts of 60 tokens with planted spans of four labels that keep the rules (smoke 5, sample 300, full 2000), each among candidates that overlap it; "
    f"generated résumé items (5, 200, 500), whose candidates are the spans of the best {LIST} labellings of an HMM of 60 other items",
    model=f"log odds of planted spans are 1.5, those of others 0, with normal noise of deviation {NOISE}; the HMM's probability of a span is its share "
    "among the listed labellings",
    rules="none; texts: at most 4 spans of a label and no company before a person, soft (1 nat) or hard; items: each field at most once, soft (2 nats) or hard",
    methods="`ilpinfer.select_spans`: the proved optimum, and the greedy choice, the likeliest span first",
    measures="share of sets where the optimum is better, gain in nats, F1 of exact spans; milliseconds of processor time of a call, both choices included",
    seeds="0 for generated texts, 2 and 3 for items",
    parts=(GENERATED, ITEMS),
    second=SecondDraw(
        "as many other texts and items, generated with other seeds",
        ("part", "rules"),
        {
            "improved %": lambda x: percent((x.loss.isna() | (x.loss > 1e-6)).mean()),
            "greedy F1 %": lambda x: percent(_f1(x.greedy)),
            "optimum F1 %": lambda x: percent(_f1(x.best)),
        },
    ),
    timed=True,
)
