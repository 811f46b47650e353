"""The pass over the prefixes that are left, and max-marginals, against all labellings one by one."""

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.data.runs import ruled
from formulations import Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.proof import survivors
from ilpinfer.proof.edges import max_marginals
from ilpinfer.proof.meter import CheckFailure, Meter
from ilpinfer.proof.scored_machines import scored_machine
from ilpinfer.proof.survivors import rules_out
from ilpinfer.references.making import make
from ilpinfer.references.verification import verify

T, K = 4, 3
RULES = [
    C.at_most_runs("a", 1, penalty=2 * 2**-20),
    C.requires_before("a", "b", penalty=3 * 2**-20, distance="binary"),
    C.at_least_tokens("b", 1),
]


def drawn(seed, order):
    """A problem whose scores are -3 to 3 grid units, with some of them forbidden, and all its machines."""
    rng = np.random.default_rng(seed)

    def scores(*shape):
        return np.where(rng.random(shape) < 0.1, -np.inf, rng.integers(-3, 4, shape) / 2**20)

    if order == 1:
        trellis = Trellis(scores(K), scores(T - 1, K, K), labels=["a", "b", "O"])
    else:
        trellis = Trellis.second_order(
            scores(K), scores(K, K), scores(T - 2, K, K, K), labels=["a", "b", "O"]
        )
    problem = compile_problem(trellis, RULES).fold()
    rules = problem.rules
    keys = [(r, m) for r, rule in enumerate(rules) for m in range(len(rule.machines))]
    assert len(keys) == len(RULES)
    return problem, [scored_machine(rules, key, 1) for key in keys]


def values(problem):
    """Labellings that keep the hard rules, with their scores, best first."""
    paths = itertools.product(range(K), repeat=T)
    pairs = ((problem.value(np.array(path)), path) for path in paths)
    return sorted(((value.score, path) for value, path in pairs if value.feasible), reverse=True)


CASES = [(seed, order) for seed in range(20) for order in (1, 2)]


@pytest.mark.parametrize(("seed", "order"), CASES)
def test_what_is_ruled_out_is_what_brute_force_does_not_find(seed, order):
    problem, machines = drawn(seed, order)
    ranked = values(problem)
    assert len(ranked) > 3
    for place in range(4):
        excluded = tuple(path for _, path in ranked[:place])
        best = ranked[place][0]
        assert rules_out(problem.lattice, machines, excluded, best, Meter())
        assert not rules_out(problem.lattice, machines, excluded, best - 1, Meter())
    assert rules_out(problem.lattice, machines, tuple(path for _, path in ranked), -(2**50), Meter())


@pytest.mark.parametrize(("seed", "order"), CASES)
def test_max_marginals_are_the_best_through_each_state(seed, order):
    lattice = drawn(seed, order)[0].lattice
    expected = np.full(lattice.node.shape, FORBIDDEN)
    for path in itertools.product(range(K), repeat=T):
        states = lattice.states_of(np.array(path))
        places = np.arange(T), states
        expected[places] = np.maximum(expected[places], lattice.score(np.array(path)))
    assert (max_marginals(lattice) == expected).all()


def test_many_edges_and_shared_penalties_are_left_to_the_stages():
    problem, machines = drawn(0, 1)
    best = values(problem)[0][0]
    with patch.object(survivors, "MOST_EXTENSIONS", 20):
        assert not rules_out(problem.lattice, machines, (), best, Meter())
    shared = [replace(machine, shared=0) for machine in machines]
    assert not rules_out(problem.lattice, shared, (), best, Meter())


def test_many_prefixes_are_left_to_the_stages():
    problem, machines = drawn(0, 1)
    ranked = values(problem)
    worst = tuple(path for _, path in ranked), ranked[-1][0] - 100
    edges = K + (T - 1) * K * K
    with patch.object(survivors, "MOST_EXTENSIONS", edges):
        assert not rules_out(problem.lattice, machines, *worst, Meter())
    assert rules_out(problem.lattice, machines, *worst, Meter())


def test_steps_are_asked_for():
    problem, machines = drawn(0, 1)
    with pytest.raises(CheckFailure, match="more than 10 steps"):
        rules_out(problem.lattice, machines, (), 0, Meter(10))


def test_large_references_need_no_stages():
    trellis, rules = ruled(200, 30, 2.0)
    reference = make(trellis, rules)
    with patch("ilpinfer.proof.leaf.StagePass") as stage:
        assert verify(reference, "meaning")
    stage.assert_not_called()
    worse = replace(reference.levels[0], score=reference.levels[0].score - 1)
    assert not verify(replace(reference, levels=(worse, *reference.levels[1:])), "meaning")
