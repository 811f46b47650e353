"""The study of résumés: the order of fields, and its cells on made-up sections."""

from itertools import pairwise
from math import log

import numpy as np
import pytest

import ilpinfer
from benchmarks.studies import resumes as study
from benchmarks.studies.resumes import (
    COMPARED,
    field_order,
    fields_and_log_odds,
    rules_of,
    transition_log_odds,
)
from benchmarks.study import Cell, Missing, Sources
from formulations import LabelSet, Trellis

LABELS = LabelSet(("B-a", "B-b", "B-c", "I-a", "I-b", "I-c", "O"))
FIELDS = ("a", "b", "c")


def test_the_order_leaves_out_what_stands_between():
    names = ["B-a", "I-a", "O", "O", "B-b", "B-b", "O", "B-a"]
    assert field_order(LABELS, names) == ["a", "b", "b", "a"]
    assert field_order(LABELS, ["O"]) == []


def test_log_odds_against_independence():
    weights = transition_log_odds([["a", "b", "a"], ["a", "b"], ["c"]], FIELDS)
    # pairs: a b twice, b a once; one more of each of the nine
    assert weights["a", "b"] == pytest.approx(log(3 / 5) - log(5 / 12))
    assert weights["b", "b"] == pytest.approx(log(1 / 4) - log(5 / 12))
    assert weights["c", "a"] == pytest.approx(log(1 / 3) - log(4 / 12))


def test_log_odds_are_read_from_sections():
    fields, weights = fields_and_log_odds([(("x", "y", "z"), ("B-a", "O", "B-b"))])
    # one pair, a b, and one more of each of the four
    assert fields == ["a", "b"]
    assert weights["a", "b"] == pytest.approx(log(2 / 3) - log(3 / 5))


@pytest.mark.parametrize("seed", range(5))
def test_rules_add_up_to_the_weights_of_consecutive_fields(seed):
    rng = np.random.default_rng(seed)
    weights = {(a, b): float(rng.normal()) for a in FIELDS for b in FIELDS}
    rules = rules_of(FIELDS, 0.5, weights)
    for _ in range(20):
        names = [
            f"{rng.choice(['B', 'I'])}-{rng.choice(FIELDS)}" if rng.random() < 0.6 else "O" for _ in range(9)
        ]
        names = ["B" + n[1:] if n[0] == "I" and m[-1] != n[-1] else n for m, n in pairwise(["O", *names])]
        flat = Trellis.from_emissions(np.zeros((9, 7)), np.zeros((7, 7)), labels=LABELS)
        order = field_order(LABELS, names)
        expected = 0.5 * len(order) + sum(weights[pair] for pair in pairwise(order))
        assert ilpinfer.evaluate_labelling(flat, rules, names).score == pytest.approx(expected, abs=1e-4)


def test_every_condition_that_is_compared_has_a_rule_set():
    training = [(("x", "y"), ("B-a", "B-b"))]
    given = study.rules(Cell(part=study.ORDER), training)
    learnt = study.rules(Cell(part=study.LEARNT), training)
    names = {*given, *(f"{name}: {learner}" for name in learnt for learner in study.LEARNERS)}
    assert {*COMPARED, *COMPARED.values()} == names


def test_the_reward_stands_on_each_beginning():
    given = study.rules(Cell(part=study.REWARDED), [(("x", "y"), ("B-a", "B-b"))])
    labels = LabelSet(("B-a", "B-b", "I-a", "I-b", "O"))
    flat = Trellis.from_emissions(np.zeros((4, 5)), np.zeros((5, 5)), labels=labels)
    scores = [
        ilpinfer.evaluate_labelling(flat, rules, ["B-a", "I-a", "B-b", "O"]).score for rules in given.values()
    ]
    assert scores == pytest.approx([0.0, 2.0, 3.0, 4.0], abs=1e-4)


def test_sections_are_missing_where_the_corpus_is(tmp_path):
    with pytest.raises(Missing, match="experience_train"):
        list(study.cells(Sources(tmp_path, "smoke"), study.REWARDED))
