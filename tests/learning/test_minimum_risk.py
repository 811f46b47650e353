"""Minimum-risk training against sums over all labellings."""

import math

import numpy as np
import pytest
from support.scored import RULES, activation, labellings, learnt_items, named, scored, spans

from ilpinfer.learning import WeightLearner
from ilpinfer.learning.minimum_risk import MinimumRisk, Risk
from ilpinfer.learning.task import LARGEST
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.learning.updates import STRENGTH

MEASURES = ("tokens", "spans", "sequences", "all", "f2")


def wrong(names, gold, measure):
    if measure == "tokens":
        return sum(x != y for x, y in zip(names, gold, strict=True))
    if measure == "sequences":
        return int(names != list(gold))
    return len(spans(names) ^ spans(gold))


def plain_risk(examples, weights, measure):
    """The mean over examples of errors weighed by probabilities over all labellings that keep the hard rule."""
    total = 0.0
    for example in examples:
        shares, expected = 0.0, 0.0
        for ids in labellings(example):
            names, tokens = named(example, ids), example.trellis.tokens
            if names.count("c") <= 3:
                own = [activation(item, names, tokens) for item in learnt_items(RULES)]
                share = math.exp(example.trellis.score(ids) + float(np.dot(weights, own)))
                shares, expected = shares + share, expected + share * wrong(names, example.gold, measure)
        total += expected / shares
    return total / len(examples)


@pytest.mark.parametrize("measure", MEASURES)
def test_risk_is_that_of_all_labellings_and_its_gradient_is_that_of_differences(measure):
    examples = [scored(seed, T=1 + seed % 3) for seed in range(5)]
    data = TrainingSet(examples, RULES)
    data.add_best(range(5), 81, math.inf)
    risk = Risk(data.pools(range(5)), measure)
    for seed in range(4):
        weights = np.random.default_rng(seed).normal(size=len(data.items))
        value, slope = risk.of(weights)
        assert value == pytest.approx(plain_risk(examples, weights, measure), abs=1e-5)
        for j in range(len(weights)):
            step = np.eye(len(weights))[j] * 1e-5
            change = (risk.of(weights + step)[0] - risk.of(weights - step)[0]) / 2e-5
            assert slope[j] == pytest.approx(change, abs=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_no_weight_nearby_is_better(measure):
    examples = [scored(seed, T=3) for seed in range(6)]
    data = TrainingSet(examples, RULES)
    learner = MinimumRisk(measure, strength=0.02, top=81, within=math.inf, least=0.0)
    weights = learner.fit(data, np.zeros(len(data.items)), range(6))
    assert (weights >= data.least).all() and weights.any()

    def objective(some):
        return plain_risk(examples, some, measure) + 0.01 * float(some @ some)

    best = objective(weights)
    assert best < objective(np.zeros(len(weights)))
    random = np.random.default_rng(0)
    for _ in range(10):
        near = np.clip(weights + random.normal(0, 0.05, len(weights)), data.least, LARGEST)
        assert best <= objective(near) + 1e-4


def test_the_best_few_within_a_distance_and_those_of_other_weights_are_in_the_pools():
    data = TrainingSet([scored(1), scored(2)], RULES)
    data.add_best([0], 5, math.inf)
    assert [len(pool.scores) for pool in data.pools([0, 1])] == [5, 0]
    scores = data.pool(0).scores
    assert scores.tolist() == sorted(scores, reverse=True)
    near = TrainingSet([scored(1)], RULES)
    near.add_best([0], 5, scores[0] - scores[2] + 1e-6)
    assert near.pool(0).scores.tolist() == scores[:3].tolist()
    MinimumRisk(top=1).fit(near, np.zeros(len(near.items)), [0])
    assert {*scores[:3]} <= {*near.pool(0).scores.tolist()}


def test_as_an_algorithm_of_the_learner():
    examples = [scored(seed, T=3) for seed in range(12)]
    learnt = WeightLearner("risk", measure="spans", folds=3, prune=False, ways=["penalties"]).fit(
        examples, RULES
    )
    assert [each.name for each in learnt.tried] == ["no rules", "given: risk"]
    data = TrainingSet(examples, RULES)
    expected = MinimumRisk(strength=STRENGTH / 12).fit(data, np.zeros(len(data.items)), range(12))
    every, few = (
        MinimumRisk(least=least, rounds=1).fit(data, np.zeros(len(data.items)), range(12))
        for least in (0.1, 2.0)
    )
    assert 0 < np.count_nonzero(few) < np.count_nonzero(every) and np.abs(few[few != 0]).min() >= 2
    assert [each.learnt for each in learnt.verdicts] == pytest.approx(expected.tolist(), abs=1e-3)
