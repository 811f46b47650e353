"""Rules compiled for a label set, once for all sequences."""

import warnings
from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from formulations import time_limits
from formulations.arguments import instance
from formulations.automata.components import (
    Component,
    Condition,
    FunctionCount,
    StepChoice,
    UnboundComponent,
    Window,
)
from formulations.automata.lattice import StepTable
from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.constraints.rule_set import RuleSet
from formulations.constraints.template import Template
from formulations.errors import RuleNotice, stack_level
from formulations.labels.label_set import LabelSet
from formulations.labels.schemes import OPEN
from formulations.messages import counted, distinct
from formulations.problem.digest import decoding_digest, digest
from formulations.problem.problem import (
    Demand,
    GroundRule,
    MissingTokens,
    NoTokens,
    Priorities,
    Problem,
    check_totals,
    mask_tokens,
)
from formulations.problem.trellis import Trellis
from formulations.rulefiles.loading import rule_set

_notices: set[tuple[str, str]] = set()
"""Notices given in this process, with the digests of their rules."""
MOST_NOTICES = 1024


def _read_tokens(conditions: Iterable[Condition]) -> bool:
    return any(literal.pattern is not None for condition in conditions for literal in condition)


@dataclass(frozen=True)
class CompiledFeature:
    """A feature for one label set; its steps are in grid units."""

    name: str
    steps: StepChoice

    @cached_property
    def reads_tokens(self) -> bool:
        return _read_tokens([self.steps.condition])


@dataclass(frozen=True)
class CompiledRule:
    """A rule for one label set, including declared fields."""

    rule: Rule
    name: str
    labels: LabelSet
    components: tuple[UnboundComponent, ...] | None  # None if they depend on the sequence

    @property
    def binary(self) -> bool:
        return self.rule.distance == "binary"

    @cached_property
    def reads_tokens(self) -> bool:
        components = (component.steps.condition for component in self.components or ())
        return _read_tokens([*components, *(demand.condition for demand in self.demands)])

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """Demands that depend on a token and its neighbours only."""
        pairs = (statement.required_field for statement in self._demand_rules)
        return tuple(Demand(pair[0], self.labels.field(pair[1]).member) for pair in pairs if pair)

    @cached_property
    def _demand_rules(self) -> list[Template]:
        """The statements, if their demands may have priority over later rules."""
        if not self.rule.hard or self.rule.distance == "hamming":
            return []
        return self.rule.statements(self.labels.field_names)

    @cached_property
    def demands_by_sequence(self) -> bool:
        methods = (type(statement).required_fields for statement in self._demand_rules)
        return any(method is not Template.required_fields for method in methods)

    @property
    def stands_alone(self) -> bool:
        """Whether the components on each sequence are independent of demands of other rules."""
        by_sequence = self.components is None and self.rule.distance != "hamming"
        return by_sequence and not self.demands and not self.demands_by_sequence

    def overruled(self, priorities: Priorities, window: Window) -> list[int]:
        """Tokens of a sequence at which earlier rules have priority."""
        if not self.demands_by_sequence:
            demands = [(window.positions(demand.condition), demand.wanted) for demand in self.demands]
        else:
            pairs = (pair for s in self._demand_rules for pair in s.required_fields(window.tokens).items())
            demands = [([t], self.labels.field(wanted).member) for t, wanted in pairs]
        return priorities.overruled(self.name, demands)

    def ground(self, window: Window, overruled: Sequence[int]) -> GroundRule:
        """The rule on one sequence, given the tokens at which other rules have priority."""
        time_limits.check()
        if self.components is None:
            components = tuple(map(self._named, self.rule.ground(self.labels, window.tokens)))
        else:
            components = tuple(component.on(window) for component in self.components)
        if overruled:
            components = tuple(mask_tokens(component, overruled) for component in components)
        forced = self.rule.partial == "forced"
        return GroundRule(self.name, self.rule.units, self.binary, components, forced, tuple(overruled))

    def _named(self, component: Component) -> Component:
        """Give a `FunctionCount` the unique name of its rule; other components are unchanged."""
        return replace(component, rule=self.name) if isinstance(component, FunctionCount) else component


