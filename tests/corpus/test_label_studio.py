"""Label Studio's tasks: annotations read from its JSON export, and predictions written for its import."""

import json

import pytest
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.examples import Example
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.writing import WriteOptions, write

TEXT = "Ada Lovelace wrote\nNotes."
WORDS = ["Ada", "Lovelace", "wrote", "Notes", "."]
LABELS = ["B-name", "I-name", "O", "B-title", "O"]


def result(begin, end, label, text=None, **more):
    value = {"start": begin, "end": end, "labels": [label], **({} if text is None else {"text": text})}
    return {"value": value, "id": "a1", "from_name": "ner", "to_name": "body", "type": "labels", **more}


def task(*results, text=TEXT, **more):
    return {"id": 4, "data": {"text": text}, "annotations": [{"id": 9, "result": list(results)}], **more}


SPANS = (result(0, 12, "name", "Ada Lovelace"), result(19, 24, "title"))
OTHERS = (
    {"type": "relation", "from_id": "a1", "to_id": "a2", "direction": "right"},
    {"value": {"choices": ["good"]}, "type": "choices", "from_name": "q", "to_name": "body"},
)
TASK = task(*SPANS, *OTHERS, project=2)


def found(folder, *tasks, indent=None):
    (folder / "x.json").write_text(json.dumps(list(tasks), indent=indent), "utf-8")
    return read_with_notices(folder / "x.json")


@pytest.mark.parametrize("indent", [None, 2])
def test_a_task_is_a_sequence(tmp_path, indent):
    unlabelled, nothing = {"data": {"text": "Nobody looked"}}, task(text="None here")
    empty = {**unlabelled, "annotations": []}
    examples, notices = found(tmp_path, TASK, nothing, unlabelled, empty, indent=indent)
    nobody = (["Nobody", "looked"], None)
    assert pairs(examples) == [(WORDS, LABELS), (["None", "here"], ["O", "O"]), nobody, nobody]
    assert notices == [] and [each.where for each in examples][1] == f"{tmp_path}/x.json, item 2"


def test_the_text_may_have_any_name_where_there_is_only_one(tmp_path):
    examples, _ = found(tmp_path, {"data": {"review": TEXT, "stars": 3}, "annotations": TASK["annotations"]})
    assert pairs(examples) == [(WORDS, LABELS)]


def test_of_several_annotations_one_is_read(tmp_path):
    one, two = {"result": [SPANS[0]]}, {"result": list(SPANS), "ground_truth": True}
    skipped = {"result": [], "was_cancelled": True}
    (example,), notices = found(tmp_path, {**TASK, "annotations": [skipped, one, two]})
    assert list(example.labels) == LABELS
    assert notices == [
        "x: of several annotations of a task the one marked as ground truth is read, or the first: x, item 1"
    ]
    (example,), notices = found(tmp_path, {**TASK, "annotations": [skipped, one]})
    assert example.labels[3] == "O" and notices == []
    examples, notices = found(tmp_path, TASK, {**TASK, "annotations": [skipped]})
    assert len(examples) == 1 and notices == ["x: tasks that their annotators skipped are passed over: 1"]


def test_of_several_labels_the_first_is_read(tmp_path):
    both = result(0, 3, "name")
    both["value"]["labels"].append("other")
    (example,), notices = found(tmp_path, task(both))
    assert example.labels[0] == "B-name"
    assert notices == ["x: of several labels of a span the first is read: x, item 1: result 0: name, other"]


def test_offsets_in_units_of_utf_16_are_told_by_the_text_of_the_span(tmp_path):
    text = "\U0001f600 Ada \U0001f600 slept"
    by_units = task(result(3, 6, "name", "Ada"), result(10, 15, "verb", "slept"), text=text)
    by_characters = task(result(2, 5, "name", "Ada"), result(8, 13, "verb", "slept"), text=text)
    without_text = task(result(2, 5, "name"), result(8, 13, "verb"), text=text)
    examples, notices = found(tmp_path, by_units, by_characters, without_text)
    words = ["\U0001f600", "Ada", "\U0001f600", "slept"]
    assert pairs(examples) == [(words, ["O", "B-name", "O", "B-verb"])] * 3
    assert notices == []


def test_line_breaks_in_the_text_of_a_span_may_be_escaped(tmp_path):
    (example,), _ = found(tmp_path, task(result(13, 24, "x", "wrote\\nNotes")))
    assert example.labels == ("O", "O", "B-x", "I-x", "O")


def test_predictions_stand_beside_the_annotations(tmp_path):
    (example,), _ = found(tmp_path, TASK)
    new = example.with_labels(["O", "B-x", "I-x", "O", "O"])
    write([new], tmp_path / "out.json", WriteOptions(predicted=True))
    (written,) = json.loads((tmp_path / "out.json").read_text())
    predictions = written.pop("predictions")
    assert written == TASK
    value = {"start": 4, "end": 18, "text": "Lovelace wrote", "labels": ["x"]}
    span = {"id": "span-0", "from_name": "ner", "to_name": "body", "type": "labels", "value": value}
    assert predictions == [{"model_version": "ilpinfer", "result": [span]}]
    assert read(tmp_path / "out.json")[0].labels == example.labels
    write([example.with_labels(None)], tmp_path / "none.json", WriteOptions(predicted=True))
    assert json.loads((tmp_path / "none.json").read_text()) == [TASK]


def test_sequences_of_other_files_become_annotated_tasks(tmp_path):
    examples = [Example(("Ada", "slept"), ("B-name", "O"), "x"), Example(("No",), None, "x")]
    write(examples, tmp_path / "out.json")
    first, second = json.loads((tmp_path / "out.json").read_text())
    assert first["annotations"][0]["result"][0]["value"]["text"] == "Ada" and "predictions" not in first
    assert (first["annotations"][0]["result"][0]["from_name"], second) == ("label", {"data": {"text": "No"}})
    assert pairs(read(tmp_path / "out.json")) == pairs(examples)


def test_gold_labels_are_read_again(tmp_path):
    examples, _ = found(tmp_path, TASK)
    write(examples, tmp_path / "out.json")
    assert pairs(read(tmp_path / "out.json")) == pairs(examples) == [(WORDS, LABELS)]
