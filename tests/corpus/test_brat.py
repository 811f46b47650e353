"""BRAT standoff: documents read line by line or whole, and what is broken in them."""

from pathlib import Path

import pytest

from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.streams import open_stream
from ilpinfer.corpus.text_formats import CorpusForm

TEXT = "Ada Lovelace wrote Notes.\r\n\nGrace \U0001f600 Hopper lives in New\nYork.\n"
ANNOTATIONS = """\
T1\tname 0 12\tAda Lovelace
T2\ttitle 19 24\tNotes
R1\tWrote Arg1:T1 Arg2:T2
T4\tplace 52 55;56 60\tNew York
#1\tAnnotatorNotes T1\ta note
A1\tSure T1
*\tEquiv T1 T2
E1\twriting:T2 who:T1

T3\tname 28 42\tGrace \U0001f600 Hopper
"""
LINES = [
    (["Ada", "Lovelace", "wrote", "Notes", "."], ["B-name", "I-name", "O", "B-title", "O"], 1),
    (["Grace", "😀", "Hopper", "lives", "in", "New"], ["B-name", "I-name", "I-name", "O", "O", "B-place"], 3),
    (["York", "."], ["B-place", "O"], 4),
]


def document(folder, text=TEXT, annotations=ANNOTATIONS, name="a"):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_bytes(annotations.encode())
    return folder


def found_examples(source):
    """The sequences, and the notices."""
    notices = []
    return read(source, notify=notices.append), notices


def found(source, **options):
    """Tokens, labels and line of each sequence, and the notices."""
    notices = []
    examples = read(source, notify=notices.append, **options)
    return [(list(e.tokens), list(e.labels), e.line) for e in examples], notices


@pytest.mark.parametrize("source", ["notes", "notes/a.ann", "notes/a.txt", "notes/*.ann"])
def test_a_line_is_a_sequence(here, source):
    document(here / "notes")
    lines, notices = found(source)
    assert lines == LINES
    assert notices == [
        "notes/a.ann: spans that cross a line break are split into one span for each line: T4 at 52-60"
    ]


def test_a_document_is_a_sequence(tmp_path):
    (whole,), notices = found(document(tmp_path / "notes"), unit="document")
    assert whole[0] == [token for tokens, _, _ in LINES for token in tokens]
    assert whole[1][-4:] == ["O", "B-place", "I-place", "O"]
    assert notices == []


def test_an_empty_file_of_annotations_says_that_there_are_none(tmp_path):
    assert found(document(tmp_path, "Ada slept\n", ""))[0] == [(["Ada", "slept"], ["O", "O"], 1)]


def test_discontinuous_spans_are_read_from_end_to_end(tmp_path):
    folder = document(tmp_path, "heart and lung disease\n", "T1\tillness 0 5;15 22\theart disease\n")
    lines, (notice,) = found(folder)
    assert lines[0][1] == ["B-illness", *["I-illness"] * 3]
    assert notice == (
        f"{folder}/a.ann: discontinuous spans are read from their first character to their last one: T1: "
        "'heart and lung disease' at 0-22"
    )


def test_a_text_without_annotations_among_documents_is_rejected(tmp_path):
    document(tmp_path, "Ada\n", "")
    (tmp_path / "b.txt").write_text("Grace slept.\n")
    with open_stream(tmp_path, CorpusForm(), print) as stream:
        good, bad = stream
    assert good.tokens == ("Ada",)
    assert bad.message == (
        f"{tmp_path}/b.txt: no b.ann in the same folder, although other texts have one; create an empty file if there are no "
        "annotations"
    )
    (tmp_path / "b.ann").touch()
    assert [each.tokens for each in read(tmp_path)] == [("Ada",), ("Grace", "slept", ".")]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("own", ["\n", "\r\n"])
@pytest.mark.parametrize("counted", ["\n", "\r\n"])
def test_offsets_may_count_other_line_ends(here, mark, own, counted):
    text = f"Ada met Bob.{own}Grace slept.{own}"
    begin = len(f"Ada met Bob.{counted}")
    Path("a.txt").write_bytes((mark + text).encode())
    Path("a.ann").write_bytes(f"T1\tP 0 3\tAda\nT2\tP {begin} {begin + 5}\tGrace\n".encode())
    examples, notices = found_examples("a.ann")
    assert [each.labels[0] for each in examples] == ["B-P", "B-P"]
    assert [each.line for each in examples] == [1, 2]
    assert len(notices) == (mark != "" or own != counted)


def test_a_folder_has_one_notice_a_kind(here):
    for name in "abc":
        Path(f"notes-{name}.txt").write_text("Ada Byron\nslept\n")
        Path(f"notes-{name}.ann").write_text("T1\tP 0 9\tAda Byron\nT2\tP 0 3\tAda\nT3\tP 3 4\t \n")
    _, notices = found_examples("notes-*.ann")
    assert sorted(notices) == [
        ".: spans that overlap a longer span, or an earlier span of the same length, are left out: notes-a.ann: T2: 'Ada' at 0-3, and 2 more",
        ".: spans without any token are left out: notes-a.ann: T3: ' ' at 3-4, and 2 more",
    ]