@dataclass(frozen=True)
class CompiledRules:
    """Rules and features for one label set, in order: immutable, picklable, and independent of the sequence."""

    rule_set: RuleSet
    labels: LabelSet
    items: tuple[CompiledRule | CompiledFeature, ...]
    notices: tuple[str, ...]  # warnings about the rules and these labels

    def __repr__(self) -> str:
        features = len(self.items) - len(self.rules)
        labels = f"{counted(len(self.labels), 'label')}, scheme {self.labels.notation}"
        return f"CompiledRules({counted(len(self.rules), 'rule')}, {counted(features, 'feature')}, {labels})"

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits that change with any rule, penalty, name or label."""
        pairs = [(item, compiled.name) for item, compiled in zip(self.rule_set, self.items, strict=True)]
        pairs.sort(key=lambda pair: isinstance(pair[0], Feature))  # rule files begin with the rules
        items, names = zip(*pairs, strict=True) if pairs else ((), ())
        about = (*sorted(self.labels.never),) if self.labels.never else ()
        return digest(items, names, self.labels.names, self.labels.notation, *about)

    def digest_of(self, trellis: Trellis) -> str:
        """64 hexadecimal digits that change with any score, rule, penalty, label name or token of a decoding."""
        lattice = trellis.lattice
        return decoding_digest(self.digest, lattice.node, lattice.pool, lattice.step, trellis.tokens)

    @cached_property
    def rules(self) -> tuple[CompiledRule, ...]:
        return tuple(item for item in self.items if isinstance(item, CompiledRule))

    def fit(self, trellis: Trellis) -> Trellis:
        """The trellis without the `never` labels of the rules; ValueError if the labels are not those of the rules."""
        trellis = instance(trellis, Trellis, "trellis", "a Trellis").with_never(
            self.rule_set.never, absent=True
        )
        self.check(trellis.labels)
        return trellis

    def check(self, labels: LabelSet) -> None:
        """Raise ValueError if the labels are not those of the rules."""
        if labels != self.labels and _identity(labels) != _identity(self.labels):
            raise ValueError(
                f"the rules are compiled for {_description(self.labels)}, but the trellis has {_description(labels)}: "
                "compile them for its labels"
            )

    def problem(self, trellis: Trellis, *, quiet: bool = False) -> Problem:
        """Scores and ground rules of one sequence, without repeated notices; ValueError for input that does not fit."""
        trellis = self.fit(trellis)
        words = trellis.tokens if any(trellis.tokens) else MissingTokens(trellis.tokens)
        if not len(trellis):  # no rule applies to it
            ground = [GroundRule(rule.name, rule.rule.units, rule.binary, ()) for rule in self.rules]
            return Problem(trellis.lattice, trellis.lattice, tuple(ground), trellis.labels)
        window, priorities = Window(words), Priorities()
        ground, tables = [], list[StepTable]()
        for item in self.items:
            try:
                if isinstance(item, CompiledFeature):
                    tables.append(window.steps(item.steps))
                else:
                    ground.append(item.ground(window, item.overruled(priorities, window)))
            except ValueError as error:
                raise ValueError(f"{item.name}: {error}") from None
            if isinstance(words, MissingTokens) and (words.seen or item.reads_tokens):
                raise NoTokens(item.name)
        check_totals(trellis.lattice, tables, ground)
        if not quiet:
            self.warn()
        return Problem(trellis.lattice, trellis.lattice.plus(tables), tuple(ground), trellis.labels)

    @cached_property
    def _of_rule_set(self) -> str:
        """A digest of the rules, independent of labels."""
        return digest(self.rule_set)

    def warn(self) -> None:
        """Give each notice once per process and rules, even if the rules are compiled several times."""
        for text in self.notices:
            key = self._of_rule_set, text
            if key not in _notices:
                if len(_notices) >= MOST_NOTICES:
                    _notices.clear()
                _notices.add(key)
                warnings.warn(text, RuleNotice, stacklevel=stack_level())

    def overruled(self, tokens: Sequence[str]) -> dict[str, list[int]]:
        """For each rule, the tokens at which earlier rules have priority; rules without such tokens are omitted."""
        window, priorities = Window(tokens), Priorities()
        lost = {rule.name: rule.overruled(priorities, window) for rule in self.rules}
        return {name: tokens for name, tokens in lost.items() if tokens}


def compile_rules(rules: Iterable[Rule | Feature], labels: LabelSet) -> CompiledRules:
    """Compile rules and features; ValueError for an object that is no rule, an unknown field, and a repeated name."""
    given = rule_set(rules)
    given.check_unconditional()
    labels = given.fit(labels)
    names, known = unique_names(given), labels.with_optional_fields(given.fields)
    items = tuple(_compiled(item, name, known) for item, name in zip(given, names, strict=True))
    return CompiledRules(given, labels, items, tuple(notices(given, labels)))


def _identity(labels: LabelSet) -> tuple[object, ...]:
    return labels.names, labels.notation, labels.never


def compile_problem(trellis: Trellis, rules: Iterable[Rule | Feature]) -> Problem:
    """Compile rules for one trellis, and ground them; as `compile_rules` and `CompiledRules.problem`."""
    instance(trellis, Trellis, "trellis", "a Trellis")
    return compile_rules(rules, trellis.labels).problem(trellis)


def _compiled(item: Rule | Feature, name: str, labels: LabelSet) -> CompiledRule | CompiledFeature:
    try:
        if isinstance(item, Feature):
            return CompiledFeature(name, item.steps(labels))
        if item.hard and (why := item.statement.vacuous(labels)):
            raise ValueError(why)
        components = None if item.distance == "hamming" else item.components(labels)
        return CompiledRule(item, name, labels, components)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def notices(rules: RuleSet, labels: LabelSet) -> list[str]:
    labels = rules.fit(labels)
    unknown = [name for name in rules.never if name not in labels]
    lacking = f"never: the model has no label {', '.join(unknown)}" if unknown else ""
    result = [labels.notice if rules.rules else "", absence(rules, labels), lacking]
    for rule in rules.rules:
        why = "" if rule.hard else rule.statement.vacuous(labels)
        result += [f'rule "{rule.title}": {why}'] if why else []
    odd = [rule for rule in rules.rules if type(rule.statement).remark is not Template.remark]
    known = labels.with_optional_fields(rules.fields)
    for rule in odd:
        said = (statement.remark(known) for statement in rule.statements(known.field_names))
        result += [f'rule "{rule.title}": {text}' for text in dict.fromkeys(said) if text]
    return distinct(result)


def absence(rules: RuleSet, labels: LabelSet) -> str:
    """A notice about declared fields without labels; empty if there are none."""
    absent = [] if labels.scheme in OPEN else rules.absent(labels)
    return f"no label for {', '.join(absent)}: counted as absent" if absent else ""


def unique_names(items: Iterable[Rule | Feature]) -> list[str]:
    """Names of rules: given names, which must differ, or titles, which are numbered if they repeat."""
    items = list(items)
    given = Tally(item.name for item in items if item.name)
    repeated = [name for name, times in given.items() if times > 1]
    if repeated:
        raise ValueError(f"two rules are named {repeated[0]!r}: names must differ")
    names_in_use: set[str] = set(given)
    next_number: dict[str, int] = {}
    names = []
    for item in items:
        name = title = item.title
        while not item.name and name in names_in_use:
            next_number[title] = next_number.get(title, 1) + 1
            name = f"{title} #{next_number[title]}"
        names_in_use.add(name)
        names.append(name)
    return names


def _description(labels: LabelSet) -> str:
    shown = ", ".join(labels.names[:4]) + (", …" if len(labels) > 4 else "")
    return f"{counted(len(labels), 'label')} ({shown}), scheme {labels.notation}"
