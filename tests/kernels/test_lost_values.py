"""Products whose completions lose more than small numbers hold: they are bounds, and label setting over them stays exact."""

from itertools import product

import numpy as np
import pytest

from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN, snap
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import DEAD

LABELS = ["a", "b", "c"]
COARSE, LOST, SHORT_LOST, SLACK = kernels.COARSE, kernels.LOST, kernels.SHORT_LOST, kernels.SLACK


def multiplied(trellis, *rules):
    """The relaxation without machines, the product of all machines, and what `complete_jointly` reads of it."""
    one = GroundProblem.of(compile_rules(RuleSet(rules), trellis.labels).problem(trellis), Deadline())
    relaxation, machines = Relaxation(one.ground, {}), np.arange(len(one.ground.plain))
    bounds = relaxation.multiply(machines, 64)
    assert bounds.within
    return relaxation, bounds, (relaxation.tables, *relaxation.sequence, machines, 64)


def compare(trellis, *rules, shift=COARSE):
    """The product of rules, exactly and in 16 bits of a unit: what completions are too high by, checked against their bounds."""
    relaxation, bounds, arrays = multiplied(trellis, *rules)
    floor = relaxation.total - (SHORT_LOST // 2 << shift)
    (completion, total), (coarse, bound) = (
        kernels.complete_jointly(*arrays, least) for least in (FORBIDDEN, floor)
    )
    assert (completion > DEAD).any() and total == bounds.total
    assert ((completion > DEAD) == (coarse > DEAD)).all()
    lost = (coarse - completion)[completion > DEAD]
    most = len(trellis) * ((3 << shift) + 4 * SLACK)
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


def defaults_in(edge):
    """How many states have a default, and the number of exceptions; -1 where nothing has defaults."""
    own, exceptions, none = kernels.defaults_of(edge)
    return -1 if none else own, exceptions


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


def forbid_first(steps):
    """Few states may follow the first, which has no default."""
    steps[0, 3:] = -np.inf


def no_two_alike(steps):
    """Nothing has defaults."""
    steps += np.random.default_rng(0).normal(size=steps.shape)


@pytest.mark.parametrize(
    "change, with_default",
    [(lambda steps: None, 32), (forbid, 30), (forbid_many, 32), (forbid_first, 31), (no_two_alike, -1)],
)
def test_default_scores_of_steps_change_nothing_but_what_is_rounded(change, with_default):
    K, rng = 32, np.random.default_rng(7)
    for T in (2, 3, 12):
        steps = smoothed(rng, K)
        change(steps)
        labels = [f"{k}" for k in range(K)]
        trellis = Trellis.from_emissions(rng.normal(size=(T, K)), steps, labels=labels, tokens=["x"] * T)
        own, exceptions = defaults_in(snap(steps))
        assert own == with_default and (own < 0 or exceptions <= K * K // 8)
        present, few = C.requires_present("1", "2", penalty=1.5), C.at_most_tokens("3", 1, penalty=0.7)
        compare(trellis, present, few, C.ends_with("4", penalty=2.0), C.at_most_tokens("4", 1))


@pytest.mark.parametrize("noise", [0, 60])
def test_defaults_are_no_lower_than_steps_that_score_a_little_more(noise):
    """Scores are whole units of losses, so that whatever is rounded the wrong way shows."""
    trellis = Trellis.from_emissions(
        [[0, 0], [2**-8, 0]], [[0, 0], [0, noise * 2**-20]], labels=["a", "b"], tokens=["x"] * 2
    )
    compare(trellis, C.at_most_tokens("a", 1, penalty=1.0))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        K, T = int(rng.integers(2, 12)), int(rng.integers(2, 6))
        units = 2.0**-8 * rng.integers(0, 4, (K, K)), 2.0**-8 * rng.integers(0, 600, (T, K))
        steps = units[0][:1] + units[0][:, :1] + 2.0**-20 * rng.integers(0, noise + 1, (K, K))
        labels = [f"{k}" for k in range(K)]
        trellis = Trellis.from_emissions(units[1], steps, labels=labels, tokens=["x"] * T)
        compare(trellis, C.at_most_tokens("0", 1, penalty=1.0), C.requires_present("1", "0", penalty=0.5))


def test_what_is_too_much_for_16_bits_is_not_forbidden():
    steps = np.zeros((3, 3))
    steps[0, 0] = 40.0
    trellis = Trellis.from_emissions([[0, 0, 0], [0, -40, -40]], steps, labels=LABELS, tokens=["x"] * 2)
    few = (C.at_most_tokens(name, 1, penalty=penalty) for name, penalty in zip("abc", (np.inf, 1.0, 1.0)))
    relaxation, _, arrays = multiplied(trellis, *few)
    exact, coarse = (kernels.complete_jointly(*arrays, least)[0] for least in (FORBIDDEN, relaxation.total))
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


def test_tables_with_defaults_and_without_take_turns():
    """After a comma nothing is charged; elsewhere a run that goes on is one more exception for each state."""
    rng, K, T = np.random.default_rng(3), 16, 32
    steps = rng.normal(size=(K, 1)) + rng.normal(size=K)
    i, b = np.nonzero(1 - np.eye(K))
    seen = rng.choice(len(i), 24, replace=False)
    steps[i[seen], b[seen]] += 4.0
    charged = steps - 3.0 * (1 - np.eye(K))
    assert defaults_in(snap(steps))[0] == K and defaults_in(snap(charged))[0] < 0
    labels, tokens = [f"{k}" for k in range(K)], [",x"[t // 8 % 2] for t in range(T)]
    trellis = Trellis.from_emissions(rng.normal(size=(T, K)), steps, labels=labels, tokens=tokens)
    kept = C.changes_only_after(penalty=3.0)
    compare(trellis, C.requires_present("0", "1", penalty=1.5), C.at_most_tokens("2", 1, penalty=0.5), kept)


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
        relaxation, machines = Relaxation(one.ground, {}), list(range(len(one.ground.plain)))
        bounds = relaxation.multiply(machines, 64)
        found = relaxation.prefixes(machines, Deadline(), bounds=bounds)
        assert bounds.within == machines
        assert best <= bounds.total <= max(best, relaxation.total - LOST // 2)
        assert found.values[0] == best
