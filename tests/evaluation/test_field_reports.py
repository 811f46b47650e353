"""Reports by tokens and sequences, confusion of fields and broken rules, against scikit-learn, nervaluate and plain counts."""

import random
from collections import Counter

import pytest
from nervaluate import Evaluator
from sklearn.metrics import classification_report as report_of_tokens
from sklearn.metrics import confusion_matrix

import ilpinfer
from formulations import constraints as C
from formulations.problem.problem import NoTokens
from ilpinfer.evaluation.broken_rules import broken_rules
from ilpinfer.evaluation.evaluation import Pair, evaluate

BIO = ["O", "B-a", "I-a", "B-b", "I-b", "B-long name", "I-long name"]
FIELDS = ["a", "b", "long name"]


def drawn(seed, names=BIO, agree=0.6, count=25):
    draw = random.Random(seed)
    gold = [draw.choices(names, k=draw.randint(1, 12)) for _ in range(count)]
    return gold, [[g if draw.random() < agree else draw.choice(names) for g in one] for one in gold]


def pairs_of(gold, predicted):
    return [Pair(("x",) * len(g), None if p is None else tuple(p), tuple(g)) for g, p in zip(gold, predicted)]


def fields_of(labellings):
    return [name.partition("-")[2] or "O" for labels in labellings for name in labels]


def spans_of(labels):
    """(field, first, last) of runs, where I- goes on after a label of its own field."""
    found, before = [], "O"
    for t, name in enumerate(labels):
        mark, _, field = name.partition("-")
        if field and (mark == "B" or before.partition("-")[2] != field):
            found.append([field, t, t])
        elif field:
            found[-1][2] = t
        before = name
    return [tuple(span) for span in found]


@pytest.mark.parametrize("seed", range(5))
def test_reports_by_tokens_are_those_of_scikit_learn(seed):
    gold, predicted = drawn(seed)
    sides = fields_of(gold), fields_of(predicted)
    text = report_of_tokens(*sides, labels=FIELDS, digits=3, zero_division=0)
    assert ilpinfer.classification_report(gold, predicted, level="token", digits=3) == text.rstrip("\n")
    rows = ilpinfer.classification_report(gold, predicted, level="token", output_dict=True)
    theirs = report_of_tokens(*sides, labels=FIELDS, output_dict=True, zero_division=0)
    assert all(row == pytest.approx(theirs[name]) for name, row in rows.items())


@pytest.mark.parametrize("seed", range(5))
def test_reports_by_sequences_count_those_in_which_a_field_is_whole(seed):
    gold, predicted = drawn(seed, agree=0.85)
    predicted[0] = None
    rows = ilpinfer.classification_report(gold, predicted, level="sequence", output_dict=True)
    for field in FIELDS:
        sides = [
            [{span for span in spans_of(labels or ()) if span[0] == field} for labels in side]
            for side in (gold, predicted)
        ]
        there = [sum(map(bool, side)) for side in sides]
        right = sum(bool(one) and one == other for one, other in zip(*sides, strict=True))
        assert rows[field]["support"] == there[0]
        assert rows[field]["recall"] == pytest.approx(right / there[0])
        assert rows[field]["precision"] == pytest.approx(right / there[1] if there[1] else 0)


@pytest.mark.parametrize("seed", range(5))
def test_the_confusion_of_tokens_is_that_of_scikit_learn(seed):
    gold, predicted = drawn(seed)
    names, counts = evaluate(pairs_of(gold, predicted)).field_confusion()
    assert sorted(names) == sorted([*FIELDS, "O"]) and names[-1] == "O"
    assert counts.tolist() == confusion_matrix(fields_of(gold), fields_of(predicted), labels=names).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_confusion_of_spans_counts_pairs_that_share_a_token(seed):
    gold, predicted = drawn(seed)
    predicted[0] = None
    expected = Counter()
    for right, labels in zip(gold, predicted, strict=True):
        one, other = spans_of(right), spans_of(labels or ())
        pairs = [(s, p) for s in one for p in other if s[1] <= p[2] and p[1] <= s[2]]
        expected.update((s[0], p[0]) for s, p in pairs)
        expected.update((s[0], "O") for s in one if s not in [pair[0] for pair in pairs])
        expected.update(("O", p[0]) for p in other if p not in [pair[1] for pair in pairs])
    result = evaluate(pairs_of(gold, predicted))
    names, counts = result.field_confusion("spans")
    found = {(g, p): int(counts[i, j]) for i, g in enumerate(names) for j, p in enumerate(names)}
    assert found == {cell: expected[cell] for cell in found}
    assert result.to_dict()["field_confusion"]["spans"]["counts"] == counts.tolist()


def test_spans_of_single_tokens_are_confused_as_nervaluate_matches_types():
    gold, predicted = drawn(7, ["O", "B-a", "B-b"])
    _, counts = evaluate(pairs_of(gold, predicted)).field_confusion("spans")
    theirs = Evaluator(gold, predicted, tags=["a", "b"], loader="list").evaluate()["overall"]["ent_type"]
    inner = counts[:-1, :-1]
    assert (inner.trace(), inner.sum() - inner.trace()) == (theirs.correct, theirs.incorrect)
    assert (counts[:, -1].sum(), counts[-1].sum()) == (theirs.missed, theirs.spurious)


def test_nested_fields_are_confused_on_their_own_level():
    gold, predicted = ["B-v/B-t", "I-v/I-t", "I-v/B-d"], ["B-v/B-t", "I-v/I-t", "I-v"]
    result = evaluate(pairs_of([gold], [predicted]))
    names, counts = result.field_confusion("spans")
    assert {(names[i], names[j]) for i, j in zip(*counts.nonzero(), strict=True)} == {
        ("v", "v"),
        ("v/t", "v/t"),
        ("v/d", "O"),
    }
    left = evaluate(pairs_of([gold], [predicted]), leave_out=["v"]).field_confusion("spans")
    assert left[0] == ("v/t", "v/d", "O") and left[1].sum() == 2


RULES = [
    C.at_most_runs("a", 1),
    C.requires_before("a", "b", penalty=1.5),
    C.max_run_length(C.EACH_FIELD, 1, distance="binary", penalty=0.5),
]


def test_broken_rules_are_counted_on_both_sides():
    gold, predicted = drawn(3)
    predicted[4] = None
    rows = broken_rules(pairs_of(gold, predicted), RULES)
    for rule, row in zip(RULES, rows, strict=True):
        assert (row["rule"], row["hard"]) == (rule.title, rule.hard)
        for side, labellings in (("gold", gold), ("predicted", predicted)):
            counts = [rule.violations(one, labels=BIO) for one in labellings if one is not None]
            assert row[side] == {
                "sequences": len(counts),
                "broken": sum(map(bool, counts)),
                "violations": sum(counts),
            }


def test_rules_on_words_need_words():
    pairs = [Pair(("", ""), ("B-a", "O"), ("B-a", "I-a"))]
    with pytest.raises(NoTokens, match="it looks at tokens, but the sequence has none"):
        broken_rules(pairs, [C.contains_only("a", token_class="year")])
    with pytest.raises(NoTokens):
        broken_rules(pairs, [C.consistent()])
    assert broken_rules(pairs, RULES[:1])[0]["gold"]["sequences"] == 1
    none = broken_rules([Pair((), None, ())], RULES[:1], labels=ilpinfer.LabelSet(("O", "B-a", "I-a")))
    assert none[0]["predicted"] == {"sequences": 0, "broken": 0, "violations": 0}
