"""Requests: a method and its options, checked once for any number of sequences."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

from formulations.grid import snap
from ilpinfer.core.configurations import configuration
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import Method
from ilpinfer.core.registry import method as method_named
from ilpinfer.core.result import Task

LONGEST = 1e6
"""Seconds; a longer limit counts as no limit."""
MOST = {
    "top": 10_000,
    "most": 10_000_000,
    "seeds": 10_000,
    "n_jobs": 1024,
    "threads": 1024,
    "width": 1_000_000,
    "budget": 10**9,
    "n": 10**7,
}
"""The largest values of options that are whole numbers."""


@dataclass(frozen=True)
class Request:
    """A method, and its options for every sequence.

    Parameters
    ----------
    method : Method
        Method of decoding.
    time_limit : float or None
        Seconds a sequence, or None.
    settings : mapping of str to object
        Fields of a `Task`.
    """

    method: Method
    time_limit: float | None
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, method: str, time_limit: float | None, options: Mapping[str, Any]) -> "Request":
        """The request of the arguments of `decode`; options after the method's name take precedence.

        Raises
        ------
        ValueError
            For an unknown method or option, and for numbers out of range.
        """
        if isinstance(method, str) and ":" in method:
            method, written = configuration(method)
            time_limit, options = written.pop("time_limit", time_limit), {**options, **written}
        return cls.for_method(method_named(method), time_limit, options)

    @classmethod
    def for_method(cls, chosen: Method, time_limit: float | None, options: Mapping[str, Any]) -> "Request":
        """The request for a given method; errors as for `of`."""
        unknown = [name for name in options if name not in chosen.all_options]
        if unknown:
            raise ValueError(
                f"method {chosen.name} has no option {unknown[0]!r}; it has {', '.join(chosen.all_options) or 'none'}"
            )
        own = {name: value for name, value in options.items() if name not in chosen.options}
        parameters = chosen.record(**own) if chosen.record else None
        deadline_for(time_limit)
        return cls(chosen, time_limit, {"parameters": parameters, **_checked(options)})

    @cached_property
    def direct(self) -> bool:
        """Whether compiled rules may answer before the method is asked."""
        return self.method.name == "auto" and self.settings.get("within") is None

    def task(self, top: int | None = None, watch: Callable[[float, int, float], None] | None = None) -> Task:
        """The task for one sequence, the time running from now; ValueError for an invalid `top`."""
        number = 1 if top is None else natural(top, "top")
        return Task(deadline_for(self.time_limit), top=number, watch=watch, **self.settings)


def deadline_for(time_limit: float | None) -> Deadline:
    """A deadline from now; none for a limit beyond LONGEST.

    Raises
    ------
    ValueError
        Unless the limit is a positive number of seconds, or None.
    """
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise ValueError(f"time_limit is {time_limit!r}; expected seconds above 0, or None for no limit")
    return Deadline(None if time_limit is None or time_limit > LONGEST else float(time_limit))


def natural(value: Any, name: str) -> int:
    """The value, which must be an integer from 1 to the largest value of the option."""
    most = MOST[name]
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= most:
        raise ValueError(f"{name} is {value!r}; expected a whole number from 1 to {most}")
    return int(value)


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a `Task` has fields for, with values in range."""
    known = {name: natural(value, name) for name, value in options.items() if name in ("threads", "width")}
    if options.get("within") is not None:
        known["within"] = _distance(options["within"])
    return known


def _distance(within: Any) -> int:
    if not (isinstance(within, Real) and 0 <= float(within) < math.inf):
        raise ValueError(f"within is {within!r}; expected nats from 0")
    return int(snap(float(within), "within"))
