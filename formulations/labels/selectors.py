"""Parameters that name fields, labels and groups."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from formulations.labels.label_set import Group, Selector
from formulations.messages import brief
from formulations.parameters import KINDS, Kind, ParameterError


def selector(value: Any, what: str) -> Selector:
    """A field, label or group, or a list of them, which is kept as a tuple."""
    if isinstance(value, Group) or (isinstance(value, str) and value):
        return value
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ParameterError(
            f"{what} is {brief(value)}; expected a field, a label, a group, or a list of them"
        )
    result: list[str | Group] = []
    for number, member in enumerate(value):
        try:
            inner = selector(member, what)
        except ParameterError as error:
            raise ParameterError(str(error), number, *error.path) from None
        result += [inner] if isinstance(inner, str | Group) else inner
    if not result:
        raise ParameterError(f"{what} is an empty list; expected at least one field")
    return tuple(result)


def _perhaps_selector(value: Any, what: str) -> Selector | None:
    return None if value is None else selector(value, what)


def _groups(value: Any, what: str) -> tuple[Group, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, Group) for each in value):
        raise ParameterError(f"{what} is {brief(value)}; expected a list of groups")
    return tuple(value)


_SCHEMA = {"$ref": "#/definitions/selector"}
KINDS[Selector] = Kind(selector, _SCHEMA, names_fields=True, always_shown=True)
KINDS[Selector | None] = Kind(_perhaps_selector, _SCHEMA, names_fields=True, always_shown=True)
KINDS[Sequence[Group]] = KINDS[tuple[Group, ...]] = Kind(_groups, {})
