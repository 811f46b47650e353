"""Products whose completions lose more than small numbers hold: they are bounds, and label setting over them stays exact."""

from itertools import product

import numpy as np
import pytest

from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.native import JointProduct, kernels
from ilpinfer.kernels.tables import DEAD

LABELS = ["a", "b", "c"]
COARSE, LOST, SHORT_LOST = kernels.COARSE, kernels.LOST, kernels.SHORT_LOST


def multiplied(trellis, *rules):
    """The relaxation without machines, the product of all machines, and completions over it from a least value on."""
    one = GroundProblem.of(compile_rules(RuleSet(rules), trellis.labels).problem(trellis), Deadline())
    relaxation, machines = Relaxation(one.instance, one.tokens, {}), np.arange(len(one.instance.sources))
    bounds = relaxation.multiply(machines, 64)
    assert bounds.within

    def complete(least):
        bare = relaxation.completion, relaxation.tail, relaxation.total
        given = *bare, machines, 64, kernels.MOST_CELLS, False, least
        joint = JointProduct(relaxation.instance.tables, relaxation.tokens, *given)
        return joint.completions(), joint.total

    return relaxation, bounds, complete


def compare(trellis, *rules, shift=COARSE):
    """The product of rules, exactly and in 16 bits of a unit: what completions are too high by, checked against their bounds."""
    relaxation, bounds, complete = multiplied(trellis, *rules)
    floor = relaxation.total - (SHORT_LOST // 2 << shift)
    (completion, total), (coarse, bound) = (complete(least) for least in (FORBIDDEN, floor))
    assert (completion > DEAD).any() and total == bounds.total
    assert ((completion > DEAD) == (coarse > DEAD)).all()
    lost = (coarse - completion)[completion > DEAD]
    most = len(trellis) * (3 << shift)
    assert (lost >= 0).all() and (lost <= most).all() and total <= bound <= total + most
    return lost


@pytest.mark.parametrize("T", [1, 2, 7, 40])
@pytest.mark.parametrize("size", [0.5, 3.0])
def test_losses_of_16_bits_are_bounds_that_are_too_high_by_what_is_rounded(T, size):
    rng = np.random.default_rng(T)
    scores, steps = rng.normal(size=(T, 3)) * size, rng.normal(size=(3, 3)) * size
    trellis = Trellis.from_emissions(scores, steps, labels=LABELS, tokens=["x"] * T)
    present, last = C.requires_present("a", "b", penalty=size), C.ends_with("a", penalty=2 * size)
    lost = compare(trellis, present, C.at_most_tokens("c", 1), last)
    assert T < 7 or lost.any()


def test_what_is_too_much_for_16_bits_is_not_forbidden():
    steps = np.zeros((3, 3))
    steps[0, 0] = 40.0
    trellis = Trellis.from_emissions([[0, 0, 0], [0, -40, -40]], steps, labels=LABELS, tokens=["x"] * 2)
    few = (C.at_most_tokens(name, 1, penalty=penalty) for name, penalty in zip("abc", (np.inf, 1.0, 1.0)))
    relaxation, _, complete = multiplied(trellis, *few)
    exact, coarse = (complete(least)[0] for least in (FORBIDDEN, relaxation.total))
    assert ((exact > DEAD) == (coarse > DEAD)).all() and (exact <= coarse).all()


def second_order(scores, steps, labels, tokens):
    edges = steps + scores[2:, None, None]
    return Trellis.second_order(scores[0], steps[0] + scores[1], edges, labels=labels, tokens=tokens)


@pytest.mark.parametrize("shift", [COARSE + 1, COARSE + 3])
@pytest.mark.parametrize("order", [1, 2])
def test_larger_units_and_second_order(shift, order):
    rng, K, T = np.random.default_rng(shift), 4, 9
    scores, labels = rng.normal(size=(T, K)) * 3, [f"{k}" for k in range(K)]
    shape = (K, K) if order == 1 else (K, K, K)
    steps = rng.normal(size=(K, 1)) * 3 + rng.normal(size=shape) * (order - 1) + rng.normal(size=K) * 3
    make = Trellis.from_emissions if order == 1 else second_order
    trellis = make(scores, steps, labels=labels, tokens=["x"] * T)
    present = C.requires_present("0", "1", penalty=9.0)
    compare(trellis, present, C.at_most_tokens("2", 1), C.ends_with("3", penalty=4.0), shift=shift)


@pytest.mark.parametrize("size", [1.0, 300.0, 900.0])
def test_products_bound_losses_of_any_size(size):
    """Emissions and penalties of up to a few thousand nats, more than half of `LOST`."""
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
        one = GroundProblem.of(compile_rules(rules, trellis.labels).problem(trellis), Deadline())
        best = max(one.folded.value(np.array(path, np.int64)).score for path in product(range(3), repeat=5))
        relaxation = Relaxation(one.instance, one.tokens, {})
        machines = list(range(len(one.instance.sources)))
        bounds = relaxation.multiply(machines, 64)
        found = relaxation.prefixes(machines, Deadline(), bounds=bounds)
        assert bounds.within == machines
        assert best <= bounds.total <= max(best, relaxation.total - LOST // 2)
        assert found.values[0] == best
