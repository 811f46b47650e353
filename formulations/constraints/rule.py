"""A rule: a template with its parameters, how much a violation costs, and how violations are counted."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from formulations.compiled.machine import Machine
from formulations.constraints.reading import Reading
from formulations.grid import snap_weight
from formulations.labels import Group, LabelSet

DISTANCES = ("count", "binary")


class Template(ABC):
    """What a rule says, in both of its meanings. Subclasses are frozen dataclasses of parameters."""

    def __post_init__(self) -> None:
        for parameter in fields(self):  # type: ignore[arg-type]
            value = getattr(self, parameter.name)
            if isinstance(value, list):
                object.__setattr__(self, parameter.name, tuple(value))
            elif parameter.type is int:
                object.__setattr__(self, parameter.name, whole(value, parameter.name))
            elif parameter.type is bool and not isinstance(value, bool):
                raise ValueError(f"{parameter.name} is {value!r}; expected true or false")

    @abstractmethod
    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        """The machines whose violations, summed, are the rule's."""

    @abstractmethod
    def count(self, reading: Reading) -> int:
        """Violations of a whole labelling, in plain Python: the meaning that all else is tested against."""


@dataclass(frozen=True)
class Rule:
    """A template that is hard, or costs `penalty` nats for each violation.

    Parameters
    ----------
    statement : the template with its parameters
    penalty : nats a violation, positive; inf makes the rule hard
    distance : "count" for the template's own count, "binary" for one if there is any
    name : shown in `violations`; made from the statement where not given
    """

    statement: Template
    penalty: float = math.inf
    distance: str = "count"
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"name is {self.name!r}; expected a text")
        where = f"rule {self.title!r}: penalty"
        if not isinstance(self.penalty, Real) or isinstance(self.penalty, bool):
            raise ValueError(f"{where} is {self.penalty!r}: give nats, or inf for a hard rule")
        if self.penalty <= 0:
            shown = f"{self.penalty:g}" if isinstance(self.penalty, float) else str(self.penalty)
            raise ValueError(f"{where} is {shown}: a penalty is positive; to reward something, use a feature")
        snap_weight(self.penalty, where, allow_inf=True)
        if self.distance not in DISTANCES:
            raise ValueError(
                f"rule {self.title!r}: no distance {self.distance!r}; there are {', '.join(DISTANCES)}"
            )

    @property
    def title(self) -> str:
        """The given name, or the statement."""
        return self.name or sentence(self.statement)

    @property
    def hard(self) -> bool:
        return self.penalty == math.inf

    @property
    def units(self) -> int | None:
        """The penalty on the score grid; None for a hard rule."""
        return snap_weight(self.penalty, "penalty", allow_inf=True)

    def violations(
        self, labelling: Sequence[str], tokens: Sequence[str] | None = None, labels: LabelSet | None = None
    ) -> int:
        """How often a labelling, given by names, breaks the rule.

        `labels` says which labels and which scheme there are; the labelling's own names where not given.
        """
        view = labels or LabelSet(tuple(dict.fromkeys(labelling)))
        words = [""] * len(labelling) if tokens is None else tokens
        found = self.statement.count(Reading(labelling, words, view))
        return min(found, 1) if self.distance == "binary" else found


def whole(value: Any, what: str) -> int:
    """The value, which has to be a whole number from 0 to 2^31."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) <= 2**31:
        raise ValueError(f"{what} is {value!r}; expected a whole number from 0 to 2^31")
    return int(value)


def sentence(statement: Any) -> str:
    """`at_most_runs(title, 1)`."""
    values = [getattr(statement, f.name) for f in fields(statement)]
    shown = ", ".join(_shown(v) for v in values if v not in ("", (), None))
    return f"{TEMPLATE_NAMES.get(type(statement), type(statement).__name__)}({shown})"


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " or ".join(map(str, value))
    return value.name if isinstance(value, Group) else str(value)


TEMPLATES: dict[str, type[Any]] = {}
TEMPLATE_NAMES: dict[type[Any], str] = {}


def template(name: str, statement: type[Any]) -> Callable[..., Rule]:
    """Register a template class under a name, and return the function that makes rules of it.

    The function takes the template's parameters, then `penalty`, `distance` and `name` by keyword.
    """
    TEMPLATES[name] = statement
    TEMPLATE_NAMES[statement] = name
    rule_name = name

    def make(
        *arguments: Any, penalty: float = math.inf, distance: str = "count", name: str = "", **parameters: Any
    ) -> Rule:
        return Rule(_stated(rule_name, statement, arguments, parameters), penalty, distance, name)

    make.__name__ = make.__qualname__ = rule_name
    make.__module__ = statement.__module__
    make.__doc__ = statement.__doc__
    return make


def _stated(name: str, statement: type[Any], arguments: tuple[Any, ...], parameters: dict[str, Any]) -> Any:
    try:
        return statement(*arguments, **parameters)
    except TypeError as error:
        raise TypeError(f"{name}: {str(error).replace(f'{statement.__name__}.__init__()', 'it')}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
