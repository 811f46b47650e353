"""Counting rules that work against each other: contradictions, cases, and trees without recursion."""

import itertools
import math

import numpy as np
import pytest
from routes import PLAIN, SMALL, take
from support.checks import check_optimum
from support.effort import seeds
from support.strategies import UNIT, by_numbers
from support.template_oracles import between_runs
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import DEEPEST, Leaf, Split, TooManyCases
from ilpinfer.exact.mixtures import relax, sums_of
from ilpinfer.exact.sum_relaxation import contradiction, sums_within
from ilpinfer.exact.tree import Node, tree_of
from ilpinfer.proof.tree import check_tree


def too_many(length, **how):
    """More tokens are asked for than there are."""
    half = length // 2
    return [
        C.at_least_tokens("a", half, **how),
        C.at_least_tokens("b", length - half, **how),
        C.at_least_tokens("c", 3, **how),
    ]


def odd(length, **how):
    """Twice a + b + c is an odd number."""
    half = length // 2
    pairs = (["a", "b"], half), (["b", "c"], half), (["a", "c"], half + 1)
    return [C.exactly_tokens(fields, n, **how) for fields, n in pairs]


def leaves(tree):
    waiting, count = [tree], 0
    while waiting:
        node = waiting.pop()
        if isinstance(node, Split):
            waiting += [node.below, node.above]
        else:
            count += 1
    return count


@pytest.mark.parametrize("length", [20, 40, *[pytest.param(n, marks=pytest.mark.slow) for n in (100, 500)]])
def test_hard_counts_that_ask_for_too_many_tokens_are_refuted(length):
    trellis, rules = random_trellis(0, length, "abcdef"), too_many(length)
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == "infeasible"
    assert solution.certificate.kind == "exact"
    assert ilpinfer.verify(trellis, rules, solution).proved


@pytest.mark.parametrize("penalty", [1.5, 30.0])
@pytest.mark.parametrize("length", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_soft_counts_without_a_whole_number_are_closed(length, penalty):
    """One violation is needed: the best of the four problems in which one count is another number, and costs as much."""
    trellis, rules = random_trellis(0, length, "abcd"), odd(length, penalty=penalty)
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == "optimal"
    assert sum(solution.violations.values()) % 2 == 1
    verdict = ilpinfer.verify(trellis, rules, solution)
    assert verdict.ok and (verdict.proved or solution.certificate.kind == "solver"), verdict.reasons
    kept = [rule for rule, broken in zip(rules, solution.violations.values(), strict=True) if not broken]
    assert len(kept) < 3


def counted(rng, fields):
    """A counting rule, and what it counts."""
    some = [str(f) for f in rng.permutation(fields)[: rng.integers(1, len(fields))]]
    n, kind = int(rng.integers(0, 5)), rng.integers(5)
    penalty = (math.inf, 3 * UNIT, 0.7, 5.0)[rng.integers(4)]
    one, other = (str(f) for f in rng.permutation(fields)[:2])
    if kind == 4:
        rule = C.linear(f"2*tokens({one}) - 3*tokens({other}) = {n - 2}", penalty=penalty)
        return rule, lambda y: abs(2 * y.count(one) - 3 * y.count(other) - n + 2)
    count = lambda y: sum(label in some for label in y)  # noqa: E731
    make, away = (
        (C.exactly_tokens, lambda y: abs(count(y) - n)),
        (C.at_least_tokens, lambda y: max(0, n - count(y))),
        (C.at_most_tokens, lambda y: max(0, count(y) - n)),
        (C.exactly_runs, lambda y: between_runs(y, y, one, n, n, "plain")),
    )[kind]
    return make(one if kind == 3 else some, n, penalty=penalty), away


def small(seed):
    """A small problem of several counting rules."""
    rng = np.random.default_rng(seed)
    labels, length = list("abcd"[: rng.integers(2, 5)]), int(rng.integers(3, 6))
    K = len(labels)
    start, edges = rng.integers(-9, 9, K) / 4, rng.integers(-9, 9, (length - 1, K, K)) / 4
    edges[rng.random(edges.shape) < 0.05] = -math.inf
    return by_numbers(start, edges, labels, *(counted(rng, labels) for _ in range(rng.integers(2, 5))))


@seeds(40)
def test_cases_find_the_optimum(monkeypatch, seed):
    """The route through linear programs and cases, which small problems do not need by themselves."""
    take(monkeypatch, PLAIN | SMALL)
    problem = small(seed)
    solution = ilpinfer.decode(*problem.given)
    verdict = ilpinfer.verify(*problem.given, solution)
    assert verdict.ok, verdict.reasons
    assert verdict.proved or solution.certificate.kind == "solver"
    check_optimum(problem, solution)


@seeds(80, 10)
def test_a_contradiction_is_one_and_a_labelling_keeps_the_hard_sums(seed):
    trellis, rules = small(100 + seed).given
    problem = compile_problem(trellis, [rule for rule in rules if rule.penalty == math.inf])
    outcome = contradiction(problem, sums_within(problem), Deadline())
    if outcome.tree is not None:
        check_tree(problem, outcome.tree, None, ())
    if outcome.path is not None:
        assert not any(part.total.violations(outcome.path) for _, part in sums_of(problem))


@seeds(30, 6)
def test_the_linear_relaxation_bounds_the_optimum(seed):
    drawn = small(200 + seed)
    (best, _), problem = drawn.best(), drawn.compiled().fold()
    parts = [part for _, part in sums_of(problem)]
    relaxed = relax(problem.lattice, parts, 1000.0, Deadline())
    assert best is None or relaxed.bound >= best


@pytest.mark.parametrize("seed", range(2))
def test_the_linear_relaxation_of_large_amounts_ends_in_few_steps(seed):
    rng = np.random.default_rng(seed)
    amounts = rng.integers(1, 60, (3, 30)).tolist()
    terms = [" + ".join(f"{n}*at({x}, {t})" for t, n in enumerate(row)) for x, row in zip("abc", amounts)]
    text = f"{terms[0]} - {terms[1].replace('+', '-')} = 0", f"{terms[1]} - {terms[2].replace('+', '-')} = 1"
    rules = [C.linear(each) for each in text]
    problem = compile_problem(random_trellis(seed, 30, "abcO"), rules)
    parts, bounds = [term for _, term in sums_of(problem)], []
    for start in (None, [2**18, -(2**19)]):
        relaxed = relax(problem.lattice, parts, 1000.0, Deadline(), start=start)
        assert len(relaxed.paths) < 100
        bounds.append(relaxed.bound * UNIT)
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-3)


