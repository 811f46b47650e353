"""Incumbents of a method: labellings better than all before them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations.dtypes import LabelIds
from formulations.plain_values import number, of_type, table


@dataclass(frozen=True)
class Improvement:
    """A labelling better than all before it, as a method passes it.

    Parameters
    ----------
    seconds : since the start, warming up left out
    value : grid units
    path : label ids (T,)
    """

    seconds: float
    value: int
    path: LabelIds


@dataclass(frozen=True)
class Incumbent:
    """A labelling better than all before it, as it is reported.

    Parameters
    ----------
    seconds : since the start, warming up left out
    score : nats, penalties taken off
    violations : how often it breaks each rule, zeros included
    """

    seconds: float
    score: float
    violations: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with None for a score that is not finite."""
        score = None if np.isinf(self.score) else self.score
        return {"seconds": self.seconds, "score": score, "violations": self.violations}

    @classmethod
    def from_dict(cls, values: Any, what: str = "incumbent") -> "Incumbent":
        """The incumbent that `to_dict` has made these values of; ValueError for others."""
        given = table(values, ("seconds", "score", "violations"), what)
        counts = of_type(dict[str, int], given["violations"], f"{what}: violations")
        score = number(given["score"], f"{what}: score", -math.inf)
        return cls(number(given["seconds"], f"{what}: seconds"), score, counts)
