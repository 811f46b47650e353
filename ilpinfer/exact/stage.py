"""A stage of the engine, and one run of it."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from formulations.time_limits import OutOfTime
from ilpinfer.exact.state import State


class Stage(NamedTuple):
    """A function that improves a state, its name, and whether it may apply; it runs once with the same multipliers."""

    name: str
    applies: Callable[[State], bool]
    improve: Callable[[State], State]

    def run(self, state: State) -> State:
        """The state after a run, with its seconds; if time runs out during it, with the best state that it has reported."""
        began = time.perf_counter()
        try:
            after = self.improve(replace(state, tried=state.tried | {self.name}))
        except OutOfTime:
            after = state.with_reported().left_open("no time left")
        seconds = dict(after.seconds)
        seconds[self.name] = seconds.pop(self.name, 0.0) + time.perf_counter() - began
        return replace(after, seconds=seconds)
