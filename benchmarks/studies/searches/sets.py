"""The data sets of each part, with what is varied between them."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from benchmarks.data import corpora, sets
from benchmarks.data.sets import DataSet
from benchmarks.study import Sources
from formulations.constraints.rule_set import RuleSet

CITATION_RULES, MINED_RULES = (1, 3, 6, 11), (10, 60, 240)
"""How many rules are kept: the first so many of a set."""
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, math.inf)
"""Of every penalty; an infinite one makes hard rules."""


@dataclass(frozen=True)
class Variant:
    """A data set, the family that a table or panel is about, and the level of what is varied within it."""

    data: DataSet
    family: str
    level: str = ""


@cache
def variants(sources: Sources, part: str) -> Mapping[str, Variant]:
    return {variant.data.name: variant for variant in PARTS[part](sources)}


def _cora(sources: Sources) -> Iterator[Variant]:
    """References under the soft citation rules, and with each field once as a hard rule."""
    yield Variant(_named(sources, "cora 20", sources(smoke=1, sample=20, full=100)), "Cora, soft")
    yield Variant(_named(sources, "cora 20 once", sources(smoke=1, sample=8, full=40)), "Cora, hard")


def _umass(sources: Sources) -> Iterator[Variant]:
    yield Variant(_named(sources, "umass", sources(smoke=1, sample=12, full=40)), "UMass")


def _resume(sources: Sources) -> Iterator[Variant]:
    for data in corpora.resume(sources):
        kind = data.name.split()[-1]
        yield Variant(data.some(sources(smoke=1, sample=8, full=20)), f"résumés, {kind}")


def _generator(sources: Sources) -> Iterator[Variant]:
    lengths, K = sources(smoke=((12, 24), 5), sample=((30, 60, 120, 240, 480), 13))
    for T in lengths:
        data = sets.planted(T, K, sources)
        data = replace(data, items=data.items[: sources(smoke=1, sample=2, full=8)])
        yield Variant(data, "generated", f"{T} tokens")


def _sizes(sources: Sources) -> Iterator[Variant]:
    """All references of the development part, by three models."""
    for size in corpora.CORA_SIZES:
        data = _named(sources, f"cora {size}", sources(smoke=1, sample=100))
        yield Variant(data, "Cora, by references to train on", f"{size}")


def _rules(sources: Sources) -> Iterator[Variant]:
    """The first so many rules of the citation rules, and of those mined on UMass references."""
    cora = _named(sources, "cora 20", sources(smoke=1, sample=10, full=100))
    umass = _named(sources, "umass", sources(smoke=1, sample=6, full=60))
    few, mined = sources(smoke=((1, 11), (10,)), sample=(CITATION_RULES, MINED_RULES))
    for data, counts, family in (
        (cora, few, "Cora, first rules of the citation rules"),
        (umass, mined, "UMass, strongest mined rules"),
    ):
        for k in counts:
            yield Variant(data.under(f"{k} rules", partial(first_rules, k)), family, f"{k}")


def _hardness(sources: Sources) -> Iterator[Variant]:
    """Every penalty times a factor."""
    T, K = sources(smoke=(12, 5), sample=(60, 13))
    number = sources(smoke=1, sample=10, full=100)
    for data, family in (
        (_named(sources, "cora 20", number), "Cora, citation rules"),
        (sets.planted(T, K, sources).some(number), f"generated, {T} tokens"),
    ):
        for factor in sources(smoke=(1.0, math.inf), sample=FACTORS):
            level = "hard" if math.isinf(factor) else f"× {factor:g}"
            times = partial(corpora.with_factor, factor=factor)
            yield Variant(data.under(level, times), family, level)


def first_rules(k: int, rules: RuleSet) -> RuleSet:
    return RuleSet(tuple(rules.rules[:k]), rules.fields)


PARTS: Mapping[str, Callable[[Sources], Iterator[Variant]]] = {
    "cora": _cora,
    "umass": _umass,
    "resume": _resume,
    "generator": _generator,
    "sizes": _sizes,
    "rules": _rules,
    "hardness": _hardness,
}


def _named(sources: Sources, name: str, number: int) -> DataSet:
    """So many sequences of the development part."""
    data = corpora.data_set(sources, name)
    dev = tuple(item for item in data.items if item.key.startswith("dev"))
    return replace(data, items=dev).some(number)
