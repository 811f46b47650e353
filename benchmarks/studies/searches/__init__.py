"""How often each search reaches the proved optimum, by how much it misses it, and what that costs in accuracy."""

from collections.abc import Iterable
from functools import cache

import ilpinfer
from benchmarks.studies.searches import rates, report
from benchmarks.studies.searches.contenders import CONTENDERS, LIMITS, runs
from benchmarks.studies.searches.measuring import rows_of
from benchmarks.studies.searches.sets import PARTS, variants
from benchmarks.study import Cell, Row, Sources, Study, grid

RATES = "rates"


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A sequence of a data set, for all contenders and limits; or a search whose speed is measured, and a number of rules."""
    if part == RATES:
        return grid(part, data=rates.SEARCHES, item=map(str, rates.RULES))
    some = variants(sources, part).items()
    return [Cell(part=part, data=name, item=item.key) for name, one in some for item in one.data.items]


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    _call_each_once()
    if cell.part == RATES:
        yield from rates.rate(sources, cell.data, int(cell.item))
        return
    limits = sources(smoke=(0.001, 0.004), sample=LIMITS)
    variant = variants(sources, cell.part)[cell.data]
    item = next(item for item in variant.data.items if item.key == cell.item)
    chosen = list(runs(cell.part, limits))
    longest = max(limit for _, _, limit in chosen)
    for row in rows_of(variant.data, item, chosen, longest):
        yield {"family": variant.family, "level": variant.level, **row}


@cache
def _call_each_once() -> None:
    """First calls, which are not timed: they import what the methods need."""
    trellis, rules = rates.problem(1)
    for contender in CONTENDERS.values():
        ilpinfer.decode(trellis, rules, time_limit=LIMITS[0], **contender.arguments)


STUDY = Study(
    title="Searches against the proved optimum",
    source="the searches are those of Stokman 2011, sections 4.2.2 to 4.2.4 (Tables 6, 10 and 11), and those usual for "
    "constrained conditional models; the decomposition of errors is that of search errors and model errors",
    corpus="Cora references, UMass references, experience sections of résumés, and generated documents of 30 to 480 tokens "
    "and 13 labels. Sequences at the three scales (smoke, sample, full): Cora 1, 20, 100 and 1, 8, 40 with hard rules; "
    "UMass 1, 12, 40; résumés 1, 8, 20 each with soft and hard rules; generated 1, 2, 8 of each length; 1, 100, 100 "
    "references for each of three models; 1, 10, 100 (UMass 1, 6, 60; generated 4, 10, 20) where rules and penalties are varied",
    model="HMMs, trained on 20 Cora references (5, 20 and 300 in the part `sizes`), on the training part of UMass, and on every "
    "other résumé; generated documents are scored by a planted labelling under Gaussian noise, with which half of "
    "the Viterbi labellings break a rule",
    rules="the citation rules (soft), each field at most once (hard), 240 mined soft rules, résumé rules (soft, and hard), and rules "
    "that planted documents keep (soft). `rules`: the first 1, 3, 6, 11 citation rules, and the strongest 10, 60, 240 mined "
    "ones. `hardness`: every penalty times 0.25, 0.5, 1, 2, 4, and hard",
    methods="Viterbi, constrained Viterbi, post-correction, beams of 10, 50 and 200, "
    "limited discrepancy search (five variants), evolutionary (two), hybrid (three), "
    "and the exact engine. `sizes` has those that come to an end by themselves; `rules` and `hardness` the usual ones and "
    "the strongest heuristic of each family",
    limits="10, 50, 200 and 800 ms a sequence; 800 ms in `sizes`, 50 ms in `rules` and `hardness` for methods that a limit changes; 60 s for an optimum. Methods that "
    "no limit changes run once, and count wherever they were done within 20 ms of the limit",
    seeds="0 for all that is random",
    measures="share of proved optima that is reached; gap in nats below the optimum, and divided by the optimum's absolute "
    "value; violations; token accuracy and span F1 against the optimum's, in points; search errors and model errors; "
    "milliseconds to the first labelling and to the optimum",
    stand_ins="the résumés of Stokman 2011 are private, so that Tables 10 and 11 cannot be repeated tag by tag; public résumés with "
    "three fields, and generated documents, take their place",
    parts=(*PARTS, RATES),
    report={
        report.SETS: report.every_search,
        "sizes": report.sizes,
        "rules": report.varied("By number of rules"),
        "hardness": report.varied("By hardness of penalties"),
        RATES: rates.show,
    },
    timed=True,
)
