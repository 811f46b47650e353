"""Sequences with scores and gold, and the rules of the catalogue that are tried on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import ilpinfer
from benchmarks.data.corpora import read_labelled, split
from benchmarks.data.evaluations import beside_gold
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.studies.stokman.corpora import GENERATED, RESUMES, corpus
from benchmarks.studies.stokman.decoding import BASE, ONE_ORGANIZATION, OTHERS
from benchmarks.study import Sources
from benchmarks.timing import least, viterbi_calls
from formulations import Feature, LabelSet, Rule, RuleSet, Trellis, load_rules
from formulations.problem.compiled_rules import unique_names
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.evaluation import Evaluation

CORA, CASE_LAW, ENTITIES = "references", "case law", "entities"
MODELS = {
    CORA: ("HMM of 20", "HMM of 300", "CRF of 300"),
    GENERATED: ("HMM of 300",),
    RESUMES: ("HMM of 56",),
    CASE_LAW: ("CRF of 25",),
    ENTITIES: ("CRF of 400",),
}
SPLIT = (CORA, CASE_LAW, ENTITIES)
"""Corpora that a second draw splits in another way."""
LIMIT = 1.0
"""Seconds a sequence."""
PASSES, UNIT_PASSES = 3, 20


@dataclass(frozen=True)
class Problems:
    """Sequences of one corpus, scored by one model, and all rules that are tried."""

    trellises: tuple[Trellis, ...]
    pairs: tuple[Labelled, ...]
    rules: RuleSet

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(unique_names(self.rules))

    @cached_property
    def labels(self) -> LabelSet:
        gold = {label for _, labels in self.pairs for label in labels}
        own = self.trellises[0].labels
        return LabelSet((*own.names, *sorted(gold - set(own.names))), own.scheme)

    def evaluated(self, labellings: Sequence[Sequence[str] | None]) -> Evaluation:
        return beside_gold(self.pairs, labellings, labels=self.labels)

    @cached_property
    def baseline(self) -> list[Solution]:
        return [ilpinfer.decode(trellis, method="viterbi") for trellis in self.trellises]

    @cached_property
    def unit(self) -> float:
        """Microseconds a sequence of a bare Viterbi pass without rules."""
        return self._fastest(viterbi_calls(self.trellises, RuleSet(())), UNIT_PASSES)

    @cached_property
    def complete(self) -> tuple[list[Solution], float]:
        return self.decoded(self.rules)

    def decoded(self, rules: RuleSet) -> tuple[list[Solution], float]:
        """The best labellings, and microseconds of processor time a sequence."""
        decoder = ilpinfer.Decoder(rules, time_limit=LIMIT)
        result = [decoder.decode(trellis) for trellis in self.trellises]
        return result, self._fastest([partial(decoder.decode, trellis) for trellis in self.trellises], PASSES)

    def _fastest(self, calls: Sequence[Callable[[], Any]], passes: int) -> float:
        """Microseconds of a call, in the fastest pass."""
        return 1e6 * least(lambda: [call() for call in calls], passes) / len(calls)

    def chosen(self, name: str, without: bool) -> RuleSet:
        pairs = zip(self.names, self.rules, strict=True)
        return replace(self.rules, items=tuple(item for own, item in pairs if (own == name) != without))

    def broken(self, name: str, labellings: Sequence[Sequence[str]]) -> int | None:
        """How many labellings break a rule; None for a feature."""
        [item] = self.chosen(name, without=False)
        if isinstance(item, Feature):
            return None
        each = zip(self.pairs, labellings, strict=True)
        return sum(
            item.violations(list(own), tokens=tokens, labels=self.labels) > 0 for (tokens, _), own in each
        )


def rules_of(part: str, sources: Sources) -> RuleSet:
    if part == CORA:
        return load_rules("citations", "citations-order", "bio")
    if part == CASE_LAW:
        return load_rules("case-law")
    if part == ENTITIES:
        return load_rules("entities", "bio")
    sets = [corpus(part, sources).rules(name) for name in (BASE, ONE_ORGANIZATION, *OTHERS)]
    items: dict[str, Rule | Feature] = {
        name: item for one in sets for name, item in zip(unique_names(one), one, strict=True)
    }
    if part == RESUMES:
        items = {name: item for name, item in items.items() if "description" not in name}
    return replace(sets[0], items=tuple(items.values()))


@cache
def problems(part: str, model: str, sources: Sources) -> Problems:
    """The sequences of a cell, made once a process."""
    kind, _, size = model.partition(" of ")
    options: dict[str, Any] = {}
    train, test = pairs_of(part, sources)
    if part not in (GENERATED, RESUMES):
        train = train[: sources(smoke=20, sample=int(size))]
    if kind == "CRF":
        template = {CORA: "citations", CASE_LAW: "case-law", ENTITIES: "entities"}[part]
        options = {"template": template, "max_iterations": sources(smoke=5, sample=60)}
    scorer = trained(kind.lower(), train, **options)
    some = test[: sources(smoke=3, sample=200, full=len(test))]
    return Problems(tuple(scorer.trellis(tokens) for tokens, _ in some), tuple(some), rules_of(part, sources))


def pairs_of(part: str, sources: Sources) -> tuple[list[Labelled], list[Labelled]]:
    """Sequences to train on, and others; Missing where the corpus is not there."""
    if part in (GENERATED, RESUMES):
        own = corpus(part, sources)
        return own.items_of(own.train), own.items_of(own.test)
    if part == CASE_LAW:
        documents = read_labelled(sources.folder / "rechtspraak" / "all.tsv")
        return documents[sources.second :: 2], documents[not sources.second :: 2]
    return split(sources, "cora" if part == CORA else "names")
