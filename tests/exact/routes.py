"""Limits that force the engine to take one of its routes, and states from which stages begin."""

from dataclasses import replace

import numpy as np

from ilpinfer.core.deadline import Deadline
from ilpinfer.exact import limits
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.state import State
from ilpinfer.kernels.native import kernels

PLAIN = {"PASSES": 0, "LEAST_STEPS": 0, "BEAMS": 0}
SMALL = {"LARGEST_PRODUCT": 0, "LARGEST_SEARCH": 0}


def take(monkeypatch, route: dict[str, int]) -> None:
    """Set limits by name; sequences are not decoded by compiled rules first."""
    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    for name, value in route.items():
        monkeypatch.setattr(limits, name, value)


def begun(problem) -> State:
    """The state of a problem before any stage."""
    return State.of(GroundProblem.of(problem, Deadline()))


def priced(state: State) -> State:
    """With multipliers of the sums, by Polyak's steps from 0."""
    one = state.problem.instance
    prices = np.zeros(len(one.sources), np.int64)
    kernels.price(one.tables, state.problem.tokens, prices)
    multipliers = {one.components[m]: prices.item(m) for m in np.flatnonzero(prices).tolist()}
    return replace(state, multipliers=multipliers)
