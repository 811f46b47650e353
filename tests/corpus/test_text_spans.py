"""Texts with spans, in the shapes of annotation tools, and written back."""

import io
import json

import pytest
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.writing import WriteOptions, write

TEXT = "Ada-Lovelace wrote\nNotes \U0001f600."
PLACES = ((0, 3), (3, 4), (4, 12), (13, 18), (18, 19), (19, 24), (25, 26), (26, 27))
TASK = {
    "text": TEXT,
    "tokens": [
        {"text": TEXT[begin:end], "start": begin, "end": end, "id": at}
        for at, (begin, end) in enumerate(PLACES)
    ],
    "spans": [
        {"start": 0, "end": 12, "token_start": 0, "token_end": 2, "label": "name"},
        {"start": 19, "end": 24, "token_start": 5, "token_end": 5, "label": "title"},
        {"start": 13, "end": 18, "token_start": 3, "token_end": 3, "label": "verb", "answer": "reject"},
    ],
    "meta": {"page": 7},
    "_task_hash": 2,
    "answer": "accept",
}
WORDS = ["Ada", "-", "Lovelace", "wrote", "Notes", "\U0001f600", "."]
LABELS = ["B-name", "I-name", "I-name", "O", "B-title", "O", "O"]
BARE = {"text": "Grace slept.", "spans": [{"start": 0, "end": 5, "label": "name"}]}
RAW = {"text": "Nobody looked."}
REJECTED = {**TASK, "answer": "reject"}
WANTED = [(WORDS, LABELS), (["Grace", "slept", "."], ["B-name", "O", "O"]), (["Nobody", "looked", "."], None)]


def lines(*records):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


def found(folder, text, name="x.jsonl"):
    (folder / name).write_text(text, "utf-8")
    return read_with_notices(folder / name)


def labels(folder, record):
    (example,), notices = found(folder, lines(record))
    assert notices == []
    return example.labels


@pytest.mark.parametrize(
    "text",
    [
        lines(TASK, BARE, RAW),
        json.dumps([TASK, BARE, RAW]),
        json.dumps([TASK, BARE, RAW], indent=2),
        "\ufeff" + lines(TASK, BARE, RAW),
    ],
)
def test_a_text_is_a_sequence(tmp_path, text):
    examples, notices = found(tmp_path, text, "x")
    assert pairs(examples) == WANTED and notices == []
    assert [each.line for each in examples] == [1, 2, 3]


PER = {"start_offset": 0, "end_offset": 3, "label": "PER"}


@pytest.mark.parametrize(
    "record",
    [
        {"label": [[0, 3, "PER"]], "Comments": []},
        {"labels": [[0, 3, "PER"]], "meta": {}, "annotation_approver": None},
        {"entities": [{"id": 7, **PER}], "relations": []},
        {"annotations": [PER]},
        {"ents": [{"start": 0, "end": 3, "label": "PER"}], "tokens": []},
        {"label": [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}], "annotator": 1},
        {"entities": [{"start": 0, "end": 3, "text": "Ada", "label": "PER", "score": 0.9}]},
        {"spans": [[0, 3, "PER"]], "label": "PER"},
    ],
)
def test_each_tool_has_names_of_its_own(tmp_path, record):
    assert labels(tmp_path, {"id": 1, "text": "Ada slept", **record}) == ("B-PER", "O")


def test_a_list_without_spans_has_no_field_and_none_has_no_labels(tmp_path):
    assert labels(tmp_path, {"text": "Ada slept", "label": []}) == ("O", "O")
    assert labels(tmp_path, {"text": "Ada slept", "label": None}) is None


def test_spans_of_tokens_end_with_their_last_one(tmp_path):
    record = {"tokenized_text": ["Ada", "King", ",", "slept"], "ner": [[0, 1, "PER"], [3, 3, "verb"]]}
    assert labels(tmp_path, record) == ("B-PER", "I-PER", "O", "B-verb")
    with pytest.raises(InputError, match="span 0 has the tokens 1 to 4; expected 0 <= first <= last < 4"):
        labels(tmp_path, {**record, "ner": [[1, 4, "PER"]]})


def test_tasks_come_from_standard_input(monkeypatch, cli):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines(TASK).encode())))
    code, out, _ = cli("convert - - --to json")
    assert code == 0 and json.loads(out) == {"meta": {"page": 7}, "tokens": WORDS, "labels": LABELS}


def test_rejected_and_ignored_tasks_are_passed_over(tmp_path):
    examples, notices = found(tmp_path, lines(REJECTED, BARE, {**RAW, "answer": "ignore"}))
    assert pairs(examples) == WANTED[1:2]
    assert notices == ["x: rejected and ignored tasks are skipped: 2"]
    with pytest.raises(InputError, match=r"x\.jsonl: no sequence"):
        found(tmp_path, lines(REJECTED))


def test_records_of_other_kinds_may_stand_beside_texts(tmp_path):
    examples, _ = found(tmp_path, lines({"tokens": ["Ada"], "labels": ["O"], "text": "Ada"}, BARE))
    assert pairs(examples) == [(["Ada"], ["O"]), WANTED[1]]


