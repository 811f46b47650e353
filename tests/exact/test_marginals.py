"""Marginals against sums over all labellings, and what they promise."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import examples
from support.strategies import Case, Instance, cost_units, instances, problems
from test_decoding_against_oracle import SLOW, rules

import ilpinfer
from formulations import Trellis
from formulations import constraints as C

LARGE = st.one_of(st.floats(-1e6, 1e6), st.sampled_from((-1e6, 1e6, -math.inf)))


def weights(units: dict) -> tuple[float, dict]:
    """log Σ exp, nats, and the share of each labelling; scores may be far beyond what exp can bear."""
    most = max(units.values())
    shares = {y: math.exp((u - most) / oracles.UNITS_PER_NAT) for y, u in units.items()}
    total = math.fsum(shares.values())
    return most / oracles.UNITS_PER_NAT + math.log(total), {y: s / total for y, s in shares.items()}


def scored(instance: Instance, cases: list[Case]) -> dict:
    """Grid units of each labelling that keeps the hard rules."""
    result = {}
    for y in oracles.labellings(*instance.shape):
        score, cost = instance.units(y), cost_units(instance, cases, y)
        if score is not None and cost is not None:
            result[y] = score - cost
    return result


def check(instance: Instance, cases: list[Case], tolerance: float = 1e-9) -> None:
    (T, K), tokens = instance.shape, instance.trellis.tokens
    units = scored(instance, cases)
    if not units:
        with pytest.raises(ValueError, match="no labelling keeps the hard rules"):
            ilpinfer.marginals(instance.trellis, rules(cases))
        return
    log_partition, shares = weights(units)
    labels, edges = np.zeros((T, K)), np.zeros((T - 1, K, K))
    for y, share in shares.items():
        labels[np.arange(T), y] += share
        edges[np.arange(T - 1), y[:-1], y[1:]] += share
    result = ilpinfer.marginals(instance.trellis, rules(cases))
    near = {"rel": 1e-12, "abs": tolerance}
    assert result.log_partition == pytest.approx(log_partition, **near)
    np.testing.assert_allclose(result.labels, labels, atol=tolerance)
    np.testing.assert_allclose(result.edges, edges, atol=tolerance)
    np.testing.assert_allclose(result.labels.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(result.edges.sum(axis=(1, 2)), 1, atol=1e-12)
    counts = {y: [case.violations(instance.names(y), tokens) for case in cases] for y in shares}
    expected = [math.fsum(shares[y] * counts[y][r] for y in shares) for r in range(len(cases))]
    assert list(result.expected_violations.values()) == pytest.approx(expected, **near)
    entropy = -math.fsum(share * math.log(share) for share in shares.values() if share)
    edges_too = [*instance.start, *np.ravel(instance.edges)]
    largest = max(abs(x) for x in edges_too if x > -math.inf) if max(edges_too) > -math.inf else 0.0
    assert result.entropy == pytest.approx(
        entropy, abs=10 * tolerance + 1e-10 * (largest + abs(log_partition))
    )
    check_model_alone(instance, cases, result, near)


def check_model_alone(instance: Instance, cases: list[Case], result: ilpinfer.Marginals, near: dict) -> None:
    _, model = weights(scored(instance, []))
    tokens = instance.trellis.tokens
    holds = {y: [not case.violations(instance.names(y), tokens) for case in cases] for y in model}
    assert result.probability_holds == pytest.approx(
        math.fsum(model[y] * all(holds[y]) for y in model), **near
    )
    expected = [math.fsum(model[y] * holds[y][r] for y in model) for r in range(len(cases))]
    assert list(result.rule_probabilities.values()) == pytest.approx(expected, **near)


@settings(max_examples=examples(300), **SLOW)
@given(problems())
def test_marginals_are_sums_over_all_labellings(problem):
    check(*problem)


@settings(max_examples=examples(100), **SLOW)
@given(problems(LARGE))
def test_large_scores_neither_overflow_nor_vanish(problem):
    check(*problem, tolerance=1e-7)


@settings(max_examples=examples(60), **SLOW)
@given(instances(longest=5))
def test_without_rules(instance):
    check(instance, [])


def trellis(T: int, K: int, seed: int = 0) -> Trellis:
    rng = np.random.default_rng(seed)
    return Trellis.from_emissions(rng.normal(size=(T, K)), rng.normal(size=(K, K)))


def by_hand(scores: Trellis, given_rules: list) -> dict:
    """Score in nats of each labelling that keeps the hard rules, by `Rule.violations`."""
    result = {}
    for y in oracles.labellings(len(scores), len(scores.labels)):
        names = [scores.labels.names[k] for k in y]
        units = scores.score(y)
        for rule in given_rules:
            count = rule.violations(names, scores.tokens, scores.labels)
            units -= rule.penalty * count if count else 0
        if units > -math.inf:
            result[y] = units
    return result


@pytest.mark.parametrize("distance", ["count", "binary"])
def test_a_rule_of_many_machines_counts_as_its_distance_says(distance):
    scores = trellis(5, 3)
    rule = C.at_most_runs(C.EACH_FIELD, 1, penalty=0.7, distance=distance)
    result, units = ilpinfer.marginals(scores, [rule]), by_hand(scores, [rule])
    total = math.fsum(map(math.exp, units.values()))
    assert result.log_partition == pytest.approx(math.log(total), abs=1e-5)
    labels = np.zeros((5, 3))
    for y, nats in units.items():
        labels[np.arange(5), y] += math.exp(nats) / total
    np.testing.assert_allclose(result.labels, labels, atol=1e-5)


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
        not given_rules[0].violations([str(k) for k in y], scores.tokens, scores.labels) for y in different
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


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, "many"])
def test_a_budget_is_a_whole_number(budget):
    with pytest.raises(ValueError, match="budget is"):
        ilpinfer.marginals(trellis(2, 2), budget=budget)


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
    loaded = "print('numba' in sys.modules)"
    code = f"import sys, ilpinfer; {loaded}; ilpinfer.marginals; {loaded}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


def test_second_order_is_refused():
    trellis = Trellis.second_order([0.0, 0.0], np.zeros((2, 2)), np.zeros((1, 2, 2, 2)))
    with pytest.raises(ValueError, match="first-order"):
        ilpinfer.marginals(trellis)
