"""Batches of scores: what they find is what `decode` finds for each sequence."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import UNIT

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.errors import ScoreNotice
from ilpinfer.decoding import score_rows
from ilpinfer.models.external import from_logits

NAMES = ["B-a", "I-a", "B-b", "I-b", "O"]
RULES = [
    C.valid_scheme(),
    C.at_most_runs("a", 1, penalty=0.5),
    C.requires_before("a", "b"),
    C.starts_with("a", penalty=0.3),
]


@st.composite
def batches(draw):
    """Sequences with scores that often tie, as padded arrays with lengths or a mask, or as lists."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    N, K = len(lengths), len(NAMES)
    scale = draw(st.sampled_from([1.0, UNIT, 0.3]))

    def scores(*shape):
        drawn = rng.integers(-3, 4, shape) * scale
        return np.where(rng.random(shape) < draw(st.sampled_from([0, 0.2])), -np.inf, drawn)

    arrays = [scores(T, K) for T in lengths]
    ends = {name: scores(K) for name in ("start", "end") if draw(st.booleans())}
    known = [
        {
            int(t): rng.permutation(NAMES)[: rng.integers(1, 4)].tolist()
            for t in rng.permutation(T)[: rng.integers(0, 2)]
        }
        for T in lengths
    ]
    width = max(lengths) + draw(st.sampled_from([0, 0, 2]))
    padded, mask = np.full((N, width, K), np.nan), np.zeros((N, width), bool)
    given_ = []
    for n, (own, T) in enumerate(zip(arrays, lengths, strict=True)):
        places = np.sort(rng.permutation(width)[:T]) if width > max(lengths) else np.arange(T)
        padded[n, places], mask[n, places] = own, True
        given_.append({int(places[t]): label for t, label in known[n].items()})
    transitions = draw(st.sampled_from([None, scores(K, K)]))
    return arrays, padded, mask, transitions, ends, known, given_


@settings(max_examples=examples(4000, 24), deadline=None)
@given(batches(), st.sampled_from([1, 2]))
def test_a_batch_is_what_each_sequence_is(batch, threads):
    arrays, padded, mask, transitions, ends, known, given_ = batch
    decoder, steps = ilpinfer.Decoder(RULES, NAMES), {"transitions": transitions, **ends}
    found = [decoder.decode_scores(padded, mask=mask, given=given_, threads=threads, **steps)]
    if padded.shape[1] == max(map(len, arrays)):
        lengths = mask.sum(axis=1)
        found.append(decoder.decode_scores(padded, lengths=lengths, given=given_, **steps))
        if any(map(len, arrays)):
            found.append(ilpinfer.decode_scores(arrays, rules=RULES, labels=NAMES, given=known, **steps))
    square = np.zeros((5, 5)) if transitions is None else transitions
    for n, own in enumerate(arrays):
        trellis = Trellis.from_emissions(own, square, **ends, labels=NAMES).with_given(known[n])
        wanted = decoder.decode(trellis)
        for each in found:
            solution = each[n]
            assert (solution.path is None) == (wanted.path is None) and solution.given == wanted.given
            assert (each.scores[n], each.bounds[n], each.status[n]) == (
                wanted.score,
                wanted.bound,
                wanted.status,
            )
            assert each.labels[n] == (wanted.labels if wanted.has_labelling else [])
            assert each.violations[n].tolist() == list(wanted.violations.values()) or not wanted.has_labelling
            assert ilpinfer.verify(trellis, RULES, solution).proved


def test_places_without_a_token_have_no_label():
    mask = np.array([[True, False, True], [False, False, False]])
    batch = ilpinfer.decode_scores(np.zeros((2, 3, 2)), mask=mask)
    assert batch.ids.tolist() == [[0, -1, 0], [-1, -1, -1]]
    assert batch.labels == [["0", "0"], []] and batch.status.tolist() == ["optimal", "optimal"]
    assert batch.scores.tolist() == [0.0, 0.0] and batch[1].labels == []


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int64, "list"])
def test_any_numbers(kind):
    scores = np.array([[[1, 0], [0, 2]]])
    given_ = scores.tolist() if kind == "list" else scores.astype(kind)
    assert ilpinfer.decode_scores(given_).ids.tolist() == [[0, 1]]


@pytest.mark.parametrize("module", ["torch", "jax.numpy", "tensorflow"])
def test_arrays_of_other_libraries(module):
    library = pytest.importorskip(module)
    make = {"torch": "tensor", "jax.numpy": "array", "tensorflow": "constant"}[module]
    for kind in (library.float32, library.bfloat16):
        scores = getattr(library, make)([[[1.0, 0.0], [0.0, 2.0]]], dtype=kind)
        assert ilpinfer.decode_scores(scores).ids.tolist() == [[0, 1]]


