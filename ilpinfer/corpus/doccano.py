"""Documents of doccano: a text with spans as lists or objects; offsets count code points."""

from typing import Any

from formulations.messages import brief
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.passages import Doubts, Span
from ilpinfer.corpus.tasks import place, task_example, text_value

KEYS = ("label", "labels", "entities", "annotations")
"""Keys that releases of doccano have for spans."""


def is_document(record: Any) -> bool:
    """Whether a record has a text and, under one of the keys, a list of spans, which may be empty."""
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return False
    if {"candidates", "spans", "tokens"} & record.keys():
        return False
    listed = [record[key] for key in KEYS if isinstance(record.get(key), list)]
    return bool(listed) and all(_is_span(each) for spans in listed for each in spans)


def _is_span(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) == 3 and isinstance(value[2], str)
    return isinstance(value, dict) and {"start_offset", "end_offset"} <= value.keys()


def example(record: dict[str, Any], where: str, doubts: Doubts) -> Example:
    """The sequence of a document."""
    text = text_value(record, "text", where)
    found = [each for key in KEYS for each in record.get(key) or ()]
    spans = [_span(each, text, f"{where}: span {number}") for number, each in enumerate(found)]
    return task_example(record, "doccano", text, spans, where, doubts)


def _span(value: Any, text: str, what: str) -> Span:
    if isinstance(value, list):
        begin, end, label = value
    else:
        begin, end, label = value["start_offset"], value["end_offset"], value.get("label")
    if not isinstance(label, str) or not label:
        raise InputError(
            f"{what} has label {brief(label)}; expected a text, as the export of doccano as JSONL has it"
        )
    return Span(*place({"start": begin, "end": end}, text, what), label, what)
