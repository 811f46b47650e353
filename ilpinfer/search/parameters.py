"""Records of parameters that check their values."""

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

from formulations.arguments import number, whole
from ilpinfer.core.result import Task

Kind = TypeVar("Kind", bound="Parameters")


class Parameters:
    """A record whose values are checked. If it has a `variant`, that determines the values that are not given."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            usual = each.metadata.get("usual")
            if usual is not None and getattr(self, each.name) is None:
                object.__setattr__(self, each.name, usual[getattr(self, "variant")])  # noqa: B009
            each.metadata.get("check", _truth)(getattr(self, each.name), each.name)


def parameters_of(task: Task, kind: type[Kind]) -> Kind:
    """The parameters of a task, of this kind; the defaults if it has none."""
    result = task.parameters or kind()
    assert isinstance(result, kind)
    return result


def by_variant(values: Mapping[str, Any], parameter: Any = None) -> Any:
    """A parameter whose default depends on the `variant`, checked like `parameter`; without `parameter`, it is true or false."""
    metadata = {} if parameter is None else parameter.metadata
    return field(default=None, metadata={**metadata, "usual": values})


def one_of(usual: str, *others: str) -> Any:
    """A parameter with a fixed set of values."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, str) or value not in (usual, *others):
            raise ValueError(f"{name} is {value!r}; expected one of {', '.join((usual, *others))}")

    return field(default=usual, metadata={"check": check})


def within(usual: float, low: float, high: float) -> Any:
    """A number in a range; a whole number if the default is one."""

    def check(value: Any, name: str) -> None:
        if isinstance(usual, int):
            whole(value, name, int(low), int(high))
        else:
            number(value, name, low, high)

    return field(default=usual, metadata={"check": check})


def _truth(value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}; expected true or false")
