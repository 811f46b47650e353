"""Methods written together with their options."""

import json
from typing import Any


def configuration(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a method that is written with its options, such as `lds:variant=admissible:zero=best`.

    Values are numbers, true, false or null as in JSON, and texts otherwise. A number alone is a time limit in seconds.

    Raises
    ------
    ValueError
        For an option that is given twice, or after which the name continues.

    Examples
    --------
    >>> configuration("beam:width=50"), configuration("cbc:10")
    (('beam', {'width': 50}), ('cbc', {'time_limit': 10}))
    """
    name, *rest = text.split(":")
    options: dict[str, Any] = {}
    for piece in rest:
        option, equals, value = piece.partition("=")
        number = _value(piece)
        if not equals and isinstance(number, int | float) and not isinstance(number, bool):
            option, value = "time_limit", piece
        elif not equals and not options:
            name = f"{name}:{piece}"
            continue
        elif not (equals and option):
            raise ValueError(f"{text}: expected NAME=VALUE or seconds behind a colon, not {piece!r}")
        if option in options:
            raise ValueError(f"{text}: {option} is given twice")
        options[option] = _value(value)
    return name, options


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
