"""Rules, compiled once for each label set, in a cache by the objects that they were given as."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from pathlib import Path
from typing import Any, TypeVar

from formulations import Feature, Rule, RuleSet, Trellis
from formulations.arguments import instance
from formulations.caches import MOST_LABEL_SETS, Recent
from formulations.constraints.rule_set import MOST_CLASSES
from formulations.labels.label_set import LabelSet
from formulations.problem.compiled_rules import CompiledRules, compile_rules, unique_names
from formulations.problem.problem import Problem
from formulations.rulefiles.loading import rule_set

Rules = Iterable[Rule | Feature] | str | Path
"""Rules and features, a rule set, the path or name of a rule file, or TOML text of several lines."""
Item = TypeVar("Item")

MOST_RULES, MOST_LEFT_OUT = 8, 8
"""Sizes of caches: sets of rules, and sets without one of their rules."""


class RuleCompiler:
    """Rules and features, compiled for a label set when a trellis with these labels is first met."""

    def __init__(self, rules: RuleSet, labels: LabelSet | None = None) -> None:
        self.rules, self.labels = rules, None if labels is None else rules.fit(labels)
        self._compiled = Recent[CompiledRules](MOST_LABEL_SETS)
        self._objects: dict[type[Any], Recent[Any]] = {}
        self._without = Recent[tuple[str, RuleCompiler]](MOST_LEFT_OUT)
        self._of_sequences = Recent[RuleCompiler](MOST_CLASSES)

    def __reduce__(self) -> Any:
        return RuleCompiler, (self.rules, self.labels)

    def __iter__(self) -> Iterator[Rule | Feature]:
        return iter(self.rules)

    def of(self, metadata: Mapping[str, Any]) -> "RuleCompiler":
        """The rules of a sequence, as `RuleSet.of`; the same object for sequences with the same rules."""
        rules = self.rules.of(metadata)
        if rules is self.rules:
            return self
        return self._of_sequences.find(
            lambda one: one.rules is rules, lambda: RuleCompiler(rules, self.labels)
        )

    def fit(self, trellis: Trellis) -> Trellis:
        """The trellis without the labels that the rules leave out; ValueError for an object that is not a trellis."""
        trellis = instance(trellis, Trellis, "trellis", "a Trellis")
        return trellis.with_never(self.rules.never, absent=True) if self.rules.never else trellis

    def compiled(self, labels: LabelSet) -> CompiledRules:
        labels = self.rules.fit(labels)
        return self._compiled.find(
            lambda one: one.labels is labels or one.labels == labels,
            lambda: self.compiled_again(labels),
        )

    def compiled_again(self, labels: LabelSet) -> CompiledRules:
        """The rules for a label set, compiled for this call alone; errors as `compiled`."""
        labels = self.rules.fit(labels)
        if self.labels is not None and labels != self.labels:
            raise ValueError(
                f"the rules are compiled for the labels {shown(self.labels)}, but the trellis has {shown(labels)}; "
                "make a Decoder for these, or give it no labels"
            )
        return compile_rules(self.rules, labels)

    def recent(self, kind: type[Item]) -> Recent[Item]:
        """The last few objects of a class that were made from these rules."""
        recent: Recent[Item] | None = self._objects.get(kind)
        return self._objects.setdefault(kind, Recent(MOST_LABEL_SETS)) if recent is None else recent

    def only(self, labels: LabelSet) -> "RuleCompiler":
        """The same rules, compiled, for these labels alone; those with conditions are compiled for each class of sequences."""
        alone = RuleCompiler(self.rules, labels)
        if self.rules.conditional:
            compile_rules(self.rules.everywhere, labels)
        else:
            alone._compiled.find(lambda _: False, lambda: self.compiled(labels))
        return alone

    def prepare(self) -> None:
        """Compile for the only labels, if they are known and this has not been done yet, as in another process."""
        if self.labels is not None and not self.rules.conditional:
            self.compiled(self.labels)

    def problem(self, trellis: Trellis) -> Problem:
        """Scores and ground rules of one sequence; errors and notices as in `CompiledRules.problem`."""
        return self._of(trellis).problem(trellis)

    def quietly(self, trellis: Trellis) -> Problem:
        """The problem of a sequence once more, without the notices that were given the first time."""
        return self._of(trellis).problem(trellis, quiet=True)

    def _of(self, trellis: Trellis) -> CompiledRules:
        return self.compiled(instance(trellis, Trellis, "trellis", "a Trellis").labels)

    def without(self, name: str) -> "RuleCompiler":
        def make() -> tuple[str, RuleCompiler]:
            items = self.rules.items
            kept = tuple(i for i, n in zip(items, unique_names(items), strict=True) if n != name)
            return name, RuleCompiler(replace(self.rules, items=kept, groups=(), templates=()))

        return self._without.find(lambda one: one[0] == name, make)[1]


_recent = Recent[RuleCompiler](MOST_RULES)


def stated(
    rules: Rules | RuleCompiler,
    what: str,
    instead: str = "leave it out, or state it as a template, an inequality or a formula",
) -> RuleCompiler:
    """The compiler of rules; ValueError if one of them is a Python function, which `what` does not accept."""
    compiler = compiler_of(rules)
    for rule in compiler.rules.rules:
        if rule.statement.form == "function":
            raise ValueError(
                f"{what} takes no rule that is a Python function, such as {rule.title!r}: {instead}"
            )
    return compiler


def compiler_of(rules: Rules | RuleCompiler) -> RuleCompiler:
    """The compiler of rules, from the cache where the same rule set, or a list of the same objects, was used lately."""
    if isinstance(rules, RuleCompiler):
        return rules
    if isinstance(rules, list | tuple):
        items: Sequence[Rule | Feature] = rules
        return _recent.find(lambda one: _same(one.rules, items), lambda: RuleCompiler(rule_set(items)))
    given = rule_set(rules)
    if isinstance(rules, RuleSet):
        return _recent.find(lambda one: one.rules is given, lambda: RuleCompiler(given))
    if isinstance(rules, str | Path):
        return _recent.find(lambda one: one.rules == given, lambda: RuleCompiler(given))
    return _recent.find(lambda one: _same(one.rules, given.items), lambda: RuleCompiler(given))


def _same(known: RuleSet, items: Sequence[Rule | Feature]) -> bool:
    """Whether a rule set is made of these very objects."""
    return (
        not known.fields
        and not known.never
        and len(known) == len(items)
        and all(map(is_, known.items, items))
    )


def shown(labels: LabelSet) -> str:
    """The first few names, and the scheme."""
    more = f", … ({len(labels)})" if len(labels) > 6 else ""
    return f"{', '.join(labels.names[:6])}{more} ({labels.notation})"
