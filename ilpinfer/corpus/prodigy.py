"""Prodigy's JSON lines: a task a line, with `text`, `spans` and `tokens`; offsets count code points."""

from typing import Any

from formulations.messages import brief
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.passages import Doubts, Offsets, Passage, Span
from ilpinfer.corpus.tasks import place, task_example, text_value

REFUSED = ("reject", "ignore")
"""Answers of tasks, and of spans, that are not taken."""
PASSED_OVER = "tasks that were rejected or ignored are passed over"
_OF_OTHERS = ("label", "labels", "entities", "ents", "annotations")
"""Keys of labels in records of other tools and of text classification."""


def is_task(record: Any) -> bool:
    """Whether a record is a task: it has a text or spans, and neither texts for tokens nor candidates."""
    if not isinstance(record, dict) or "candidates" in record or not {"text", "spans"} & record.keys():
        return False
    tokens = record.get("tokens", [])
    return isinstance(tokens, list) and all(isinstance(token, dict) for token in tokens)


def example(record: dict[str, Any], where: str, doubts: Doubts) -> Example | None:
    """The sequence of a task; None for one that was rejected or ignored."""
    text = text_value(record, "text", where)
    for key in _OF_OTHERS:
        if key in record and "spans" not in record:
            raise InputError(
                f'{where}: no use for "{key}" beside "text"; give labels as "spans": '
                '[{"start": 0, "end": 3, "label": "name"}], or for each of "tokens"'
            )
    if record.get("answer") in REFUSED:
        doubts.add(PASSED_OVER, "")
        return None
    offsets = _tokens(record.get("tokens"), text, where)
    return task_example(record, "prodigy", text, _spans(record, text, where), where, doubts, offsets)


def _tokens(tokens: Any, text: str, where: str) -> Offsets | None:
    """The places of tokens, without those of white space; None where there are none."""
    if not tokens:
        return None
    result = list[tuple[int, int]]()
    for number, token in enumerate(tokens):
        what = f"{where}: token {number}"
        begin, end = place(token, text, what)
        if token.get("text", text[begin:end]) != text[begin:end]:
            raise InputError(
                f"{what} is {brief(token['text'])}, but {brief(text[begin:end])} stands at {begin}-{end}"
            )
        if result and begin < result[-1][1]:
            raise InputError(f"{what} begins at {begin}, before the end of the token before it")
        result.append((begin, end))
    return tuple((begin, end) for begin, end in result if not text[begin:end].isspace())


def _spans(record: dict[str, Any], text: str, where: str) -> list[Span] | None:
    spans = record.get("spans")
    if spans is None:
        return None
    if not isinstance(spans, list):
        raise InputError(f'{where}: "spans" is {brief(spans)}; expected a list')
    result = []
    for number, span in enumerate(spans):
        what = f"{where}: span {number}"
        begin, end = place(span, text, what)
        if span.get("answer") not in REFUSED:
            result.append(Span(begin, end, text_value(span, "label", what), what))
    return result


def task(passage: Passage, spans: list[Span] | None, predicted: bool) -> dict[str, Any]:
    """A task with spans: the one that a passage came from, or a new one; a predicted one has no answer."""
    if passage.format == "prodigy":
        left_out = ("spans", "_task_hash", *(("answer",) if predicted else ()))
        result = {key: value for key, value in passage.record.items() if key not in left_out}
    else:
        result = {"text": passage.text}
    tokens = result["tokens"] = result.get("tokens") or _tokens_of(passage)
    if spans is not None:
        first = {token["start"]: at for at, token in enumerate(tokens)}
        last = {token["end"]: at for at, token in enumerate(tokens)}
        result["spans"] = [
            {
                "start": span.begin,
                "end": span.end,
                "token_start": first[span.begin],
                "token_end": last[span.end],
                "label": span.label,
            }
            for span in spans
        ]
        if not predicted:
            result.setdefault("answer", "accept")
    return result


def _tokens_of(passage: Passage) -> list[dict[str, Any]]:
    text = passage.text
    return [
        {"text": text[begin:end], "start": begin, "end": end, "id": at, "ws": text[end : end + 1].isspace()}
        for at, (begin, end) in enumerate(passage.offsets)
    ]
