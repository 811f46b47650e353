"""Sequences from JSON objects: one a line, a single one, or an array; tasks of annotation tools are known by their keys."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.dtypes import Floats
from formulations.errors import InferenceError
from formulations.grid import snap
from formulations.messages import counted, cut, near_name
from formulations.plain_values import positions, repeated
from formulations.plain_values import text as plain_text
from ilpinfer.core.solution_fields import ABOUT, OWN
from ilpinfer.corpus import label_studio, prodigy
from ilpinfer.corpus.archives import SHARED_ARRAYS, scores_of
from ilpinfer.corpus.candidates import EXAMPLE, read_candidates
from ilpinfer.corpus.column_form import ColumnNames
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.passages import Doubts
from ilpinfer.corpus.scores import Scores
from ilpinfer.corpus.tokens import with_columns

TEXT_KEYS = ("tokens", "labels", "given", "columns", "rank", "ranks", "sequence")
"""Keys of a sequence without scores; `rank`, `ranks` and `sequence` are those of rows of `ilpinfer decode`."""
DENSE_KEYS = ("start", "first", "edges")
"""Keys of scores for each edge; `first` belongs to models of second order."""
FACTORED_KEYS = ("emissions", "transitions", "start", "first", "end")
"""Keys of scores for tokens and transitions."""
LOGITS_KEYS = ("logits", "word_ids", *(key for key in SHARED_ARRAYS if key != "label_names"))
TRELLIS_KEYS = ("scheme", "optional_fields")
"""Keys that `Trellis.to_dict` has beside tokens, names of labels and scores."""
CANDIDATE_KEYS = ("candidates", "offsets", "threshold", "prior", "fields")
"""Keys of candidate spans, of `text` or of tokens."""
GENERAL_KEYS = ("node", "pool", "step")
"""Keys of the scores of trellises that were joined, as `Trellis.to_dict` writes them."""
EXPECTED = 'expected an object such as {"tokens": ["Ada", "."], "labels": ["name", "O"]} on each line'

KEYS = tuple(
    dict.fromkeys(
        (
            *TEXT_KEYS,
            "label_names",
            *FACTORED_KEYS,
            *DENSE_KEYS,
            *LOGITS_KEYS,
            *GENERAL_KEYS,
            *TRELLIS_KEYS,
            *CANDIDATE_KEYS,
            *ABOUT,
        )
    )
)
"""All keys of a record that mean something; rows of results repeat further ones."""
_SCORE_KEYS = ("logits", "emissions", "edges", "transitions", "start", "first", "end", *GENERAL_KEYS)


OTHER_NAMES = {"words": "tokens", **dict.fromkeys(("tags", "ner_tags", "gold"), "labels")}
"""Names that other files have for tokens and labels."""


USUAL = ColumnNames()
"""No names of a user's own for tokens and labels."""


class DuplicateKey(InferenceError, ValueError): ...


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise DuplicateKey(f"{repeated(pairs)!r} is given twice in one object; give it once")
    return result


def json_lines(
    lines: Lines, reading: LogitsOptions | None, notify: Notify, names: ColumnNames = USUAL
) -> Iterator[Example | Rejection]:
    """One example for each non-empty line; lines that state none are rejected."""
    doubts = Doubts(lines.name)
    for number, line in lines:
        if isinstance(line, Rejection):
            yield line
        elif line.strip():
            yield from _read(line, lines.name, "line", number, reading, doubts, names)
    doubts.tell(notify)


def json_array(
    text: str, name: str, reading: LogitsOptions | None, notify: Notify, names: ColumnNames = USUAL
) -> Iterator[Example | Rejection]:
    """The sequences of a text that holds a list of objects; InputError where it holds none."""
    records = parse(text, name)
    if not records:
        raise InputError(f"{name}: an empty list; {EXPECTED}")
    doubts = Doubts(name)
    for number, record in enumerate(records, 1):
        yield from _read(record, name, "item", number, reading, doubts, names)
    doubts.tell(notify)


