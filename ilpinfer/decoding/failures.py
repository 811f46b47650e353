"""Errors in decoding one sequence of many, as a solution that says what went wrong."""

import math
import time
from collections.abc import Callable
from typing import Any

from ilpinfer.core.solution import Solution
from ilpinfer.errors import describe

ON_ERROR = ("raise", "row")
"""What can become of an error: it is raised, or takes the place of a solution."""


def attempted(
    call: Callable[[], Any],
    on_error: str,
    method: str,
    *,
    several: bool = False,
    kind: type[Solution] = Solution,
) -> Any:
    """What a call returns; with `on_error="row"` a solution that tells of its error, in a list where there are several.

    Parameters
    ----------
    call : decodes a sequence
    on_error : one of ON_ERROR
    method : by which it does
    several : whether the call returns a list
    kind : of the solution
    """
    began = time.perf_counter()
    try:
        return call()
    except Exception as error:
        if on_error == "raise":
            raise
        result = failed(error, method, kind, seconds=time.perf_counter() - began)
        return [result] if several else result


def failed(error: BaseException, method: str, kind: type[Solution] = Solution, **fields: Any) -> Solution:
    """A solution of status "unknown" that tells of an error; `fields` are others of its own."""
    told: dict[str, Any] = {"reason": describe(error), "error": type(error).__name__, **fields}
    return kind("unknown", -math.inf, -math.inf, 0.0, 0.0, {}, math.inf, method=method, **told)
