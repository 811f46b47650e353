"""Types of parameters of templates and features: checks, and JSON Schemas."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from inspect import Parameter, cleandoc, signature
from operator import or_
from textwrap import fill, indent
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from formulations import arguments
from formulations.arguments import text, whole
from formulations.errors import InferenceError
from formulations.messages import brief, cut, suggestion

KEY = object()  # last element of a path to a key instead of its value
KeyPath = tuple[object, ...]  # path to a value in a document: keys of tables and numbers of list elements
Position = Annotated[int, "Number of the token; negative numbers count from the end, -1 is the last."]
"""The number of a token. The text of an annotated type documents parameters of this type."""


class ParameterError(InferenceError, ValueError):
    """An invalid value; `path` leads from the checked value to the invalid part, `offset` is a place in its text."""

    def __init__(self, message: str, *path: Any, offset: int | None = None) -> None:
        super().__init__(message)
        self.message, self.path, self.offset = message, path, offset

    @classmethod
    def within(cls, error: ValueError, *keys: Any) -> "ParameterError":
        """The error of an enclosing value with the invalid value at these keys."""
        inner = error if isinstance(error, cls) else cls(str(error))
        return cls(inner.message, *keys, *inner.path, offset=inner.offset)


@contextmanager
def at(*keys: Any) -> Iterator[None]:
    """Add these keys to the paths of errors inside."""
    try:
        yield
    except ValueError as error:
        raise ParameterError.within(error, *keys) from None


def each(values: Iterable[Any], read: Callable[[Any], Any]) -> list[Any]:
    """Read each value; errors get its number."""
    result = list[Any]()
    try:
        for value in values:
            result.append(read(value))
    except ValueError as error:
        raise ParameterError.within(error, len(result)) from None
    return result


class Words(tuple[str, ...]):
    """Words from a file; the file is shown instead of the words."""

    source: str = ""

    def __str__(self) -> str:
        return self.shown()

    def shown(self, quotes: str = "") -> str:
        """The quoted words; only the first of many."""
        if self.source:
            return f"{cut(self.source, 60)} ({len(self)} words)"
        words = [f"{quotes}{word}{quotes}" for word in self]
        if len(self) > 6:
            return f"{' or '.join(words[:3])} or … ({len(self)} words)"
        return " or ".join(words)


@dataclass(frozen=True)
class ParameterType:
    """A type of parameters: name in documentation, check and normalisation, and JSON Schema in rule files."""

    check: Callable[[Any, str], Any]
    schema: Mapping[str, Any]
    name: str
    names_fields: bool = False
    always_shown: bool = False


def _number(value: Any, what: str) -> Any:
    if not arguments.real(value):
        raise ParameterError(f"{what} is {brief(value)}; expected a number")
    return value


def words(value: Any, what: str) -> Words:
    if isinstance(value, Words):
        return value
    result = Words(arguments.items(value, what, "words"))
    for number, word in enumerate(result):
        if not isinstance(word, str) or not word:
            raise ParameterError(f"word {brief(word)} in {what}: expected a non-empty text", number)
        text(word, f"word {number} in {what}")
    return result


_TEXT = {"type": "string"}
WORDS = ParameterType(words, {"$ref": "#/definitions/words"}, "sequence of str")
KINDS: dict[Any, ParameterType] = {
    int: ParameterType(
        partial(whole, least=0, most=2**31), {"type": "integer", "minimum": 0}, "int", always_shown=True
    ),
    Position: ParameterType(
        partial(whole, least=-(2**31), most=2**31), {"type": "integer"}, "int", always_shown=True
    ),
    float: ParameterType(_number, {"type": "number"}, "float"),
    bool: ParameterType(arguments.flag, {"type": "boolean"}, "bool"),
    str: ParameterType(text, _TEXT, "str"),
    Sequence[str]: WORDS,
    tuple[str, ...]: WORDS,
}
"""Types of parameters; modules register their own types here."""
_ANYTHING = ParameterType(
    lambda value, _: tuple(value) if isinstance(value, list) else value, _TEXT, "object"
)


def kinds(record: type[Any]) -> Mapping[str, ParameterType]:
    if record not in _CACHE:
        hints = parameter_types(record, include_extras=True)
        _CACHE[record] = {f.name: _kind(hints.get(f.name)) for f in fields(record)}
    return _CACHE[record]


_CACHE: WeakKeyDictionary[type[Any], Mapping[str, ParameterType]] = WeakKeyDictionary()


def parameter_types(record: type[Any], *, include_extras: bool = False) -> dict[str, Any]:
    """The type hint of each parameter of a dataclass; as text if its names cannot be resolved."""
    found = _TYPES.setdefault(record, {})
    if include_extras not in found:
        try:
            found[include_extras] = get_type_hints(record, include_extras=include_extras)
        except (NameError, TypeError):
            return {f.name: f.type for f in fields(record)}  # names may be defined later
    return found[include_extras]


_TYPES: WeakKeyDictionary[type[Any], dict[bool, dict[str, Any]]] = WeakKeyDictionary()


def described(record: type[Any], text: str | None, *more: str, internal: Container[str] = ()) -> str:
    """A docstring with a section for the annotated parameters of a dataclass, and further entries."""
    said, heading, sections = re.split(r"(\n\n(?=\w+\n---)|\Z)", cleandoc(text or ""), maxsplit=1)
    hints = parameter_types(record, include_extras=True)
    entries = [
        f"{name} : {kinds(record)[name].name}{_default(parameter.default)}\n"
        + indent(fill(hints[name].__metadata__[-1], 100), "    ")
        for name, parameter in signature(record).parameters.items()
        if name not in internal and get_origin(hints.get(name)) is Annotated
    ]
    return f"{said.rstrip()}\n\nParameters\n----------\n" + "\n".join([*entries, *more]) + heading + sections


def describe(record: type[Any]) -> None:
    """Add the parameters of a dataclass to its docstring, and their plain types to its signature."""
    record.__doc__ = described(record, record.__doc__)
    plain_signature(record)


def plain_signature(record: type[Any]) -> None:
    """Remove descriptions from the types in the signature of a dataclass."""
    annotations = record.__init__.__annotations__
    annotations |= {name: kind for name, kind in parameter_types(record).items() if name in annotations}


def _default(value: Any) -> str:
    if value is Parameter.empty:
        return ""
    if value is None or value in ("", ()):
        return ", optional"
    return f', default "{value}"' if isinstance(value, str) else f", default {value}"


def _kind(hint: Any) -> ParameterType:
    if get_origin(hint) is Annotated and hint not in KINDS:
        return _kind(hint.__origin__)
    if get_origin(hint) is Literal:
        return _choice(get_args(hint))
    optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
    try:
        if optional and hint not in KINDS:
            kind = _kind(reduce(or_, [each for each in get_args(hint) if each is not NoneType]))
            return replace(kind, check=lambda value, what: None if value is None else kind.check(value, what))
        return KINDS.get(hint, _ANYTHING)
    except TypeError:
        return _ANYTHING


def _choice(options: Sequence[str]) -> ParameterType:
    """One of a few texts; the empty text is not in files."""
    shown = [option for option in options if option]

    def check(value: Any, what: str) -> str:
        if text(value, what) not in options:
            raise ParameterError(f"{what} is {brief(value)}{suggestion(value, shown)}")
        return str(value)

    return ParameterType(check, {"enum": shown}, "{" + ", ".join(f'"{option}"' for option in shown) + "}")


def check_parameters(record: Any) -> None:
    """Check and normalise every parameter of a frozen dataclass; ParameterError for an invalid value."""
    for name, kind in kinds(type(record)).items():
        key = name.rstrip("_")
        try:
            object.__setattr__(record, name, kind.check(getattr(record, name), key))
        except ValueError as error:
            raise ParameterError.within(error, key) from None
