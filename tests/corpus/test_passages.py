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


WIDENED = "spans that begin or end inside a token are extended to whole tokens"
OVERLAPPING = "spans that overlap a longer span, or an earlier span of the same length, are left out"


@pytest.mark.parametrize(
    ("spans", "labels", "notice"),
    [
        ([(20, 29, "p"), (0, 12, "a")], "B-a I-a O O B-p I-p I-p O O", ""),
        ([(0, 12, "a"), (12, 13, "a")], "B-a I-a B-a", ""),
        ([(3, 13, "a")], "O B-a I-a", ""),
        ([(4, 8, "a")], "O B-a", f"x: {WIDENED}: 'Love' at 4-8 as 'Lovelace'"),
        ([(2, 5, "a")], "B-a I-a", f"x: {WIDENED}: 'a L' at 2-5 as 'Ada Lovelace'"),
        ([(17, 19, "a")], "O O O B-a", f"x: {WIDENED}: '20' at 17-19 as '12-20'"),
        ([(3, 4, "a"), (13, 14, "a")], "", "x: spans without any token are left out: ' ' at 3-4, and 1 more"),
        ([(4, 12, "b"), (0, 12, "a"), (12, 13, "c"), (0, 3, "d")], "B-a I-a B-c", f"x: {OVERLAPPING}: 'Ada' at 0-3, and 1 more"),
        ([(0, 3, "a"), (0, 3, "b")], "B-a", f"x: {OVERLAPPING}: 'Ada' at 0-3"),
    ],
)  # fmt: skip
def test_spans_become_labels_of_tokens_and_what_labels_cannot_say_is_told(spans, labels, notice):
    wanted = labels.split()
    assert read(spans) == ((*wanted, *["O"] * (9 - len(wanted))), [notice] if notice else [])


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
