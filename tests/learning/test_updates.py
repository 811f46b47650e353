"""Perceptron and margin against plain loops that decode by brute force, counts by hand, and what they make of odd data."""

import math

import numpy as np
import pytest
from support.scored import LABELS, RULES, activation, best, labellings, learnt_items, named, scored

from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.evaluation.checking import CRUDE, smoothed_penalty
from ilpinfer.learning import ScoredExample
from ilpinfer.learning.task import LARGEST
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.learning.updates import Update


def best_few(example, rules):
    """The ten best labellings without soft rules, as far as they are within 8 nats of the first."""
    hard = [rule for rule in rules.rules if rule.hard]
    kept = [
        ids
        for ids in labellings(example)
        if not any(
            rule.violations(named(example, ids), tokens=list(example.trellis.tokens), labels=LABELS)
            for rule in hard
        )
    ]
    first = sorted(kept, key=lambda ids: -example.trellis.score(ids))[:10]
    return [ids for ids in first if example.trellis.score(ids) >= example.trellis.score(first[0]) - 8]


def score_of(example, names, weights, row):
    return example.trellis.score(names) + sum(map(math.prod, zip(weights, row, strict=True)))


def plain_steps(examples, rules, start, *, name, rate, epochs, decay, margin, seed):
    """The algorithm of the docstring, in lists and loops; decoding goes over all labellings."""
    items = learnt_items(rules)

    def acts(example, names):
        return [activation(item, names, example.trellis.tokens) for item in items]

    margin = margin if name == "margin" else 0.0
    pools = []
    for e in examples:
        first = [best(e, rules, start), best(e, rules, [0.0] * len(items))]
        pools.append(list(dict.fromkeys([*first, *(best_few(e, rules) if margin else [])])))
    rows = [{ids: acts(e, named(e, ids)) for ids in pool} for e, pool in zip(examples, pools, strict=True)]
    weights = list(start)
    for _ in range(8):
        random = np.random.default_rng(seed)
        w, total, steps = list(start), [0.0] * len(items), 0
        for epoch in range(epochs):
            for n in random.permutation(len(examples)).tolist():
                example, row = examples[n], rows[n]

                value = {
                    y: score_of(example, named(example, y), w, a)
                    + margin * sum(x != g for x, g in zip(named(example, y), example.gold, strict=True))
                    for y, a in row.items()
                }
                guess = max(row, key=lambda y: value[y])
                target = acts(example, example.gold)
                change = [t - a for t, a in zip(target, row[guess], strict=True)]
                step = rate / (1 + decay * epoch)
                if margin:
                    behind = value[guess] - score_of(example, list(example.gold), w, target)
                    step = 0.0 if behind < 1e-5 else min(step, behind / max(1, sum(c * c for c in change)))
                for j, item in enumerate(items):
                    low = 0.0 if hasattr(item, "penalty") else -30.0
                    w[j] = min(30.0, max(low, w[j] + step * change[j]))
                    total[j] += w[j]
                steps += 1
        weights = [x / steps for x in total]
        new = [best(example, rules, weights) for example in examples]
        if all(ids in row for ids, row in zip(new, rows, strict=True)):
            break
        for example, ids, row in zip(examples, new, rows, strict=True):
            row.setdefault(ids, acts(example, named(example, ids)))
    return weights


@pytest.mark.parametrize("name", ["perceptron", "margin"])
@pytest.mark.parametrize("seed", range(4))
def test_steps_are_those_of_the_plain_loop(name, seed):
    examples = [scored(10 * seed + i, T=3 + i % 2) for i in range(6)]
    given = [*examples, scored(99)]
    options = {"name": name, "rate": 0.5, "epochs": 4, "decay": 0.2, "margin": 0.7, "seed": seed}
    for start in (0.0, 1.0):
        fresh = TrainingSet(given, RULES)
        result = Update(start=start, **options).fit(fresh, range(len(examples)))
        assert not fresh.labellings(6), "the last example does not teach"
        expected = plain_steps(examples, RULES, (start * fresh.given).tolist(), **options)
        assert result.weights == pytest.approx(expected, abs=1e-5)
        assert not result.capped.any()


@pytest.mark.filterwarnings("ignore::formulations.errors.RuleNotice")
def test_a_weight_that_no_labelling_stops_runs_to_the_cap_and_is_told():
    """Gold has a field that the model lacks, so that every labelling breaks the rule."""
    rules = RuleSet((C.at_least_tokens("q", 1, penalty=2.0), C.feature(label="q", weight=1.0)), ("q",))
    data = TrainingSet([scored(i, ("a", "q", "b", "a")) for i in range(12)], rules)
    for start in (0.0, 1.0):
        weights, capped, _ = Update("perceptron", start=start).fit(data, range(12))
        assert capped.tolist() == [True, True]
        assert (weights > 15).all() and (weights < LARGEST).all()


