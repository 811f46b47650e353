"""Items of documents, renamed rules, and sums over documents of the study of the thesis."""

import pytest

from benchmarks.studies.stokman.corpora import document_of, generated, renamed
from benchmarks.studies.stokman.totals import ALL, change, counts, reached, restricted
from formulations import load_rules

LINE = "@newline@"


def document(**changes):
    """A row of one document, with two fields."""
    characters = {"title": [4, 4, 4], "date": [0, 2, 0]}
    return {"characters": characters, "scores": [-1.0, -2.0]} | changes


def test_an_item_begins_where_a_heading_follows_a_line_without_one():
    tokens = ["Clerk", LINE, "Acme", LINE, "sold", "things", LINE, LINE, "Cook", LINE, "cooked"]
    labels = ["title", "O", "org", "O", "O", "O", "O", "O", "title", "O", "O"]
    items = document_of(tokens, labels, "O", ()).items
    assert [(item.first, item.last) for item in items] == [(0, 7), (8, 10)]


def test_a_body_is_no_heading():
    tokens = ["1.", "Facts", LINE, "text", LINE, "2.", LINE, "text"]
    labels = ["NR", "TITLE", "BREAK", "TEXT", "BREAK", "NR", "BREAK", "TEXT"]
    items = document_of(tokens, labels, "BREAK", ("TEXT",)).items
    assert [(item.first, item.last) for item in items] == [(0, 4), (5, 7)]


def test_generated_documents_consist_of_their_items():
    documents = generated(9, seed=5)
    assert sum(len(one.items) for one in documents) == 9
    assert all(2 <= len(one.items) <= 5 for one in documents[:-1])
    for one in documents:
        ends = [-1, *(item.last for item in one.items)]
        assert [item.first for item in one.items] == [end + 1 for end in ends[:-1]]
        assert ends[-1] == len(one.tokens) - 1
        assert all(one.tokens[end] == LINE for end in ends[1:])


def test_line_breaks_can_be_left_out_of_items():
    one = document_of(["1.", LINE, "text", LINE], ["NR", "BREAK", "TEXT", "BREAK"], "BREAK", ("TEXT",))
    assert one.part(one.items[0], breaks=False) == [0, 2]
    assert one.part(one.items[0], breaks=True) == [0, 1, 2, 3]


def test_rules_get_the_names_of_a_corpus():
    names = {"description": "TEXT", "job title": "Designation", "ignore": "O"}
    rules = renamed(load_rules("resume-title-first"), names)
    assert "O" not in rules.fields and {"TEXT", "Designation", "date"} <= set(rules.fields)
    once, before = rules.rules
    assert once.violations(["TEXT", "O", "TEXT"]) == 1
    assert before.violations(["TEXT", "Designation"]) == 1
    assert before.violations(["Designation", "TEXT"]) == 0


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
