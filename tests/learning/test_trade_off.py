"""The trade-off over a corpus, against brute force at every weight."""

import math
from itertools import pairwise

import numpy as np
import pytest
from support.trellises import feasible, random_trellis

from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.decoding.frontier_search import decode_frontier
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


def trellises(count=4):
    return [random_trellis(seed, 4, LABELS, scale=1.5) for seed in range(count)]


def gold(given):
    return [np.random.default_rng(8 + n).choice(LABELS, len(each)).tolist() for n, each in enumerate(given)]


def everything(trellis):
    """(score, cost) of every labelling, nats."""
    worths = (worth for _, worth in feasible(compile_problem(trellis, RULES)))
    return [((worth.model + worth.features) / 2**20, worth.penalty / 2**20) for worth in worths]


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


def test_frontiers_of_a_few_points_are_summed():
    """The best of the points found."""
    given = trellises()
    frontiers = [decode_frontier(trellis, RULES, most=2) for trellis in given]
    assert not all(frontier.complete for frontier in frontiers)
    curve = sum_frontiers(frontiers, [trellis.labels for trellis in given])
    assert not curve.complete
    for weight in (0.0, 0.4, 3.0):
        chosen = [max(f.points, key=lambda p: (p.score - weight * p.cost, -p.cost)) for f in frontiers]
        assert curve.at(weight).score == pytest.approx(sum(point.score for point in chosen))
