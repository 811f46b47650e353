"""Records as plain values (the types of JSON), and strict reading; a ValueError names place (`what`), value and expected type."""

import json
import math
import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, ClassVar, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from formulations import arguments
from formulations.files import Unreadable, read_json_text
from formulations.messages import brief, counted, suggestion

Record = TypeVar("Record")


def table(value: Any, keys: Collection[str], what: str, optional: Iterable[str] = ()) -> dict[str, Any]:
    """An object with these keys, perhaps optional keys, and no others."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} is {kind_of(value)}; expected an object")
    known = (*keys, *optional)
    for key in keys:
        if key not in value:
            raise ValueError(f"{what} has no {key}")
    for key in value:
        if key not in known:
            raise ValueError(f"unknown key {key!r:.60} in {what}{suggestion(key, known)}")
    return value


def items(value: Any, what: str, length: int | None = None, of: str = "") -> list[Any]:
    """The items of a list, perhaps of a given length; `of` describes them in messages."""
    size = f" of {of or length}" if of or length is not None else ""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{what} is {kind_of(value)}; expected a list{size}")
    if length is not None and len(value) != length:
        raise ValueError(f"{what} has {counted(len(value), 'item')}; expected {length}")
    return list(value)


def text(value: Any, what: str) -> str:
    """A text that can be written as UTF-8."""
    return arguments.text(value, what, kind_of)


def choice(value: Any, what: str, options: Collection[str]) -> str:
    if text(value, what) not in options:
        raise ValueError(f"{what} is {brief(value)}{suggestion(value, options)}")
    return str(value)


def number(value: Any, what: str, null: float | None = None) -> float:
    """A finite number, or the meaning of null, if it has one."""
    if value is None and null is not None:
        return null
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{what} is {kind_of(value)}; expected a number")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        hint = "" if null is None else f", or null for {null}"
        raise ValueError(f"{what} is {brief(value)}; expected a finite number{hint}")
    return result


def strings(value: Any, what: str) -> tuple[str, ...]:
    given = items(value, what, of="texts")
    try:
        "".join(given).encode()
    except (TypeError, UnicodeEncodeError):
        for at, each in enumerate(given):
            text(each, f"{what}[{at}]")
    return tuple(given)


def positions(value: Any, what: str) -> dict[int, Any]:
    """Values by position, from an object with whole numbers from 0 as keys."""
    given = table(value, (), what, value if isinstance(value, dict) else ())
    for key in given:
        if not re.fullmatch("0|[1-9][0-9]{0,9}", key):
            raise ValueError(
                f'{what}: {key!r:.60} is not a position; expected a whole number from 0, such as "3"'
            )
    return {int(key): each for key, each in given.items()}


def plain(value: Any) -> Any:
    """Convert to types of JSON: records to objects, sequences to lists, numpy numbers to Python numbers, non-finite numbers to None."""
    if isinstance(value, PlainValues):
        return value.to_dict()
    if is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, str) or value is None:
        return None if value is None else str(value)
    if isinstance(value, Sequence | set | frozenset):
        return [plain(each) for each in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


class PlainValues:
    """A dataclass that is written as plain values; `DERIVED` are further properties to write."""

    DERIVED: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values; numbers that are not finite become None, as strict JSON requires.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        names = [each.name for each in fields(self)]  # type: ignore[arg-type]
        return {name: plain(getattr(self, name)) for name in (*names, *self.DERIVED)}


class PlainRecord(PlainValues):
    """A dataclass that can be read from plain values; `TITLE` is its name in messages, `NULL` the meaning of null by field."""

    TITLE: ClassVar[str]
    NULL: ClassVar[Mapping[str, float]] = MappingProxyType({})

    @classmethod
    def from_dict(cls, values: Any, what: str = "") -> Self:
        """Read the values of `to_dict`.

        Parameters
        ----------
        values : object
            A dictionary as `to_dict` returns it.
        what : str, optional
            Name of the values in messages.

        Returns
        -------
        PlainRecord
            A record of this kind.

        Raises
        ------
        ValueError
            For other values; the message names the place and the value.
        """
        return record(cls, values, what or cls.TITLE, derived=cls.DERIVED, null=cls.NULL)


def record(
    kind: type[Record],
    value: Any,
    what: str,
    *,
    derived: Iterable[str] = (),
    null: Mapping[str, float] = MappingProxyType({}),
) -> Record:
    """Read a dataclass from an object, by the types of its fields; `null` is the meaning of null by field, `derived` are further keys.

    Without `what`, messages about a field begin with its name, and those about the object with its `TITLE`.
    """
    declared = [each for each in fields(kind) if each.init]  # type: ignore[arg-type]
    names = [each.name for each in declared]
    needed = [each.name for each in declared if each.default is MISSING and each.default_factory is MISSING]
    given, hints = (
        table(value, needed, what or getattr(kind, "TITLE", "the object"), (*names, *derived)),
        get_type_hints(kind),
    )

    def field_of(name: str) -> Any:
        if name in null and given[name] is None:
            return null[name]
        return of_type(hints[name], given[name], f"{what}: {name}" if what else name)

    return kind(**{name: field_of(name) for name in names if name in given})


def of_type(hint: Any, value: Any, what: str) -> Any:
    """A value of a type, as `record` reads them."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in READERS:
        return READERS[hint](value, what)
    if origin is Sequence:
        origin, inner = tuple, (*inner, ...)
    if origin in (Union, UnionType):
        other = reduce(or_, (each for each in inner if each is not NoneType))
        return None if value is None else of_type(other, value, what)
    if origin is tuple:
        each = [inner[0]] * len(items(value, what)) if inner[1:] == (...,) else inner
        pairs = zip(each, items(value, what, len(each)), strict=True)
        return tuple(of_type(kind, x, f"{what}[{at}]") for at, (kind, x) in enumerate(pairs))
    if origin is list:
        return [of_type(inner[0], x, f"{what}[{at}]") for at, x in enumerate(items(value, what))]
    if origin in (dict, Mapping):
        given = table(value, (), what, value if isinstance(value, dict) else ())
        return {
            text(key, f"a key of {what}"): of_type(inner[1], x, f"{what}[{key!r:.60}]")
            for key, x in given.items()
        }
    if isinstance(hint, type) and issubclass(hint, PlainRecord):
        return hint.from_dict(value, what)
    return record(hint, value, what)


