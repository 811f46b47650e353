"""A rule: a template with its parameters, how much a violation costs, and how violations are counted."""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from numbers import Real
from typing import Any

from formulations.automata.component import Component
from formulations.automata.hamming import MOST_PLACES, HammingDistance
from formulations.automata.machine import Machine, TooManyStates
from formulations.automata.windows import UnboundComponent
from formulations.constraints.template import LONGEST_NAME, TEMPLATES, Template, Trial, each_field
from formulations.grid import snap_weight
from formulations.labels.label_set import LabelSet, suggestion
from formulations.labels.reading import Reading
from formulations.parameters import text
from formulations.shown import brief, cut

DISTANCES = ("count", "binary", "hamming")
SCOPES = {"": (), "each label": ("X",), "each pair": ("X", "Y")}
"""What a rule is repeated for, and the placeholders that stand for it."""
PARTIAL = ("", "forced")
COMMON = ("penalty", "distance", "name", "scope", "partial", "reason")
"""What every rule may have beside its statement."""
HIDDEN = ("named", "arguments", "template")
"""Parameters of statements that users do not give."""
HEADING = "Parameters\n----------\n"
"""Of the parameters in a docstring."""


@dataclass(frozen=True)
class Rule:
    """A template that is hard, or costs `penalty` nats for each violation.

    Parameters
    ----------
    statement : the template with its parameters
    penalty : nats a violation, positive; inf makes the rule hard
    distance : "count" for the template's own count, "binary" for one if there is any, "hamming" for the fewest
        tokens to relabel until the rule holds, T where no labelling of T tokens keeps it
    name : shown in `violations`; made from the statement where not given
    scope : "each label" repeats the rule for every field X but `O`, "each pair" for every two different ones X, Y
    partial : "forced" lets searches evaluate it on prefixes even where that loses solutions (Stokman 2011,
        section 4.1, where rules are marked by hand); decided from the rule's form where not given
    reason : why the rule is there
    """

    statement: Template
    penalty: float = math.inf
    distance: str = "count"
    name: str = ""
    scope: str = ""
    partial: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.statement, Template):
            raise ValueError(f"statement is {brief(self.statement)}; expected a template")
        for parameter in ("name", "distance", "scope", "partial", "reason"):
            text(getattr(self, parameter), parameter)
        where = f"rule {self.title!r}: penalty"
        if not isinstance(self.penalty, Real) or isinstance(self.penalty, bool):
            raise ValueError(f"{where} is {brief(self.penalty)}: give nats, or inf for a hard rule")
        if self.penalty <= 0:
            shown = f"{self.penalty:g}" if isinstance(self.penalty, float) else str(self.penalty)
            raise ValueError(f"{where} is {shown}: a penalty is positive; to reward something, use a feature")
        snap_weight(self.penalty, where, allow_inf=True)
        self._one_of("distance", DISTANCES)
        self._one_of("scope", SCOPES)
        self._one_of("partial", PARTIAL)
        if self.partial and (self.statement.form == "logic" or self.distance == "hamming"):
            raise ValueError(
                f'rule {self.title!r}: partial "forced" is for templates and linear rules that count; what a formula or '
                "a Hamming distance says of a prefix is worked out from its machine"
            )

    def _one_of(self, what: str, known: Iterable[str]) -> None:
        value = getattr(self, what)
        if value not in known:
            options = [option for option in known if option]
            raise ValueError(
                f"rule {self.title!r}: no {what} {brief(value)}{suggestion(str(value), options)}"
                if len(options) == 1
                else f"rule {self.title!r}: no {what} {brief(value)}; there are {', '.join(options)}"
            )

    @property
    def title(self) -> str:
        """The given name, or the statement."""
        return self.name or cut(self.statement.sentence(), LONGEST_NAME) + (
            f" for {self.scope}" if self.scope else ""
        )

    @property
    def hard(self) -> bool:
        return self.penalty == math.inf

    @cached_property
    def units(self) -> int:
        """The penalty on the score grid; `HARD` for a hard rule."""
        return snap_weight(self.penalty, "penalty", allow_inf=True)

    def statements(self, names: tuple[str, ...]) -> list[Template]:
        """The statement for each of what it is repeated for, given the names of the fields but `O`."""
        if names not in self._statements:
            self._statements[names] = self._repeated(names)
        return self._statements[names]

    @cached_property
    def _statements(self) -> dict[tuple[str, ...], list[Template]]:
        return {}

    def _repeated(self, names: tuple[str, ...]) -> list[Template]:
        places = SCOPES[self.scope]
        taken = [place for place in places if place in names]
        if taken:
            raise ValueError(
                f"scope {self.scope!r} uses {taken[0]!r} as a placeholder, but a field is named so"
            )
        chosen = permutations(names, len(places))
        scoped = [self.statement.bind(dict(zip(places, c, strict=True))) for c in chosen if places]
        return [each for s in (scoped if places else [self.statement]) for each in each_field(s, names)]

    def components(self, labels: LabelSet) -> tuple[UnboundComponent, ...] | None:
        """The parts of its statements on any sequence; None where some depend on the sequence.

        Raises
        ------
        ValueError
            for an unknown field.
        """
        names = tuple(field.name for field in labels.each_field)
        result = [statement.components(labels) for statement in self.statements(names)]
        if any(components is None for components in result):
            return None
        return tuple(component for components in result for component in components or ())

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> tuple[Component, ...]:
        """The parts whose violations, summed, are the rule's on these tokens.

        Raises
        ------
        ValueError
            for an unknown field, and for distance "hamming" where a rule has no small machine.
        """
        names = tuple(field.name for field in labels.each_field)
        components = tuple(
            component for s in self.statements(names) for component in s.ground(labels, tokens)
        )
        if self.distance != "hamming" or not components:
            return components
        return (self._nearest(components, len(labels), len(tokens)),)

    def _nearest(self, components: Sequence[Component], labels: int, length: int) -> HammingDistance:
        try:
            result = HammingDistance(self._regular(components), labels, length, self.hard)
            result.repairs  # noqa: B018 - raises where there are too many places
            return result
        except TooManyStates:
            raise ValueError(
                f'distance "hamming" would need more than {MOST_PLACES} states for a token: use "count"'
                + (", or a rule for one field" if self.scope or len(components) > 1 else "")
            ) from None

    def _regular(self, components: Iterable[Component]) -> list[Machine]:
        result = [component.machines for component in components]
        if None in result:
            raise ValueError(
                'distance "hamming" is for rules that have a small machine, which this one has not: use "count"'
            )
        return [machine for machines in result for machine in machines or ()]

    def trials(self, reading: Reading) -> list[Trial]:
        """Where the rule applies in a labelling, by the plain checker, and how much it is broken there."""
        result = [t for s in self.statements(reading.fields) for t in s.trials(reading)]
        if self.distance != "hamming":
            return result
        amount, changed = self._relabelling(reading)
        return [Trial(tuple(changed), amount)] if result or amount else []

    def _relabelling(self, reading: Reading) -> tuple[int, list[int]]:
        labels = reading.labels
        components = replace(self, distance="count").ground(labels, reading.tokens)
        if not components:
            return 0, []
        return self._nearest(components, len(labels), len(reading)).nearest(labels.ids(reading.names))

    def violations(
        self, labelling: Sequence[str], tokens: Sequence[str] | None = None, labels: LabelSet | None = None
    ) -> int:
        """How often a labelling, given by names, breaks the rule.

        `labels` says which labels and which scheme there are; the labelling's own names where not given.
        """
        view = labels or LabelSet(tuple(dict.fromkeys(labelling)))
        words = [""] * len(labelling) if tokens is None else tokens
        result = sum(trial.amount for trial in self.trials(Reading(labelling, words, view)))
        return min(result, 1) if self.distance == "binary" else result