def read_rows(
    rows: Iterable[dict[str, Any]], name: str, begin: int, reading: LogitsOptions | None, names: ColumnNames
) -> Iterator[Example | Rejection]:
    """The sequences of rows of a table, which are numbered from `begin`."""
    for number, row in enumerate(rows, begin):
        yield from _read(row, name, "row", number, reading, Doubts(name), names)


def _read(
    record: Any,
    name: str,
    what: str,
    number: int,
    reading: LogitsOptions | None,
    doubts: Doubts,
    names: ColumnNames,
) -> Iterator[Example | Rejection]:
    """The sequence of a record or of a line of JSON, or why there is none; nothing for a task that is passed over."""
    where = f"{name}, {what} {number}"
    try:
        record = _usual_keys(parse(record, where) if what == "line" else record, names, where)
        item = _any_example(record, where, reading, doubts)
    except InputError as error:
        yield Rejection(name, number, str(error))
    else:
        if item is not None:
            yield replace(item, file=name, line=number)


def takes(names: ColumnNames, key: str) -> bool:
    """Whether a key is that of tokens or labels by the names of a user, or of labels that are left out."""
    return key in (names.token, names.label) or (names.unlabelled and OTHER_NAMES.get(key) == "labels")


def _usual_keys(record: Any, names: ColumnNames, where: str) -> Any:
    """The record with the keys that a user names for tokens and labels under their usual names."""
    if not names or not isinstance(record, dict):
        return record
    token, label = names.token or "tokens", "" if names.unlabelled else names.label
    absent = next((key for key in (token, label) if key and key not in record), None)
    if absent is not None:
        keys = cut(", ".join(map(json.dumps, list(record)[:20])), 500)
        raise InputError(f"{where}: no key {json.dumps(absent)} for the column, but {keys}")
    result = {key: value for key, value in record.items() if key != "labels" and not takes(names, key)}
    return {**result, "tokens": record[token], "labels": record.get(label)}


