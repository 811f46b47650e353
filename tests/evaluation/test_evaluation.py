"""Measures against other people's libraries, brute force and figures worked out by hand."""

import itertools
import random

import numpy as np
import pytest
from nervaluate import Evaluator
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from ilpinfer.corpus.conversion import convert
from ilpinfer.evaluation.counts import f_measure, named_spans, overlap, precision, recall
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.evaluation.significance import compare


def pair(predicted: str, gold: str, tokens: str = "") -> Pair:
    names = tuple(gold.split())
    return Pair(tuple(tokens.split()) or ("x",) * len(names), tuple(predicted.split()) or None, names)


def drawn(names: list[str], count: int, seed: int, agree: float = 0.6) -> list[Pair]:
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        gold = rng.choices(names, k=rng.randint(1, 12))
        predicted = [g if rng.random() < agree else rng.choice(names) for g in gold]
        pairs.append(Pair(("x",) * len(gold), tuple(predicted), tuple(gold)))
    return pairs


def numbers(counts) -> tuple[float, float, float]:
    return float(precision(counts)), float(recall(counts)), float(f_measure(counts))


@pytest.mark.parametrize("seed", range(5))
def test_spans_agree_with_nervaluate_on_labels_in_any_order(seed):
    pairs = drawn(["O", "B-a", "I-a", "B-b", "I-b"], 60, seed)
    mine = evaluate(pairs, scheme="bio")
    sides = [list(p.gold) for p in pairs], [list(p.predicted) for p in pairs]
    theirs = Evaluator(*sides, tags=["a", "b"], loader="list").evaluate()
    for name in ("a", "b"):
        result = theirs["entities"][name]["strict"]
        assert numbers(mine.of_field(name)) == pytest.approx((result.precision, result.recall, result.f1))
    result = theirs["overall"]["strict"]
    assert numbers(mine.of_all()) == pytest.approx((result.precision, result.recall, result.f1))


def conll_spans(names):
    """Runs by the rules for ends and begins that the CoNLL-2000 script documents, tag by tag."""
    result, start = set(), None
    before, kind = "O", ""
    for t, name in enumerate([*names, "O"]):
        tag, _, new = name.partition("-")
        if start is not None and (
            (before, tag) in {("B", "B"), ("B", "O"), ("B", "S"), ("I", "B"), ("I", "O"), ("I", "S")}
            or before in "ES"
            or new != kind
        ):
            result.add((kind, start, t - 1))
            start = None
        if start is None and tag != "O":
            start = t
        before, kind = tag, new
    return result


MARKS = {"bio": "BI", "iob1": "BI", "iobes": "BIES", "bilou": "BILU", "bmes": "BMES"}


@pytest.mark.parametrize("scheme", MARKS)
def test_runs_are_those_of_the_conll_script(scheme):
    names = ["O", *(f"{p}-{f}" for f in "ab" for p in MARKS[scheme])]
    letters = dict(zip(MARKS[scheme], "BIES", strict=False))
    for length in range(1, 5 if len(letters) == 2 else 4):
        for labelling in itertools.product(names, repeat=length):
            as_iobes = [letters[name[0]] + name[1:] if name != "O" else "O" for name in labelling]
            assert named_spans(labelling, scheme) == conll_spans(as_iobes)


def test_figures_by_hand():
    first, second = pair("B-a I-a O I-b O", "B-a I-a O B-b I-b"), pair("B-a B-a O", "B-a I-a O")
    result = evaluate([first, second, pair("O O", "O O")])
    assert (result.accuracy, result.label_accuracy) == (9 / 10, 7 / 10)
    assert (result.correct.tolist(), result.correct_labels.tolist()) == ([4, 3, 2], [3, 2, 2])
    assert result.whole.tolist() == [False, False, True]
    assert result.whole_sequences == 1 / 3
    assert result.of_field("a").tolist() == [3, 2, 1]
    assert result.of_field("b").tolist() == [1, 1, 0]
    assert numbers(result.of_all()) == pytest.approx((1 / 4, 1 / 3, 2 / 7))
    half = 1.25 * (1 / 4) * (1 / 3) / (0.25 / 4 + 1 / 3)
    assert float(f_measure(result.of_all(), 0.5)) == pytest.approx(half)
    assert result.of_field("a", "tokens").tolist() == [4, 4, 4]


