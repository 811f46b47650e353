"""Entities from logits: against all labellings, against the library's definition by hand, and bad input."""

import itertools
import math

import numpy as np
import pytest

import ilpinfer
from formulations import constraints as C
from ilpinfer.adapters.decisions import AdapterError
from ilpinfer.adapters.huggingface import entities
from ilpinfer.models.external import from_logits

LABELS = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-ORG", 4: "I-ORG"}
TEXT = "Ada met Microsoft Ltd ."
PIECES = ["[CLS]", "ada", "met", "micro", "##soft", "ltd", ".", "[SEP]"]
WORD_IDS = [None, 0, 1, 2, 2, 3, 4, None]
OFFSETS = [(0, 0), (0, 3), (4, 7), (8, 13), (13, 17), (18, 21), (22, 23), (0, 0)]
KEYS = ["entity_group", "score", "word", "start", "end"]
STRATEGIES = ("none", "simple", "first", "average", "max")
LOGITS = np.zeros((8, 5))
for piece, label, height in [(1, 1, 3.0), (2, 0, 3.0), (3, 3, 2.0), (4, 1, 1.0), (5, 4, 2.0), (6, 0, 4.0)]:
    LOGITS[piece, label] = height


def found(strategy="simple", rules=(), logits=LOGITS, **more):
    given = {"word_ids": WORD_IDS, "offset_mapping": OFFSETS, "text": TEXT, **more}
    return entities(logits, LABELS, rules=rules, aggregation_strategy=strategy, **given)


def softmax(logits):
    shares = np.exp(logits)
    return shares / shares.sum(axis=-1, keepdims=True)


def units(strategy):
    """Probabilities (T, K) of the pieces or words of the text, written out."""
    p = softmax(LOGITS)
    words = {"none": p[3:5], "simple": p[3:5], "first": p[3:4], "average": p[3:5].mean(axis=0, keepdims=True)}
    words["max"] = p[3:5][p[3:5].max(axis=1).argmax()][None]
    return np.vstack([p[1:3], words[strategy], p[5:7]])


def runs(names, field):
    """Runs of a field, as BIO is read."""
    inside = [name.endswith(field) for name in names]
    before = [False, *inside]
    return sum(now and (name[0] == "B" or not old) for now, name, old in zip(inside, names, before))


def by_enumeration(strategy, penalty):
    """The best labelling, and the marginals of its labels, with at most one run of PER and none of ORG without PER."""
    shares = np.log(units(strategy))
    scores = {}
    for y in itertools.product(range(5), repeat=len(shares)):
        names = [LABELS[k] for k in y]
        if runs(names, "PER") > 1:
            continue
        cost = penalty * max(0, runs(names, "ORG") - 0)
        scores[y] = sum(shares[t, k] for t, k in enumerate(y)) - cost
    best = max(scores, key=lambda y: scores[y])
    total = sum(math.exp(score) for score in scores.values())
    chances = [
        sum(math.exp(score) for y, score in scores.items() if y[t] == k) / total for t, k in enumerate(best)
    ]
    return [LABELS[k] for k in best], chances


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("penalty", [0.3, 2.5])
def test_labels_and_scores_are_those_of_all_labellings(strategy, penalty):
    rules = [C.at_most_runs("PER", 1), C.at_most_runs("ORG", 0, penalty=penalty)]
    names, chances = by_enumeration(strategy, penalty)
    if strategy == "none":
        mine = found("none", rules, ignore_labels=[])
        assert [each["entity"] for each in mine] == names
        assert [each["score"] for each in mine] == pytest.approx(chances, abs=1e-4)
        assert [each["index"] for each in mine] == [1, 2, 3, 4, 5, 6]
        return
    mine = found(strategy, rules, ignore_labels=[])
    groups = [
        list(group) for _, group in itertools.groupby(range(len(names)), key=group_numbers(names).__getitem__)
    ]
    assert [each["entity_group"] for each in mine] == [names[group[0]].split("-")[-1] for group in groups]
    wanted = [np.mean([chances[t] for t in group]) for group in groups]
    assert [each["score"] for each in mine] == pytest.approx(wanted, abs=1e-4)


