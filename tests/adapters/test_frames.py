"""Sequences in data frames: the same from pandas, polars and Arrow, and solutions written back beside them."""

import pandas as pd
import pyarrow as pa
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.adapters.frames import sequences_of, with_solutions

pytest.importorskip("narwhals")

ROWS = {
    "sentence": [7, 7, 9, 8],
    "token": ["Ada", "slept", "Yes", "No"],
    "label": ["name", "O", "O", None],
    "pos": ["NN", "VB", None, "X"],
}
LISTS = {
    "id": ["a", "b", "c"],
    "tokens": [["Ada", "slept"], ["Yes"], ["No"]],
    "labels": [["name", "O"], ["O"], None],
}
PAIRS = [(("Ada", "slept"), ("name", "O")), (("Yes",), ("O",)), (("No",), None)]


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def of_arrow(columns):
    return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)


KINDS = [pd.DataFrame, polars_frame, pa.table, of_arrow, lambda columns: pa.table(columns).to_pandas()]
kinds = pytest.mark.parametrize("made", KINDS, ids=["pandas", "polars", "arrow", "pandas-arrow", "numpy"])


def pairs(examples):
    return [(each.tokens, each.labels) for each in examples]


def columns_of(frame):
    """A frame as lists, empty cells as None."""
    if isinstance(frame, pd.DataFrame):
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)


def trellis(length):
    return Trellis.from_emissions([[0.0, -1.0]] * length, [[0.0, -0.5], [-0.5, 0.0]], labels=["name", "O"])


def solutions():
    """One without a broken rule, one that breaks one, and an infeasible one."""
    soft = C.at_most_tokens("name", 1, penalty=0.25, name="one token")
    return [
        ilpinfer.decode(trellis(2), [soft]),
        ilpinfer.decode(trellis(1), [soft]),
        ilpinfer.decode(trellis(1), [C.exactly_tokens("name", 5)]),
    ]


@kinds
def test_a_row_a_token(made):
    examples = sequences_of(made(ROWS), columns=["pos"])
    assert pairs(examples) == PAIRS
    assert [each.columns for each in examples] == [{"pos": ("NN", "VB")}, {"pos": ("",)}, {"pos": ("X",)}]
    assert [each.where for each in examples] == ["row 0", "row 2", "row 3"]
    assert pairs(sequences_of(made(ROWS), labels=None)) == [(tokens, None) for tokens, _ in PAIRS]


@kinds
def test_a_row_a_sequence(made):
    assert pairs(sequences_of(made(LISTS), tokens="tokens", labels="labels")) == PAIRS


@kinds
def test_solutions_of_tokens_are_written_back(made):
    frame = made({name: ROWS[name] for name in ("sentence", "token", "pos")})
    found = solutions()
    result = with_solutions(frame, found)
    assert type(result) is type(frame)
    written = columns_of(result)
    assert list(written) == ["sentence", "token", "pos", "label", "score", "status", "violations"]
    assert written["token"] == ROWS["token"] and written["pos"] == ROWS["pos"]
    assert written["label"] == ["name", "name", "name", None]
    assert written["score"] == [found[0].score] * 2 + [found[1].score, None]
    assert found[0].score == -0.25
    assert written["status"] == ["optimal"] * 3 + ["infeasible"]
    assert written["violations"][:3] == ['{"one token": 1}'] * 2 + ["{}"]
    assert "label" not in columns_of(frame)


@kinds
def test_solutions_of_lists_are_written_back(made):
    result = with_solutions(made(LISTS), solutions(), "tokens")
    written = columns_of(result)
    assert written["label"] == [["name", "name"], ["name"], None]
    assert written["status"] == ["optimal", "optimal", "infeasible"]
    assert written["tokens"] == LISTS["tokens"] and written["labels"] == LISTS["labels"]


@kinds
def test_what_was_written_is_read_again(made):
    labels = [["B-name", "O"], ["O"], None]
    result = with_solutions(made(ROWS), labels, prefix="new_")
    expected = [(tokens, each and tuple(each)) for (tokens, _), each in zip(PAIRS, labels)]
    assert pairs(sequences_of(result, labels="new_label")) == expected
    assert "new_score" not in columns_of(result)


def test_the_index_of_pandas_stays():
    index = pd.Index(["x", "x", "y", "a"], name="place")
    result = with_solutions(pd.DataFrame(ROWS, index=index).drop(columns="label"), solutions())
    assert result.index.equals(index) and result.index.name == "place"
    assert result["label"].tolist()[:3] == ["name"] * 3 and result["token"].tolist() == ROWS["token"]


def test_several_columns_and_empty_cells_tell_sequences_apart():
    places = {"book": ["a", None, "b", "b"], "line": [1.0, 2.0, 2.0, None]}
    frame = pd.DataFrame({**places, "token": list("wxyz"), "label": list("OOOO")})
    found = sequences_of(frame, sequence=["book", "line"])
    assert [each.tokens for each in found] == [("w",), ("x",), ("y", "z")]
    assert [each.tokens for each in sequences_of(frame, sequence=None)] == [tuple("wxyz")]


def test_a_frame_without_rows_has_no_sequences():
    frame = pd.DataFrame({"sentence": [], "token": [], "label": []})
    assert sequences_of(frame) == []
    names = ("sentence", "token", "label", "p_label")
    assert columns_of(with_solutions(frame, [], prefix="p_")) == {name: [] for name in names}


def test_a_data_set_of_hugging_face_is_read_as_arrow(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict(LISTS).with_format("arrow")[:]
    assert pairs(sequences_of(table, tokens="tokens", labels="labels")) == PAIRS
    again = datasets.Dataset(with_solutions(table, solutions(), "tokens"))
    assert again["label"][:] == [["name", "name"], ["name"], None]


def test_train_and_decode_a_frame():
    from ilpinfer.corpus.sequences import require_labels
    from ilpinfer.models.training import train

    frame = pd.DataFrame({**ROWS, "label": ["name", "O", "O", "O"]})
    model = train("hmm", require_labels(sequences_of(frame)))
    decoder = ilpinfer.Decoder([C.at_most_tokens("name", 1)], model=model)
    found = [decoder.decode_tokens(each.tokens) for each in sequences_of(frame)]
    result = with_solutions(frame, found, prefix="predicted_")
    assert result["predicted_label"].tolist() == frame["label"].tolist()
    assert result["predicted_status"].tolist() == ["optimal"] * 4
