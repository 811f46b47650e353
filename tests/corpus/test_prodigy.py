"""Prodigy's tasks: text, tokens and spans, read from JSON lines and lists, and written back."""

import io
import json

import pytest
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.writing import WriteOptions, write

TEXT = "Ada-Lovelace wrote\nNotes \U0001f600."


def tokens(text, *places):
    return [
        {"text": text[begin:end], "start": begin, "end": end, "id": at, "ws": text[end : end + 1] == " "}
        for at, (begin, end) in enumerate(places)
    ]


TASK = {
    "text": TEXT,
    "tokens": tokens(TEXT, (0, 3), (3, 4), (4, 12), (13, 18), (18, 19), (19, 24), (25, 26), (26, 27)),
    "spans": [
        {"start": 0, "end": 12, "token_start": 0, "token_end": 2, "label": "name"},
        {"start": 19, "end": 24, "token_start": 5, "token_end": 5, "label": "title"},
        {"start": 13, "end": 18, "token_start": 3, "token_end": 3, "label": "verb", "answer": "reject"},
    ],
    "meta": {"page": 7},
    "_input_hash": 1,
    "_task_hash": 2,
    "answer": "accept",
}
WORDS = ["Ada", "-", "Lovelace", "wrote", "Notes", "\U0001f600", "."]
LABELS = ["B-name", "I-name", "I-name", "O", "B-title", "O", "O"]
BARE = {"text": "Grace slept.", "spans": [{"start": 0, "end": 5, "label": "name"}]}
RAW = {"text": "Nobody looked."}
REJECTED = {**TASK, "answer": "reject"}


def lines(*records):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


def found(folder, text, name="x.jsonl"):
    (folder / name).write_text(text, "utf-8")
    return read_with_notices(folder / name)


WANTED = [(WORDS, LABELS), (["Grace", "slept", "."], ["B-name", "O", "O"]), (["Nobody", "looked", "."], None)]


@pytest.mark.parametrize(
    "text",
    [
        lines(TASK, BARE, RAW),
        json.dumps([TASK, BARE, RAW]),
        json.dumps([TASK, BARE, RAW], indent=2),
        "\ufeff" + lines(TASK, BARE, RAW),
    ],
)
def test_a_task_is_a_sequence(tmp_path, text):
    examples, notices = found(tmp_path, text, "x")
    assert pairs(examples) == WANTED and notices == []
    assert [each.line for each in examples] == [1, 2, 3]


def test_tasks_come_from_standard_input(tmp_path, monkeypatch, cli):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines(TASK).encode())))
    code, out, _ = cli("convert - - --to json")
    assert code == 0 and json.loads(out) == {"tokens": WORDS, "labels": LABELS}


def test_rejected_and_ignored_tasks_are_passed_over(tmp_path):
    examples, notices = found(tmp_path, lines(REJECTED, BARE, {**RAW, "answer": "ignore"}))
    assert pairs(examples) == WANTED[1:2]
    assert notices == ["x: tasks that were rejected or ignored are passed over: 2"]
    with pytest.raises(InputError, match=r"x\.jsonl: no sequence"):
        found(tmp_path, lines(REJECTED))


def test_records_of_other_kinds_may_stand_beside_tasks(tmp_path):
    examples, _ = found(tmp_path, lines({"tokens": ["Ada"], "labels": ["O"]}, BARE))
    assert pairs(examples) == [(["Ada"], ["O"]), WANTED[1]]


def test_spans_that_overlap_or_end_within_tokens_are_told(tmp_path):
    spans = [*BARE["spans"], {"start": 0, "end": 11, "label": "x"}, {"start": 11, "end": 12, "label": "end"}]
    spans += [{"start": 6, "end": 8, "label": "y"}]
    examples, notices = found(tmp_path, lines({**BARE, "spans": spans}))
    assert examples[0].labels == ("B-x", "I-x", "B-end")
    assert notices == [
        "x: spans that do not begin and end between tokens are read as the whole tokens that they touch: "
        "x, line 1: span 3: 'sl' at 6-8 as 'slept'",
        "x: spans that overlap longer ones, or earlier ones of the same length, are left out: x, line 1: span 0: 'Grace' at 0-5, "
        "and 1 more",
    ]


def test_gold_labels_are_written_as_they_were(tmp_path):
    examples, _ = found(tmp_path, lines(TASK, BARE, RAW))
    write(examples, tmp_path / "out.jsonl", WriteOptions("prodigy"))
    first, second, third = map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    changed = {"spans": TASK["spans"][:2], "_task_hash": 2}
    assert {**first, "_task_hash": 2} == {**TASK, **changed}
    assert second == {
        "text": BARE["text"],
        "answer": "accept",
        "tokens": tokens(BARE["text"], (0, 5), (6, 11), (11, 12)),
        "spans": [{"start": 0, "end": 5, "token_start": 0, "token_end": 0, "label": "name"}],
    }
    assert third == {"text": RAW["text"], "tokens": tokens(RAW["text"], (0, 6), (7, 13), (13, 14))}
    assert pairs(read(tmp_path / "out.jsonl")) == WANTED


def test_predicted_labels_have_no_answer(tmp_path):
    (example,), _ = found(tmp_path, lines(TASK))
    labels = ["O", "O", "O", "B-verb", "I-verb", "O", "O"]
    write([example.with_labels(labels)], tmp_path / "out.jsonl", WriteOptions("prodigy", predicted=True))
    task = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    assert "answer" not in task and "_task_hash" not in task
    assert (task["meta"], task["_input_hash"], task["tokens"]) == (TASK["meta"], 1, TASK["tokens"])
    assert task["spans"] == [{"start": 13, "end": 24, "token_start": 3, "token_end": 5, "label": "verb"}]
    write([example.with_labels(None)], tmp_path / "no.jsonl", WriteOptions("prodigy", predicted=True))
    assert "spans" not in json.loads((tmp_path / "no.jsonl").read_text("utf-8"))


def test_sequences_of_other_files_become_tasks(tmp_path):
    examples = [Example(("Ada", "slept"), ("name", "O"), "x")]
    write(examples, tmp_path / "out.jsonl", WriteOptions("prodigy"))
    task = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    assert (task["text"], task["spans"][0]["label"], task["answer"]) == ("Ada slept", "name", "accept")
    assert pairs(read(tmp_path / "out.jsonl")) == [(["Ada", "slept"], ["B-name", "O"])]


def test_a_task_with_an_empty_list_of_tokens_gets_some(tmp_path):
    (example,), _ = found(tmp_path, lines({**BARE, "tokens": []}))
    write([example], tmp_path / "out.jsonl", WriteOptions("prodigy"))
    task = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    assert task["tokens"] == tokens(BARE["text"], (0, 5), (6, 11), (11, 12))
