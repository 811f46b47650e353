"""Assertions on labellings, against references that are decoded here."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.reference_generator import generate

import ilpinfer
from formulations import Trellis, parse_rules
from formulations import constraints as C
from ilpinfer.references.making import make
from ilpinfer.references.shipped import KINDS
from ilpinfer.testing import assert_optimal, assert_within

TIED = Trellis([1.0, 1.0, 0.0], [[[0.0] * 3] * 3] * 2, labels=["a", "b", "O"], tokens=["x", "y", "z"])
RULES = [C.at_most_tokens("O", 1, penalty=2.0, name="few O"), C.ends_with("O", name="O last")]


def tied():
    return make(TIED, RULES, name="tied")


@pytest.mark.parametrize("kind", KINDS)
def test_every_optimum_is_accepted(kind):
    for instance in generate(kind, 4, T=6, K=4, seed=11, hardness=0.8):
        reference = make(instance.trellis, instance.rules, name=instance.name, ties=3)
        solutions = ilpinfer.decode(instance.trellis, instance.rules, top=50, within=0)
        answers = [solution.labels for solution in solutions]
        assert bool(answers) == (kind != "infeasible")
        for labels in answers or [None]:
            assert_optimal(labels, reference)
            assert_within(labels, reference, gap=0)


def test_ids_names_and_arrays_are_accepted():
    reference = tied()
    (first, *_) = reference.optima
    for labelling in (first, list(first), np.array(first), [reference.labels[k] for k in first], iter(first)):
        assert_optimal(labelling, reference)


def test_an_optimum_that_is_not_listed_is_accepted():
    reference = make(TIED, RULES, name="tied", ties=1)
    assert len(reference.optima) == 1 and not reference.complete
    for solution in ilpinfer.decode(TIED, RULES, top=50, within=0):
        assert_optimal(solution.labels, reference)


def failure(labelling, reference, gap=None):
    options = {} if gap is None else {"gap": gap}
    with pytest.raises(AssertionError) as caught:
        (assert_within if options else assert_optimal)(labelling, reference, **options)
    return str(caught.value)


def test_a_failure_says_where_and_why():
    text = failure(["O", "O", "O"], tied())
    first = "tied: the labelling is worth 5 nats less than the optimum 1"
    assert text.splitlines()[0] == first
    assert re.search(r"token 0 'x': expected [ab], got O", text) and '  rule "few O": 2 violations' in text
    assert "(nearest of 4 optima)" in text and "token 2" not in text
    text = failure(["a", "a", "a"], tied())
    assert text.startswith("tied: the labelling breaks a hard rule") and 'rule "O last": 1 violation' in text
    assert "  token 2 'z': expected O, got a" in text


def test_the_nearest_optimum_is_shown():
    reference = tied()
    optimum = list(reference.optima[-1])
    wrong = [*optimum[:1], *(k if t else 2 for t, k in enumerate(optimum[1:]))]
    text = failure(wrong, reference)
    assert text.count("expected") == sum(a != b for a, b in zip(wrong, optimum)) == 1


def test_a_forbidden_step_is_told_from_a_broken_rule():
    trellis = Trellis([0.0, -np.inf], [[[0, 0], [0, 0]]], labels=["a", "b"])
    assert "takes a step that the scores forbid" in failure(["b", "a"], make(trellis, [], name="x"))


def test_the_gap_counts():
    reference = tied()
    assert_within(["O", "a", "O"], reference, gap=3.0)
    assert "3 nats less than the optimum 1, where 2.5 are allowed" in failure(["O", "a", "O"], reference, 2.5)
    for gap in (-1, float("nan"), True, "1"):
        with pytest.raises(ValueError, match="expected nats from 0"):
            assert_within(["a"], reference, gap=gap)


def test_many_wrong_tokens_are_cut():
    trellis = Trellis.from_emissions([[1.0, 0.0]] * 20, np.zeros((2, 2)), labels=["a", "b"])
    text = failure(["b"] * 20, make(trellis, [], name="long"))
    assert text.count("expected a, got b") == 12 and "… and 8 tokens more" in text


@pytest.mark.parametrize(
    ("labelling", "message"),
    [
        (["a", "a"], "tied: the labelling has 2 labels for 3 tokens"),
        (["a", "a", "c"], "tied: token 2: no label 'c'"),
        ([0, 0, 7], "tied: token 2: 7 is neither a label name nor an id from 0 to 2"),
        (None, "tied: no labelling is given, and the optimum is worth 1 nats"),
    ],
)
def test_what_is_no_labelling_is_a_failure(labelling, message):
    assert message in failure(labelling, tied())


def test_infeasible_references_expect_none():
    reference = make(TIED, [*RULES, C.at_most_tokens("O", 0)], name="none")
    assert_optimal(None, reference)
    said = failure(["a"] * 3, reference)
    assert "none: no labelling keeps the hard rules, so that None is expected" in said


def test_a_false_reference_is_noticed():
    reference = tied()
    levels = (replace(reference.levels[0], score=reference.levels[0].score - 1, labellings=((2, 2, 2),)),)
    false = replace(reference, levels=levels)
    assert "more than the optimum" in failure(reference.optima[0], false)
    assert parse_rules(reference.rules)
