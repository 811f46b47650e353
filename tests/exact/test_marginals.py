"""Marginals against sums over all labellings, and what they promise."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.processes import python
from support.strategies import Problem, by_numbers, problems
from support.template_oracles import between_runs
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C

LARGE = st.one_of(st.floats(-1e6, 1e6), st.sampled_from((-1e6, 1e6, -math.inf)))


def check(problem: Problem, tolerance: float = 1e-9) -> None:
    T, K = problem.shape
    if not problem.top():
        with pytest.raises(ValueError, match="no labelling keeps the hard rules"):
            ilpinfer.marginals(*problem.given)
        return
    log_partition, shares = problem.shares()
    labels, edges = np.zeros((T, K)), np.zeros((T - 1, K, K))
    for y, share in shares.items():
        labels[np.arange(T), y] += share
        edges[np.arange(T - 1), y[:-1], y[1:]] += share
    result = ilpinfer.marginals(*problem.given)
    near = {"rel": 1e-12, "abs": tolerance}
    assert result.log_partition == pytest.approx(log_partition, **near)
    np.testing.assert_allclose(result.labels, labels, atol=tolerance)
    np.testing.assert_allclose(result.edges, edges, atol=tolerance)
    np.testing.assert_allclose(result.labels.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(result.edges.sum(axis=(1, 2)), 1, atol=1e-12)
    counts = np.array([problem.violations(y) for y in shares]).reshape(len(shares), -1)
    expected = np.array(list(shares.values())) @ counts
    assert list(result.expected_violations.values()) == pytest.approx(expected.tolist(), **near)
    entropy = -math.fsum(share * math.log(share) for share in shares.values() if share)
    scores = np.concatenate([np.ravel(part) for part in problem.instance.numbers.values()])
    largest = abs(scores[scores > -math.inf]).max(initial=0.0)
    tolerance = 10 * tolerance + 1e-10 * (largest + abs(log_partition))
    assert result.entropy == pytest.approx(entropy, abs=tolerance)
    check_model_alone(problem, result, near)
    check_runs(problem, result, shares, near)


def check_runs(problem: Problem, result: ilpinfer.Marginals, shares: dict, near: dict) -> None:
    """The probability of each run that a labelling can have, and of each labelling."""
    labels = problem.instance.trellis.labels
    chances = Counter[tuple[str, int, int]]()
    for y, share in shares.items():
        assert result.probability(y) == pytest.approx(share, **near)
        for name, field in labels.fields.items():
            begins = [t for t, k in enumerate(y) if field.begins[y[t - 1] + 1 if t else 0, k]]
            for begin in begins:
                end = begin + 1
                while end < len(y) and field.member[y[end]] and end not in begins:
                    end += 1
                chances[name, begin, end] += share
    T = len(result.labels)
    for name in labels.fields:
        for begin, end in combinations(range(T + 1), 2):
            expected = chances[name, begin, end]
            assert result.run_probability(name, begin, end) == pytest.approx(expected, **near)


def check_model_alone(problem: Problem, result: ilpinfer.Marginals, near: dict) -> None:
    _, model = problem._replace(cases=[]).shares()
    holds = np.array([problem.violations(y) for y in model]).reshape(len(model), -1) == 0
    chances = np.array(list(model.values()))
    assert result.probability_holds == pytest.approx(chances @ holds.all(axis=1), **near)


def each_field(distance: str) -> Problem:
    """A rule of many machines, which counts as its distance says."""
    rng = np.random.default_rng(0)
    rule = C.at_most_runs(C.EACH_FIELD, 1, penalty=0.7, distance=distance)
    count = lambda y: sum(between_runs(y, y, field, 0, 1, "plain") for field in "abc")  # noqa: E731
    return by_numbers(rng.normal(size=3), rng.normal(size=(4, 3, 3)), list("abc"), (rule, count))


@settings(max_examples=examples(300))
@given(problems(longest=5))
@example(each_field("count"))
@example(each_field("binary"))
def test_marginals_are_sums_over_all_labellings(problem):
    check(problem)


@settings(max_examples=examples(100))
@given(problems(LARGE))
def test_large_scores_neither_overflow_nor_vanish(problem):
    check(problem, tolerance=1e-7)


def trellis(T: int, K: int) -> Trellis:
    return random_trellis(0, T, [str(k) for k in range(K)])


def test_features_count_in_the_marginals_and_not_in_what_the_model_says_of_rules():
    scores = Trellis([0.0, 0.0], [], labels=["a", "b"])
    result = ilpinfer.marginals(
        scores, [C.feature(label="a", weight=math.log(3)), C.ends_with("a", penalty=math.log(2))]
    )
    np.testing.assert_allclose(result.labels, [[6 / 7, 1 / 7]], atol=1e-6)
    assert result.log_partition == pytest.approx(math.log(3.5), abs=1e-6)
    assert result.probability_holds == pytest.approx(0.5)
    assert list(result.expected_violations.values()) == pytest.approx([1 / 7], abs=1e-6)


def test_the_score_of_a_labelling_and_the_partition_give_its_probability():
    scores, given_rules = trellis(3, 2), [C.at_most_runs("0", 1, penalty=0.4), C.ends_with("1")]
    result = ilpinfer.marginals(scores, given_rules)
    best = ilpinfer.decode(scores, given_rules, top=8)
    assert math.fsum(math.exp(s.score - result.log_partition) for s in best) == pytest.approx(1)


def test_one_label():
    result = ilpinfer.marginals(trellis(4, 1), [C.at_least_tokens("0", 6, penalty=1.0)])
    assert result.labels.tolist() == [[1.0]] * 4
    assert result.edges.tolist() == [[[1.0]]] * 3
    assert result.expected_violations == {"at_least_tokens(0, 6)": 2.0}
    assert result.probability_holds == 0.0


def test_many_unlikely_labellings_outweigh_the_likeliest():
    """One path of score 0 beside 26^300 that score -800 each: nothing may be lost although exp(-800) is 0."""
    T, K = 300, 27
    start, edges = np.zeros(K), np.full((T - 1, K, K), -np.inf)
    start[1:] = -800
    edges[:, 0, 0] = 0
    edges[:, 1:, 1:] = 0
    result = ilpinfer.marginals(Trellis(start, edges), [C.at_most_tokens("5", 20)])
    assert result.log_partition == pytest.approx(T * math.log(26) - 800, abs=1)
    np.testing.assert_allclose(result.labels[:, 0], 0, atol=1e-12)
    assert np.ptp(result.labels[:, 1:5]) < 1e-9


def test_what_is_left_by_a_rule_may_be_far_below_what_it_takes_away():
    start, edges = [0.0, -2000.0, -2001.0], np.zeros((1, 3, 3))
    edges[0, :, 1:] = -2000.0
    result = ilpinfer.marginals(Trellis(start, edges), [C.at_most_tokens("0", 0)])
    assert result.log_partition == pytest.approx(-4000 + math.log((1 + math.exp(-1)) * 2))
    np.testing.assert_allclose(result.labels[0], [0, 1 / (1 + math.exp(-1)), 1 / (1 + math.e)])
    np.testing.assert_allclose(result.labels[1], [0, 0.5, 0.5])


def test_samples_follow_the_marginals():
    scores, given_rules = trellis(6, 3), [C.at_most_runs("0", 1), C.requires_before("1", "2", penalty=1.0)]
    result = ilpinfer.marginals(scores, given_rules)
    drawn = result.sample(20_000, seed=1)
    assert drawn.shape == (20_000, 6)
    np.testing.assert_allclose((drawn[:, :, None] == np.arange(3)).mean(axis=0), result.labels, atol=0.02)
    pairs = (drawn[:, :-1, None, None] == np.arange(3)[:, None]) & (drawn[:, 1:, None, None] == np.arange(3))
    np.testing.assert_allclose(pairs.mean(axis=0), result.edges, atol=0.02)
    assert np.array_equal(drawn, result.sample(20_000, seed=1))
    different = {tuple(y) for y in drawn.tolist()}
    assert all(
        not given_rules[0].violations([str(k) for k in y], tokens=scores.tokens, labels=scores.labels)
        for y in different
    )


def test_a_product_beyond_the_budget_is_refused_by_name():
    given_rules = [C.at_least_tokens(str(k), 9, name=f"nine of {k}", penalty=1.0) for k in range(5)] + [
        C.at_most_runs("0", 1, name="one run")
    ]
    with pytest.raises(ValueError, match=r"more than 1000 joint states within \d+ of 40 tokens") as refused:
        ilpinfer.marginals(trellis(40, 6), given_rules, budget=1000)
    assert "'nine of " in str(refused.value)
    assert "'one run'" not in str(refused.value)
    assert "larger budget" in str(refused.value)
    assert ilpinfer.marginals(trellis(40, 6), given_rules[:1], budget=4000).labels.shape == (40, 6)


def test_a_rule_without_a_machine_is_refused_by_name(monkeypatch):
    from formulations.automata.sums import Sum

    monkeypatch.setattr(Sum, "machines", None)
    with pytest.raises(ValueError, match="rule 'few' has no machine"):
        ilpinfer.marginals(trellis(3, 2), [C.at_most_tokens("0", 1, name="few")])


def test_rules_marked_forced_mean_what_they_mean():
    scores = trellis(4, 2)
    plain = C.at_least_tokens("0", 2, penalty=1.0)
    forced = C.at_least_tokens("0", 2, penalty=1.0, partial="forced")
    one, other = ilpinfer.marginals(scores, [plain]), ilpinfer.marginals(scores, [forced])
    np.testing.assert_array_equal(one.labels, other.labels)


def test_importing_marginals_is_left_to_the_one_who_asks():
    loaded = "print('ilpinfer.kernels' in sys.modules)"
    code = f"import sys, ilpinfer; {loaded}; ilpinfer.marginals; {loaded}"
    assert python("-c", code, check=True).stdout.split() == ["False", "True"]
