"""Features of single tokens in the formats of CRFsuite: names, or a mapping from names to values."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from formulations.arguments import items as listed
from formulations.messages import brief

FORMS = "a dict of features, or a list of their names"


def checked_items(features: Any, what: str) -> list[Any]:
    """The features of each token; ValueError with place and value for features that CRFsuite refuses."""
    result = listed(features, what, f"{FORMS}, for each token")
    for t, item in enumerate(result):
        if not (type(item) is list and set(map(type, item)) <= {str}):
            check_item(item, f"{what}[{t}]")
    return result


def check_item(item: Any, where: str, error: type[ValueError] = ValueError) -> None:
    if isinstance(item, str | bytes) or not isinstance(item, Mapping | list | tuple | set | frozenset):
        raise error(f"{where} is {brief(item)}; expected {FORMS}")
    for name in item:
        if not isinstance(name, str):
            raise error(f"{where} has the feature {brief(name)}; expected a text")
        _check_text(name, where, error)
    if isinstance(item, Mapping):
        for name, value in item.items():
            _check_value(value, f"{where}[{name!r}]", error)


def _check_value(value: Any, where: str, error: type[ValueError]) -> None:
    if isinstance(value, dict | list | set):
        check_item(value, where, error)
    elif isinstance(value, Real | np.bool_):
        try:
            finite = math.isfinite(value)
        except OverflowError:
            finite = False
        if not finite:
            shown = "NaN" if value != value else brief(value)
            raise error(f"{where} is {shown}; expected a finite number: leave the feature out")
    elif isinstance(value, str):
        _check_text(value, where, error)
    else:
        raise error(f"{where} is {brief(value)}; expected a number, a text, true or false")


def _check_text(value: str, where: str, error: type[ValueError]) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise error(
            f"{where}: {value!a:.60} contains an unpaired surrogate; replace this character"
        ) from None