@pytest.mark.parametrize("last", ["9", "y"])
def test_rules_look_at_the_tokens_that_the_mask_leaves(last):
    number = C.feature(5.0, "b", pattern=r"[0-9]+")
    given_ = {"labels": ["a", "b"], "rules": [number], "mask": [[1, 0, 1]]}
    for tokens in (["9", last], ["9", "8", last]):
        batch = ilpinfer.decode_scores(np.zeros((1, 3, 2)), tokens=[tokens], **given_)
        assert batch.labels == [["b", "b" if last == "9" else "a"]]


def test_threads_share_the_numbers_of_a_batch(monkeypatch):
    monkeypatch.setattr(score_rows, "MOST_ALONE", 0)
    rng = np.random.default_rng(2)
    decoder = ilpinfer.Decoder(RULES, NAMES)
    for N, T in ((1, 1), (2, 3), (40, 7)):
        scores = rng.normal(size=(N, T, len(NAMES))).astype(np.float32)
        lengths = rng.integers(1, T + 1, N)
        one, other = (decoder.decode_scores(scores, lengths=lengths, threads=n) for n in (1, 3))
        assert one.ids.tolist() == other.ids.tolist()
        assert one.scores.tolist() == other.scores.tolist()
        scores[-1, lengths[-1] - 1, 1] = np.nan
        with pytest.raises(ValueError, match=rf"emissions\[{N - 1}, {lengths[-1] - 1}, 1\] is nan"):
            decoder.decode_scores(scores, lengths=lengths, threads=3)


def test_sequences_with_new_words_among_others():
    """Those whose words make new classes are decoded again, and only they."""
    rng = np.random.default_rng(2)
    rules = [C.feature(5.0, "b", pattern="[0-9]+"), C.at_most_runs("b", 1, penalty=2.0)]
    decoder = ilpinfer.Decoder(rules, ["a", "b"])
    decoder.decode_scores(np.zeros((1, 2, 2)), tokens=[["x", "y"]])
    scores, lengths = rng.normal(size=(6, 4, 2)), [4, 2, 3, 4, 1, 2]
    words = [["x", "9", "y", "7"], ["x", "y"], ["9", "x", "8"], ["y", "x", "y", "x"], ["9"], ["y", "x"]]
    batch = decoder.decode_scores(scores, lengths=lengths, tokens=words)
    square = np.zeros((2, 2))
    for n, (own, T) in enumerate(zip(scores, lengths, strict=True)):
        trellis = Trellis.from_emissions(own[:T], square, labels=["a", "b"], tokens=words[n])
        wanted = decoder.decode(trellis)
        assert (batch.labels[n], batch.scores[n]) == (wanted.labels, wanted.score)
        assert batch[n].labels == wanted.labels and batch.violations[n].tolist() == [
            *wanted.violations.values()
        ]
        assert ilpinfer.verify(trellis, decoder.rules, batch[n]).proved


def test_labels_that_are_never_predicted():
    decoder = ilpinfer.Decoder([], ["[PAD]", "a", "b"], never=["[PAD]"])
    assert decoder.decode_scores([[[9.0, 0.0, 1.0]]]).labels == [["b"]]


@pytest.mark.parametrize("method", ["viterbi", "beam", "cbc"])
def test_other_methods(method):
    scores = np.random.default_rng(0).normal(size=(3, 4, 2))
    batch = ilpinfer.decode_scores(scores, rules=[C.at_most_runs("0", 1, penalty=1.0)], method=method)
    assert [each.method.split(":")[0] for each in batch] == [method] * 3
    assert (batch.ids >= 0).all() and np.isfinite(batch.scores).all()


def test_sequences_that_kernels_leave_open_and_time_limits(monkeypatch):
    from ilpinfer.exact import limits

    scores = np.random.default_rng(1).normal(size=(6, 8, 5))
    rules = [C.at_most_runs(C.EACH_FIELD, 1, penalty=0.7), C.requires_present("a", "b", penalty=0.9)]
    wanted = ilpinfer.decode_scores(scores, rules=rules, labels=NAMES)
    limited = ilpinfer.decode_scores(scores, rules=rules, labels=NAMES, time_limit=30)
    monkeypatch.setattr(limits, "PASSES", 0)
    monkeypatch.setattr(limits, "LEAST_STEPS", 0)
    left = ilpinfer.Decoder([*rules], NAMES).decode_scores(scores)
    assert any("too many steps" in each.method for each in left)
    for each in (limited, left):
        assert np.array_equal(each.ids, wanted.ids) and np.array_equal(each.scores, wanted.scores)
        assert np.array_equal(each.violations, wanted.violations)


def test_where_no_labelling_is_possible():
    batch = ilpinfer.decode_scores(
        np.zeros((2, 2, 2)), rules=[C.at_most_tokens("0", 0), C.at_most_tokens("1", 0)]
    )
    assert batch.status.tolist() == ["infeasible"] * 2 and batch.labels == [[], []]
    assert batch.ids.tolist() == [[-1, -1]] * 2 and batch.scores.tolist() == [-np.inf] * 2
    assert repr(batch) == "Batch(2 sequences: 2 infeasible)"


