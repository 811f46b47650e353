"""Types of the parameters of templates and features: how values of each are checked, and its JSON Schema."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import numpy as np

from formulations import arguments
from formulations.errors import InferenceError
from formulations.messages import brief, cut, suggestion

KEY = object()
"""Last element of a path that refers to a key and not to its value."""
KeyPath = tuple[object, ...]
"""Path to a value in a document: keys of tables and numbers of list elements."""
Position = Annotated[int, "position"]
"""A token by its number; negative numbers count from the end."""


class ParameterError(InferenceError, ValueError):
    """An invalid value; `path` leads to the invalid part, from the record or the value that was checked."""

    def __init__(self, message: str, *path: Any) -> None:
        super().__init__(message)
        self.path = path


class Words(tuple[str, ...]):
    """Words, and the file that they were read from, by which they are shown."""

    source: str = ""

    def __str__(self) -> str:
        if self.source:
            return f"{cut(self.source, 60)} ({len(self)} words)"
        if len(self) > 6:
            return f"{' or '.join(self[:3])} or … ({len(self)} words)"
        return " or ".join(self)


@dataclass(frozen=True)
class Kind:
    """A type of parameters.

    Parameters
    ----------
    check : callable
        Returns the value in its normal form, given it and the parameter's name; raises ParameterError.
    schema : mapping of str to object
        The JSON Schema of the value in files.
    names_fields : bool, default False
        Whether values name fields, labels or groups.
    always_shown : bool, default False
        Whether names of rules show the value even where it is the default.
    """

    check: Callable[[Any, str], Any]
    schema: Mapping[str, Any]
    names_fields: bool = False
    always_shown: bool = False


def whole_number(value: Any, what: str, least: int = 0) -> int:
    """Check a whole number of at most 2^31."""
    return arguments.whole(value, what, least, 2**31)


def _position(value: Any, what: str) -> int:
    return whole_number(value, what, -(2**31))


def _number(value: Any, what: str) -> Any:
    if not arguments.real(value):
        raise ParameterError(f"{what} is {brief(value)}; expected a number")
    return value


def _boolean(value: Any, what: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{what} is {brief(value)}; expected true or false")
    return bool(value)


def text(value: Any, what: str) -> str:
    """Check a text."""
    return arguments.text(value, what)


def words(value: Any, what: str) -> Words:
    """Check a list of non-empty words."""
    if isinstance(value, Words):
        return value
    result = Words(arguments.items(value, what, "words"))
    for number, word in enumerate(result):
        if not isinstance(word, str) or not word:
            raise ParameterError(f"word {brief(word)} in {what}: expected a non-empty text", number)
        text(word, f"word {number} in {what}")
    return result


_TEXT = {"type": "string"}
WORDS = Kind(words, {"$ref": "#/definitions/words"})
KINDS: dict[Any, Kind] = {
    int: Kind(whole_number, {"type": "integer", "minimum": 0}, always_shown=True),
    Position: Kind(_position, {"type": "integer"}, always_shown=True),
    float: Kind(_number, {"type": "number"}),
    bool: Kind(_boolean, {"type": "boolean"}),
    str: Kind(text, _TEXT),
    Sequence[str]: WORDS,
    tuple[str, ...]: WORDS,
}
"""Declared types of parameters; modules that define a type of their own add it."""
_ANYTHING = Kind(lambda value, _: tuple(value) if isinstance(value, list) else value, _TEXT)


def kinds(record: type[Any]) -> Mapping[str, Kind]:
    """The kind of each parameter of a dataclass."""
    if record not in _CACHE:
        hints = parameter_types(record, include_extras=True)
        _CACHE[record] = {f.name: _kind(hints.get(f.name)) for f in fields(record)}
    return _CACHE[record]


_CACHE: WeakKeyDictionary[type[Any], Mapping[str, Kind]] = WeakKeyDictionary()


def parameter_types(record: type[Any], *, include_extras: bool = False) -> dict[str, Any]:
    """The type hint of each parameter of a dataclass; as written, where its names cannot be resolved."""
    try:
        return get_type_hints(record, include_extras=include_extras)
    except (NameError, TypeError):
        return {f.name: f.type for f in fields(record)}


def _kind(hint: Any) -> Kind:
    if get_origin(hint) is Literal:
        return _choice(get_args(hint))
    optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
    try:
        if optional and hint not in KINDS:
            return _optional(_kind(reduce(or_, [each for each in get_args(hint) if each is not NoneType])))
        return KINDS.get(hint, _ANYTHING)
    except TypeError:
        return _ANYTHING


def _optional(kind: Kind) -> Kind:
    return replace(kind, check=lambda value, what: None if value is None else kind.check(value, what))


def _choice(options: Sequence[str]) -> Kind:
    """One of a few texts; files leave the empty one out."""
    shown = [option for option in options if option]

    def check(value: Any, what: str) -> str:
        if text(value, what) not in options:
            raise ParameterError(f"{what} is {brief(value)}{suggestion(value, shown)}")
        return str(value)

    return Kind(check, {"enum": shown})


def check_parameters(record: Any) -> None:
    """Check every parameter of a frozen dataclass, and bring it into its normal form.

    Raises
    ------
    ParameterError
        For a value that is not of the declared type.
    """
    for name, kind in kinds(type(record)).items():
        key = name.rstrip("_")
        try:
            object.__setattr__(record, name, kind.check(getattr(record, name), key))
        except ValueError as error:
            raise ParameterError(str(error), key, *getattr(error, "path", ())) from None
