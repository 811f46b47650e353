"""What other programs answer, and what they say where they cannot state a rule."""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

PACKAGES = {
    "toulbar2": "pytoulbar2",
    "conin": "conin",
    "conin a-star": "conin",
    "cpmpy": "cpmpy",
    "layer": "torch",
    "instances": "pytoulbar2",
}
"""The package that a peer needs beyond those of the library; `pip install ilpinfer[bench]` has the first two."""


class CannotState(Exception):
    """A rule that a peer has no form for, or a problem beyond its size; the message names it."""


@dataclass(frozen=True)
class Answer:
    """Label ids (T,) of a peer, the score that it claims, whether it proves that nothing is better, and why there are none."""

    path: NDArray[np.int64] | None
    claimed: float | None
    proved: bool
    note: str = ""


def is_installed(method: str) -> bool:
    """Whether the package that a method needs can be imported; true for methods that need none."""
    return method not in PACKAGES or find_spec(PACKAGES[method]) is not None
