"""What a rule says: a template with its parameters, in two meanings that are held against each other."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, ClassVar, NewType, Protocol, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.machine import Machine
from formulations.constraints.reading import Reading
from formulations.labels import EACH_FIELD, Group, LabelSet, Selector, listed, renamed

Position = NewType("Position", int)
"""A token by its number; negative numbers count from the end."""


class Part(Protocol):
    """A ground rule, or a piece of one: a `Machine`, a `Sum` or a `Circuit`."""

    @property
    def is_local(self) -> bool: ...

    @property
    def most(self) -> int: ...

    @property
    def machines(self) -> tuple[Machine, ...] | None: ...

    def violations(self, path: NDArray[np.int64]) -> int: ...


@dataclass(frozen=True)
class Trial:
    """One occasion at which a rule applies.

    Parameters
    ----------
    tokens : where; the tokens that a reader should look at
    amount : violations; 0 where the rule holds
    """

    tokens: tuple[int, ...]
    amount: int


class Template(ABC):
    """A statement about labellings. Subclasses are frozen dataclasses of parameters, registered by `@template`.

    Both meanings must count the same: `ground`, from which programs and searches follow, and `trials`, plain
    Python that people can check by reading it.
    """

    rule_name: ClassVar[str]
    """The name in rule files and of the function that makes rules."""
    form: ClassVar[str] = "template"

    def __post_init__(self) -> None:
        for parameter in fields(self):  # type: ignore[arg-type]
            value = getattr(self, parameter.name)
            if isinstance(value, list):
                object.__setattr__(self, parameter.name, tuple(value))
            elif parameter.type in (int, Position):
                least = 0 if parameter.type is int else -(2**31)
                object.__setattr__(self, parameter.name, whole(value, parameter.name, least))
            elif parameter.type is bool and not isinstance(value, bool):
                raise ValueError(f"{parameter.name} is {value!r}; expected true or false")
            elif parameter.type is str and not isinstance(value, str):
                raise ValueError(f"{parameter.name} is {value!r}; expected a text")

    @abstractmethod
    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Part]:
        """The parts whose violations, summed, are the rule's."""

    @abstractmethod
    def trials(self, reading: Reading) -> Iterable[Trial]:
        """Where a whole labelling is bound by the rule, and how much it breaks it there."""

    def count(self, reading: Reading) -> int:
        """Violations of a whole labelling: the meaning that all else is tested against."""
        return sum(trial.amount for trial in self.trials(reading))

    def demands(self, tokens: Sequence[str]) -> Mapping[int, Selector]:
        """For rules that tie tokens to a field whatever the other labels are: which field each token must have."""
        return {}

    def bind(self, names: Mapping[str, Selector]) -> "Template":
        """The same statement with placeholders replaced by fields."""
        changed = {
            f.name: bound(getattr(self, f.name), names)
            for f in fields(self)  # type: ignore[arg-type]
            if f.type in SELECTORS
        }
        return replace(self, **changed) if changed else self  # type: ignore[type-var]

    def selectors(self) -> list[Selector]:
        """The fields, labels and groups that the statement names."""
        found = (getattr(self, f.name) for f in fields(self) if f.type in SELECTORS)  # type: ignore[arg-type]
        return [value for value in found if value is not None]

    def sentence(self) -> str:
        """`at_most_runs(title, 1)`."""
        shown = ", ".join(
            _shown(getattr(self, f.name))
            for f in sorted(fields(self), key=lambda f: bool(f.kw_only))  # type: ignore[arg-type]
            if getattr(self, f.name) != f.default or f.type in (*SELECTORS, int, Position)
        )
        return f"{self.rule_name}({shown})"


SELECTORS = (Selector, Selector | None)


def bound(value: Any, names: Mapping[str, Selector]) -> Any:
    """A selector, or None, with the placeholders in it replaced."""
    return None if value is None else renamed(value, names)


def mentions(selector: Selector | None, name: str) -> bool:
    """Whether a selector names the placeholder."""
    return any(name in m.names if isinstance(m, Group) else m == name for m in listed(selector or ()))


def each_field(statement: Template, names: Iterable[str]) -> list[Template]:
    """The statement once for every field, where it names EACH_FIELD."""
    if not any(mentions(selector, EACH_FIELD) for selector in statement.selectors()):
        return [statement]
    return [statement.bind({EACH_FIELD: name}) for name in names]


def whole(value: Any, what: str, least: int = 0) -> int:
    """The value, which has to be a whole number of at most 2^31."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= 2**31:
        from_where = "" if least else " from 0"
        raise ValueError(f"{what} is {value!r}; expected a whole number{from_where} to 2^31")
    return int(value)


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " or ".join(map(str, value))
    return value.name if isinstance(value, Group) else str(value)


TEMPLATES: dict[str, type[Template]] = {}
"""Every template by its name."""

Statement = TypeVar("Statement", bound=type[Template])


@dataclass_transform(frozen_default=True)
def template(name: str) -> Callable[[Statement], Statement]:
    """Make a class a frozen dataclass and register it as the template of that name.

    Raises
    ------
    ValueError
        where a template has that name already.
    """

    def register(statement: Statement) -> Statement:
        if name in TEMPLATES:
            raise ValueError(f"there is a template {name!r} already: {TEMPLATES[name].__qualname__}")
        made = dataclass(frozen=True)(statement)
        made.rule_name = name
        TEMPLATES[name] = made
        return made  # type: ignore[return-value]

    return register
