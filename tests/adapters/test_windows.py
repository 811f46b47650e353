"""Windows of a long document give back its trellis; windows that do not fit are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ilpinfer
from formulations import constraints as C
from ilpinfer.adapters import join_windows, merge_windows
from ilpinfer.corpus.logits import log_softmax
from ilpinfer.models.external import from_logits

LABELS = ["O", "B-name", "I-name"]
TEXT = "Ada Byron wrote to Charles Babbage about notes ."
WORDS = TEXT.split()
RULES = [C.at_most_runs("name", 1), C.valid_scheme()]


def spans_of(words):
    ends = np.cumsum([len(word) + 1 for word in words]).tolist()
    return [(end - 1 - len(word), end - 1) for word, end in zip(words, ends)]


SPANS = spans_of(WORDS)
LOGITS = np.random.default_rng(7).normal(size=(len(WORDS), 3)) * 2


def cut(sequence, length, stride):
    """Windows of a sequence, and the first place of each."""
    firsts = list(range(0, max(1, len(sequence) - stride), length - stride))
    return [sequence[first : first + length] for first in firsts], firsts


def assert_same(one, other):
    assert one.tokens == other.tokens and one.labels == other.labels
    rng = np.random.default_rng(1)
    for _ in range(20):
        y = rng.integers(len(one.labels), size=len(one))
        assert one.score(y) == pytest.approx(other.score(y), abs=1e-4)


@given(
    st.integers(1, 12),
    st.integers(0, 4),
    st.sampled_from(["center", "mean"]),
    st.booleans(),
    st.integers(0, 99),
)
def test_windows_of_one_matrix_give_back_its_trellis_and_labelling(length, stride, combine, numbered, seed):
    stride = min(stride, length - 1)
    logits = np.random.default_rng(seed).normal(size=LOGITS.shape) * 2
    windows, firsts = cut(logits, length, stride)
    offsets = firsts if numbered else cut(SPANS, length, stride)[0]
    whole = from_logits(logits, LABELS, tokens=WORDS)
    joined = join_windows(
        windows, offsets, LABELS, tokens=WORDS if numbered else None, text=TEXT, combine=combine
    )
    assert_same(joined, whole)
    best, other = ilpinfer.decode(joined, RULES), ilpinfer.decode(whole, RULES)
    assert best.score == pytest.approx(other.score, abs=1e-4)
    if combine == "center":
        assert best.labels == other.labels


def test_special_pieces_and_padding_are_left_out_and_pieces_become_words():
    special, row = (0, 0), np.array([[5.0, 0.0, 0.0]])
    pieces = [*SPANS[:2], (10, 13), (13, 15), *SPANS[3:]]
    ids = [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]
    logits = np.random.default_rng(3).normal(size=(10, 3))
    windows = [np.vstack([row, logits[:6], row]), np.vstack([row, logits[3:], row, row])]
    offsets = [[special, *pieces[:6], special], [special, *pieces[3:], special, special]]
    words = [[None, *ids[:6], None], [None, *ids[3:], None, None]]
    for pool in ("first", "mean", "max"):
        joined = join_windows(windows, offsets, LABELS, word_ids=words, text=TEXT, pool=pool)
        assert_same(joined, from_logits(logits, LABELS, tokens=WORDS, word_ids=ids, pool=pool))
    by_piece = join_windows(windows, offsets, LABELS, text=TEXT)
    assert by_piece.tokens[2:4] == ("wro", "te") and len(by_piece) == 10


def test_a_piece_has_the_scores_of_the_window_in_which_it_is_farthest_from_the_edges():
    windows = [np.full((6, 2), [w, 0.0]) for w in range(3)]
    merged = merge_windows(windows, [0, 4, 6])
    assert merged.window.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert merged.position.tolist() == [0, 1, 2, 3, 4, 1, 2, 3, 2, 3, 4, 5]
    assert merged.logits[:, 0].tolist() == merged.window.tolist()
    assert merged.offsets[5] == (5, 6) and merged.word_ids is None


def test_the_mean_is_one_of_log_probabilities():
    one, other = np.array([[1.0, 3.0], [0.5, 2.0]]), np.array([[9.0, 6.0], [0.0, 4.0]])
    merged = merge_windows([one, other], [0, 1], combine="mean")
    shares = [log_softmax(one), log_softmax(other)]
    wanted = np.array([shares[0][0], (shares[0][1] + shares[1][0]) / 2, shares[1][1]])
    assert merged.logits == pytest.approx(wanted)
    raw = merge_windows([one, other], [0, 1], combine="mean", scale="raw")
    assert raw.logits[1].tolist() == [4.75, 4.0]
    forbidden = merge_windows([[[0.0, -np.inf]], [[0.0, 0.0]]], [0, 0], combine="mean", scale="raw")
    assert forbidden.logits.tolist() == [[0.0, -np.inf]]


def test_transitions_go_over_the_border_of_windows():
    steps = np.random.default_rng(5).normal(size=(3, 3))
    windows, firsts = cut(LOGITS, 4, 1)
    for combine in ("center", "mean"):
        joined = join_windows(windows, firsts, LABELS, tokens=WORDS, transitions=steps, combine=combine)
        assert_same(joined, from_logits(LOGITS, LABELS, tokens=WORDS, transitions=steps))


def test_rules_hold_across_windows_where_they_did_not_within():
    logits = np.array([[0.0, 3.0], [3.0, 0.0], [0.0, 2.5], [3.0, 0.0]])
    rules = [C.at_most_runs("name", 1)]
    parts = [from_logits(part, ["O", "name"]) for part in (logits[:2], logits[2:])]
    apart = [ilpinfer.decode(part, rules).labels for part in parts]
    assert apart == [["name", "O"], ["name", "O"]]
    joined = join_windows([logits[:2], logits[2:]], [0, 2], ["O", "name"])
    assert ilpinfer.decode(joined, rules).labels == ["name", "O", "O", "O"]


def test_equal_offsets_of_several_pieces_are_kept_apart():
    """A character of several bytes has several pieces with the same offsets."""
    offsets = [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]
    logits = np.arange(10.0).reshape(5, 2)
    merged = merge_windows([logits[:4], logits[2:]], [offsets[:4], offsets[2:]], text="a☃b")
    assert merged.offsets in (offsets, [offsets[0], *offsets[2:]])
    merged = merge_windows([logits[:3], logits[1:]], [offsets[:3], offsets[1:]], text="a☃b")
    assert merged.offsets == offsets


def test_a_window_of_special_pieces_alone_and_one_inside_another_add_nothing():
    row = np.zeros((1, 2))
    windows = [np.ones((3, 2)), row, np.full((1, 2), 7.0)]
    merged = merge_windows(windows, [[(0, 1), (2, 3), (4, 5)], [(0, 0)], [(2, 3)]])
    assert merged.offsets == [(0, 1), (2, 3), (4, 5)] and merged.logits.tolist() == [[1.0, 1.0]] * 3
    assert len(join_windows([row], [[(0, 0)]], text="")) == 0


def test_windows_may_meet_where_the_text_has_no_token_between():
    joined = join_windows([LOGITS[:4], LOGITS[4:]], [SPANS[:4], SPANS[4:]], LABELS, text=TEXT)
    assert_same(joined, from_logits(LOGITS, LABELS, tokens=WORDS))
