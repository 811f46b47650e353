"""The data sets of each part, with what is varied between them."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from benchmarks.data import corpora, generated
from benchmarks.data.sets import DataSet, spread
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
    for name, family, number in (
        ("cora 20", "Cora, soft", sources(smoke=1, sample=20, full=100)),
        ("cora 20 once", "Cora, hard", sources(smoke=1, sample=8, full=40)),
    ):
        yield Variant(_some(_named(sources, name), number), family)


def _umass(sources: Sources) -> Iterator[Variant]:
    data = corpora.data_set(sources, "umass")
    yield Variant(_some(data, sources(smoke=1, sample=12, full=40)), "UMass")


def _resume(sources: Sources) -> Iterator[Variant]:
    for data in corpora.resume(sources):
        kind = data.name.split()[-1]
        yield Variant(_some(data, sources(smoke=1, sample=8, full=20)), f"résumés, {kind}")


def _generator(sources: Sources) -> Iterator[Variant]:
    lengths = sources(smoke=(12, 24), sample=(30, 60, 120, 240, 480), full=(30, 60, 120, 240, 480))
    for T in lengths:
        data = generated.planted(T, sources(smoke=5, sample=13, full=13), sources)
        data = replace(data, items=data.items[: sources(smoke=1, sample=2, full=8)])
        yield Variant(data, "generated", f"{T} tokens")


def _sizes(sources: Sources) -> Iterator[Variant]:
    """All references of the development part, by three models."""
    for size in corpora.CORA_SIZES:
        data = _some(_named(sources, f"cora {size}"), sources(smoke=1, sample=100, full=100))
        yield Variant(data, "Cora, by references to train on", f"{size}")


def _rules(sources: Sources) -> Iterator[Variant]:
    """The first so many rules of the citation rules, and of those mined on UMass references."""
    number = sources(smoke=1, sample=10, full=100)
    cora = _some(_named(sources, "cora 20"), number)
    for k in sources(smoke=(1, 11), sample=CITATION_RULES, full=CITATION_RULES):
        yield Variant(_first(cora, k), "Cora, first rules of the citation rules", f"{k}")
    umass = _some(corpora.data_set(sources, "umass"), sources(smoke=1, sample=6, full=60))
    for k in sources(smoke=(10,), sample=MINED_RULES, full=MINED_RULES):
        yield Variant(_first(umass, k), "UMass, strongest mined rules", f"{k}")


def _hardness(sources: Sources) -> Iterator[Variant]:
    """Every penalty times a factor."""
    T, K = sources(smoke=(12, 5), sample=(60, 13), full=(60, 13))
    number = sources(smoke=1, sample=10, full=100)
    for data, family in (
        (_some(_named(sources, "cora 20"), number), "Cora, citation rules"),
        (generated.planted(T, K, sources), f"generated, {T} tokens"),
    ):
        for factor in sources(smoke=(1.0, math.inf), sample=FACTORS, full=FACTORS):
            level = "hard" if math.isinf(factor) else f"× {factor:g}"
            make = partial(_times, data, factor)
            some = _some(replace(data, name=f"{data.name}, {level}", make_rules=make), number)
            yield Variant(some, family, level)


PARTS: Mapping[str, Callable[[Sources], Iterator[Variant]]] = {
    "cora": _cora,
    "umass": _umass,
    "resume": _resume,
    "generator": _generator,
    "sizes": _sizes,
    "rules": _rules,
    "hardness": _hardness,
}


def _named(sources: Sources, name: str) -> DataSet:
    data = corpora.data_set(sources, name)
    return replace(data, items=tuple(item for item in data.items if item.key.startswith("dev")))


def _some(data: DataSet, number: int) -> DataSet:
    return replace(data, items=spread(data.items, number))


def _first(data: DataSet, k: int) -> DataSet:
    return replace(data, name=f"{data.name}, {k} rules", make_rules=partial(_first_rules, data, k))


def _first_rules(data: DataSet, k: int) -> RuleSet:
    return RuleSet(tuple(data.rules.rules[:k]), data.rules.fields)


def _times(data: DataSet, factor: float) -> RuleSet:
    rules = (replace(rule, penalty=rule.penalty * factor) for rule in data.rules.rules)
    return RuleSet(tuple(rules), data.rules.fields)
