"""Counts of rules and features in labellings, decoding under weights, and examples that do not fit."""

import math

import numpy as np
import pytest
from support.scored import activation, learnt_items, named, scored

from formulations import RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.learning import ScoredExample
from ilpinfer.learning.measures import Measures, losses, value
from ilpinfer.learning.training_set import SMALLEST, TrainingSet

RULES = RuleSet(
    (
        C.at_most_runs("b", 1, penalty=0.7, name="one b"),
        C.starts_with("a", penalty=0.5),
        C.feature(label="c", weight=-0.4),
        C.at_most_tokens("c", 3),
        C.at_most_tokens("a", 1, penalty=0.3, distance="binary"),
        C.at_most_tokens("a", 1, penalty=0.2),
        C.at_most_tokens("a", 1, penalty=0.6, distance="hamming"),
        C.feature(from_="a", to="b", weight=0.9, name="a to b"),
        C.feature(to="c", weight=0.8, words=("green",)),
        C.tag_at("c", words=["7"], penalty=1.1),
        C.requires_before("a", "b", penalty=0.9),
    )
)


@pytest.mark.parametrize("T", [1, 2, 4])
def test_activations_are_violations_and_firings(T):
    example = scored(T, T=T)
    data = TrainingSet([example], RULES)
    data.decode(np.zeros(len(data.items)))
    for seed in range(30):
        data.decode(np.random.default_rng(seed).uniform(0, 6, len(data.items)))
    pool, seen = data.pool(0), data._seen[0].values()
    assert len(pool.scores) == len(seen) > (1 if T > 1 else 0)
    for row, score, ids in zip(pool.activations, pool.scores, seen, strict=True):
        names = named(example, ids)
        assert row.tolist() == [activation(i, names, example.trellis.tokens) for i in learnt_items(RULES)]
        assert score == example.trellis.score(ids)


def test_gold_is_counted_as_labellings_are_also_with_labels_that_the_model_lacks():
    examples = [scored(0), scored(1, "abqb"), scored(2, "cccq", names=("c", "a", "b"))]
    data = TrainingSet(examples, RULES)
    assert data.gold_activations.shape == (3, len(data.items))
    for row, example in zip(data.gold_activations, examples, strict=True):
        expected = [
            activation(i, example.gold, example.trellis.tokens, data.labels) for i in learnt_items(RULES)
        ]
        assert row.tolist() == expected


def test_the_pool_keeps_each_labelling_once_in_the_order_of_decoding():
    data = TrainingSet([scored(3)], RULES)
    zero, large = np.zeros(len(data.items)), np.full(len(data.items), 9.0)
    first, second = data.decode(zero)[0], data.decode(large)[0]
    data.decode(zero)
    assert [tuple(ids) for ids in data._seen[0].values()] == [tuple(first), tuple(second)]
    pool = data.pool(0)
    assert [int(np.argmax(pool.scores + pool.activations @ each)) for each in (zero, large)] == [0, 1]
    data.decode(np.array([0.0, 9.0, *zero[2:]]))
    assert data.pool(0).activations[:2].tolist() == pool.activations.tolist()


def test_other_weights_leave_hard_rules_and_names_alone():
    data = TrainingSet([scored(0)], RULES)
    weights = np.arange(len(data.items)) / 2
    weights[3] = SMALLEST / 2
    rules = data.with_weights(weights)
    found = [getattr(item, "penalty", getattr(item, "weight", None)) for item in rules]
    assert found == [0.5, 1.0, math.inf, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5]
    assert rules.items[2] == RULES.items[3]
    assert (rules.fields, rules.groups) == (RULES.fields, RULES.groups)
    said = data.with_weights(weights, [f"reason {j}" for j in range(len(weights))])
    assert [item.reason for item in said] == [f"reason {j}" if j else "" for j in (1, 2, 0, 4, 5, 6, 7, 8, 9)]


def test_a_feature_may_be_named_as_a_rule_is_by_its_statement():
    rule = C.at_most_runs("b", 1, penalty=0.7)
    rules = RuleSet((rule, C.feature(label="c", weight=0.5, name=rule.title), C.at_most_runs("b", 1)))
    data = TrainingSet([scored(0, ("b", "a", "b", "c"))], rules)
    assert data.gold_activations.tolist() == [[-1.0, 1.0]]
    assert len(set(data.names)) == 2


def test_hard_rules_without_labelling_leave_the_pool_empty():
    data = TrainingSet([scored(0), scored(1, T=2)], RuleSet((C.at_least_tokens("a", 3), RULES.items[0])))
    assert data.unlabelled == 2
    first, second = data.decode(np.zeros(1))
    assert first is not None and second is None
    assert data.unlabelled == 1
    assert data.pool(1).activations.shape == (0, 1)
    assert data.concerned(1) == []
    assert data.counts(1, None) == [2, 0, 0, len(data._gold[1].spans), 0, 0]


def test_counts_of_labellings_by_hand():
    names = ("B-x", "I-x", "B-y", "O")
    trellis = Trellis.from_emissions(np.zeros((5, 4)), np.zeros((4, 4)), labels=names, tokens=TOKENS_OF_FIVE)
    gold, ids = ("B-x", "I-x", "O", "B-y", "B-y"), trellis.labels.ids
    data = TrainingSet([ScoredExample(trellis, gold)], RuleSet((C.starts_with("x", penalty=1),)))
    assert data.counts(0, ids(gold)) == [5, 5, 3, 3, 3, 1]
    assert data.counts(0, ids(["B-x", "B-x", "O", "B-y", "O"])) == [5, 4, 3, 3, 1, 0]
    assert data.counts(0, ids(["O", "O", "O", "O", "O"])) == [5, 1, 0, 3, 0, 0]
    counts = np.array([[5, 4, 3, 3, 1, 0], [5, 5, 0, 0, 0, 1]])
    assert losses(counts, "tokens").tolist() == pytest.approx([0.2, 0.0])
    assert losses(counts, "spans").tolist() == pytest.approx([2 / 3, 0.0])
    assert losses(counts, "sequences").tolist() == [1.0, 0.0]
    assert losses(counts, "all").tolist() == pytest.approx([(0.2 + 2 / 3 + 1) / 3, 0.0])
    assert losses(counts, "f0.5").tolist() == pytest.approx([1 - 1.25 / 3.75, 0.0])
    uneven = np.array([[5, 4, 4, 2, 1, 0]])
    assert losses(uneven, "f2").tolist() == pytest.approx([1 - 5 * (1 / 4) * (1 / 2) / (4 * (1 / 4) + 1 / 2)])
    assert value(uneven, "f0.5") == pytest.approx(1.25 * (1 / 4) * (1 / 2) / (0.25 * (1 / 4) + 1 / 2))
    assert value(counts, "f1") == value(counts, "spans")
    assert str(Measures.of_counts(counts)) == "90.00 / 33.33 / 50.00"
    assert Measures.of_counts(counts).value("all") == pytest.approx((0.9 + 1 / 3 + 0.5) / 3)


TOKENS_OF_FIVE = ("v", "w", "x", "y", "z")
