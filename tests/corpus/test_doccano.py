"""Documents of doccano, in the forms of its releases."""

import json

import pytest

from ilpinfer.corpus.sequences import InputError, read

OBJECT = {"id": 7, "label": "PER", "start_offset": 0, "end_offset": 3}


def labels(tmp_path, record):
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": 1, "text": "Ada slept", **record}))
    (example,) = read(tmp_path / "x.jsonl")
    return example.labels


@pytest.mark.parametrize(
    "record",
    [
        {"label": [[0, 3, "PER"]], "Comments": []},
        {"labels": [[0, 3, "PER"]], "meta": {}, "annotation_approver": None},
        {"entities": [OBJECT], "relations": []},
        {"annotations": [OBJECT]},
    ],
)
def test_spans_are_read(tmp_path, record):
    assert labels(tmp_path, record) == ("B-PER", "O")


def test_a_document_without_spans_has_no_field(tmp_path):
    assert labels(tmp_path, {"label": []}) == ("O", "O")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"label": ["good"]}, 'no use for "label" beside "text"'),
        ({"label": [[0, 30, "PER"]]}, "span 0 goes from 0 to 30, beyond the text"),
        ({"annotations": [{**OBJECT, "label": 2}]}, "span 0 has label 2; expected a text"),
        ({"ents": [{"start": 0, "end": 3, "label": "PER"}]}, 'no use for "ents"'),
    ],
)
def test_others_are_refused(tmp_path, record, said):
    with pytest.raises(InputError, match=said):
        labels(tmp_path, record)
