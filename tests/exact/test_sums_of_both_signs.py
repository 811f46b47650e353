"""Multipliers of sums whose weights have both signs, such as a difference of runs."""

from itertools import product

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import Relaxation, price_sums

LABELS = ["a", "b", "O"]


def runs(y, label):
    return sum(k == label and (not t or y[t - 1] != label) for t, k in enumerate(y))


def difference(y):
    return runs(y, 0) - runs(y, 1)


def draw(seed, T):
    rng = np.random.default_rng(seed)
    start, edges = rng.integers(-(2**21), 2**21, 3), rng.integers(-(2**21), 2**21, (T - 1, 3, 3))
    sign, side = str(rng.choice(["<=", ">=", "="])), int(rng.integers(-2, 3))
    rule = C.linear(f"runs(a) - runs(b) {sign} {side}", penalty=float(rng.choice([0.5, 1.5, np.inf])))
    return start, edges, Trellis(start / 2**20, edges / 2**20, labels=LABELS), rule, sign, side


def away(value, sign, side):
    return max(0, value - side if sign != ">=" else 0, side - value if sign != "<=" else 0)


@pytest.mark.parametrize("seed", range(60))
def test_the_value_of_each_labelling_stays_the_same(seed):
    """A relaxation with multipliers differs from the scores less penalties on no labelling."""
    start, edges, trellis, rule, sign, side = draw(seed, 5)
    problem = compile_problem(trellis, [rule])
    known = Known.of(problem, Deadline())
    price_sums(known)
    (component,) = known.ground.components
    known.multipliers[component] = -(2**17) if sign == ">=" else 2**17
    relaxation = Relaxation(known)
    found = relaxation.prefixes([0], Deadline(), copies=3**5, floor=-(2**50))
    values = {}
    for y in product(range(3), repeat=5):
        score = start[y[0]] + sum(edges[t - 1, y[t - 1], y[t]] for t in range(1, 5))
        violations = away(difference(y), sign, side)
        if not (rule.hard and violations):
            values[y] = int(score - (0 if rule.hard else round(rule.penalty * 2**20) * violations))
    assert {tuple(p.tolist()): v for p, v in zip(found.paths, found.values, strict=True)} == values


@pytest.mark.parametrize("seed", range(60))
def test_long_sequences_are_proved_with_multipliers(seed):
    trellis, rule = draw(seed, 40)[2:4]
    others = [C.at_most_runs("O", 3, penalty=0.7), C.at_most_tokens("a", 9, penalty=0.3)]
    solution = ilpinfer.decode(trellis, [rule, *others])
    assert solution.status == "optimal"
    assert ilpinfer.verify(trellis, [rule, *others], solution).proved


def test_a_soft_difference_has_a_multiplier():
    """Without one, the bound of this sequence stays half a nat for each run above the side away."""
    T = 60
    emissions = np.tile([[0.5, 0.0, 0.0], [0.0, 0.0, 0.5]], (T // 2, 1))
    trellis = Trellis.from_emissions(emissions, np.zeros((3, 3)), labels=LABELS)
    known = Known.of(compile_problem(trellis, [C.linear("runs(a) - runs(b) <= 1", penalty=0.4)]), Deadline())
    assert known.ground.sums.all()
    price_sums(known)
    assert all(known.multipliers.values()) and known.multipliers


@pytest.mark.parametrize("seed", range(40))
def test_weights_of_different_sizes_and_signs(seed):
    """Their machines have arcs of less than the weight, at the ends of the range, so that they get no multipliers."""
    rng = np.random.default_rng(seed)
    start, edges, trellis, *_ = draw(seed, 6)
    weights, side = rng.choice([-3, -2, -1, 1, 2, 3], 3).tolist(), int(rng.integers(-6, 7))
    sign, penalty = str(rng.choice(["<=", ">="])), float(rng.choice([0.25, 0.5, 1.0]))
    total = " ".join(f"{w:+d}*tokens({label})" for w, label in zip(weights, LABELS, strict=True))
    solution = ilpinfer.decode(trellis, [C.linear(f"0 {total} {sign} {side}", penalty=penalty)])
    best = max(
        int(start[y[0]])
        + sum(int(edges[t - 1, y[t - 1], y[t]]) for t in range(1, 6))
        - round(penalty * 2**20) * away(sum(weights[k] for k in y), sign, side)
        for y in product(range(3), repeat=6)
    )
    assert (solution.status, solution.score) == ("optimal", best / 2**20)