def test_features_may_run_to_the_lower_cap():
    rules = RuleSet((C.feature(label="a", weight=1.0),))
    data = TrainingSet([scored(i, ("q", "q", "q", "q"), names=("a", "O")) for i in range(12)], rules)
    weights, *_ = Update("perceptron", rate=3.0).fit(data, range(12))
    assert weights[0] < 0
    one = TrainingSet([scored(i, ("q", "q"), names=("a",), T=2) for i in range(12)], rules)
    weights, capped, _ = Update("perceptron", rate=3.0).fit(one, range(12))
    assert capped.tolist() == [True] and -LARGEST < weights[0] < -15


def test_a_start_at_the_cap_that_no_step_moves_is_not_told():
    rules = RuleSet((C.at_most_tokens("c", 4, penalty=LARGEST),))
    data = TrainingSet([scored(0, ("a", "a", "a", "a"))], rules)
    weights, capped, _ = Update("perceptron", start=1.0).fit(data, [0])
    assert weights.tolist() == [LARGEST] and capped.tolist() == [False]


def test_examples_without_labelling_do_not_teach():
    rules = RuleSet((C.at_least_tokens("a", 3), C.at_most_runs("b", 0, penalty=0.5)))
    short, long = scored(0, ("b", "b"), T=2), scored(1)
    with_short = Update("perceptron", epochs=1, start=1.0).fit(TrainingSet([short], rules), [0])
    assert with_short.weights.tolist() == [0.5]
    data = TrainingSet([short, long], rules)
    assert np.isfinite(Update("perceptron").fit(data, [0, 1]).weights).all()


def test_counts_by_hand():
    """Of the sequences that have a word, those that break its rule, however often."""
    golds = [("b", "a", "b", "a"), ("b", "b", "a", "a"), ("a", "a", "a", "a"), ("b", "a", "b", "b")]
    rules = RuleSet(
        (
            C.tag_at("b", words=["red"], penalty=2.0),
            C.feature(label="a", weight=-0.3),
            C.at_most_tokens("c", 0),
            C.tag_at("c", words=["absent"], penalty=1.5),
            C.tag_at("a", words=["7"], penalty=1000.0),
            C.tag_at("b", words=["red"], penalty=1000.0, name="large"),
            C.tag_at("a", words=["red", "green"], penalty=3.0),
        )
    )
    data = TrainingSet([scored(i, gold) for i, gold in enumerate(golds)], rules)
    first, feature, absent, seven, large, two = Update("counts").fit(data, range(4)).weights.tolist()
    assert first == pytest.approx(-math.log((1 + math.exp(-2)) / 5))
    assert feature == -0.3
    assert absent == pytest.approx(1.5)
    assert seven == pytest.approx(-math.log(1 / 5))
    assert large == pytest.approx(-math.log(1 / 5))
    assert two == pytest.approx(-math.log((3 + math.exp(-3)) / 5))
    of_two = data.counted([0, 1]).tolist()
    assert of_two[0] == pytest.approx(2 + math.log(3))
    assert of_two[4] == pytest.approx(1000 + math.log(3))


@pytest.mark.parametrize("given", [0.01, 1.0, 9.21, 40.0])
def test_smoothed_penalties_count_what_is_given_as_one_more_trial(given):
    assert smoothed_penalty(0, 0, given) == pytest.approx(given)
    assert smoothed_penalty(0, 9, given) == pytest.approx(given + math.log(10))
    assert smoothed_penalty(9, 9, given) == pytest.approx(-math.log((9 + math.exp(-given)) / 10), abs=1e-12)
    penalties = [smoothed_penalty(n, 9, given) for n in range(10)]
    assert penalties == sorted(penalties, reverse=True) and penalties[-1] >= 0


@pytest.mark.parametrize("given", [750.0, 1e6])
def test_smoothed_penalties_of_rules_that_are_as_good_as_hard(given):
    assert smoothed_penalty(0, 5, given) == pytest.approx(given + math.log(6))
    assert smoothed_penalty(1, 5, given) == pytest.approx(math.log(6))
    assert smoothed_penalty(0, 5, math.inf) == smoothed_penalty(0, 5, CRUDE)


@pytest.mark.filterwarnings("ignore::formulations.errors.RuleNotice")
def test_gold_labels_that_the_model_lacks_are_counted():
    rules = RuleSet((C.at_most_tokens("q", 0, penalty=1.0),), ("q",))
    data = TrainingSet([ScoredExample(scored(0).trellis, ("q", "a", "b", "c"))], rules)
    assert data.counted([0])[0] == pytest.approx(-math.log((1 + math.exp(-1)) / 2))
