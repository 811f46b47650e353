"""Long sequences with their rules, and what is known of their optima."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

from benchmarks import optimum
from benchmarks.data import corpora
from benchmarks.data.sets import DataSet, Item
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.study import Sources
from formulations import RuleSet
from ilpinfer.core.solution import Solution

PROOF = 60.0
"""Seconds for the proof of an optimum."""
MINED_RULES = 12
NOISE = 3.0
LABELS = 27


@cache
def searches(sources: Sources) -> Mapping[str, DataSet]:
    """Planted documents, and the longest résumés under soft and hard rules."""
    number = sources(smoke=1, sample=3, full=5)
    resumes = (replace(data, items=_longest(data)[:number]) for data in corpora.resume(sources))
    return {data.name: data for data in (_planted(sources, number), *resumes)}


@cache
def solvers(sources: Sources) -> Mapping[str, DataSet]:
    """The longest and the middling résumés under soft rules, and UMass references under a few mined ones."""
    return {data.name: data for data in _solvers(sources)}


def _solvers(sources: Sources) -> Iterator[DataSet]:
    number = sources(smoke=1, sample=2, full=5)
    resumes = next(corpora.resume(sources))
    references = next(corpora.umass(sources))
    few = replace(references, name="umass, few rules", make_rules=partial(_mined, references))
    for data in (resumes, few):
        ordered = _longest(data)
        middle = len(ordered) // 2
        chosen = dict.fromkeys((*ordered[:number], *ordered[middle : middle + number]))
        yield replace(data, items=tuple(chosen))


def _mined(references: DataSet) -> RuleSet:
    return RuleSet(references.rules.items[:MINED_RULES])


def _longest(data: DataSet) -> tuple[Item, ...]:
    return tuple(sorted(data.items, key=lambda item: -len(item.gold)))


def _planted(sources: Sources, number: int) -> DataSet:
    T, labels = (
        sources(smoke=24, sample=480, full=480),
        labels_of_size(sources(smoke=5, sample=LABELS, full=LABELS)),
    )
    items = tuple(Item(f"{seed}", partial(document, T, seed, labels, NOISE)) for seed in range(number))
    return DataSet("planted", "searches", items, partial(document_rules, labels))


@cache
def known(data: DataSet, item: Item, time_limit: float = PROOF) -> Solution:
    """The optimum, rechecked, or what is known of it by then."""
    return optimum.optimum(item.make(), data.rules, time_limit)