def group_numbers(names):
    fields = [name.split("-")[-1] for name in names]
    new = [t == 0 or name[0] == "B" or fields[t] != fields[t - 1] for t, name in enumerate(names)]
    return np.cumsum(new).tolist()


def test_the_dictionaries_have_the_keys_of_the_library_in_its_order():
    none = found("none")
    assert [list(each) for each in none] == [["entity", "score", "index", "word", "start", "end"]] * 4
    assert [(each["entity"], each["index"], each["word"]) for each in none][2] == ("B-PER", 4, "soft")
    simple = found("simple")
    assert [list(each) for each in simple] == [KEYS] * 4
    first = found("first")
    places = [(e["entity_group"], e["word"], e["start"], e["end"]) for e in first]
    assert places == [("PER", "Ada", 0, 3), ("ORG", "Microsoft Ltd", 8, 21)]
    p = softmax(LOGITS)
    assert first[1]["score"] == pytest.approx((p[3, 3] + p[5, 4]) / 2, abs=1e-5)
    assert all(type(each["score"]) is float and type(each["start"]) is int for each in first)


def test_words_come_from_pieces_where_they_are_given():
    assert [each["word"] for each in found("first", pieces=PIECES)] == ["ada", "microsoft ltd"]
    assert [each["word"] for each in found("none", pieces=PIECES)] == ["ada", "micro", "##soft", "ltd"]
    upper = found("first", pieces=PIECES, to_text=lambda pieces: "+".join(pieces).upper())
    assert [each["word"] for each in upper] == ["ADA", "MICRO+##SOFT+LTD"]
    bare = found("simple", offset_mapping=None, text=None)
    assert [(each["word"], each["start"], each["end"]) for each in bare] == [(None, None, None)] * 4


def test_without_word_ids_empty_pieces_are_special():
    assert found("simple", word_ids=None) == found("simple")
    every = entities(LOGITS, list(LABELS.values()), aggregation_strategy="none", ignore_labels=[])
    assert [each["index"] for each in every] == list(range(8))


@pytest.mark.parametrize("strategy", ["simple", "first", "average", "max"])
@pytest.mark.parametrize("marks", ["BIES", "BILU", "BMES"])
def test_each_run_of_a_scheme_that_marks_ends_is_an_entity(strategy, marks):
    """B E, S S and B I E: a run of two words, two of one word, and one of three."""
    begin, inner, end, single = sorted(marks, key=lambda mark: "BIMELSU".index(mark))
    labels = ["O", *(f"{mark}-{field}" for field in ("PER", "LOC") for mark in (begin, inner, end, single))]
    wanted = [f"{begin}-PER", f"{end}-PER", "O", f"{single}-LOC", f"{single}-LOC", f"{begin}-LOC"]
    wanted += [f"{inner}-LOC", f"{end}-LOC"]
    logits = np.array([[9.0 * (label == each) for label in labels] for each in wanted])
    words = ["Marie", "Curie", "saw", "Paris", "Lyon", "New", "Old", "Town"]
    given = {
        "word_ids": range(8),
        "pieces": words,
        "rules": [C.valid_scheme()],
        "aggregation_strategy": strategy,
    }
    found = entities(logits, labels, **given)
    assert [(each["entity_group"], each["word"]) for each in found] == [
        ("PER", "Marie Curie"), ("LOC", "Paris"), ("LOC", "Lyon"), ("LOC", "New Old Town"),
    ]  # fmt: skip
    pieces = entities(logits, labels, **(given | {"aggregation_strategy": "none"}))
    assert [each["entity"] for each in pieces] == [label for label in wanted if label != "O"]