def maker(name: str) -> Callable[..., Rule]:
    """The function that makes rules of a template: its parameters, then those of `Rule` by keyword."""
    statement = TEMPLATES[name]

    def make(*arguments: Any, **parameters: Any) -> Rule:
        common = common_parameters(parameters)
        return Rule(stated(statement, arguments, parameters), **common)

    make.__name__ = make.__qualname__ = name
    make.__module__ = statement.__module__
    make.__doc__ = _documentation(statement)
    make.__signature__ = _signature(statement)  # type: ignore[attr-defined]
    return make


def _documentation(statement: type[Template]) -> str:
    """What a template says, and each parameter as the template describes it or the class that it is from."""
    said, _, others = inspect.cleandoc(statement.__doc__ or "").partition(HEADING)
    described: dict[str, str] = {}
    for described_by in statement.__mro__:
        section = inspect.cleandoc(described_by.__doc__ or "").partition(HEADING)[2].partition("\n\n")[0]
        for entry in re.split(r"\n(?=\S)", section):
            for name in entry.partition(" : ")[0].split(", "):
                described.setdefault(name, entry)
    own = [p for p in inspect.signature(statement).parameters if p in described and p not in HIDDEN]
    entries = [*dict.fromkeys(described[name] for name in own), f"{', '.join(COMMON)} : as in `Rule`"]
    _, blank, rest = others.partition("\n\n")
    return f"{said.strip()}\n\n{HEADING}" + "\n".join(entries) + blank + rest


def _signature(statement: type[Template]) -> inspect.Signature:
    own = [p for p in inspect.signature(statement).parameters.values() if p.name not in HIDDEN]
    rule = inspect.signature(Rule).parameters
    common = [rule[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in COMMON]
    return inspect.Signature([*own, *common], return_annotation=Rule)


def common_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Take what belongs to every rule out of its parameters."""
    return {name: parameters.pop(name) for name in COMMON if name in parameters}


def stated(statement: type[Template], arguments: Sequence[Any], parameters: Mapping[str, Any]) -> Template:
    """The statement, with errors that name the template."""
    name = statement.rule_name
    try:
        return statement(*arguments, **parameters)
    except TypeError as error:
        raise TypeError(f"{name}: {str(error).replace(f'{statement.__name__}.__init__()', 'it')}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
