"""What a method reports while it works, and the best of it, which is left when a search is stopped."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN
from ilpinfer.core.certificate import NONE, Certificate
from ilpinfer.core.incumbents import Improvement


class Stopped(Exception):
    """A callback has ended the search."""


class Report(NamedTuple):
    """The best labelling so far with its value, and a bound on all labellings with its proof; values are in grid units."""

    seconds: float
    value: int = FORBIDDEN
    bound: float = math.inf
    path: LabelIds | None = None
    certificate: Certificate = NONE


Watch = Callable[[Report], None]


@dataclass
class Best:
    """The best labelling and the lowest bound that a method has reported. Stopped where the callback returns True.

    Where it is interruptible, an interrupt leaves them, too.
    """

    callback: Callable[[float, int, float], object] | None = None  # of seconds and grid units
    interruptible: bool = False
    improvements: list[Improvement] = field(default_factory=list)
    bound: float = math.inf
    certificate: Certificate = NONE

    @property
    def path(self) -> LabelIds | None:
        return self.improvements[-1].path if self.improvements else None

    @property
    def value(self) -> int:
        return self.improvements[-1].value if self.improvements else FORBIDDEN

    def __call__(self, report: Report) -> None:
        if report.path is not None and report.value > self.value:
            self.improvements.append(Improvement(report.seconds, report.value, report.path))
        if report.bound < self.bound:
            self.bound, self.certificate = report.bound, report.certificate
        if self.callback is None:
            return
        answer = self.callback(report.seconds, self.value, self.bound)
        if isinstance(answer, bool | np.bool_) and answer:
            raise Stopped
