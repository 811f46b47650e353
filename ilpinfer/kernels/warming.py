"""Compilation or loading of kernels before their first use, outside of measured times and time limits."""

import gc
import time
from collections.abc import Callable

import numpy as np

from formulations import Feature, Rule, Trellis, time_limits
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import Problem
from ilpinfer.kernels import notices

STAGES: list["Stage"] = []
"""Every stage of the imported modules, in the order of definition."""
busy = False
"""Whether kernels are being compiled or loaded; Python may lose a KeyboardInterrupt meanwhile."""


class Stage:
    """Kernels that are compiled or loaded together; `example` calls each of them on a small problem.

    A module that calls kernels defines a stage and calls `warm` before its time counts.
    """

    def __init__(self, name: str, purpose: str, example: Callable[[], object]) -> None:
        self.name, self.purpose = name, purpose
        self._example, self._ready = example, False
        self.module = example.__module__
        STAGES.append(self)

    @property
    def is_ready(self) -> bool:
        return self._ready

    def warm(self) -> float:
        """Compile or load the kernels; returns the seconds, 0 the second time.

        A first compilation takes seconds to minutes, and is announced by the logger `ilpinfer`.
        """
        global busy
        if self._ready:
            return 0.0
        began = time.perf_counter()
        notices.purpose = self.purpose
        busy, collecting = True, gc.isenabled()
        gc.disable()  # the compiler makes many lasting objects; collection would take a tenth of the time
        try:
            with time_limits.time_limit(lambda: False):  # a limit that passes meanwhile would end it halfway
                self._example()
        finally:
            busy = False
            notices.ends()
            if collecting:
                gc.enable()
        self._ready = True
        return time.perf_counter() - began


def example_trellis() -> Trellis:
    """Three tokens, two labels "0" and "1", all scores 0."""
    return Trellis(np.zeros(2), np.zeros((2, 2, 2)))


def example_problem(*rules: Rule | Feature) -> Problem:
    """The example trellis with rules."""
    return compile_problem(example_trellis(), rules)
