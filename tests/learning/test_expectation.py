"""E-steps against enumeration of all labellings."""

from collections import Counter

import numpy as np
import pytest
from support.oracles import labellings

from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.learning.expectation import Expectation, Expectations, WeightedLabellings
from ilpinfer.learning.learners import CountingLearner, learner_of, repetitions
from ilpinfer.models.hmm import HMM, SecondOrderHMM

PAIRS = [
    (["a", "b", "a", "c"], ["x", "y", "x", "z"]),
    (["b", "a", "c"], ["y", "y", "x"]),
    (["c", "c", "b"], ["z", "x", "y"]),
]
TEXTS = {3: ("a", "c", "b", "a"), 4: ("b",), 5: ("d", "a", "b", "c", "a")}
RULES = RuleSet((C.at_most_runs("x", 1, penalty=0.75), C.tag_at("y", words=["b"], penalty=0.5)))
HMMS = (HMM, SecondOrderHMM)


def penalty(text, path):
    """Counted by hand; ids are x, y, z."""
    runs = sum(now == 0 and (t == 0 or path[t - 1] != 0) for t, now in enumerate(path))
    wrong = sum(word == "b" and now != 1 for word, now in zip(text, path))
    return 0.75 * max(0, runs - 1) + 0.5 * wrong


def by_enumeration(model, text, ruled):
    """All labellings with their probabilities."""
    trellis = model.trellis(text)
    paths = list(labellings(len(text), 3))
    scores = [trellis.score(path) - (penalty(text, path) if ruled else 0) for path in paths]
    weights = np.exp(np.array(scores) - max(scores))
    return dict(zip(paths, (weights / weights.sum()).tolist()))


def expected(kind, text, probabilities):
    nodes, steps = np.zeros((len(text), 3)), np.zeros(kind.shape(3))
    for path, p in probabilities.items():
        nodes[np.arange(len(path)), path] += p
        for t in range(1, len(path)):
            before = path[t - 2] + 1 if t > 1 else 0
            steps[(path[t - 1], path[t]) if kind is HMM else (before, path[t - 1], path[t])] += p
    return nodes, steps


def estimates(model, name, rules, k=1, **options):
    settings = {"budget": 10**6, "seed": (0, 1), **options}
    return Expectation(name, k, compiler_of(rules), **settings).estimates(model, TEXTS, lambda: None)


@pytest.mark.parametrize("ruled", [False, True])
@pytest.mark.parametrize("kind", HMMS)
def test_the_posterior_is_the_expectation_over_all_labellings(kind, ruled):
    model = kind.train(PAIRS)
    made, ways = estimates(model, "posterior", RULES if ruled else RuleSet(()), k=1000)
    assert ways == {"weighted-top-k" if ruled and kind is SecondOrderHMM else "posterior": 3}
    for place, text in TEXTS.items():
        nodes, steps = expected(kind, text, by_enumeration(model, text, ruled))
        assert np.allclose(made[place].nodes(3), nodes, atol=1e-5)
        assert np.allclose(made[place].steps(kind.shape(3), kind.steps), steps, atol=1e-5)
        assert isinstance(made[place], WeightedLabellings) or np.array_equal(
            made[place].best, nodes.argmax(axis=1)
        )


def test_samples_tend_to_the_posterior_where_states_are_too_many():
    model = HMM.train(PAIRS)
    made, ways = estimates(model, "posterior", RULES, budget=2, samples=20_000)
    assert ways == Counter(sampled=3)
    for place, text in TEXTS.items():
        nodes, steps = expected(HMM, text, by_enumeration(model, text, ruled=True))
        assert np.allclose(made[place].nodes(3), nodes, atol=0.02)
        assert np.allclose(made[place].steps((3, 3), HMM.steps), steps, atol=0.05)


def test_samples_depend_on_the_seed_alone():
    model = HMM.train(PAIRS)
    seeds = (0, 1), (0, 1), (1, 1)
    made = [estimates(model, "posterior", RULES, budget=2, seed=seed)[0] for seed in seeds]
    one, other, third = (each[5].nodes(3) for each in made)
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)


def test_texts_as_long_as_one_with_too_many_states_are_sampled():
    made, ways = estimates(HMM.train(PAIRS), "posterior", RULES, budget=16)
    assert ways == Counter(posterior=1, sampled=2)
    assert list(made) == list(TEXTS)


def test_hard_rules_that_no_sample_keeps_leave_weighted_labellings():
    rare = RuleSet((C.at_least_runs("z", 3),))
    made, ways = estimates(HMM.train(PAIRS), "posterior", rare, budget=2, samples=1)
    assert ways["weighted-top-k"] + ways["sampled"] == 1
    assert ways["no labelling"] == 2
    assert list(made) == [5]


def test_texts_without_a_labelling_have_no_estimate():
    rules = RuleSet((C.at_least_runs("z", 3),))
    made, ways = estimates(HMM.train(PAIRS), "posterior", rules)
    assert (list(made), ways) == ([5], Counter({"no labelling": 2, "posterior": 1}))


@pytest.mark.parametrize("kind", HMMS)
@pytest.mark.parametrize("k", [1, 4, 1000])
def test_the_best_labellings_have_even_weights(kind, k):
    model = kind.train(PAIRS)
    made, ways = estimates(model, "top-k", RULES, k=k)
    assert ways == Counter({"top-k": 3})
    for place, text in TEXTS.items():
        probabilities = by_enumeration(model, text, ruled=True)
        best = sorted(probabilities.values(), reverse=True)[:k]
        each = made[place]
        assert np.allclose([probabilities[tuple(path)] for path in each.paths.tolist()], best)
        assert np.allclose(each.weights, 1 / len(best))


@pytest.mark.parametrize("kind", ["hmm", "hmm2"])
def test_counting_weighs_labellings_and_expectations(kind):
    learner = learner_of(kind, {"emissions": "none", "by": "uniform"})
    assert isinstance(learner, CountingLearner)
    trained = learner.kind.train(PAIRS, emissions="none", vocabulary="uniform")
    texts = [text for text, _ in PAIRS]
    paths = [trained.labels.ids(labels) for _, labels in PAIRS]
    learn = learner.prepare(trained.labels, texts)
    whole = learn(WeightedLabellings.alike(i, path[None]) for i, path in enumerate(paths))
    assert whole.body() == trained.body()
    shares = np.array([0.25, 0.75])
    twice = learn(WeightedLabellings(i, np.array([path, path]), shares) for i, path in enumerate(paths))
    assert np.allclose(twice.transitions, trained.transitions)
    steps = [
        WeightedLabellings.alike(i, path[None]).steps(trained.shape(3), trained.steps)
        for i, path in enumerate(paths)
    ]
    exact = [Expectations(i, np.eye(3)[path], steps[i]) for i, path in enumerate(paths)]
    assert learn(exact).body() == trained.body()


def test_crfsuite_gets_labellings_as_often_as_they_weigh():
    assert repetitions(np.array([0.05, 0.9, 0.05]), 10) == [1, 9, 0]
    for n in (1, 3, 7, 10, 13):
        assert sum(repetitions(np.full(n, 1 / n), 10)) == 10
