"""What tasks of annotation tools share: their texts, places and sequences."""

from typing import Any

from formulations.messages import brief
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.passages import Doubts, Offsets, Passage, Span, labels_of, token_offsets


def text_value(values: Any, key: str, where: str) -> str:
    value = values.get(key) if isinstance(values, dict) else None
    if not isinstance(value, str) or not value:
        raise InputError(f'{where}: "{key}" is {brief(value)}; expected a text')
    return value


def place(values: Any, text: str, what: str) -> tuple[int, int]:
    """Begin and end of a span or token, from `start` and `end`; InputError for positions outside the text."""
    begin, end = (values.get(key) if isinstance(values, dict) else None for key in ("start", "end"))
    if type(begin) is not int or type(end) is not int:
        raise InputError(f'{what} has no whole numbers "start" and "end": {brief(values)}')
    if not 0 <= begin < end:
        raise InputError(f"{what} goes from {begin} to {end}; expected 0 <= start < end")
    if end > len(text):
        raise InputError(
            f"{what} goes from {begin} to {end}, beyond the text, which has {len(text)} characters"
        )
    return begin, end


def task_example(
    record: Any,
    format_: str,
    text: str,
    spans: list[Span] | None,
    where: str,
    doubts: Doubts,
    offsets: Offsets | None = None,
) -> Example:
    """The sequence of a task."""
    offsets = token_offsets(text) if offsets is None else offsets
    labels = None if spans is None else labels_of(spans, text, offsets, doubts)
    passage = Passage(text, offsets, "", format_, record)
    return Example(passage.tokens, labels, where, passage=passage)
