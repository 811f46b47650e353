"""Every form of a leaf proves the optimum of small problems or nothing: machines in the product, in stages or left out, any multipliers."""

import itertools

import numpy as np
import pytest
from support.proofs import accepted
from support.trellises import near_tie_trellis, valued

from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.proof.leaf import FINE

T, K, UNIT = 4, 3, 2**-20
LABELS = ["a", "b", "O"]
RULES = [
    C.at_most_runs("a", 1, penalty=3 * UNIT),
    C.at_least_tokens("b", 2),
    C.requires_before("a", "O", penalty=2 * UNIT, distance="binary"),
]
PLACES = "absent", "product", "first", "second"
PRICES = {0: (None, 3 * FINE // 2, 3 * FINE), 1: (None, -1, -9 * FINE)}
"""Multipliers of the first two rules: at most the penalty, and none above 0 for a sum from below."""


def drawn(seed, rules=RULES, order=1):
    problem = compile_problem(near_tie_trellis(seed, T, order=order), rules)
    return problem, valued(problem)


def forms():
    """Leaves, and whether they follow all machines."""
    for places in itertools.product(PLACES, repeat=len(RULES)):
        named = {place: tuple((r, 0) for r, own in enumerate(places) if own == place) for place in PLACES}
        stages = tuple(stage for stage in (named["first"], named["second"]) if stage)
        for prices in itertools.product(*PRICES.values()):
            multipliers = {(r, 0): price for r, price in enumerate(prices) if price is not None}
            if not any(key in named["product"] for key in multipliers):
                yield Leaf(multipliers, named["product"], stages), not named["absent"]


@pytest.mark.parametrize(("seed", "order"), [(0, 1), (1, 1), (2, 2)])
def test_no_form_of_a_leaf_proves_less_than_the_optimum(seed, order):
    problem, ranked = drawn(seed, order=order)
    best, (second, _) = ranked[0][0], next(pair for pair in ranked if pair[0] < ranked[0][0])
    better = tuple(path for score, path in ranked if score == best)
    complete = 0
    for leaf, everything in itertools.islice(forms(), seed, None, 3):
        assert not accepted(problem, leaf, best - 1), leaf
        assert not accepted(problem, leaf, second - 1, better), leaf
        if everything:
            assert accepted(problem, leaf, best), leaf
            assert accepted(problem, leaf, second, better), leaf
            complete += 1
    assert complete > 20


CONTRADICTION = [C.at_most_tokens("a", 1), C.at_most_tokens("b", 1), C.at_most_tokens("O", 1)]


def test_an_infeasibility_leaf_needs_every_hard_machine():
    problem, ranked = drawn(0, CONTRADICTION)
    assert not ranked
    keys = [(r, 0) for r in range(3)]
    for size in range(4):
        for chosen in itertools.combinations(keys, size):
            leaves = Leaf(stages=(chosen,) if chosen else ()), Leaf(product=chosen)
            assert [accepted(problem, leaf, None) for leaf in leaves] == [size == 3] * 2
            priced = Leaf(dict.fromkeys(chosen, FINE))
            assert accepted(problem, priced, None) == (size == 3)
    assert not accepted(problem, Leaf({(0, 0): FINE, (1, 0): FINE, (2, 0): 0}), None)


def test_both_cases_of_a_split_need_a_proof():
    problem, ranked = drawn(1)
    best, path = ranked[0]
    good = Leaf(stages=(((0, 0), (1, 0), (2, 0)),))
    for tokens, labels in (((0,), (path[0],)), ((0, 1), (path[0],)), ((0,), (0, 1)), ((0,), (0, 1, 2))):
        for most in range(len(tokens) + 1):
            assert accepted(problem, Split(tokens, labels, most, good, good), best)
            sides = [Split(tokens, labels, most, *pair) for pair in ((good, Leaf()), (Leaf(), good))]
            holds = sum(path[t] in labels for t in tokens) <= most
            assert not accepted(problem, sides[holds], best - 1)
            assert not accepted(problem, Split(tokens, labels, most, good, good), best - 1)


def test_shares_that_make_the_lattice_poorer_make_its_lists_richer():
    scores = np.random.default_rng(4).integers(-3, 4, (T, K)) * UNIT
    trellis = Trellis.from_emissions(scores, np.zeros((K, K)), labels=LABELS, tokens=["x", "y", "x", "x"])
    for penalty in (float("inf"), 2 * UNIT):
        problem = compile_problem(trellis, [C.consistent(penalty=penalty)])
        best = valued(problem)[0][0]
        kinds = problem.rules[0].components[0].kinds
        for rows in itertools.product((-9, 0, 2), repeat=3):
            for other in (0, -5):
                shares = [[row, *[other] * (kinds - 1)] for row in rows]
                stage = {(0, 0): shares}
                assert not accepted(problem, Leaf(shares=(stage,)), best - 1), shares
                assert not accepted(problem, Leaf(shares=(stage, {(0, 0): shares[::-1]})), best - 1), shares


def test_many_machines_that_forbid_at_once_do_not_overflow():
    rules = [C.at_most_tokens("a", most) for most in (0, 1) for _ in range(20)]
    rules += [C.at_least_tokens("b", 1) for _ in range(20)]
    problem, ranked = drawn(3, rules)
    keys = tuple((r, 0) for r, rule in enumerate(problem.rules) if not rule.folds)
    best = ranked[0][0]
    assert len(keys) >= 40
    for leaf in (Leaf(stages=(keys,)), Leaf(product=keys), Leaf(stages=(keys[:20], keys[20:]))):
        assert accepted(problem, leaf, best)
        assert not accepted(problem, leaf, best - 1)
        assert not accepted(problem, leaf, None)


def test_any_size_of_a_claim_is_compared():
    problem, ranked = drawn(1)
    leaf = Leaf(stages=(((0, 0), (1, 0), (2, 0)),))
    assert accepted(problem, leaf, 10**400)
    assert not accepted(problem, leaf, -(10**400))
    assert accepted(problem, leaf, -(10**400), tuple(path for _, path in ranked))
    assert not accepted(problem, leaf, -(10**400), tuple(path for _, path in ranked[1:]))