def test_cases_are_told_apart_no_deeper_than_allowed(monkeypatch):
    take(monkeypatch, PLAIN | dict.fromkeys((*SMALL, "DEEPEST"), 2))
    trellis = random_trellis(0, 12, "abc")
    rules = [
        *odd(12, penalty=1.0),
        C.requires_before("a", "b", penalty=2.0),
        C.min_run_length("c", 3, penalty=0.3),
    ]
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == "optimal"
    level, depth = [solution.certificate.tree], 0
    while any(isinstance(node, Split) for node in level):
        level = [child for node in level if isinstance(node, Split) for child in (node.below, node.above)]
        depth += 1
    assert depth <= 2
    assert solution.score == ilpinfer.decode(trellis, rules, method="cp-sat").score


@pytest.mark.parametrize("depth", [DEEPEST, 5000])
def test_a_deep_tree_is_made_and_written_without_recursion(depth):
    nodes = [Node(0)]
    for below in range(1, depth + 1):
        last = nodes[-1]
        last.row, last.children = ((0,), (1,)), (Node(below), Node(below))
        nodes += last.children
    made = tree_of(nodes)
    if depth > DEEPEST:
        with pytest.raises(TooManyCases, match="deeper than 200 splits"):
            made.to_dict()
        return
    written = made.to_dict()
    for _ in range(depth):
        written = written["above"]
    assert written == Leaf().to_dict()


@pytest.mark.filterwarnings('ignore:rule "valid_scheme')
def test_two_phase_with_soft_rules_that_cannot_be_broken():
    trellis = Trellis(np.zeros(2), np.zeros((3, 2, 2)), labels=["a", "b"])
    rules = [C.valid_scheme(penalty=9.2), C.at_most_runs("a", 9, penalty=0.7)]
    solution = ilpinfer.decode_two_phase(trellis, rules)
    assert (solution.status, solution.penalty, solution.cost_bound) == ("optimal", 0.0, 0.0)
    again = ilpinfer.decode_two_phase(trellis, [*rules, C.at_least_tokens("b", 3, penalty=UNIT)], tau=0.0)
    assert (again.status, again.penalty) == ("optimal", 0.0)


def test_scip_keeps_a_row_whose_coefficients_differ_by_millions():
    """Penalties of 1 and 7 980 562 units: a tolerance of 1e-6 lets eight of the small ones pass."""
    no = -math.inf
    start = np.array([no, 12616969, -20287059]) * UNIT
    edges = np.array(
        [
            [[no, 9401051, no], [no, 104858, 19541572], [no, 524288, no]],
            [[no, 0, 524288], [no, -17301813, no], [-6275210, 943718, 15835980]],
        ]
    )
    trellis = Trellis(start, edges * UNIT, labels=["a", "b", "O"], tokens=["1999"] * 3)
    text = (
        "forall i in 0..last: exists s: ((forall Z in fields: first <= s or field(last) != field(i)) <-> not field(i) != "
        'field(length)) or (field(i) != field(1) iff token(s) matches "[0-9]+" iff (edge(i + 2 - 1) = (b, a)))'
    )
    rules = [
        C.at_most_tokens(["O", "b"], 1, penalty=UNIT),
        C.logic(text, penalty=7980562 * UNIT, distance="binary"),
    ]
    expected = ilpinfer.decode_two_phase(trellis, rules, tau=0.0, method="cp-sat")
    solution = ilpinfer.decode_two_phase(trellis, rules, tau=0.0, method="scip")
    assert (solution.status, solution.penalty, solution.score) == (
        "optimal",
        expected.penalty,
        expected.score,
    )


def test_the_order_of_hard_counts_does_not_matter_to_their_conflict():
    trellis = Trellis(np.zeros(4), np.zeros((1, 4, 4)), labels=["B-a", "I-a", "B-b", "I-b"])
    counts = [
        C.at_least_runs("a", 0),
        C.at_most_runs("a", 1),
        C.at_least_runs("a", 1),
        C.at_most_runs("a", 0),
    ]
    for order in itertools.permutations(counts):
        solution = ilpinfer.decode(trellis, order)
        assert (solution.status, len(solution.infeasibility.conflict)) == ("infeasible", 2)
