"""Records of parameters that check their values."""

from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any


class Parameters:
    """A record whose values are checked."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            each.metadata.get("check", _truth)(getattr(self, each.name), each.name)


def one_of(usual: str, *others: str) -> Any:
    """A parameter with so many values."""

    def check(value: Any, name: str) -> None:
        if value not in (usual, *others):
            raise ValueError(f"{name} is {value!r}; expected one of {', '.join((usual, *others))}")

    return field(default=usual, metadata={"check": check})


def within(usual: float, low: float, high: float) -> Any:
    """A parameter from a number to another, whole where the usual value is."""
    kind, what = (Integral, "a whole number") if isinstance(usual, int) else (Real, "a number")

    def check(value: Any, name: str) -> None:
        if not isinstance(value, kind) or isinstance(value, bool) or not low <= float(value) <= high:
            raise ValueError(f"{name} is {value!r}; expected {what} from {low:g} to {high:g}")

    return field(default=usual, metadata={"check": check})


def _truth(value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}; expected true or false")
