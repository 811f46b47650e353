"""Items of documents, and sums over documents of the study of the thesis."""

import pytest

from benchmarks.studies.stokman.corpora import generated
from benchmarks.studies.stokman.segments import Segment, Segmentation, describe_lines, line_labels, lines
from benchmarks.studies.stokman.totals import ALL, change, counts, reached, restricted
from ilpinfer.models.hmm import HMM

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
