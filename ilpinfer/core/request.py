"""Requests: a method and its options, checked once for any number of sequences."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from formulations.arguments import number, seconds, whole
from formulations.grid import snap
from formulations.messages import misspelt
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import WHOLE_PROGRAM, Method
from ilpinfer.core.registry import method as method_named
from ilpinfer.core.result import Task
from ilpinfer.core.watching import Watch
from ilpinfer.system.posix import require_posix

MOST = {
    "top": 10_000,
    "seeds": 10_000,
    "n_jobs": 1024,
    "threads": 1024,
    "width": 1_000_000,
    "budget": 10**9,
    "n": 10**7,
}
"""The largest values of options that are whole numbers."""
COLON = re.compile(r":(?![^{}]*\})")  # those outside of braces


@dataclass(frozen=True)
class Request:
    """A method, and its options for every sequence; the settings are fields of a `Task`."""

    method: Method
    time_limit: float | None
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, method: str, time_limit: float | None, options: Mapping[str, Any]) -> "Request":
        """The request of the arguments of `decode`; options after the method's name take precedence."""
        if isinstance(method, str) and ":" in method:
            method, written = configuration(method)
            time_limit, options = written.pop("time_limit", time_limit), {**options, **written}
        return cls.for_method(method_named(method), time_limit, options)

    @classmethod
    def for_method(cls, chosen: Method, time_limit: float | None, options: Mapping[str, Any]) -> "Request":
        if chosen.runner == WHOLE_PROGRAM:
            require_posix(f"method {chosen.name}", "choose the method auto")
        unknown = [name for name in options if name not in chosen.all_options]
        if unknown:
            near = misspelt(unknown[0], {*chosen.all_options, "time_limit"} - {unknown[0]})
            hint = f'did you mean "{near}"?' if near else f"it has {', '.join(chosen.all_options) or 'none'}"
            raise ValueError(f"method {chosen.name} has no option {unknown[0]!r}; {hint}")
        own = {name: value for name, value in options.items() if name not in chosen.options}
        parameters = chosen.record(**own) if chosen.record else None
        return cls(chosen, seconds(time_limit), {"parameters": parameters, **_checked(options)})

    @cached_property
    def direct(self) -> bool:
        """Whether compiled rules may answer before the method is asked."""
        return self.method.name == "auto" and self.settings.get("within") is None

    def task(self, top: int | None = None, watch: Watch | None = None) -> Task:
        """The task for one sequence, the time running from now; ValueError for an invalid `top`."""
        most = 1 if top is None else whole(top, "top", 1, MOST["top"])
        return Task(deadline_for(self.time_limit), top=most, watch=watch, **self.settings)


def deadline_for(time_limit: float | None) -> Deadline:
    """A deadline from now; ValueError unless the limit is a positive number of seconds, or None."""
    return Deadline(seconds(time_limit))


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a `Task` has fields for, with values in range."""
    known = {
        name: whole(value, name, 1, MOST[name])
        for name, value in options.items()
        if name in ("threads", "width")
    }
    if options.get("within") is not None:
        known["within"] = _distance(options["within"])
    return known


def _distance(within: Any) -> int:
    return int(snap(number(within, "within", 0), "within"))


def configuration(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a text such as `lds:variant=admissible`; ValueError for a number without a name.

    A value is JSON or a text, and `NAME.KEY=VALUE` is an entry of an option that is a mapping.
    """
    name, *rest = COLON.split(text)
    options: dict[str, Any] = {}
    for piece in rest:
        option, equals, value = piece.partition("=")
        if not equals and type(_value(piece)) in (int, float):
            raise ValueError(
                f"{text}: {piece} has no name; write {name}:time_limit={piece}, or name another option"
            )
        if not equals and not options:
            name = f"{name}:{piece}"
            continue
        if not (equals and option):
            raise ValueError(f"{text}: expected NAME=VALUE behind a colon, not {piece!r}")
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
