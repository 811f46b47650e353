"""Products whose completions lose more than small numbers hold: they are bounds, and label setting over them stays exact."""

from itertools import product

import numpy as np
import pytest

from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.recursion import MOST_LOST

LABELS = ["a", "b", "c"]


@pytest.mark.parametrize("size", [1.0, 300.0, 900.0])
def test_products_bound_losses_of_any_size(size):
    """Emissions and penalties of up to a few thousand nats, more than `MOST_LOST`."""
    rng = np.random.default_rng(int(size))
    for _ in range(12):
        trellis = Trellis.from_emissions(
            rng.normal(size=(5, 3)) * size, rng.normal(size=(3, 3)) * size, labels=LABELS, tokens=["x"] * 5
        )
        penalties = rng.uniform(0.5, 3.0, 3) * size
        rules = RuleSet(
            (
                C.requires_present("a", "b", penalty=penalties[0]),
                C.at_most_tokens("c", 1, penalty=penalties[1]),
                C.at_least_tokens("b", 3, penalty=penalties[2]),
                C.at_most_tokens("b", 1, penalty=3 * size),
            )
        )
        known = Known.of(compile_rules(rules, trellis.labels).problem(trellis), Deadline())
        best = max(known.folded.value(np.array(path, np.int64)).score for path in product(range(3), repeat=5))
        relaxation, machines = Relaxation(known), list(range(len(known.ground.plain)))
        bounds = relaxation.multiply(machines, 64)
        found = relaxation.prefixes(machines, Deadline(), bounds=bounds)
        assert bounds.within == machines
        assert best <= bounds.recursion[2] <= max(best, relaxation.total - MOST_LOST)
        assert found.values[0] == best
