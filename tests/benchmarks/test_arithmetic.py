"""The arithmetic of studies with few lines of their own."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from pandas import DataFrame, Series

import ilpinfer
from benchmarks.data import umass
from benchmarks.studies import resumes, umass_rules
from benchmarks.studies.fersini.measuring import floor_of, floors_of, measured, setting_of
from benchmarks.studies.fersini.report import chosen, measures, sums
from benchmarks.studies.limits import check, high, is_true
from benchmarks.studies.neural import draws
from benchmarks.studies.stokman.corpora import generated
from benchmarks.studies.stokman.report import ALL, change, counts, reached, restricted
from benchmarks.studies.stokman.segments import Segment, Segmentation, describe_lines, line_labels, lines
from benchmarks.study import Cell, Disagreement, Missing, Sources
from formulations import LabelSet, RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.learning import ScoredExample
from ilpinfer.models.hmm import HMM

DATELINE = ("Madrid", ",", "23", "may", "(", "EFECOM", ")", ".")


def test_a_document_begins_at_a_dateline():
    sentences = [
        (("before",), ("O",)),
        (DATELINE, ("O",) * 8),
        (("EFE", "says"), ("O", "O")),
        (DATELINE, ("O",) * 8),
    ]
    assert [len(document) for document in draws.documents(sentences)] == [1, 2, 1]
    assert [pair for document in draws.documents(sentences) for pair in document] == sentences


def test_the_reward_stands_on_each_beginning():
    given = resumes.rules([(("x", "y"), ("B-a", "B-b"))])
    labels = LabelSet(("B-a", "B-b", "I-a", "I-b", "O"))
    flat = Trellis.from_emissions(np.zeros((4, 5)), np.zeros((5, 5)), labels=labels)
    scores = [
        ilpinfer.evaluate_labelling(flat, rules, ["B-a", "I-a", "B-b", "O"]).score for rules in given.values()
    ]
    assert scores == pytest.approx([0.0, 2.0, 3.0, 4.0], abs=1e-4)


def test_sections_are_missing_where_the_corpus_is(tmp_path):
    with pytest.raises(Missing, match="experience_train"):
        list(resumes.cells(Sources(tmp_path, "smoke"), resumes.REWARDED))


@pytest.fixture
def sources(corpora):
    return Sources(corpora, "full")


def test_training_references_are_evenly_spaced(sources):
    whole = umass.training_part(sources, 0)
    assert len(whole) == 60
    assert umass.training_part(sources, 4) == [whole[n] for n in (0, 15, 30, 45)]


def test_the_scheme_alone_has_no_mined_rule(sources):
    rules, families = umass_rules.statements(
        sources, Cell(part=umass_rules.PENALTIES, training=0, half=0, rules="", penalties=umass_rules.SCHEME)
    )
    assert list(rules) == [umass.VALID] and not families


def test_learning_leaves_out_a_rule_without_use():
    # gold keeps the first rule against the scores, and never needs the second
    trellis = Trellis.from_emissions(np.array([[0.0, 0.4], [0.0, 0.4]]), np.zeros((2, 2)), labels=["a", "b"])
    given = RuleSet(
        (C.starts_with("a", penalty=9.0, name="first"), C.ends_with("b", penalty=9.0, name="last"))
    )
    rules = umass_rules.learnt([ScoredExample(trellis, ("a", "b"))] * 4, given, umass_rules.LEARNER)
    assert [rule.name for rule in rules.rules] == ["first"]
    assert 0.2 < rules.rules[0].penalty < 9.0, (
        "rises from 0 until it outweighs 0.4 nats; the mean over epochs"
    )


BEST = SimpleNamespace(status="optimal", score=-5.0, bound=-5.0)


@pytest.mark.parametrize(
    ("status", "score", "bound", "true"),
    [
        ("optimal", -5.0, -5.0, True),
        ("optimal", -6.0, -5.0, False),
        ("feasible", -9.0, -1.0, True),
        ("feasible", -9.0, -6.0, False),
        ("feasible", -4.0, -1.0, False),
        ("infeasible", float("-inf"), float("-inf"), False),
    ],
)
def test_statuses_and_bounds_are_held_against_the_optimum(
    status: str, score: float, bound: float, true: bool
):
    assert is_true(SimpleNamespace(status=status, score=score, bound=bound), BEST) is true


def test_an_open_optimum_bounds_from_above():
    open_ = SimpleNamespace(status="feasible", score=-5.0, bound=-2.0)
    assert is_true(SimpleNamespace(status="feasible", score=-3.0, bound=-2.5), open_)
    assert not is_true(SimpleNamespace(status="feasible", score=-1.0, bound=0.0), open_)


def test_falsehoods_stop_the_study():
    row = {"data": "d", "item": "i", "method": "m", "limit": 0.05, "status": "optimal", "true": True}
    check([row])
    with pytest.raises(Disagreement, match=r"d, i: m with 0\.05 s says optimal"):
        check([row, {**row, "true": False}])


def test_the_percentile_is_one_of_the_values():
    assert high(Series(range(1, 21))) == 19.0
    assert high(Series([3.0])) == 3.0


FIELDS = {"part": "cora", "model": "HMM of 20", "rules": "mined"}


def row(half, value, right, **others):
    """A row of ten tokens."""
    counts = {"tokens": 10, "right": right, "predicted": 2, "gold": 2, "both": 1, "whole": 0, "sequences": 1}
    own = {"cost": 1.0, "score": -3.0, "proved": 1, "missing": 0, "milliseconds": 1.0}
    return {**FIELDS, "kind": "method", "half": half, "value": value, **counts, **own, **others}


def test_floors():
    assert floor_of(-10.0, 0.0, 0.9, "relative") == pytest.approx(-11.0)
    assert floor_of(10.0, 12.0, 0.9, "relative") == pytest.approx(9.0)
    # log P is -2: twice that at tau = 0.
    assert floor_of(10.0, 12.0, 0.0, "relative, log P") == pytest.approx(8.0)
    assert floor_of(10.0, 12.0, 0.5, "odds") == pytest.approx(10 + math.log(0.5))


def test_sums_and_measures():
    total = sums(DataFrame([row(0, 1.0, 9), row(1, 1.0, 6)]))
    assert (total.sequences, total.cost, total.score, total.proved) == (2, 2.0, -6.0, 2)
    assert measures(total) == pytest.approx((0.75, 0.5, 0.0))


def test_tau_is_chosen_on_the_other_half():
    rows = [row(0, 1.0, 9), row(0, 0.5, 3), row(1, 1.0, 2), row(1, 0.5, 8)]
    total, values = chosen(DataFrame(rows))
    # Half 0 takes what is best on half 1, which is 0.5, and the other way round.
    assert values == (0.5, 1.0)
    assert measures(total).accuracy == pytest.approx((3 + 2) / 20)


def test_rows_of_a_setting():
    train = [(("Ada", "Notes", str(year)), ("author", "title", "date")) for year in range(1843, 1863)]
    rules = RuleSet((C.precedence("author", "title", penalty=2.0),))
    setting = setting_of(HMM.train(train), train[:4], rules)
    rows = list(measured(setting, "one phase"))
    assert [(r["half"], r["sequences"], r["tokens"]) for r in rows] == [(0, 2, 6), (1, 2, 6)]
    best = sum(score for score, _ in floors_of(setting))
    assert sum(r["score"] for r in measured(setting, "odds") if r["value"] == 1.0) == pytest.approx(best)
    assert all(np.isfinite(r["cost"]) for r in rows)


LINE = "@newline@"


def document(**changes):
    """A row of one document, with two fields."""
    characters = {"title": [4, 4, 4], "date": [0, 2, 0]}
    return {"characters": characters, "scores": [-1.0, -2.0]} | changes


def test_generated_documents_consist_of_their_items():
    documents = generated(9, seed=5)
    assert sum(len(one.items) for one in documents) == 9
    assert all(2 <= len(one.items) <= 5 for one in documents[:-1])
    for one in documents:
        ends = [-1, *(item.last for item in one.items)]
        assert [item.first for item in one.items] == [end + 1 for end in ends[:-1]]
        assert ends[-1] == len(one.tokens) - 1
        assert all(one.tokens[end] == LINE for end in ends[1:])


def test_lines_and_what_a_tagger_of_lines_sees_and_learns():
    tokens = ("a", "b", LINE, LINE, "c")
    assert lines(tokens) == [range(3), range(3, 4), range(4, 5)]
    assert lines((LINE,)) == [range(1)]
    assert describe_lines(tokens, ("x", "y", "y", "O", "x")) == ("x+y", "blank", "x")
    assert describe_lines("pqrs", "xxyx") == ("x+y+x",)
    assert line_labels(tokens, [Segment("item", 0, 3)]) == ("B-item", "I-item", "O")


def test_tagged_lines_are_joined_to_items():
    tagger = HMM.train([(["Ada", LINE, "1815"], ["name", "O", "year"])])
    cutter = HMM.train([(["name", "year", "blank", "name"], ["B-item", "I-item", "O", "B-item"])])
    tokens = ("Ada", LINE, "1815", LINE, LINE, "Ada")
    items = [Segment("item", 0, 3), Segment("item", 5, 5)]
    assert Segmentation(tagger, cutter).cut(tokens) == items


def test_changes_are_in_points_of_the_documents_that_both_have():
    one = {0: document(), 1: document(characters={"title": [2, 4, 2]})}
    other = {0: document(characters={"title": [8, 4, 4]}), 2: document()}
    result = change(one, other, "title")
    assert (result.precision, result.recall) == (50.0, 0.0)
    assert result.f == pytest.approx(100 * (1 - 2 * 4 / 12))
    assert result.low == result.high == pytest.approx(result.f)


def test_all_fields_are_added_up():
    assert counts({0: document()}, [0], ALL).tolist() == [[4, 6, 4]]
    assert counts({0: document()}, [0], "date").tolist() == [[0, 2, 0]]


def test_how_much_of_the_optimum_is_reached():
    best = {0: document(scores=[-1.0, -2.0, -3.0]), 1: document(scores=[-4.0])}
    one = {0: document(scores=[-1.0, -2.5, None])}
    assert reached(one, best) == (3, 1, 1, 0.25)
    assert set(restricted(best, one)) == {0}
