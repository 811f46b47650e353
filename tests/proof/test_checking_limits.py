"""What a check costs: proofs that would stall it are refused before they do, whatever their form."""

import json
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import GENERAL_METHODS
from support.effort import examples
from support.strategies import problems
from support.trellises import random_trellis
from test_verification import digest_of

import ilpinfer
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.certificate import Certificate
from ilpinfer.core.trees import Leaf, Split, TooManyCases
from ilpinfer.proof.meter import MAX_STEPS, CheckFailure, Meter
from ilpinfer.proof.stages import Account
from ilpinfer.proof.tree import check_tree
from ilpinfer.proof.verification import verify

T, K = 600, 6
RULES = [
    C.at_most_runs("a", 2, penalty=0.5),
    C.at_most_tokens("b", 300, penalty=0.01),
    C.at_least_tokens("c", 200, penalty=0.01),
    C.at_most_tokens("d", 150, penalty=0.01),
]
MACHINES = ((0, 0), (1, 0), (2, 0), (3, 0))


TRELLIS = random_trellis(0, T, ("a", "b", "c", "d", "e", "O"))
VITERBI = ilpinfer.decode(TRELLIS, RULES, method="viterbi")


def forged(tree, excluded=()):
    """A claim that Viterbi's labelling is optimal, which it is not."""
    certificate = Certificate(
        "exact", "by hand", tree=tree, excluded=excluded, make_digest=digest_of(TRELLIS, RULES)
    )
    return replace(VITERBI, status="optimal", bound=VITERBI.score, certificate=certificate)


def many_leaves(leaf, depth):
    for t in range(depth):
        leaf = Split((t,), (0,), 0, leaf, leaf)
    return leaf


def chain(depth, below=None):
    tree, tokens, below = Leaf(), tuple(range(T)), below or Leaf()
    for t in range(depth):
        tree = Split(tokens, (t % K,), 300, below, tree)
    return tree


@pytest.mark.parametrize(
    "tree, words",
    [
        (Leaf(stages=((),) * 1000), "empty"),
        (Leaf(stages=(MACHINES, ())), "empty"),
        (Leaf(stages=(MACHINES,)), ""),
        (Leaf(stages=tuple((m,) for m in MACHINES)), ""),
        (Leaf(product=MACHINES), ""),
        (many_leaves(Leaf(product=MACHINES), 12), "more than"),
        (many_leaves(Leaf(), 14), "more than"),
        (many_leaves(Leaf(), 100), "more than"),
        (chain(150, Leaf(product=MACHINES)), "more than"),
        (partial(chain, 100_000), "more than"),
    ],
)
def test_a_proof_that_would_stall_a_check_is_refused(tree, words):
    tree = tree() if callable(tree) else tree
    began = time.process_time()
    verdict = verify(TRELLIS, RULES, forged(tree), max_steps=20_000_000)
    assert not verdict.ok and not verdict.proved
    assert words in " ".join(verdict.reasons), verdict.reasons
    assert time.process_time() - began < 60, "a guard against hours"


def test_steps_are_asked_for_before_they_are_taken():
    leaf = Leaf(product=MACHINES)
    solution = forged(many_leaves(leaf, 12))
    meter = Meter()
    with pytest.raises(CheckFailure, match="more than 1000000000 steps; allow more with max_steps"):
        check_tree(compile_problem(TRELLIS, RULES), solution.certificate.tree, 0, (), meter)
    assert meter.steps == 0
    assert "20 steps" in verify(TRELLIS, RULES, forged(Leaf()), max_steps=20).reasons[0]


def test_a_time_limit_ends_a_check():
    verdict = verify(TRELLIS, RULES, forged(Leaf(stages=(MACHINES,))), time_limit=1e-9)
    assert not verdict.ok and "time_limit of 1e-09 s" in verdict.reasons[0]
    honest = ilpinfer.decode(TRELLIS, RULES[:1])
    assert verify(TRELLIS, RULES[:1], honest, time_limit=600.0).proved


def test_many_labellings_that_are_excluded_are_counted_too():
    random = np.random.default_rng(1)
    excluded = tuple(map(tuple, random.integers(0, K, (3000, T)).tolist()))
    verdict = verify(TRELLIS, RULES, forged(Leaf(), excluded), max_steps=10_000_000)
    assert not verdict.ok and "more than 10000000 steps" in verdict.reasons[0]


def test_a_certificate_says_what_it_costs():
    assert Certificate("none").cost == {"leaves": 0, "passes": 0}
    tree = Split((0,), (0,), 0, Leaf(), Leaf(product=((0, 0),), stages=(((1, 0), (2, 0)), ((3, 0),))))
    certificate = Certificate("exact", "by hand", tree=tree)
    assert certificate.cost == {"leaves": 2, "passes": 2 + 2 + 1 + 3 + 2}
    assert certificate.to_dict()["cost"] == {"leaves": 2, "passes": 10}
    plain = certificate.to_dict()["tree"]
    assert list(plain) == ["tokens", "labels", "most", "below", "above"]
    assert plain["below"] == Leaf().to_dict() and plain["above"]["inside"] == [[0, 0]]
    assert json.loads(json.dumps(Certificate("exact", tree=chain(200)).to_dict()))["cost"]["leaves"] == 201


@pytest.mark.parametrize("tree", [chain(201), chain(100_000), many_leaves(Leaf(), 60)])
def test_no_tree_is_too_deep_to_be_refused(tree):
    certificate = Certificate("exact", "by hand", tree=tree)
    for ask in (certificate.to_dict, lambda: certificate.cost, tree.to_dict):
        with pytest.raises(TooManyCases):
            ask()
    assert "Split(" in repr(tree) and "Split(" in repr(certificate)
    assert not verify(TRELLIS, RULES, forged(tree)).ok


@settings(max_examples=examples(100))
@given(problems(longest=5))
def test_the_proofs_of_the_engine_cost_far_less_than_the_default(problem):
    solution = ilpinfer.decode(*problem.given)
    verdict = verify(*problem.given, solution, max_steps=MAX_STEPS // 50)
    assert verdict.ok, verdict.reasons


METHODS = [m.name for m in GENERAL_METHODS]
TIMED = {"lds", "evolutionary", "hybrid"}


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=8)
@given(problem=problems(longest=4), top=st.sampled_from((None, 3)))
def test_no_certificate_says_more_than_a_check_grants(method, problem, top):
    options = {"time_limit": 0.2} if method in TIMED else {}
    result = ilpinfer.decode(*problem.given, method=method, top=top, **options)
    for solution in result if top else [result]:
        verdict = verify(*problem.given, solution)
        assert verdict.ok, verdict.reasons
        if solution.certificate.kind == "exact":
            assert verdict.proved or "the bound is proved" in verdict.reasons[0], verdict.reasons
        else:
            assert not verdict.proved


def test_limits_of_an_account():
    assert Account(budget=6, unit=2, floor=10, score=12).limit == min(10 - 4, 12 + 1 - 6) - 1
    assert Account(budget=0, unit=2, floor=10, score=12).limit == 12
    scaled = Account(budget=6, unit=2, floor=10, score=12).scale_by(1024)
    assert scaled.limit == (Account(6, 2, 10, 12).limit + 1) * 1024 - 1
    value, spent = np.array([9, 10, 6, 7]), np.array([0, 0, 6, 6])
    assert Account(6, 2, 10, 12).holds(value, spent).tolist() == [False, True, False, True]
