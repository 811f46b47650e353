"""Numbers of examples and time limits of tests."""

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., object])

STRICT = bool(os.environ.get("ILPINFER_STRICT"))
"""Whether tests have more examples, as with `make random`."""
EXAMPLES = int(os.environ.get("ILPINFER_EXAMPLES", 0))
"""Random examples of each test instead of its own number, as with `make problems`; 0 for its own."""
QUIET = bool(os.environ.get("ILPINFER_QUIET"))
"""Whether the machine does nothing else, so that time limits are kept to the letter."""
SLACK = 60.0
"""Seconds by which a busy machine may exceed a limit."""


def at_most(seconds: float) -> float:
    return seconds if QUIET else seconds + SLACK


def examples(number: int, few: int | None = None) -> int:
    """The number of random examples: a third of `number` with `make random`, else `few`, or a sixteenth; at least five."""
    some = max(5, number // 16) if few is None else few
    return EXAMPLES or (max(some, number // 3) if STRICT else some)


def seeds(number: int, few: int | None = None) -> Callable[[Test], Test]:
    """Cases of a test with a parameter `seed`: a third of `number` with `make random`, else `few`, or three."""
    cases = pytest.mark.parametrize("seed", range(examples(number, few or 3)))
    return lambda function: pytest.mark.examples(cases(function))
