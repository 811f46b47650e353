"""Columns that a user names for two roles, or that one names and the other takes where nobody names it."""

import pytest

from ilpinfer.corpus.sequences import read

pytestmark = pytest.mark.filterwarnings("ignore::ilpinfer.corpus.examples.InputNotice")
FILES = {
    "bare": "Ada\tX\tname\nmet\tY\tO\n\nBob\tX\tname\n",
    "numbered": "1\tAda\tname\n1\tmet\tO\n2\tBob\tname\n",
    "header": "word\tpos\tlabel\nAda\tX\tname\nmet\tY\tO\n",
}


@pytest.mark.parametrize(
    ("file", "column", "message"),
    [
        ("bare", "sequence=1", "column 1 is used for both tokens and sequences; .*sequence=1"),
        ("numbered", "sequence=1", "column 2 is used for both tokens and labels; .*,label=COLUMN,sequence=1"),
        ("header", "sequence=word", "column 1 is used for both tokens and sequences"),
        ("bare", "sequence=1,label=", "column 1 is used for .*; name a column for each, --column token=COLUMN,sequence=1"),
        ("bare", "token=2,label=2", "column 2 is used for both tokens and labels"),
        ("bare", "token=1,label=1+3", "column 1 is used for both tokens and labels"),
        ("bare", "token=1,label=3,given=3", "column 3 is used for both labels and known labels"),
        ("bare", "token=1,label=3,given=2,end=2", "column 2 is used for both known labels and ends"),
        ("bare", "label=3+3", "column 3 is used for two levels of labels"),
        ("bare", "label=3+", r"--column label=3\+: a level has no column; write label=OUTER\+INNER"),
        ("bare", "label=+", "a level has no column"),
    ],
)  # fmt: skip
def test_a_column_has_one_role(tmp_path, file, column, message):
    path = tmp_path / "x.tsv"
    path.write_text(FILES[file])
    with pytest.raises(ValueError, match=message):
        read(path, column=column)


@pytest.mark.parametrize("file", FILES)
def test_labels_can_be_left_out_alone(tmp_path, file):
    path = tmp_path / "x.tsv"
    path.write_text(FILES[file])
    assert [each.labels for each in read(path, column="label=")] == [None] * FILES[file].count("\n\n") + [
        None
    ]
    assert read(path, column="label=")[0].tokens[:2] == ("Ada", "met")


def test_a_column_of_known_labels_is_no_column_of_labels(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text(FILES["header"])
    [found] = read(path, column="given=3")
    assert (found.labels, found.given) == (None, {0: "name", 1: "O"})