def parse(text: str, where: str, expected: str = EXPECTED) -> Any:
    """The value of a text of JSON; InputError where it is none."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON: {error}; {expected}") from None
    except DuplicateKey as error:
        raise InputError(f"{where}: {error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where}: a number is too long, or lists are nested too deeply") from None


def _any_example(record: Any, where: str, reading: LogitsOptions | None, doubts: Doubts) -> Example | None:
    """The sequence of an object or of a task; None for a task that is passed over."""
    if label_studio.is_task(record):
        return label_studio.example(record, where, doubts)
    if prodigy.is_task(record):
        return prodigy.example(record, where, doubts)
    return example(record, where, reading)


def example(record: Any, where: str, reading: LogitsOptions | None) -> Example:
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a JSON object, not {_kind(record)}; {EXPECTED}")
    try:
        return _example(record, where, reading)
    except RecursionError:
        raise InputError(f"{where}: lists are nested too deeply") from None


def _example(record: dict[str, Any], where: str, reading: LogitsOptions | None) -> Example:
    is_output = {"status", "method"} <= record.keys()  # of `ilpinfer decode`: its rows have other fields
    if "candidates" in record and not is_output:
        return _of_candidates(record, where)
    if not is_output:
        _check_keys(record, where)
    scored = not is_output and any(key in record for key in _SCORE_KEYS)
    tokens = _names(record.get("tokens", []), f"{where}: tokens")
    if not tokens and not scored:
        raise InputError(f'{where}: an empty sequence; expected "tokens" with at least one token, or scores')
    if "columns" in record:
        tokens = _with_columns(tokens, record["columns"], f"{where}: columns")
    labels = None if record.get("labels") is None else _names(record["labels"], f"{where}: labels")
    if labels is not None and tokens and len(labels) != len(tokens):
        raise InputError(f"{where}: {counted(len(labels), 'label')} for {counted(len(tokens), 'token')}")
    rank = record.get("rank", 1)
    if not isinstance(rank, int) or isinstance(rank, bool):
        raise InputError(f"{where}: rank is {_kind(rank)}; expected a whole number")
    scores = _scores(record, where, reading) if scored else None
    about = _about(record)
    known = {} if is_output else _given(record.get("given", {}), where)
    return Example(tokens, labels, where, scores, rank, about=about, given=known)


def _of_candidates(record: dict[str, Any], where: str) -> Example:
    """The sequence of a record with candidate spans, whose scores are made of them."""
    _check_notes(record, where)
    known_keys = (*CANDIDATE_KEYS, "text", "tokens", "given", *ABOUT)
    odd = next((key for key in record if key in KEYS and key not in known_keys), None)
    if odd is not None:
        raise InputError(f"{where}: {odd} does not go with candidates; leave it out")
    if ("text" in record) == ("tokens" in record):
        raise InputError(f"{where}: candidates need a text or tokens; give one of them")
    text = record["text"] if "text" in record else _names(record["tokens"], f"{where}: tokens")
    if not isinstance(text, str | tuple):
        raise InputError(f"{where}: text is {_kind(text)}; expected a text")
    listed = record["candidates"]
    if not isinstance(listed, list):
        raise InputError(f"{where}: candidates is {_kind(listed)}; expected a list such as [{EXAMPLE}]")
    options = {key: record[key] for key in ("offsets", "threshold", "prior") if key in record}
    fields = _names(record.get("fields", []), f"{where}: fields")
    try:
        group, _ = read_candidates(text, listed, fields=fields, **options)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
    about = {key: value for key, value in _about(record).items() if key != "text"}
    known = _given(record.get("given", {}), where)
    return Example(group.tokens, None, where, group.scores, about=about, given=known, candidates=group)


def _given(value: Any, where: str) -> dict[int, str]:
    """Label names by token; null is no label, as tables have it."""
    try:
        labels = positions(value, "given").items()
        return {t: plain_text(label, f'given["{t}"]') for t, label in labels if label is not None}
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _about(record: dict[str, Any]) -> dict[str, Any]:
    """The notes about a sequence, which rows repeat."""
    return {
        key: value for key, value in record.items() if key in ABOUT or (key not in OWN and key not in KEYS)
    }


def _check_notes(record: dict[str, Any], where: str) -> None:
    for key in record:
        if mistake := mistaken(key):
            raise InputError(f"{where}: no use for {json.dumps(key[:60], ensure_ascii=False)}{mistake}")
    for key, value in _about(record).items():
        try:
            json.dumps([key, value], ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            raise InputError(
                f"{where}: {key[:60]!a} has NaN, an infinity or half of a surrogate pair; write null, or a text"
            ) from None


def _check_keys(record: dict[str, Any], where: str) -> None:
    _check_notes(record, where)
    lone = [key for key in CANDIDATE_KEYS if key in record]
    if lone:
        raise InputError(f"{where}: {lone[0]} goes with candidates; add them, or leave it out")
    present = [key for key in _SCORE_KEYS if key in record]
    if not present:
        if "word_ids" in record:
            raise InputError(f"{where}: word_ids goes with logits; add them, or leave it out")
        return
    allowed, needed = _form(record)
    if not needed <= record.keys():
        raise InputError(
            f"{where}: has {', '.join(sorted(present))}; expected start and edges, or emissions and transitions"
        )
    main = next(key for key in ("logits", "edges", "node", "emissions") if key in allowed)
    for key in ("logits", "edges", "node", "emissions"):
        if key in record and key not in allowed:
            raise InputError(f"{where}: has both {main} and {key}; give one of them")
    for key in (*_SCORE_KEYS, *LOGITS_KEYS):
        if key in record and key not in allowed:
            if key == "end":
                hint = "end goes with emissions and transitions; add it to the last edges"
            else:
                hint = f"{key} does not go with {main}; leave it out"
            raise InputError(f"{where}: {hint}")


def mistaken(key: str) -> str:
    """Why a key cannot be a note of one's own, with the way out; empty if it can, or means something."""
    if key in KEYS:
        return ""
    if key in OWN:
        return '; rows of results or requests use this name, put a note under "metadata" or another name'
    near = OTHER_NAMES.get(key.lower()) or near_name(key, (name for name in KEYS if name not in ABOUT))
    if not near:
        return ""
    way = "--column of the command line takes other keys; " if near in ("tokens", "labels") else ""
    return f'; did you mean "{near}"? {way}a note with such a name goes under "metadata"'


