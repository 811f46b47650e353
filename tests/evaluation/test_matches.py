"""Matches of spans against nervaluate, reports against scikit-learn and figures worked out by hand."""

import random
import warnings

import pytest
from nervaluate import Evaluator
from sklearn.metrics import classification_report as report_of_tokens
from support.effort import seeds

import ilpinfer
from formulations.errors import RuleNotice
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.evaluation.matches import KINDS, WAYS
from ilpinfer.evaluation.reports import field_rows, report_text

BIO = ["O", "B-a", "I-a", "B-b", "I-b"]


def drawn(names, count, seed, agree=0.6):
    rng = random.Random(seed)
    gold = [rng.choices(names, k=rng.randint(1, 12)) for _ in range(count)]
    return gold, [[g if rng.random() < agree else rng.choice(names) for g in one] for one in gold]


def pairs_of(gold, predicted):
    return [Pair(("x",) * len(g), None if p is None else tuple(p), tuple(g)) for g, p in zip(gold, predicted)]


@seeds(20)
def test_matches_are_those_of_nervaluate(seed):
    gold, predicted = drawn(BIO, 30, seed, agree=0.7)
    gold.append(["B-a", "B-a", "I-a", "I-a", "I-a", "I-a"])
    predicted.append(["B-a", "I-a", "I-a", "I-a", "I-a", "B-a"])  # whose nearest span is not the first
    mine = ilpinfer.span_matches(pairs_of(gold, predicted), scheme="bio")
    theirs = Evaluator(gold, predicted, tags=["a", "b"], loader="list").evaluate()
    for ways, others in [
        (mine["all"], theirs["overall"]),
        *((mine["fields"][name], theirs["entities"][name]) for name in "ab"),
    ]:
        for way in WAYS:
            other = others["ent_type" if way == "type" else way]
            assert [ways[way][kind] for kind in KINDS] == [getattr(other, kind) for kind in KINDS]
            assert (ways[way]["predicted"], ways[way]["gold"]) == (other.actual, other.possible)
            shares = [ways[way][name] for name in ("precision", "recall", "f1")]
            assert shares == pytest.approx([other.precision, other.recall, other.f1])


def test_without_a_labelling_every_span_is_missed():
    gold = [["B-a", "I-a", "O"], ["O", "O", "B-b"]]
    none, outside = (ilpinfer.span_matches(pairs_of(gold, each)) for each in ([None] * 2, [["O"] * 3] * 2))
    assert none == outside and none["all"]["strict"]["missed"] == 2


def test_levels_of_paths_match_their_own():
    gold = ["B-venue/B-title", "I-venue/I-title", "I-venue/B-date"]
    predicted = ["B-venue/B-title", "I-venue/I-title", "I-venue/I-title"]
    matches = ilpinfer.span_matches(pairs_of([gold], [predicted]))
    assert [matches["all"]["strict"][kind] for kind in KINDS] == [1, 1, 0, 1, 0]
    assert matches["all"]["type"]["correct"] == 2
    assert matches["fields"]["venue"]["strict"]["correct"] == 1


def test_fields_can_be_left_out():
    gold, predicted = ["B-a", "B-b"], ["B-a", "B-a"]
    matches = ilpinfer.span_matches(pairs_of([gold], [predicted]), leave_out=["b"])
    assert list(matches["fields"]) == ["a"]
    assert [matches["all"]["strict"][kind] for kind in KINDS] == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_reports_are_those_of_scikit_learn_where_each_token_is_a_span(seed):
    gold, predicted = drawn(["O", "B-a", "B-b", "B-long name"], 20, seed)
    mine = ilpinfer.classification_report(gold, predicted, output_dict=True)
    sides = [[name.removeprefix("B-") for one in side for name in one] for side in (gold, predicted)]
    names = ["a", "b", "long name"]
    theirs = report_of_tokens(*sides, labels=names, output_dict=True, zero_division=0)
    assert list(mine) == [*names, "micro avg", "macro avg", "weighted avg"]
    for name, row in mine.items():
        assert row == pytest.approx(theirs[name])
    text = report_of_tokens(*sides, labels=names, digits=3, zero_division=0)
    assert ilpinfer.classification_report(gold, predicted, digits=3) == text.rstrip("\n")


@pytest.mark.parametrize("gold", [["O", "O"], ["B-a", "O"]])
def test_reports_of_nothing_have_zeros(gold):
    rows = ilpinfer.classification_report([gold], [None], output_dict=True)
    assert [rows["macro avg"][name] for name in ("precision", "recall", "f1-score")] == [0, 0, 0]
    assert rows["micro avg"]["support"] == gold.count("B-a")


def test_reports_count_any_unit():
    result = evaluate(pairs_of([["B-a", "I-a"]], [["B-a", "O"]]))
    assert field_rows(result, "tokens")["a"]["recall"] == 0.5
    assert "1.0000    0.5000    0.6667         2" in report_text(field_rows(result, "tokens"), 4)


@pytest.mark.parametrize(
    ("gold", "predicted", "counts"),
    [
        (["B-P I-P O O"], ["B-P I-P O X"], {"P": [1, 1, 1], "X": [1, 0, 0]}),
        (["B-P I-P O [PAD]"], ["B-P I-P O [PAD]"], {"P": [1, 1, 1], "[PAD]": [1, 1, 1]}),
        (
            ["B-P I-P O", "B-P <unk> O"],
            ["B-P I-P O", "B-P O X"],
            {"P": [2, 2, 2], "<unk>": [0, 1, 0], "X": [1, 0, 0]},
        ),
        (["B-P I-P O"], ["B-P O X"], {"P": [1, 1, 0], "X": [1, 0, 0]}),
        (["B-P E-P S-P X"], ["B-P E-P O X"], {"P": [1, 2, 1], "X": [1, 1, 1]}),
        (["a-B a-I O X"], ["B-a I-a O O"], {"a": [1, 1, 1], "X": [0, 1, 0]}),
        (["a a o"], ["b-a i-a o"], {"a": [1, 1, 1]}),
    ],
)
def test_helper_labels_are_fields_beside_those_of_the_scheme(gold, predicted, counts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuleNotice)
        result = evaluate(pairs_of([one.split() for one in gold], [one.split() for one in predicted]))
    assert {name: result.of_field(name).tolist() for name in counts} == counts
    assert set(result.fields) == set(counts)