def test_spans_that_overlap_or_end_within_tokens_are_told(tmp_path):
    spans = [*BARE["spans"], {"start": 0, "end": 11, "label": "x"}, {"start": 11, "end": 12, "label": "end"}]
    spans += [{"start": 6, "end": 8, "label": "y"}]
    examples, notices = found(tmp_path, lines({**BARE, "spans": spans}))
    assert examples[0].labels == ("B-x", "I-x", "B-end")
    assert notices == [
        "x: spans that begin or end inside a token are extended to whole tokens: "
        "x, line 1: span 3: 'sl' at 6-8 as 'slept'",
        "x: spans that overlap a longer span, or an earlier span of the same length, are left out: x, line 1: span 0: 'Grace' at 0-5, "
        "and 1 more",
    ]


def test_rows_of_a_table_have_one_notice_a_kind(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    spans = [[{"start": 0, "end": 5, "label": "a"}, {"start": 0, "end": 3, "label": "b"}]] * 300
    table = arrow.table({"text": ["Grace slept"] * 300, "entities": spans})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "x.parquet")
    examples, notices = read_with_notices(tmp_path / "x.parquet")
    assert {each.labels for each in examples} == {("B-a", "O")}
    assert len(notices) == 2 and all(": row 1: span 1" in each or "299 more" in each for each in notices)


def test_of_several_labels_the_first_is_read(tmp_path):
    (example,), notices = found(
        tmp_path, lines({"text": "Ada", "label": [{"start": 0, "end": 3, "labels": ["a", "b"]}]})
    )
    assert example.labels == ("B-a",)
    assert notices == [
        "x: only the first label of a span with several labels is read: x, line 1: span 0: a, b"
    ]


def test_offsets_in_units_of_utf_16_are_told_by_the_text_of_the_span(tmp_path):
    text = "\U0001f600 Ada \U0001f600 slept"
    for places in ((3, 6, "Ada"), (2, 5, "Ada"), (2, 5, None)):
        span = {"start": places[0], "end": places[1], "labels": ["PER"]}
        span |= {"text": places[2]} if places[2] else {}
        assert labels(tmp_path, {"text": text, "label": [span]}) == ("O", "B-PER", "O", "O")


def test_line_breaks_in_the_text_of_a_span_may_be_escaped(tmp_path):
    span = {"start": 13, "end": 24, "text": "wrote\\nNotes", "labels": ["x"]}
    assert labels(tmp_path, {"text": TEXT, "label": [span]})[-4:] == ("B-x", "I-x", "O", "O")


def test_spans_are_written_with_the_tokens_and_notes(tmp_path):
    examples, _ = found(tmp_path, lines({"id": 3, **TASK}, BARE, RAW))
    write(examples, tmp_path / "out.jsonl", WriteOptions("spans"))
    first, second, third = map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    spans = [
        {"start": 0, "end": 12, "token_start": 0, "token_end": 2, "label": "name"},
        {"start": 19, "end": 24, "token_start": 4, "token_end": 4, "label": "title"},
    ]
    assert (first["id"], first["meta"], first["text"], first["spans"]) == (3, {"page": 7}, TEXT, spans)
    assert [token["text"] for token in first["tokens"]] == WORDS
    only = {**BARE["spans"][0], "token_start": 0, "token_end": 0}
    assert (second["text"], second["spans"]) == (BARE["text"], [only])
    assert "spans" not in third
    assert pairs(read(tmp_path / "out.jsonl")) == WANTED


def test_sequences_of_other_files_become_texts(tmp_path):
    examples = [Example(("Ada", "slept"), ("name", "O"), "x"), Example(("a", "b"), ("B-x", "E-x"), "x")]
    write(examples[:1], tmp_path / "out.jsonl", WriteOptions("spans"))
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8")) == {
        "text": "Ada slept",
        "tokens": [
            {"text": "Ada", "start": 0, "end": 3, "id": 0, "ws": True},
            {"text": "slept", "start": 4, "end": 9, "id": 1, "ws": False},
        ],
        "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "name"}],
    }
    assert pairs(read(tmp_path / "out.jsonl")) == [(["Ada", "slept"], ["B-name", "O"])]
    write(examples[1:], tmp_path / "out.jsonl", WriteOptions("spans"))
    assert pairs(read(tmp_path / "out.jsonl")) == [(["a", "b"], ["B-x", "I-x"])]
    with pytest.raises(InputError, match="x: labels of scheme paths are nested; take the innermost fields"):
        write([Example(("a",), ("B-x/B-y",), "x")], tmp_path / "new.jsonl", WriteOptions("spans"))


@pytest.mark.parametrize(
    ("labels", "notes"),
    [
        (("B-x",), {"answer": "reject"}),
        (None, {"entities": [1]}),
        (("O",), {"tokenized_text": ["b"], "ner": []}),
    ],
)
def test_notes_that_would_be_read_as_something_else_are_refused(tmp_path, labels, notes):
    with pytest.raises(InputError, match="the sequence that begins with 'Ada' cannot be written as spans"):
        write([Example(("Ada",), labels, "x", about=notes)], tmp_path / "out.jsonl", WriteOptions("spans"))


def test_spans_that_are_null_hide_no_others(tmp_path):
    record = {"text": "Ada slept", "spans": None, "label": [[0, 3, "PER"]]}
    assert labels(tmp_path, record) == ("B-PER", "O")


def test_documents_of_spacy_are_read_as_its_json(tmp_path):
    nlp = pytest.importorskip("spacy").blank("xx")
    doc = nlp("Ada Lovelace\nwrote Notes.")
    doc.ents = [doc.char_span(0, 12, label="name")]
    examples, notices = found(tmp_path, lines(doc.to_json()))
    assert pairs(examples) == [
        (["Ada", "Lovelace", "wrote", "Notes", "."], ["B-name", "I-name", "O", "O", "O"])
    ]
    assert notices == []
