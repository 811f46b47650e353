"""Products whose completions lose more than small numbers hold: they are bounds, and label setting over them stays exact."""

from itertools import product

import numpy as np
import pytest

from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN, snap
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.defaults import defaults_of
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.joint_recursion import complete_jointly, room_jointly
from ilpinfer.kernels.losses import COARSE, MOST_LOST, SHORT_LOST
from ilpinfer.kernels.recursion import DEAD, complete, width_of

LABELS = ["a", "b", "c"]


@kernel
def complete_from(scores, emission, edge_at, joint, least):
    """The recursion of a product for values from `least` on: completions, own scores and the best value."""
    order, shape = np.arange(len(emission)), (len(emission), width_of(scores))
    completion, tail = np.empty(shape, np.int64), np.empty(shape, np.int64)
    best = complete(scores, emission, order, 0 * order, edge_at, completion, tail)
    bare = completion, tail, best
    completion, tail = room_jointly(joint, *shape)
    arrays = scores, emission, order, 0 * order, edge_at, joint, bare
    total = complete_jointly(*arrays, least, completion, tail)
    return completion, total


def compare(trellis, *rules):
    """The product of rules, exactly and in 16 bits: completions and best values; and the most that 16 bits may be too high."""
    known = Known.of(compile_rules(RuleSet(rules), trellis.labels).problem(trellis), Deadline())
    relaxation, ground = Relaxation(known), known.ground
    bounds = relaxation.multiply(list(range(len(ground.plain))), 64)
    arrays = ground.scores, ground.lattice.node, ground.classes[0], bounds.joint
    floor = relaxation.total - SHORT_LOST // 2 * 2**COARSE
    (completion, total), (coarse, bound) = (complete_from(*arrays, least) for least in (FORBIDDEN, floor))
    assert bounds.within and (completion > DEAD).any() and total == bounds.recursion[2]
    assert ((completion > DEAD) == (coarse > DEAD)).all()
    lost = (coarse - completion)[completion > DEAD]
    most = 3 * len(trellis) << COARSE
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


@kernel
def defaults_in(edge):
    """How many states have a default, and the number of exceptions; -1 where nothing has defaults."""
    defaults = defaults_of(edge)
    own = 0
    for value in defaults.out:
        own += value > DEAD
    return own if len(defaults.out) else -1, len(defaults.other)


def smoothed(rng, K):
    """Scores of steps, each that of the state before and of the next state, but for some that are seen more often."""
    steps = rng.normal(size=(K, 1)) + rng.normal(size=K)
    steps[rng.random((K, K)) < 0.05] += 4.0
    return steps


def forbid(steps):
    """Some steps are forbidden, and one is unlikely: their states have no default."""
    steps[3, 4:9], steps[5, 2] = -np.inf, steps[5, 2] - 7.0


def forbid_many(steps):
    """Only two states may be followed by a third of the others, which have no default."""
    steps[2:, : len(steps) // 3] = -np.inf


def no_two_alike(steps):
    """Nothing has defaults."""
    steps += np.random.default_rng(0).normal(size=steps.shape)


@pytest.mark.parametrize(
    "change, with_default",
    [(lambda steps: None, 32), (forbid, 30), (forbid_many, 32), (no_two_alike, -1)],
)
def test_default_scores_of_steps_change_nothing_but_what_is_rounded(change, with_default):
    K, rng = 32, np.random.default_rng(7)
    for T in (2, 3, 12):
        steps = smoothed(rng, K)
        change(steps)
        labels = [f"{k}" for k in range(K)]
        tokens = [",x"[t % 2] for t in range(T)]
        trellis = Trellis.from_emissions(rng.normal(size=(T, K)), steps, labels=labels, tokens=tokens)
        own, exceptions = defaults_in(snap(steps))
        assert own == with_default and (own < 0 or exceptions <= K * K // 8)
        present, few = C.requires_present("1", "2", penalty=1.5), C.at_most_tokens("3", 1, penalty=0.7)
        kept = C.changes_only_after(penalty=3.0)
        compare(trellis, present, few, C.ends_with("4", penalty=2.0), C.at_most_tokens("4", 1), kept)


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
