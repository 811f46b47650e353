"""Label Studio's JSON export, a list of tasks; offsets count code points, or UTF-16 units where a span's own text shows that."""

from collections.abc import Iterable
from typing import Any

from formulations.messages import brief
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.passages import Doubts, Passage, Span
from ilpinfer.corpus.tasks import place, task_example, text_value

SKIPPED = "tasks that their annotators skipped are passed over"
SEVERAL = "of several annotations of a task the one marked as ground truth is read, or the first"
MORE_LABELS = "of several labels of a span the first is read"
_NAMES = {"from_name": "label", "to_name": "text"}
"""Names of the tags of Label Studio's template for named entities."""


def is_task(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("data"), dict)


def example(record: dict[str, Any], where: str, doubts: Doubts) -> Example | None:
    """The sequence of a task, without labels where nobody annotated it; None for one that was skipped."""
    text = _text(record["data"], where)
    annotations = record.get("annotations", record.get("completions"))
    if not annotations:
        return task_example(record, "label-studio", text, None, where, doubts)
    if not isinstance(annotations, list) or not all(isinstance(each, dict) for each in annotations):
        raise InputError(
            f'{where}: "annotations" is {brief(annotations)}; expected a list of objects with "result"'
        )
    kept = [each for each in annotations if not each.get("was_cancelled")]
    if not kept:
        doubts.add(SKIPPED, "")
        return None
    if len(kept) > 1:
        doubts.add(SEVERAL, where)
    chosen = next((each for each in kept if each.get("ground_truth")), kept[0])
    spans = list(_spans(chosen.get("result"), text, where, doubts))
    return task_example(record, "label-studio", text, spans, where, doubts)


def _text(data: dict[str, Any], where: str) -> str:
    """The text of a task: under `text`, or the only one there is."""
    if "text" in data:
        return text_value(data, "text", f"{where}: data")
    texts = [key for key, value in data.items() if isinstance(value, str)]
    if len(texts) != 1:
        keys = ", ".join(map(repr, data)) or "nothing"
        raise InputError(f'{where}: data has {keys}; expected the text under "text"')
    return text_value(data, texts[0], f"{where}: data")


def _spans(results: Any, text: str, where: str, doubts: Doubts) -> Iterable[Span]:
    if not isinstance(results, list):
        raise InputError(f'{where}: "result" of an annotation is {brief(results)}; expected a list')
    for number, entry in enumerate(results):
        what = f"{where}: result {number}"
        value = entry.get("value") if isinstance(entry, dict) else None
        if not isinstance(value, dict):
            if isinstance(entry, dict) and "value" not in entry:  # a relation
                continue
            raise InputError(f'{what} is {brief(entry)}; expected an object with "value"')
        labels = value.get("labels", value.get("hypertextlabels", value.get("paragraphlabels")))
        if labels is None:  # a choice, a rating or another answer about the whole text
            continue
        if not isinstance(labels, list) or not labels or not all(isinstance(each, str) for each in labels):
            raise InputError(f'{what}: "labels" is {brief(labels)}; expected a list of texts')
        for key in ("start", "end"):
            if type(value.get(key)) is not int:
                raise InputError(
                    f'{what}: "{key}" is {brief(value.get(key))}; expected a whole number, as spans of plain text have it, '
                    "not those of HTML or dialogues"
                )
        begin, end = _place(value, text, what)
        if len(labels) > 1:
            doubts.add(MORE_LABELS, f"{what}: {', '.join(labels)}")
        yield Span(begin, end, labels[0], what)


def _place(value: dict[str, Any], text: str, what: str) -> tuple[int, int]:
    given = value.get("text")
    if isinstance(given, str) and _plain(text[value["start"] : value["end"]]) != _plain(given):
        units = _from_utf_16(text, value)
        if units is None or _plain(text[units[0] : units[1]]) != _plain(given):
            there = brief(text[slice(*place(value, text, what))])
            raise InputError(
                f"{what} is {brief(given)}, but {there} stands there; is the text another than was annotated?"
            )
        return units
    return place(value, text, what)


def _plain(text: str) -> str:
    """A text without the ways in which line breaks and spaces are exported."""
    return "".join(text.replace("\\n", "\n").split())


def _from_utf_16(text: str, value: dict[str, Any]) -> tuple[int, int] | None:
    """Begin and end in characters, from positions in units of UTF-16; None for an invalid position."""
    data = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= 2 * value["start"] < 2 * value["end"] <= len(data):
        return None
    try:
        begin, end = (len(data[: 2 * value[key]].decode("utf-16-le")) for key in ("start", "end"))
    except UnicodeDecodeError:
        return None
    return begin, end


def task(passage: Passage, spans: list[Span] | None, predicted: bool) -> dict[str, Any]:
    """A task with spans: the one that a passage came from, or a new one."""
    known = passage.format == "label-studio"
    result = dict(passage.record) if known else {"data": {"text": passage.text}}
    if spans is None:
        return result
    names = _names(result) if known else _NAMES
    entries = [
        {
            "id": f"span-{number}",
            **names,
            "type": "labels",
            "value": {
                "start": span.begin,
                "end": span.end,
                "text": passage.text[span.begin : span.end],
                "labels": [span.label],
            },
        }
        for number, span in enumerate(spans)
    ]
    if predicted:
        others = [each for each in result.get("predictions") or [] if isinstance(each, dict)]
        result["predictions"] = [*others, {"model_version": "ilpinfer", "result": entries}]
    else:
        result["annotations"] = [{"result": entries}]
    return result


def _names(record: dict[str, Any]) -> dict[str, str]:
    for annotation in record.get("annotations") or record.get("completions") or []:
        for entry in annotation.get("result") or []:
            if all(isinstance(entry.get(key), str) for key in _NAMES):
                return {key: entry[key] for key in _NAMES}
    return dict(_NAMES)