def test_a_batch_is_pickled_and_becomes_a_frame():
    pd = pytest.importorskip("pandas")
    batch = ilpinfer.decode_scores(np.zeros((2, 2, 2)), lengths=[2, 1], tokens=[["x", "y"], ["z"]])
    again = pickle.loads(pickle.dumps(batch))
    assert again[1] == batch[1] and np.array_equal(again.ids, batch.ids)
    frame = batch.to_frame()
    assert isinstance(frame, pd.DataFrame) and frame.columns.tolist() == [
        *("sequence", "position", "token", "label", "score", "status")
    ]
    assert frame.values.tolist()[2] == [1, 0, "z", "0", 0.0, "optimal"]
    with pytest.raises(IndexError, match="the batch has"):
        batch[2]
    assert batch[-1] == batch[1]


def test_large_negative_scores_forbid_with_one_notice_that_says_where():
    scores = np.zeros((3, 2, 2))
    scores[1, 1, 0] = scores[2, 0, 0] = -1e9
    with pytest.warns(ScoreNotice, match=r"from here|2, the first is emissions\[1, 1, 0\] = -1e\+09"):
        assert ilpinfer.decode_scores(scores).ids.tolist() == [[0, 0], [0, 1], [1, 0]]
    with warnings.catch_warnings(action="error"):
        ilpinfer.decode_scores(scores, lengths=[2, 1, 0])


NAN = np.array([[[0.0, np.nan], [0.0, 0.0]]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"emissions": NAN}, r"emissions\[0, 0, 1\] is nan"),
        ({"emissions": [[[0.0, np.nan]]]}, r"emissions\[0, 0, 1\] is nan"),
        ({"emissions": np.zeros((2, 2))}, r"emissions has shape \(2, 2\); expected \(N, T, K\)"),
        ({"emissions": []}, "no array of scores"),
        ({"emissions": [np.zeros((1, 2)), np.zeros((1, 3))]}, r"emissions\[1\] has shape \(1, 3\)"),
        ({"emissions": [NAN[0]], "lengths": [1]}, "lengths and mask are for padded emissions"),
        ({"lengths": [3]}, "lengths is .3.; expected 1 whole number from 0 to 2"),
        ({"lengths": [1, 1]}, "lengths is"),
        ({"lengths": [1], "mask": [[1, 1]]}, "not both"),
        ({"mask": [[1]]}, r"mask has shape \(1, 1\); expected \(1, 2\)"),
        ({"mask": [[2, 0]]}, r"mask\[0, 0\] is 2; expected true or 1"),
        ({"labels": ["a"]}, "2 columns.*1 label"),
        ({"labels": {"a", "b"}}, "no order"),
        ({"transitions": np.zeros((1, 2))}, r"transitions has shape \(1, 2\)"),
        ({"start": np.zeros(3)}, r"start has shape \(3,\)"),
        ({"tokens": [["x"]]}, r"tokens\[0\] has 1 token, but emissions\[0\] 2 tokens"),
        ({"tokens": [["x", "y"], ["z"]]}, "tokens has 2 lists"),
        ({"given": [{5: "0"}]}, "given"),
        ({"given": [{0: "0"}], "mask": [[0, 1]]}, r"given\[0\] has a label of token 0, where"),
        ({"given": []}, "given has 0 entr"),
        ({"threads": 0}, "threads is 0"),
        ({"emissions": np.full((1, 2, 2), 2e9)}, r"emissions\[0\]"),
    ],
)
def test_bad_input_is_one_message(arguments, message):
    with pytest.raises(ValueError, match=message):
        ilpinfer.decode_scores(**{"emissions": np.zeros((1, 2, 2)), **arguments})


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"mask": [[1, 2, 0]]}, r"mask\[0, 1\] is .*2.*; expected true or 1"),
        ({"mask": np.ma.array([[1, 1, 1]], mask=[[0, 1, 0]])}, "mask is a masked array; give true where"),
        ({"lengths": np.ma.array([3], mask=[1])}, "lengths is a masked array; give 0 for"),
    ],
)
def test_masks_that_say_something_else_are_refused(more, message):
    with pytest.raises(ValueError, match=message):
        ilpinfer.decode_scores(np.zeros((1, 3, 2)), labels=["a", "O"], **more)


def test_a_batch_of_empty_sequences():
    batch = ilpinfer.decode_scores([np.zeros((0, 2))] * 2, labels=["a", "O"])
    assert batch.labels == [[], []] and list(batch.status) == ["optimal"] * 2


def test_columns_of_a_table_have_the_order_of_the_labels():
    table = pd.DataFrame(np.eye(2), columns=["O", "a"])
    for way in (
        lambda: ilpinfer.decode_scores([table], labels=["a", "O"]),
        lambda: Trellis.from_emissions(table, np.zeros((2, 2)), labels=["a", "O"]),
        lambda: from_logits(table, ["a", "O"]),
    ):
        with pytest.raises(ValueError, match=r"columns \['O', 'a'\], in another order than the labels"):
            way()
    assert from_logits(table[["a", "O"]], ["a", "O"]).labels.names == ("a", "O")
