"""Errors in decoding one sequence of many, as a solution that says what went wrong."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from formulations import Trellis
from ilpinfer.errors import describe
from ilpinfer.explanation import Context
from ilpinfer.solution import Solution

ON_ERROR = ("raise", "row")
"""What can become of an error: it is raised, or takes the place of a solution."""


def attempted(
    call: Callable[[], Any],
    trellis: Trellis,
    rules: Any,
    options: Mapping[str, Any],
    on_error: str,
    kind: type[Solution] = Solution,
) -> Any:
    """What a call for one trellis returns; with `on_error="row"` a solution that tells of its error, in a list for `top`.

    Parameters
    ----------
    call : decodes the trellis
    trellis, rules, options : what it decodes
    on_error : one of ON_ERROR
    kind : of the solution
    """
    began = time.perf_counter()
    try:
        return call()
    except Exception as error:
        if on_error == "raise":
            raise
        context = Context(trellis, rules, options={"time_limit": options.get("time_limit")})
        seconds = time.perf_counter() - began
        found = failed(error, str(options.get("method", "auto")), kind, context=context, seconds=seconds)
        return found if options.get("top") is None else [found]


def failed(error: BaseException, method: str, kind: type[Solution] = Solution, **fields: Any) -> Solution:
    """A solution of status "unknown" that tells of an error; `fields` are others of its own."""
    told: dict[str, Any] = {"reason": describe(error), "error": type(error).__name__, **fields}
    return kind("unknown", -math.inf, -math.inf, 0.0, 0.0, {}, math.inf, method=method, **told)
