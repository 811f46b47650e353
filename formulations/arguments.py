"""Checks of arguments, which return the value in its normal form; a ValueError names the argument, `what`, and its value."""

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from formulations.messages import brief, suggestion

Kind = TypeVar("Kind")
MOST_SECONDS = 1e6  # a longer time limit counts as no limit


def whole(
    value: Any,
    what: str,
    least: int | None = None,
    most: int | None = None,
    shown: Callable[[Any], str] = brief,
) -> int:
    """A whole number between optional limits."""
    good = isinstance(value, Integral) and not isinstance(value, bool)
    if not good or (least is not None and int(value) < least) or (most is not None and int(value) > most):
        low = "" if least is None else f" from {_power(least)}"
        high = "" if most is None else f" to {_power(most)}"
        given = brief(value) if good else shown(value)
        raise ValueError(f"{what} is {given}; expected a whole number{low}{high}")
    return int(value)


def _power(number: int) -> str:
    return "2^31" if number == 2**31 else "-2^31" if number == -(2**31) else str(number)


def real(value: Any) -> bool:
    """Whether a value is a number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def number(value: Any, what: str, least: float = -math.inf, most: float = math.inf, more: str = "") -> float:
    """A number other than NaN, between the limits."""
    try:
        result = float(value) if real(value) else math.nan
    except OverflowError:
        result = math.inf if value > 0 else -math.inf
    if not least <= result <= most:
        low = "" if least == -math.inf else f" from {least:g}"
        high = "" if most == math.inf else f" to {most:g}"
        raise ValueError(f"{what} is {brief(value)}; expected a number{low}{high}{more}")
    return result


def positive(value: Any, what: str, of: str = "a number") -> float:
    """A finite number above 0; `of` describes it in messages."""
    if not (real(value) and 0 < value < math.inf):
        raise ValueError(f"{what} is {brief(value)}; expected {of} above 0")
    return float(value)


def seconds(value: Any) -> float | None:
    """Seconds above 0, or None for no limit; a limit above `MOST_SECONDS` counts as no limit."""
    if value is None:
        return None
    if not real(value) or not value > 0:
        raise ValueError(f"time_limit is {brief(value)}; expected seconds above 0, or None for no limit")
    return None if value > MOST_SECONDS else float(value)


def flag(value: Any, what: str, shown: Callable[[Any], str] = brief) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{what} is {shown(value)}; expected true or false")
    return bool(value)


def text(value: Any, what: str, shown: Callable[[Any], str] = brief) -> str:
    """A text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is {shown(value)}; expected a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} contains an unpaired surrogate; replace this character") from None
    return value


def choice(value: Any, what: str, options: Collection[str]) -> str:
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{what} is {brief(value)}; expected {' or '.join(map(repr, options))}")
    return value


def one_of(value: Any, what: str, options: Collection[str], error: type[ValueError] = ValueError) -> str:
    """A name among the options; the error, of the given type, suggests the nearest name."""
    if value not in options:
        raise error(f'no {what} "{value}"{suggestion(str(value), options)}')
    return str(value)


def path(value: Any, what: str = "path") -> Path:
    try:
        kind = isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str)
        if kind and value and b"\0" not in os.fsencode(value):
            return Path(value)
    except UnicodeEncodeError:
        pass
    raise ValueError(f"{what} is {brief(value)}; expected a path")


def items(value: Any, what: str, of: str = "values") -> list[Any]:
    """The items of an ordered iterable other than a text."""
    return list(plain_texts(list(iterable(value, what, f"a list of {of}", bytearray, Set))))


def plain_texts(values: Sequence[Any]) -> Sequence[Any]:
    """Convert numpy's texts to str; other subclasses of str, such as tokens with columns, are unchanged."""
    if np.str_ in {*map(type, values)}:
        return [str(each) if isinstance(each, np.str_) else each for each in values]
    return values


def iterable(value: Any, what: str, of: str, *others: type) -> Iterable[Any]:
    """An iterable, but no text, mapping or other excluded type; its items are not checked."""
    flat = getattr(value, "ndim", 1) == 0
    if isinstance(value, (str, bytes, Mapping, *others)) or not isinstance(value, Iterable) or flat:
        raise ValueError(f"{what} is {brief(value)}; expected {of}")
    return value


def texts(value: Any, what: str, of: str = "texts") -> tuple[str, ...]:
    result: tuple[str, ...] = tuple(plain_texts(value) if type(value) is tuple else items(value, what, of))
    try:
        "".join(result).encode()
    except (TypeError, UnicodeEncodeError):
        for place, each in enumerate(result):
            text(each, f"{what}[{place}]")
    return result


def names(value: Any, what: str) -> frozenset[str]:
    return frozenset(texts(list(value) if isinstance(value, Set) else value, what, "names"))


def instances(value: Any, kind: type[Kind], what: str, expected: str) -> list[Kind]:
    places = enumerate(items(value, what))
    return [instance(each, kind, f"{what}[{place}]", expected) for place, each in places]


def instance(value: Any, kind: type[Kind], what: str, expected: str) -> Kind:
    if not isinstance(value, kind):
        raise ValueError(f"{what} is {brief(value)}; expected {expected}")
    return value


def function(value: Any, what: str, of: str) -> Any:
    if not callable(value):
        raise ValueError(f"{what} is {brief(value)}; expected a function {of}")
    return value