READERS: dict[Any, Callable[[Any, str], Any]] = {
    Any: lambda value, what: value,
    str: text,
    int: lambda value, what: arguments.whole(value, what, shown=kind_of),
    float: number,
    bool: lambda value, what: arguments.flag(value, what, kind_of),
}
"""Readers by type; modules register their own types here."""


def kind_of(value: Any) -> str:
    kinds = {list: "a list", tuple: "a list", dict: "an object", str: "a text", type(None): "null"}
    return str(value).lower() if isinstance(value, bool) else kinds.get(type(value), f"{brief(value):.40}")


def repeated(pairs: Iterable[tuple[Hashable, Any]]) -> Any:
    """The first repeated key; LookupError if all keys differ."""
    keys = set[Hashable]()
    for key, _ in pairs:
        if key in keys:
            return key
        keys.add(key)
    raise LookupError("all keys differ")


def parse_json(content: str, expected: str = "", *, finite: bool = True) -> Any:
    """Parse JSON; ValueError for invalid texts, repeated keys and, with `finite`, NaN and infinities."""
    try:
        constant = _no_number if finite else None
        return json.loads(content, object_pairs_hook=_object, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}{expected and f'; {expected}'}") from None
    except ValueError as error:
        if "int_max_str_digits" in str(error):
            raise ValueError(f"a number of more than {sys.get_int_max_str_digits()} digits") from None
        raise
    except RecursionError:
        raise ValueError("lists and objects are nested too deeply") from None


def read_values(path: str | Path, largest: int, made: Callable[[Any], Record]) -> Record:
    """Read a `.json` or `.json.gz` file of limited size, and pass its values to `made`; a ValueError names the file."""
    try:
        return made(parse_json(read_json_text(path, largest)))
    except FileNotFoundError:
        raise
    except ValueError as error:
        raise Unreadable(f"{path}: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError(f"{repeated(pairs)!r:.60} is given twice in one object; give it once")
    return result


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number; give null for what is not finite")