def _form(record: dict[str, Any]) -> tuple[tuple[str, ...], set[str]]:
    """Keys that the scores may have, and those that they must have."""
    if "logits" in record:
        return LOGITS_KEYS, {"logits"}
    if "edges" in record:
        return DENSE_KEYS, {"start", "edges"}
    if "node" in record:
        return GENERAL_KEYS, set(GENERAL_KEYS)
    return FACTORED_KEYS, {"emissions", "transitions"}


def _scores(record: dict[str, Any], where: str, reading: LogitsOptions | None) -> Scores:
    allowed, _ = _form(record)
    values = {key: _null_as_forbidden(record[key]) for key in allowed if key in record and key != "word_ids"}
    given, what = record.get("label_names"), f"{where}: label_names"
    if "logits" in record:
        if isinstance(given, dict):
            values["label_names"] = dict(zip(given, _names(list(given.values()), what), strict=True))
        elif given is not None:
            values["label_names"] = _names(given, what)
        if "word_ids" in record:
            values["word_ids"] = record["word_ids"]
        return scores_of(values, where, reading or LogitsOptions())
    names = None if given is None else _names(given, what)
    own: dict[str, Any] = {}
    if "scheme" in record or "optional_fields" in record:
        fields = _names(record.get("optional_fields", []), f"{where}: optional_fields")
        scheme = record.get("scheme", "")
        if not isinstance(scheme, str):
            raise InputError(f"{where}: scheme is {_kind(scheme)}; expected a text such as bio")
        own = {"scheme": scheme, "optional_fields": fields}
    try:
        if "node" in record:
            return _step_scores(names, record, own)
        arrays: dict[str, Any] = {key: _array(value, key) for key, value in values.items()}
        return Scores(names, **arrays, **own)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _step_scores(names: tuple[str, ...] | None, record: dict[str, Any], own: dict[str, Any]) -> Scores:
    """Scores of each step, of a trellis that was joined."""
    known = {"tokens": [""] * len(record["node"]), "label_names": names, "scheme": "plain"}
    scores = {key: record[key] for key in GENERAL_KEYS}
    trellis = Trellis.from_dict({**known, **scores})
    return Scores(names, start=trellis.start, first=trellis.first, edges=trellis.edges, **own)


def _array(value: Any, what: str) -> Floats:
    """Numbers in nested lists as an array; ValueError for numbers that the score grid refuses."""
    snap(value, what)
    return np.asarray(value, np.float64)


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise InputError(f"{what} is not a list of texts")
    for text in value:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{what}: {text!a} has half of a surrogate pair, which is no text") from None
    return tuple(value)


def _with_columns(tokens: tuple[str, ...], columns: Any, what: str) -> tuple[str, ...]:
    if not isinstance(columns, dict):
        raise InputError(f'{what} is {_kind(columns)}; expected an object such as {{"pos": ["NNP", "VBD"]}}')
    cells = {name: _names(value, f"{what}: {name}") for name, value in columns.items()}
    try:
        return with_columns(tokens, cells)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None


def _kind(value: Any) -> str:
    kinds = {list: "a list", dict: "an object", str: "a text", type(None): "null", bool: "true or false"}
    return kinds.get(type(value), "a number")


def _null_as_forbidden(value: Any) -> Any:
    """Nested lists with -inf in place of null."""
    if isinstance(value, list):
        return [_null_as_forbidden(v) for v in value]
    return float("-inf") if value is None else value
