"""Decomposition by lists of tokens that agree: its bounds, its proofs and what it leaves to others, by brute force."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routes import begun
from support.checks import check_optimum
from support.effort import examples
from support.proofs import proves
from support.strategies import NEAR_PENALTIES, NEAR_TIES, UNIT
from support.trellises import random_trellis, valued
from test_consistency import documents

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.automata.components import Agreement
from formulations.grid import is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.exact import limits
from ilpinfer.exact.agreements import decomposed
from ilpinfer.proof.tree import check_tree


@st.composite
def shares(draw, problem):
    """What every list that may have shares gives, in one stage or several."""
    stages = []
    for _ in range(draw(st.integers(1, 3))):
        stage = {}
        for r, rule in enumerate(problem.rules):
            for p, part in enumerate(rule.components):
                if isinstance(part, Agreement) and not rule.once:
                    numbers = (
                        st.integers(-4 * 2**20, 4 * 2**20) if draw(st.booleans()) else st.integers(-3, 3)
                    )
                    row = st.lists(numbers, min_size=part.kinds, max_size=part.kinds)
                    size = len(part.tokens)
                    stage[r, p] = draw(st.lists(row, min_size=size, max_size=size))
        stages.append(stage)
    return tuple(stages)


@settings(max_examples=examples(300))
@given(st.data(), st.booleans(), st.one_of(st.none(), st.integers(-4, 4)))
def test_a_proof_with_any_shares_is_accepted_only_where_it_is_true(data, near, beyond):
    problem = data.draw(documents(NEAR_TIES, NEAR_PENALTIES) if near else documents())
    ground, ranked = problem.compiled(), problem.top()
    leaf = Leaf(shares=data.draw(shares(ground)))
    T, K = ground.shape
    tree = leaf
    if data.draw(st.booleans()):
        labels = tuple(data.draw(st.sets(st.integers(0, K - 1))))
        other = Leaf(shares=data.draw(shares(ground)))
        tree = Split((data.draw(st.integers(0, T - 1)),), labels, data.draw(st.integers(0, 1)), leaf, other)
    best = ranked[0][0] if ranked else None
    claim = None if beyond is None or best is None else best + beyond
    if proves(ground, tree, claim):
        assert best is None if claim is None else best is None or best <= claim


@settings(max_examples=examples(150))
@given(problem=documents(NEAR_TIES, NEAR_PENALTIES), cases=st.integers(0, 3), sweeps=st.integers(1, 3))
def test_what_is_stopped_early_has_a_bound_that_is_proved(problem, cases, sweeps):
    ground, ranked = problem.compiled(), problem.top()
    state = begun(ground)
    if not state.problem.lists:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "DECOMPOSITION_CASES", cases)
        patch.setattr(limits, "SWEEPS", sweeps)
        state = decomposed(state)
    best = ranked[0][0] if ranked else None
    claim = None if is_forbidden(state.bound) else int(state.bound)
    check_tree(ground, state.proof, claim, ())
    assert best is None or best <= state.bound
    if state.closed:
        first = [] if best is None else [ranked[0][1]]
        assert [tuple(path.tolist()) for path in state.answer] == first


@settings(max_examples=examples(60))
@given(documents(NEAR_TIES, NEAR_PENALTIES, longest=4))
def test_what_it_leaves_open_a_solver_finishes(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "DECOMPOSITION_CASES", 0)
        patch.setattr(limits, "SWEEPS", 1)
        solution = ilpinfer.decode(*problem.given)
    check_optimum(problem, solution)
    assert ilpinfer.verify(*problem.given, solution).ok


@pytest.mark.parametrize("penalty", [math.inf, 1.0])
def test_second_order_scores_are_decomposed_too(penalty):
    generator = np.random.default_rng(3)
    for seed in range(20):
        tokens = generator.choice(["x", "y", "z"], 6).tolist()
        trellis = random_trellis(seed, 6, ["a", "O"], tokens, order=2)
        rule = C.consistent(penalty=penalty)
        solution = ilpinfer.decode(trellis, [rule])
        assert solution.score == valued(compile_problem(trellis, [rule]))[0][0] * UNIT
        assert ilpinfer.verify(trellis, [rule], solution).proved


RULES = [
    C.consistent(penalty=1.0),
    C.consistent(penalty=1.0, distance="binary", name="once"),
    C.at_most_runs("a", 1, penalty=1.0),
]
TRELLIS = Trellis.from_emissions(
    [[2.0, 0.0], [0.0, 0.5], [0.0, 2.0]], np.zeros((2, 2)), labels=["a", "O"], tokens=["x", "x", "x"]
)
ROWS = [[0, 0], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    "leaf, words",
    [
        (Leaf(shares=({(1, 0): ROWS},)), "not a list of tokens whose violations are counted one by one"),
        (Leaf(shares=({(2, 0): ROWS},)), "not a list of tokens whose violations are counted one by one"),
        (Leaf(shares=({(0, 0): ROWS[1:]},)), "are not 3 rows of 2"),
        (Leaf(shares=({(0, 0): [[0], [0], [0]]},)), "are not 3 rows of 2"),
        (Leaf(shares=({(0, 0): [[0, 0.5], *ROWS[1:]]},)), "expected a whole number"),
        (Leaf(shares=({(0, 0): [[0, True], *ROWS[1:]]},)), "expected a whole number"),
        (Leaf(shares=({(0, 0): [[0, 2**57], *ROWS[1:]]},)), "expected a whole number from -7"),
        (Leaf(shares=({(0, 0): [[0, 2**56]] * 3},)), "may add up to"),
        (Leaf(shares=({(0, 1): ROWS},)), "an index into"),
        (Leaf(shares=({(9, 0): ROWS},)), "rule"),
        (Leaf(shares=({0: ROWS},)), "pair"),
        (Leaf(shares=({(0, 0): 5},)), "cannot be read"),
        (Leaf(shares=(5,)), "cannot be read"),
        (Leaf(shares=({(0, 0): ROWS},), product=((0, 0),)), "also a machine in a stage"),
        (Leaf(shares=({(0, 0): ROWS},), stages=(((0, 0),),)), "also a machine in a stage"),
        (Leaf(shares=({(0, 0): ROWS},)), "are not excluded"),
        (Leaf(), "are not excluded"),
    ],
)
def test_wrong_shares_are_rejected(leaf, words):
    solution = ilpinfer.decode(TRELLIS, RULES)
    assert ilpinfer.verify(TRELLIS, RULES, solution).proved
    forged = replace(solution, certificate=replace(solution.certificate, tree=leaf))
    verdict = ilpinfer.verify(TRELLIS, RULES, forged)
    assert not verdict.ok
    assert words in verdict.reasons[0]


def test_a_proof_as_plain_values_has_its_shares():
    solution = ilpinfer.decode(TRELLIS, RULES[:1])
    ((rule, part, rows),) = solution.certificate.to_dict()["tree"]["shares"][-1]
    assert (rule, part) == (0, 0)
    assert rows == [list(row) for row in solution.certificate.tree.shares[-1][0, 0]]
    assert solution.certificate.cost["passes"] == 2 + 2 * len(solution.certificate.tree.shares)
