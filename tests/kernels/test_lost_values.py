"""Products whose completions lose more than small numbers hold: they are bounds, and label setting over them stays exact."""

from itertools import product

import numpy as np
import pytest

from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.recursion import COARSE, DEAD, MOST_LOST, complete_jointly, room_jointly, width_of

LABELS = ["a", "b", "c"]


@kernel
def complete_from(scores, emission, edge_at, joint, least):
    """The recursion of a product for values from `least` on: completions, tails and the best value."""
    order = np.arange(len(emission))
    completion, tail = room_jointly(joint, len(emission), width_of(scores))
    total = complete_jointly(scores, emission, order, 0 * order, edge_at, joint, least, completion, tail)
    return completion, tail, total


@pytest.mark.parametrize("T", [1, 2, 7, 40])
@pytest.mark.parametrize("size", [0.5, 3.0])
def test_losses_of_16_bits_are_bounds_that_are_too_high_by_what_is_rounded(T, size):
    rng = np.random.default_rng(T)
    scores, steps = rng.normal(size=(T, 3)) * size, rng.normal(size=(3, 3)) * size
    trellis = Trellis.from_emissions(scores, steps, labels=LABELS, tokens=["x"] * T)
    rules = RuleSet(
        (
            C.requires_present("a", "b", penalty=size),
            C.at_most_tokens("c", 1),
            C.ends_with("a", penalty=2 * size),
        )
    )
    known = Known.of(compile_rules(rules, trellis.labels).problem(trellis), Deadline())
    relaxation, ground = Relaxation(known), known.ground
    bounds = relaxation.multiply(list(range(len(ground.plain))), 64)
    arrays = ground.scores, ground.lattice.node, ground.classes[0], bounds.joint
    (completion, tail, total), coarse = (
        complete_from(*arrays, least) for least in (FORBIDDEN, relaxation.total)
    )
    assert (completion > DEAD).any() and total == bounds.recursion[2]
    for exact, bound in ((completion, coarse[0]), (tail, coarse[1]), (np.array(total), np.array(coarse[2]))):
        assert ((exact > DEAD) == (bound > DEAD)).all()
        lost = (bound - exact)[exact > DEAD]
        assert (lost >= 0).all() and (lost <= 2 * T << COARSE).all()
    assert T < 7 or not np.array_equal(completion, coarse[0])


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
