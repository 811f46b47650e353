"""Spans of characters and labels of tokens: each way, and what labels cannot say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilpinfer.corpus.conversion import convert
from ilpinfer.corpus.passages import Doubts, Passage, Span, labels_of, token_offsets
from ilpinfer.corpus.sequences import SPLITS

TEXT = "Ada Lovelace, 12-20 (New\u00a0York)."


def read(spans, text=TEXT):
    """Labels of a text, and the notices."""
    notices, doubts = [], Doubts("x")
    labels = labels_of([Span(*each) for each in spans], text, token_offsets(text), doubts)
    doubts.tell(notices.append)
    return labels, notices


def test_the_tokens_of_a_text_are_those_of_plain_text():
    offsets = token_offsets(TEXT)
    assert [TEXT[begin:end] for begin, end in offsets] == SPLITS["punctuation"](TEXT)
    assert token_offsets(TEXT, 4, 13) == ((4, 12), (12, 13))
    assert token_offsets("\ufeffAda") == ((1, 4),)


def test_spans_of_whole_tokens():
    labels, notices = read([(20, 29, "place"), (0, 12, "name")])
    assert labels == ("B-name", "I-name", "O", "O", "B-place", "I-place", "I-place", "O", "O")
    assert notices == []
    assert read([(0, 12, "a"), (12, 13, "a")])[0][:4] == ("B-a", "I-a", "B-a", "O")


def test_white_space_at_the_ends_of_a_span_does_not_matter():
    assert read([(3, 13, "a")])[0][:3] == ("O", "B-a", "I-a")
    assert read([(3, 13, "a")])[1] == []


@pytest.mark.parametrize(
    ("span", "labels", "notice"),
    [
        ((4, 8, "a"), ("O", "B-a", "O"), "'Love' at 4-8 as 'Lovelace'"),
        ((2, 5, "a"), ("B-a", "I-a", "O"), "'a L' at 2-5 as 'Ada Lovelace'"),
        ((17, 19, "a"), ("O", "O", "O", "B-a"), "'20' at 17-19 as '12-20'"),
    ],
)
def test_a_span_that_ends_within_a_token_is_widened_and_told(span, labels, notice):
    found, (text,) = read([span])
    assert found[: len(labels)] == labels
    why = "spans that do not begin and end between tokens are read as the whole tokens that they touch"
    assert text == f"x: {why}: {notice}"


def test_a_span_without_a_token_is_left_out_and_told():
    labels, (notice,) = read([(3, 4, "a"), (13, 14, "a")])
    assert set(labels) == {"O"}
    assert notice == "x: spans without any token are left out: ' ' at 3-4, and 1 more"


def test_of_spans_that_overlap_the_longest_is_read():
    labels, (notice,) = read([(4, 12, "inner"), (0, 12, "outer"), (12, 13, "other"), (0, 3, "more")])
    assert labels[:4] == ("B-outer", "I-outer", "B-other", "O")
    assert notice == (
        "x: spans that overlap longer ones, or earlier ones of the same length, are left out: 'Ada' at 0-3, and 1 more"
    )
    assert read([(0, 3, "first"), (0, 3, "second")])[0][0] == "B-first"


@given(
    st.lists(st.sampled_from(["Ada", "L.", "1843", "ß", "\U0001f600", "new-york"]), min_size=1, max_size=8),
    st.data(),
)
def test_labels_become_spans_and_the_same_labels_again(tokens, data):
    names = data.draw(st.lists(st.sampled_from("OXY"), min_size=len(tokens), max_size=len(tokens)))
    starts = data.draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)))
    labels = [
        "O" if n == "O" else f"{'B' if s or t == 0 or names[t - 1] != n else 'I'}-{n}"
        for t, (n, s) in enumerate(zip(names, starts))
    ]
    passage = Passage.of_tokens(tokens)
    assert passage.tokens == tuple(tokens)
    for scheme in ("bio", "iobes", "iob1", "bilou"):
        spans = passage.spans(convert(labels, "bio", scheme), scheme)
        assert [each for each in spans if not passage.text[each.begin : each.end].strip()] == []
        assert labels_of(reversed(spans), passage.text, passage.offsets, Doubts("x")) == tuple(labels)


def test_plain_labels_are_runs():
    spans = Passage.of_tokens(["a", "b", "c", "d"]).spans(["X", "X", "O", "Y"], "plain")
    assert spans == [Span(0, 3, "X"), Span(6, 7, "Y")]


def test_nested_labels_have_no_spans():
    with pytest.raises(ValueError, match="labels of scheme paths are nested; take the innermost fields with"):
        Passage.of_tokens(["a"]).spans(["B-a/B-b"], "paths")
