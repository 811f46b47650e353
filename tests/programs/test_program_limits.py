"""Programs of long sequences look at the clock while a rule is written down."""

from itertools import count

import numpy as np
import pytest

from formulations import Trellis, time_limits
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate


@pytest.mark.parametrize(
    "rule",
    [C.at_most_in_window("a", 1, width=3), C.at_most_runs("a", 1, distance="hamming", penalty=1.0)],
    ids=["windows", "hamming"],
)
def test_a_single_rule_looks_at_the_clock_at_each_token(rule):
    T = 100
    trellis = Trellis.from_emissions(np.zeros((T, 2)), np.zeros((2, 2)), labels=["a", "O"])
    problem, reads = compile_problem(trellis, [rule]), count()
    formulate(problem)
    with time_limits.time_limit(lambda: next(reads) > 2 * T), pytest.raises(time_limits.OutOfTime):
        formulate(problem)
