"""Machines of windows: they count as the sums do, and no longer differ once their window is over."""

from itertools import count, product

import numpy as np
import pytest

from formulations import Trellis, time_limits
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem


@pytest.mark.parametrize(("n", "width"), [(1, 2), (1, 3), (2, 4), (2, 7)])
def test_a_window_that_is_over_has_one_state(n, width):
    T, labels = 7, ["a", "O"]
    trellis = Trellis.from_emissions(np.zeros((T, 2)), np.zeros((2, 2)), labels=labels)
    (rule,) = compile_problem(trellis, [C.at_most_in_window("a", n, width=width)]).rules
    (windows,) = rule.components
    assert len(windows.sums) == T - width + 1
    for begin, component in enumerate(windows.sums):
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


@pytest.mark.parametrize(
    "rule", [C.at_most_in_window("a", 1, width=3), C.at_most_in_window(["a", "b"], 2, width=4)]
)
def test_windows_are_counted_together(rule):
    T, labels = 5, ["a", "b", "O"]
    trellis = Trellis.from_emissions(np.zeros((T, 3)), np.zeros((3, 3)), labels=labels)
    (stated,) = compile_problem(trellis, [rule]).rules
    fields, n, width = [labels.index(f) for f in stated_fields(rule)], rule.statement.n, rule.statement.width
    for path in product(range(3), repeat=T):
        inside = [label in fields for label in path]
        excess = sum(max(0, sum(inside[t : t + width]) - n) for t in range(T - width + 1))
        assert stated.violations(np.array(path)) == excess
    assert stated.most == (T - width + 1) * (width - n)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 12])
@pytest.mark.parametrize("n", [0, 1, 2, 11])
@pytest.mark.parametrize("penalty", [1.0, np.inf])
def test_machines_of_all_windows_count_the_excess(n, width, penalty):
    for T in (1, 2, 3, 6):
        trellis = Trellis.from_emissions(np.zeros((T, 2)), np.zeros((2, 2)), labels=["a", "O"])
        rule = C.at_most_in_window("a", n, width=width, penalty=penalty)
        (ground,) = compile_problem(trellis, [rule]).rules
        length = min(width, T)
        for path in map(np.array, product(range(2), repeat=T)):
            excess = [max(0, (path[t : t + length] == 0).sum() - n) for t in range(T - length + 1)]
            assert ground.violations(path) == sum(excess)
            of_machines = sum(machine.violations(path) for machine in ground.machines)
            assert (of_machines > 0) == (sum(excess) > 0)
            assert penalty == np.inf or of_machines == sum(excess)
            soft = ground.with_penalty(1)
            assert sum(machine.violations(path) for machine in soft.machines) == sum(excess)


def test_a_hard_rule_on_wide_windows_has_a_machine_of_few_states():
    trellis = Trellis.from_emissions(np.zeros((99, 2)), np.zeros((2, 2)), labels=["a", "O"])
    (rule,) = compile_problem(trellis, [C.at_most_in_window("a", 1, width=40)]).rules
    (machine,) = rule.machines
    assert machine.states == 40


def stated_fields(rule):
    field = rule.statement.field
    return [field] if isinstance(field, str) else list(field)


def test_windows_of_a_long_sequence_share_their_places_and_look_at_the_clock():
    T = 400
    trellis = Trellis.from_emissions(np.zeros((T, 2)), np.zeros((2, 2)), labels=["a", "O"])
    rules = [C.at_most_in_window("a", 1, width=12, penalty=1.0)]
    (rule,) = compile_problem(trellis, rules).rules
    first, *_, last = (component.steps.index for component in rule.components)
    assert first.base is last.base and first.base.size == 2 * T
    reads = count()
    with time_limits.time_limit(lambda: next(reads) > T // 2), pytest.raises(time_limits.OutOfTime):
        compile_problem(trellis, rules)
