"""How often each search reaches the proved optimum, by how much it misses it, and in which time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

import ilpinfer
from benchmarks.data import corpora, sets
from benchmarks.data.sets import DataSet
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.studies.searches.contenders import CONTENDERS, LIMITS, runs
from benchmarks.studies.searches.measuring import rows_of
from benchmarks.studies.searches.report import report
from benchmarks.study import Cell, Row, Sources, Study

PARTS = ("cora", "umass", "resume", "generator")


@cache
def data_sets(sources: Sources, part: str) -> Mapping[str, DataSet]:
    """The sequences of a part by family."""
    return dict(_families(sources, part))


def _families(sources: Sources, part: str) -> Iterator[tuple[str, DataSet]]:
    if part == "cora":
        yield "Cora, soft", _development(sources, "cora 20", sources(smoke=1, sample=24, full=100))
        yield "Cora, hard", _development(sources, "cora 20 once", sources(smoke=1, sample=10, full=40))
    elif part == "umass":
        yield "UMass", _development(sources, "umass", sources(smoke=1, sample=12, full=40))
    elif part == "resume":
        for data in corpora.resume(sources):
            kind = data.name.split()[-1]
            yield f"résumés, {kind}", data.some(sources(smoke=1, sample=10, full=20))
    else:
        lengths, K = sources(smoke=((12, 24), 5), sample=((30, 60, 120, 240, 480), 13))
        number = sources(smoke=1, sample=2, full=8)
        for T in lengths:
            data = sets.planted(T, K, sources)
            yield f"generated {T}", replace(data, items=data.items[:number])


def _development(sources: Sources, name: str, number: int) -> DataSet:
    """So many sequences of the development part."""
    data = corpora.data_set(sources, name)
    dev = tuple(item for item in data.items if item.key.startswith("dev"))
    return replace(data, items=dev).some(number)


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A sequence of a data set, for all contenders and limits."""
    some = data_sets(sources, part).items()
    return [Cell(part=part, data=name, item=item.key) for name, one in some for item in one.items]


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    _call_each_once()
    data = data_sets(sources, cell.part)[cell.data]
    item = next(item for item in data.items if item.key == cell.item)
    limits = sources(smoke=(0.001, 0.004), sample=LIMITS)
    for row in rows_of(data, item, runs(limits), limits[-1]):
        yield {"family": cell.data.rstrip(" 0123456789"), **row}


@cache
def _call_each_once() -> None:
    """First calls, which are not timed: they import what the methods need."""
    labels = labels_of_size(5)
    for contender in CONTENDERS.values():
        ilpinfer.decode(
            document(12, 0, labels, 1.0), document_rules(labels), time_limit=LIMITS[0], **contender.arguments
        )


STUDY = Study(
    title="Searches against the proved optimum",
    source="the searches are those of Stokman 2011, sections 4.2.2 to 4.2.4, and those usual for constrained conditional models",
    corpus="Cora references, UMass references, experience sections of résumés, and generated documents of 30 to 480 tokens "
    "and 13 labels. Sequences at the three scales (smoke, sample, full): Cora 1, 24, 100 and 1, 10, 40 with hard rules; "
    "UMass 1, 12, 40; résumés 1, 10, 20 each with soft and hard rules; generated 1, 2, 8 of each length",
    model="HMMs, trained on 20 Cora references, on the training part of UMass, and on every "
    "other résumé; generated documents are scored by a planted labelling under Gaussian noise, with which half of "
    "the Viterbi labellings break a rule",
    rules="the citation rules (soft), each field at most once (hard), 240 mined soft rules, résumé rules (soft, and hard), and rules "
    "that planted documents keep (soft)",
    methods="Viterbi, constrained Viterbi, post-correction, beams of 10, 50 and 200, "
    "limited discrepancy search (five variants), evolutionary (two), hybrid (three), "
    "and the exact engine",
    limits="10, 50, 200 and 800 ms a sequence; 60 s for an optimum. Methods that "
    "no limit changes run once, and count wherever they were done within 20 ms of the limit",
    seeds="0 for all that is random",
    measures="share of proved optima that is reached; gap in nats below the optimum, and divided by the optimum's absolute "
    "value; violations; milliseconds to the first labelling and to the optimum",
    stand_ins="the résumés of Stokman 2011 are private; public résumés with "
    "three fields, and generated documents, take their place",
    parts=PARTS,
    report=report,
)
