"""The trade-off over a corpus, against brute force at every weight."""

import math
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.decoding.frontier import decode_frontier
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning import corpus_frontier
from ilpinfer.learning.frontier_pictures import corpus_picture, sequence_picture
from ilpinfer.learning.measures import Measures
from ilpinfer.learning.trade_off import sum_frontiers

LABELS = ["B-a", "I-a", "B-b", "O"]
RULES = [
    C.at_most_runs("a", 1, penalty=0.8),
    C.requires_before("a", "b", penalty=1.3),
    C.at_least_tokens("b", 2, penalty=0.45),
    C.ends_with("O", penalty=2.0),
]


def trellises(count=4, tokens=4):
    rng = np.random.default_rng(7)
    scores = [(rng.normal(0, 1.5, (tokens, 4)), rng.normal(0, 1, (4, 4))) for _ in range(count)]
    return [Trellis.from_emissions(*each, labels=LABELS) for each in scores]


def gold(given):
    rng = np.random.default_rng(8)
    return [[LABELS[k] for k in rng.integers(0, 4, len(trellis))] for trellis in given]


def everything(trellis):
    """(score, cost) of every labelling, nats."""
    problem = compile_problem(trellis, RULES)
    T, K = problem.shape
    values = (problem.value(np.array(y)) for y in product(range(K), repeat=T))
    return [((v.model + v.features) / 2**20, v.penalty / 2**20) for v in values if v.feasible]


def test_each_interval_has_the_best_sums():
    given = trellises()
    curve = corpus_frontier(given, RULES)
    tables = [everything(trellis) for trellis in given]
    assert curve.complete and len(curve.points) > 5
    assert curve.points[0].low == 0 and curve.points[-1].high == math.inf
    for point in curve.points:
        weights = [point.low, point.high if point.high < math.inf else point.low + 100]
        for weight in (*weights, sum(weights) / 2):
            best = sum(max(s - weight * c for s, c in table) for table in tables)
            assert point.score - weight * point.cost == pytest.approx(best, abs=1e-5 * max(1, weight))
    for before, after in pairwise(curve.points):
        assert before.high == after.low
        assert before.score > after.score and before.cost > after.cost


def test_sums_are_supported_points_of_the_minkowski_sum():
    """Nothing that can be made of one labelling each lies above the line between two neighbours."""
    given = trellises(2, 3)
    curve = corpus_frontier(given, RULES)
    tables = [everything(trellis) for trellis in given]
    sums = [(a + c, b + d) for (a, b), (c, d) in product(*tables)]
    for before, after in pairwise(curve.points):
        slope = (before.score - after.score) / (before.cost - after.cost)
        assert all(s - slope * c <= after.score - slope * after.cost + 1e-5 for s, c in sums)


def test_measures_are_those_of_the_evaluation():
    given = trellises()
    right = gold(given)
    curve = corpus_frontier(given, RULES, right)
    for point in curve.points:
        middle = point.low + 1e-6 if point.high == math.inf else (point.low + point.high) / 2
        chosen = [frontier.at_weight(middle).labels for frontier in curve.frontiers]
        pairs = [Pair(tuple(g), p, tuple(g)) for g, p in zip(right, chosen, strict=True)]
        expected = Measures.of(evaluate(pairs, scheme="bio"))._asdict()
        assert point.measures is not None and point.measures._asdict() == pytest.approx(expected)


def test_weights_up_to_a_heaviest_one():
    given = trellises()
    whole, part = corpus_frontier(given, RULES), corpus_frontier(given, RULES, heaviest=0.5)
    assert part.complete and part.points[-1].high == 0.5
    for weight in (0.0, 0.1, 0.3, 0.5):
        one, other = whole.at(weight), part.at(weight)
        assert (one.score, one.cost) == (other.score, other.cost)
    with pytest.raises(ValueError, match=r"weight is 0.6; expected a number from 0 to 0.5"):
        part.at(0.6)


def test_gold_labels_that_the_model_lacks_are_wrong():
    given = trellises(1)
    curve = corpus_frontier(given, RULES, [["B-c", "I-c", "O", "O"]])
    assert all(point.measures is not None and point.measures.accuracy <= 0.5 for point in curve.points)


def test_pictures():
    given = trellises()
    curve = corpus_frontier(given, RULES, gold(given))
    text = corpus_picture(curve, "a & b")
    assert text == corpus_picture(curve, "a & b"), "the same bytes each time"
    assert "F1 of spans" in text and "weight on all penalties" in text and "a &amp; b" in text
    text = sequence_picture(curve.frontiers[0], "one", (0.0, 1.0))
    assert "violation cost, nats" in text and "gold" in text
    assert "gold" not in sequence_picture(curve.frontiers[0], "one")


def test_tokens_are_right_where_their_field_is():
    trellis = Trellis([1.0, 0.0], [[[1.0, 0.0], [0.0, 0.0]]], labels=["B-a", "I-a"])
    (point,) = corpus_frontier([trellis], [], [["B-a", "I-a"]]).points
    assert point.measures == (1.0, 0.0, 0.0)


def test_frontiers_of_a_few_points_are_summed():
    """Incomplete frontiers state no range for some points; the best of the points found are summed all the same."""
    given = trellises()
    frontiers = [decode_frontier(trellis, RULES, most=2) for trellis in given]
    assert not all(frontier.complete for frontier in frontiers)
    bare = [replace(f, points=tuple(replace(p, weights=None) for p in f.points)) for f in frontiers]
    labels = [trellis.labels for trellis in given]
    curve = sum_frontiers(bare, labels)
    assert not curve.complete and curve.points == sum_frontiers(frontiers, labels).points
    for weight in (0.0, 0.4, 3.0):
        chosen = [max(f.points, key=lambda p: (p.score - weight * p.cost, -p.cost)) for f in frontiers]
        assert curve.at(weight).score == pytest.approx(sum(point.score for point in chosen))