def test_ignored_labels_are_left_out():
    assert [each["entity_group"] for each in found("first", ignore_labels=["O", "ORG"])] == ["PER"]
    persons = found("none", ignore_labels=["O", "B-ORG", "I-ORG"])
    assert [each["entity"] for each in persons] == ["B-PER", "B-PER"]
    assert [each["entity_group"] for each in found("first", ignore_labels=[])] == ["PER", "O", "ORG", "O"]


def test_scores_of_the_model_are_those_without_rules():
    rules = [C.at_most_runs("PER", 1)]
    p = softmax(LOGITS)
    for each in found("none", rules, score="model"):
        k = list(LABELS.values()).index(each["entity"])
        assert each["score"] == pytest.approx(p[each["index"], k], abs=1e-5)
    own = found("first", rules, score="model")[0]["score"]
    assert found("first", rules)[0]["score"] != pytest.approx(own, abs=0.01)


def test_scores_of_entities_are_probabilities_of_the_whole():
    rules = [C.at_most_runs("PER", 1)]
    whole, means = (found("first", rules, score=score) for score in ("entity", "rules"))
    assert [each["word"] for each in whole] == [each["word"] for each in means]
    trellis = from_logits(LOGITS, LABELS, word_ids=WORD_IDS)
    chances = ilpinfer.marginals(trellis, rules)
    expected = [chance for *_, chance in chances.entities(ilpinfer.decode(trellis, rules).labels)]
    assert sorted(each["score"] for each in whole) == pytest.approx(sorted(expected))


def test_rules_look_at_the_text_of_words_and_may_be_named_or_written_out():
    no_ltd = [C.contains_only("ORG", unless=["ltd"])]
    assert [each["word"] for each in found("first", no_ltd)] == ["Ada", "Microsoft"]
    text = 'fields = ["PER", "ORG"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "ORG"\nn = 0\n'
    assert [each["word"] for each in found("first", text)] == ["Ada"]
    with pytest.raises(ValueError, match="no such rule file, and no catalogue entry of that name"):
        found("first", "no-such-rules")


def test_a_crf_layer_joins_in():
    steps = np.zeros((5, 5))
    steps[3, 4] = -50.0
    crf = {"transitions": steps, "start": np.zeros(5), "end": np.zeros(5)}
    assert ("ORG", "Microsoft Ltd") not in [(e["entity_group"], e["word"]) for e in found("first", crf=crf)]


@pytest.mark.parametrize("penalty", [math.inf, 1.0])
def test_rules_that_look_at_tokens_need_a_text_or_pieces(penalty):
    rules = [C.tag_at("ORG", words=["Ltd", "ltd"], penalty=penalty)]
    for missing in ({"text": None}, {"offset_mapping": None}):
        message = r"it looks at tokens, .*; give text= and offset_mapping=, or pieces="
        with pytest.raises(AdapterError, match=message):
            found("first", rules, **missing)
        assert found("first", [C.at_most_runs("PER", 1)], **missing)
        assert found("first", rules, pieces=PIECES, **missing)
    assert found("first", rules)


def test_a_text_without_tokens_has_no_entities():
    pieces = [None, None], [(0, 0), (0, 0)]
    assert entities([[0.0, 1.0]] * 2, ["O", "x"], *pieces, [C.exactly_runs("x")], text="") == []
    assert entities(np.zeros((0, 2)), ["O", "x"]) == []


def test_probabilities_that_take_too_many_states_are_refused_with_a_way_out(monkeypatch):
    from ilpinfer.adapters import decisions

    real = ilpinfer.marginals

    def refused(trellis, *rules):
        if rules:
            raise decisions.TooManyStates("too many")
        return real(trellis)

    monkeypatch.setattr("ilpinfer.exact.marginals.marginals", refused)
    with pytest.raises(AdapterError, match=r"too expensive \(too many\); score='model'"):
        found("first")
    assert found("first", score="model")
