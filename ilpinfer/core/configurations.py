"""Methods written together with their options."""

import json
from typing import Any


def configuration(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a text such as `lds:variant=admissible`; a number alone is a time limit in seconds."""
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
