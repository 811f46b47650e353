"""Methods written together with their options."""

import json
import re
from typing import Any

COLON = re.compile(r":(?![^{}]*\})")  # those outside of braces


def configuration(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a text such as `lds:variant=admissible`; a number alone is a time limit in seconds.

    A value is JSON or a text, and `NAME.KEY=VALUE` is an entry of an option that is a mapping.
    """
    name, *rest = COLON.split(text)
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
        option, _, key = option.partition(".")
        into = options.setdefault(option, {}) if key else options
        if not isinstance(into, dict) or (key or option) in into:
            raise ValueError(f"{text}: {option}{key and f'.{key}'} is given twice")
        into[key or option] = _value(value)
    return name, options


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
