"""The study of the order of fields in résumés, on generated items."""

from functools import partial
from itertools import pairwise
from math import log

import numpy as np
import pytest

import ilpinfer
from benchmarks import resume_transitions as study
from formulations import LabelSet, Trellis
from ilpinfer.corpus.resumes import items
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.crf import CRF

LABELS = LabelSet(("B-a", "B-b", "B-c", "I-a", "I-b", "I-c", "O"))
FIELDS = ("a", "b", "c")
LEFT_OUT = ("ignore", "description")


def bio(names):
    """Plain labels in BIO, fields that nobody looks for as O."""
    before = [None, *names[:-1]]
    return tuple(
        "O" if now in LEFT_OUT else f"{'I' if now == last else 'B'}-{now}"
        for last, now in zip(before, names, strict=True)
    )


@pytest.fixture(scope="module")
def sections():
    return [(tuple(item.tokens), bio(item.labels)) for item in items(20, seed=3)]


def test_the_order_leaves_out_what_stands_between():
    assert study.field_order(LABELS, ["B-a", "I-a", "O", "O", "B-b", "B-b", "O", "B-a"]) == [
        "a",
        "b",
        "b",
        "a",
    ]
    assert study.field_order(LABELS, ["O"]) == []


def test_log_odds_against_independence():
    weights = study.transition_log_odds([["a", "b", "a"], ["a", "b"], ["c"]], FIELDS)
    # pairs: a b twice, b a once; one more of each of the nine
    assert weights["a", "b"] == pytest.approx(log(3 / 5) - log(5 / 12))
    assert weights["b", "b"] == pytest.approx(log(1 / 4) - log(5 / 12))
    assert weights["c", "a"] == pytest.approx(log(1 / 3) - log(4 / 12))


@pytest.mark.parametrize("seed", range(5))
def test_rules_add_up_to_the_weights_of_consecutive_fields(seed):
    rng = np.random.default_rng(seed)
    weights = {(a, b): float(rng.normal()) for a in FIELDS for b in FIELDS}
    rules = study.rules_of(FIELDS, 0.5, weights)
    for _ in range(20):
        names = [
            f"{rng.choice(['B', 'I'])}-{rng.choice(FIELDS)}" if rng.random() < 0.6 else "O" for _ in range(9)
        ]
        names = ["B" + n[1:] if n[0] == "I" and m[-1] != n[-1] else n for m, n in pairwise(["O", *names])]
        flat = Trellis.from_emissions(np.zeros((9, 7)), np.zeros((7, 7)), labels=LABELS)
        order = study.field_order(LABELS, names)
        expected = 0.5 * len(order) + sum(weights[pair] for pair in pairwise(order))
        assert ilpinfer.evaluate_labelling(flat, rules, names).score == pytest.approx(expected, abs=1e-4)


def test_shuffles_together_are_their_mean():
    gold = ("B-a", "O", "B-b")
    one = evaluate([Pair(gold, gold, gold), Pair(gold, ("O", "O", "B-b"), gold)], scheme="bio")
    other = evaluate([Pair(gold, ("B-a", "O", "O"), gold), Pair(gold, ("O",) * 3, gold)], scheme="bio")
    pooled = study.together([one, other])
    assert pooled.accuracy == pytest.approx((one.accuracy + other.accuracy) / 2)
    assert pooled.whole.tolist() == [0.5, 0.0]
    assert pooled.of_all().tolist() == [4, 8, 4]


def test_study(sections, monkeypatch):
    monkeypatch.setattr(study, "FOLDS", 2)
    train = partial(CRF.train, parameters={"c1": 0.0, "c2": 1.0, "max_iterations": 5})
    result = study.study(sections, train, shuffles=2)
    assert set(study.COMPARED) | set(study.COMPARED.values()) == set(result)
    assert all(len(each.tokens) == 20 for evaluations in result.values() for each in evaluations)
    assert {name for name, each in result.items() if len(each) == 2} == set(list(result)[:4])
    assert result["nothing"][1].tokens.tolist() == [len(labels) for _, labels in sections]
    lines = list(study.report(result))
    assert sum("against" in line for line in lines) == len(study.COMPARED)
    assert lines[1].startswith("nothing") and "p = " in lines[-2]
    assert len(list(study.log_odds_table(sections))) == 4