def test_paths_have_spans_at_each_level():
    gold = "B-venue/B-title I-venue/I-title I-venue/B-date O"
    result = evaluate([pair("B-venue/B-title I-venue/I-title I-venue/I-title O", gold)])
    assert result.fields == ("venue", "venue/title", "venue/date")
    assert result.of_field("venue").tolist() == [1, 1, 1]
    assert result.of_field("venue/title").tolist() == [1, 1, 0]
    assert result.of_field("venue/date").tolist() == [0, 1, 0]


@pytest.mark.parametrize("names", [["a", "b", "c"], ["O", "B-a", "I-a", "B-b"]])
def test_tokens_and_confusion_agree_with_scikit_learn(names):
    pairs = drawn(names, 40, 3)
    result = evaluate(pairs)
    flat = [[label for p in pairs for label in side(p)] for side in (lambda p: p.gold, lambda p: p.predicted)]
    assert np.array_equal(result.confusion, confusion_matrix(*flat, labels=list(result.labels.names)))
    gold, predicted = ([x[2:] or x if len(x) > 1 else x for x in side] for side in flat)
    own = {"labels": list(result.fields), "beta": 0.5, "zero_division": 0}
    theirs = precision_recall_fscore_support(gold, predicted, **own)
    for f, name in enumerate(result.fields):
        counts = result.of_field(name, "tokens")
        mine = [float(precision(counts)), float(recall(counts)), float(f_measure(counts, 0.5)), counts[1]]
        assert mine == pytest.approx([column[f] for column in theirs])


TOKENS = "Chief cook , @newline@ Café 9 @newline@ @newline@ 1999 - 2001"


def by_sets(p: Pair, field: str, unit: str) -> tuple[set, set]:
    """Lines or alphanumeric characters that each side gives to a field, as sets of places."""
    sides = []
    for names in (p.predicted, p.gold):
        line, places = 0, set()
        for t, (token, name) in enumerate(zip(p.tokens, names)):
            if token == "@newline@":
                line += 1
            elif name == field:
                places |= (
                    {line} if unit == "lines" else {(t, c) for c, char in enumerate(token) if char.isalnum()}
                )
        sides.append(places)
    return sides[0], sides[1]


@pytest.mark.parametrize("unit", ["lines", "characters"])
def test_overlap_is_that_of_sets_of_lines_and_characters(unit):
    rng = random.Random(1)
    tokens = tuple(TOKENS.split())
    sides = [[tuple(rng.choices(["title", "date", "O"], k=len(tokens))) for _ in "pg"] for _ in range(30)]
    pairs = [Pair(tokens, *each) for each in sides]
    result = evaluate(pairs)
    record = result.to_dict()["fields"]["title"][unit]
    sides = [by_sets(p, "title", unit) for p in pairs]
    shared, united = (sum(len(getattr(f, name)(g)) for f, g in sides) for name in ("intersection", "union"))
    assert record["overlap"] == pytest.approx(shared / united)
    assert record["precision"] == pytest.approx(shared / sum(len(f) for f, _ in sides))
    assert record["recall"] == pytest.approx(shared / sum(len(g) for _, g in sides))
    each = [len(f & g) / len(f | g) for f, g in sides if f | g]
    assert record["by_sequence"]["overlap"] == pytest.approx(np.mean(each))
    assert record["by_sequence"]["sequences"] == len(each)


def test_line_breaks_have_neither_lines_nor_characters():
    result = evaluate([pair("a break", "a break", "x @newline@")])
    for unit in ("characters", "lines"):
        assert result.of_field("break", unit).tolist() == [0] * 3
    assert result.to_dict()["fields"]["break"]["lines"]["by_sequence"] is None
    assert float(overlap(result.of_field("a", "characters"))) == 1


