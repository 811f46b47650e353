"""Machines of windows: they count as the sums do, and no longer differ once their window is over."""

from itertools import product

import numpy as np
import pytest

from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem


@pytest.mark.parametrize(("n", "width"), [(1, 2), (1, 3), (2, 4), (2, 7)])
def test_a_window_that_is_over_has_one_state(n, width):
    T, labels = 7, ["a", "O"]
    trellis = Trellis.from_emissions(np.zeros((T, 2)), np.zeros((2, 2)), labels=labels)
    (rule,) = compile_problem(trellis, [C.at_most_in_window("a", n, width=width)]).rules
    assert len(rule.components) == T - width + 1
    for begin, component in enumerate(rule.components):
        (machine,) = component.machines
        ends = set()
        for path in product(range(2), repeat=T):
            count = path[begin : begin + width].count(0)
            assert (
                component.violations(np.array(path))
                == machine.violations(np.array(path))
                == max(0, count - n)
            )
            state = 0
            for symbol in machine.steps.along(np.array(path)).tolist():
                state = int(machine.next_state[state, symbol])
            ends.add(state)
        assert machine.next_state.shape[1] == len(component.weights)
        assert begin + width == T or len(ends) == 1
