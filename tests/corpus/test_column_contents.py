"""Columns as shared tasks and their tools write them: comments, headers of any names, running numbers, blank lines, tabs at the end."""

import pytest
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.sequences import InputError, read
from ilpinfer.corpus.streams import open_stream
from ilpinfer.corpus.text_formats import CorpusForm

TWO = [(["Ada", "slept"], ["B-PER", "O"]), (["Yes"], ["O"])]
ROWS = "Ada\tB-PER\nslept\tO\n{}Yes\tO\n"
NESTED = (
    "#\tof Ada\t[1843-07-01]{tab}\n1\tAda\tB-PER\tO\n2\tslept\tO\tB-X\n\n"
    "#\tof no one\t[1852-05-02]{tab}\n1\tYes\tO\tO\n"
)
NEWSPAPER = (
    "TOKEN\tNE-COARSE\tNE-FINE\tMISC\n# date = 1843\nAda\tB-PER\tB-PER.x\t_\n# line = 2\nslept\tO\tO\tEndOfLine\n"
    "\n# date = 1852\nYes\tO\tO\t_\n"
)
SPACES = "no tabs; columns are separated by spaces"
READ = {
    "a blank line with a tab": (ROWS.format("\t\n"), "", []),
    "a blank line with spaces": (ROWS.format("  \n"), "", []),
    "a blank line with a tab among spaces": (ROWS.format(" \t \n").replace("\tB", " B").replace("\tO", " O"), "", [SPACES]),
    "a blank line with a carriage return": (ROWS.format("\t\n").replace("\n", "\r\n"), "", []),
    "tabs at the ends of lines": (ROWS.format("\n").replace("PER\n", "PER\t\n").replace("O\n", "O\t\n"), "", []),
    "tabs at the ends of some lines": (ROWS.format("\n").replace("PER\n", "PER\t\t\n"), "", []),
    "tabs at the ends of lines of spaces": (ROWS.format("\n").replace("\t", " ").replace("O\n", "O\t\n"), "", [SPACES]),
    "spaces around labels": (ROWS.format("\n").replace("O\n", " O \n"), "", []),
    "a header with a tab at its end": ("token\tlabel\t\n" + ROWS.format("\n"), "", ["line 1: 'token\\tlabel\\t' is read as a header"]),
    "a header of other names": ("Wort\tNE\n" + ROWS.format("\n"), "", ["line 1: 'Wort\\tNE' is read as a header"]),
    "a header of other names by number": (
        NEWSPAPER, "2", ["line 1: 'TOKEN\\tNE-COARSE\\tNE-FINE\\tMISC' is read as a header"],
    ),
    "a header of other names by name": (
        NEWSPAPER, "NE-COARSE", ["line 1: 'TOKEN\\tNE-COARSE\\tNE-FINE\\tMISC' is read as a header"],
    ),
    "comments of several cells": (
        NESTED.format(tab=""), "3", ["line 1: '#\\tof Ada\\t[1843-07-01]' is read as a comment, like 1 other line"],
    ),
    "comments of as many cells as rows": (
        NESTED.format(tab="\t"), "3", ["line 1: '#\\tof Ada\\t[1843-07-01]\\t' is read as a comment, like 1 other line"],
    ),
    "comments beside two columns": (
        "# id = 1\n# text = Ada slept\n" + ROWS.format("\n"), "", ["line 1: '# id = 1' is read as a comment, like 1 other line"],
    ),
    "comments with tabs among spaces": (
        "# id 7d\tdomain=x\nAda _ B-PER\nslept _ O\n\n# id 8e\tdomain=x\nYes _ O\n", "3",
        [SPACES, "line 1: '# id 7d\\tdomain=x' is read as a comment, like 1 other line"],
    ),
    "lines of documents": (
        "###DOC:17\n" + ROWS.format("###DOC:18\n"), "",
        ["line 1: '###DOC:17' is read as a border between sequences, like 1 other line"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_columns_are_read_as_they_are_written(tmp_path, name):
    text, column, notices = READ[name]
    (tmp_path / "x").write_bytes(text.encode())
    examples, found = read_with_notices(tmp_path / "x", column=column)
    assert pairs(examples) == TWO
    assert found == [f"x{':' if each == SPACES else ','} {each}" for each in notices]


@pytest.mark.parametrize(
    "text", ["#\tO\n#Ada\tB-PER\nslept\tO\n", "Ada\tB-PER\n#\tO\n# \tO\n", "#\thash\nAda\tname\n"]
)
def test_a_number_sign_is_a_token(tmp_path, text):
    (tmp_path / "x").write_text(text)
    ((tokens, labels),) = pairs(read(tmp_path / "x"))
    assert "\n".join(map("\t".join, zip(tokens, labels, strict=True))) + "\n" == text


@pytest.mark.parametrize(
    "text", ["slept\tO\nAda\tB-PER\n", "[CLS]\t[PAD]\nAda\tB-PER\n", "Ada\tname\nslept\tother\n"]
)
def test_a_first_row_is_no_header(tmp_path, text):
    (tmp_path / "x").write_text(text)
    assert len(read(tmp_path / "x")[0].tokens) == 2


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ("Ada\tB-PER\tNNP\nslept\tO\tVBD\n", "2"),
        ("Ada\tNNP\tB-NP\tB-PER\nslept\tVBD\tB-VP\tO\n", "4"),
        (NESTED.format(tab=""), "3"),
        (NEWSPAPER, "NE-COARSE"),
        ("Ada\tB-PER\t_\nslept\tO\t_\n", "2"),
        ("Ada _ B-PER _\nslept _ O _\n", "1,3"),
        ("TOKEN NE MISC\nAda B-PER x\nslept O y\n", "TOKEN,NE"),
    ],
)
def test_the_column_that_looks_like_labels_is_proposed_and_can_be_read(tmp_path, text, proposed):
    (tmp_path / "x").write_text(text)
    with pytest.raises(InputError, match=rf"--column {proposed}\b"):
        read(tmp_path / "x")
    labels = {label for each in read(tmp_path / "x", column=proposed, notify=str) for label in each.labels}
    assert "B-PER" in labels and labels <= {"B-PER", "O"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!DOCTYPE html>\n<html>\n", "HTML"),
        ("#FORMAT=WebAnno TSV 3.3\n\n#Text=Ada\n1-1\t0-3\tAda\tPER\t\n", "WebAnno"),
        ("12|t|Ada\n12|a|slept\n12\t0\t3\tAda\tT1\tC1\n", "PubTator"),
        ("T1\tname 0 3\tAda\n", "NAME.ann"),
    ],
)
def test_another_format_is_refused_by_its_name(tmp_path, text, said):
    (tmp_path / "x").write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path / "x")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "text", ["<s> O\nAda B-PER\n</s> O\n", "<s>\tO\n</s>\tO\n", ">\nAda\n", ">\tO\nADA\tO\n"]
)
def test_tokens_that_look_like_tags_are_read(tmp_path, text):
    (tmp_path / "x").write_text(text)
    assert read(tmp_path / "x", notify=str)


def test_an_empty_token_costs_its_sequence_alone(tmp_path):
    (tmp_path / "x.conll").write_text("Ada\tB-PER\n\n\tO\n\nYes\tO\n")
    with open_stream(tmp_path / "x.conll", CorpusForm(), str) as stream:
        _, rejected, _ = stream
    assert rejected.reason == "'\\tO' has an empty token; write it, or take the line out"