def test_a_sequence_without_labelling_has_nothing_right():
    result = evaluate([pair("", "a O"), pair("a O", "a O")])
    assert (result.missing, result.accuracy, result.whole_sequences) == (1, 0.5, 0.5)
    assert result.of_field("a").tolist() == [1, 2, 1]
    assert result.confusion.sum() == 2


def test_fields_can_be_left_out_of_what_counts():
    result = evaluate([pair("a b b", "a b c")], leave_out=["b"])
    assert result.fields == ("a", "c")
    assert (result.accuracy, result.of_all("tokens").tolist()) == (2 / 3, [1, 2, 1])


def by_enumeration(one, other, N):
    """Two-sided p of every way to swap the systems, for the share of right tokens."""
    observed = abs((one.correct - other.correct).sum())
    signs = itertools.product([1, -1], repeat=N)
    sums = [abs(int(np.dot(sign, one.correct - other.correct))) for sign in signs]
    return np.mean([s >= observed for s in sums])


def test_few_sequences_are_swapped_in_every_way():
    pairs = drawn(["a", "b", "O"], 9, 5)
    one, other = evaluate(pairs), evaluate([Pair(p.tokens, ("a",) * len(p.gold), p.gold) for p in pairs])
    result = compare(one, other, resamples=1000)[0]
    assert result.p == pytest.approx(by_enumeration(one, other, 9))
    assert result.low <= result.gain <= result.high


def test_a_real_gain_is_significant_and_none_is_not():
    gold = drawn(["a", "b", "O"], 80, 7, 0.9)
    rng = random.Random(2)
    noise = [tuple(x if rng.random() < 0.6 else "O" for x in p.predicted) for p in gold]
    noisy = [Pair(p.tokens, labels, p.gold) for p, labels in zip(gold, noise, strict=True)]
    better = compare(evaluate(gold), evaluate(noisy), resamples=500, seed=1)
    assert all(d.p < 0.02 and d.low > 0 for d in better)
    assert better == compare(evaluate(gold), evaluate(noisy), resamples=500, seed=1)
    same = compare(evaluate(gold), evaluate(gold), resamples=500)
    assert all((d.gain, d.low, d.high, d.p) == (0, 0, 0, 1) for d in same)


def test_figures_of_one_segmentation_are_those_of_any_scheme():
    """Accuracy, whole sequences and spans do not depend on how runs are written."""
    gold = ["B-a I-a I-a O B-b", "B-a B-b I-b B-a", "O O B-b"]
    predicted = ["B-a I-a O O B-b", "B-a B-b I-b B-a", "O B-b I-b"]
    results = []
    for scheme in ("bio", "iobes", "bilou", "bmes", "plain"):
        sides = [
            [" ".join(convert(each.split(), "bio", scheme)) for each in side] for side in (gold, predicted)
        ]
        results.append(evaluate([pair(p, g) for g, p in zip(*sides, strict=True)], scheme=scheme))
    assert {(each.accuracy, each.whole_sequences) for each in results} == {(10 / 12, 1 / 3)}
    assert len({tuple(each.of_all().tolist()) for each in results}) == 1
    assert results[0].label_accuracy == 9 / 12 and results[-1].label_accuracy == 10 / 12


def test_two_runs_in_place_of_one_are_no_whole_sequence():
    result = evaluate([pair("B-a B-a", "B-a I-a"), pair("", "O O"), pair("I-a O", "B-a O")], scheme="bio")
    assert result.whole.tolist() == [False, False, True]
    assert (result.accuracy, result.label_accuracy) == (4 / 6, 2 / 6)
    assert result.to_dict()["label_accuracy"] == 2 / 6


def test_paths_are_compared_whole():
    result = evaluate([pair("B-v/B-x I-v/I-y B-v/I-x", "B-v/B-x I-v/I-x I-v/I-x")])
    assert (result.accuracy, result.label_accuracy, result.whole_sequences) == (2 / 3, 1 / 3, 0)
