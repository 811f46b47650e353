"""A sequence from a JSON object."""

from typing import Any

from formulations import Trellis
from formulations.dtypes import Floats
from formulations.grid import snap
from formulations.labels.names import label_names
from formulations.messages import counted
from formulations.problem.known_labels import Known, read_given
from formulations.score_numbers import one_notice, score_array
from ilpinfer.core.solution_fields import ABOUT
from ilpinfer.corpus.archives import scores_of
from ilpinfer.corpus.candidates import EXAMPLE, read_candidates
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.label_names import names_of_tags
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.record_keys import (
    CANDIDATE_KEYS,
    FORMS,
    GENERAL_KEYS,
    KEYS,
    SCORE_KEYS,
    TRELLIS_KEYS,
    about_of,
    check_keys,
    check_notes,
    form_of,
    is_output,
)
from ilpinfer.corpus.scores import Scores
from ilpinfer.corpus.tokens import with_columns

NAME_TAGS = 'give "label_names" in the record, or --label-names FILE, a JSON list of names or a config.json with id2label'
EXPECTED = 'expected an object such as {"tokens": ["Ada", "."], "labels": ["name", "O"]} on each line'


def example(record: Any, where: str, reading: LogitsOptions | None) -> Example:
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a JSON object, not {_kind(record)}; {EXPECTED}")
    try:
        return _example(record, where, reading)
    except RecursionError:
        raise InputError(f"{where}: lists are nested too deeply") from None


def _example(record: dict[str, Any], where: str, reading: LogitsOptions | None) -> Example:
    output = is_output(record)
    if "candidates" in record and not output:
        return _of_candidates(record, where)
    if not output:
        check_keys(record, where)
    scored = not output and any(key in record for key in SCORE_KEYS)
    tokens = _names(record.get("tokens", []), f"{where}: tokens")
    if "tokens" not in record and not scored:
        raise InputError(f'{where}: no sequence; expected "tokens", or scores')
    if "columns" in record:
        tokens = _with_columns(tokens, record["columns"], f"{where}: columns")
    labels = None if record.get("labels") is None else _labels(record, where, reading)
    if labels is not None and (tokens or not scored) and len(labels) != len(tokens):
        raise InputError(f"{where}: {counted(len(labels), 'label')} for {counted(len(tokens), 'token')}")
    rank = record.get("rank", 1)
    if not isinstance(rank, int) or isinstance(rank, bool):
        raise InputError(f"{where}: rank is {_kind(rank)}; expected a whole number")
    scores = _scores(record, where, reading) if scored else None
    known = {} if output else _given(record.get("given", {}), where)
    return Example(tokens, labels, where, scores, rank, about=about_of(record), given=known)


def _labels(record: dict[str, Any], where: str, reading: LogitsOptions | None) -> tuple[str, ...]:
    """Labels as texts, or as numbers of names in the record or of the caller."""
    given, what = record["labels"], f"{where}: labels"
    if not isinstance(given, list):
        return _names(given, what)
    names = record.get("label_names", reading and reading.names)
    if not isinstance(names, list | tuple | dict | None):
        raise InputError(f"{where}: label_names is {_kind(names)}; expected a list of texts")
    try:
        known = None if names is None else label_names(names)
        return _names(list(names_of_tags(given, known, what, NAME_TAGS)), what)
    except ValueError as error:
        raise error if isinstance(error, InputError) else InputError(str(error)) from None


def _of_candidates(record: dict[str, Any], where: str) -> Example:
    """The sequence of a record with candidate spans, whose scores are made of them."""
    check_notes(record, where)
    known_keys = (*CANDIDATE_KEYS, "text", "tokens", "given", *ABOUT)
    odd = next((key for key in record if key in KEYS and key not in known_keys), None)
    if odd is not None:
        raise InputError(f"{where}: {odd} cannot be combined with candidates; remove it")
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
    about = {key: value for key, value in about_of(record).items() if key != "text"}
    known = _given(record.get("given", {}), where)
    return Example(group.tokens, None, where, group.scores, about=about, given=known, candidates=group)


def _given(value: Any, where: str) -> dict[int, Known]:
    try:
        return read_given(value)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


@one_notice
def _scores(record: dict[str, Any], where: str, reading: LogitsOptions | None) -> Scores:
    allowed, _ = FORMS[form_of(record)]
    values = {key: _null_as_forbidden(record[key]) for key in allowed if key in record and key != "word_ids"}
    given, what = record.get("label_names"), f"{where}: label_names"
    if "logits" in record:
        if isinstance(given, dict):
            values["label_names"] = dict(zip(given, _names(list(given.values()), what), strict=True))
        elif given is not None:
            values["label_names"] = _names(given, what)
        if "word_ids" in record:
            values["word_ids"] = record["word_ids"]
            values["tokens"] = record.get("tokens") or None
        return scores_of(values, where, reading or LogitsOptions())
    names = None if given is None else _names(given, what)
    own: dict[str, Any] = {}
    if any(key in record for key in TRELLIS_KEYS):
        fields = _names(record.get("optional_fields", []), f"{where}: optional_fields")
        scheme = record.get("scheme", "")
        if not isinstance(scheme, str):
            raise InputError(f"{where}: scheme is {_kind(scheme)}; expected a text such as bio")
        never = _names(record.get("never", []), f"{where}: never")
        own = {"scheme": scheme, "optional_fields": fields, "never": never}
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
    array = score_array(value, what)
    snap(array, what)
    return array


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise InputError(f"{what} is not a list of texts")
    for text in value:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{what}: {text!a} contains an unpaired surrogate; replace this character"
            ) from None
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
    if not isinstance(value, list):
        return float("-inf") if value is None else value
    return value if {*map(type, value)} <= {float, int} else [_null_as_forbidden(v) for v in value]
