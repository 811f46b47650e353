"""What is written is read as the same sequence, or refused."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilpinfer.corpus.examples import Example
from ilpinfer.corpus.passages import Passage
from ilpinfer.corpus.sequences import InputError, read
from ilpinfer.corpus.writing import WriteOptions, write

TOKENS = st.sampled_from(
    [
        "Ada",
        "",
        "#",
        "# x",
        "###a",
        "<s>",
        "<a>b</a>",
        ">P",
        "MKV",
        "token",
        "x\ty",
        "\t",
        " ",
        "{",
        "[1]",
        "-DOCSTART-",
    ]
)
LABELS = st.sampled_from(["O", "B-x", "I-x", "label", "NE", "", "_", "B-x ", "#"])
ROWS = st.lists(st.tuples(TOKENS, LABELS), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@given(st.lists(ROWS, min_size=1, max_size=3), st.booleans(), st.sampled_from(["tsv", "jsonl"]))
def test_a_writer_writes_what_is_read(folder, sequences, labelled, ending):
    examples = [
        Example(
            tuple(token for token, _ in rows), tuple(label for _, label in rows) if labelled else None, "here"
        )
        for rows in sequences
    ]
    path = folder / f"x.{ending}"
    with contextlib.suppress(InputError):
        write(examples, path)
        found = read(path, notify=str)
        assert [(each.tokens, each.labels) for each in found] == [
            (each.tokens, each.labels) for each in examples
        ]


def test_an_entity_of_white_space_is_none():
    assert Passage("a  b", ((0, 1), (1, 2), (3, 4))).spans(["B-x", "B-x", "O"], "bio")[0].end == 1
    assert not Passage("a  b", ((0, 1), (1, 2), (3, 4))).spans(["O", "B-x", "O"], "bio")


@pytest.mark.parametrize("to", ["spans", "conllu", "columns"])
def test_an_empty_token_is_refused(here, to):
    with pytest.raises(InputError, match=r"here: token 1\b"):
        write([Example(("Ada", ""), ("O", "O"), "here")], Path("x"), WriteOptions(to))
