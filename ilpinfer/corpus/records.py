"""A sequence from a JSON object."""

from typing import Any

from formulations import Trellis
from formulations.arguments import whole
from formulations.dtypes import Floats
from formulations.grid import snap
from formulations.labels.names import label_names
from formulations.messages import counted
from formulations.plain_values import items, kind_of, strings, text
from formulations.problem.known_labels import read_given
from formulations.score_numbers import one_notice, score_array
from ilpinfer.core.solution_fields import ABOUT
from ilpinfer.corpus.archives import scores_of
from ilpinfer.corpus.candidates import EXAMPLE, read_candidates
from ilpinfer.corpus.column_names import NO_LABEL
from ilpinfer.corpus.examples import Example, input_at
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
from ilpinfer.corpus.scores import SequenceScores
from ilpinfer.corpus.tokens import with_columns

NAME_TAGS = 'give "label_names" in the record, or --label-names FILE, a JSON list of names or a config.json with id2label'
EXPECTED = 'expected an object such as {"tokens": ["Ada", "."], "labels": ["name", "O"]} on each line'


def example(record: Any, where: str, reading: LogitsOptions | None) -> Example:
    with input_at(where):
        if not isinstance(record, dict):
            raise ValueError(f"expected a JSON object, not {kind_of(record)}; {EXPECTED}")
        return _example(record, where, reading)


def _example(record: dict[str, Any], where: str, reading: LogitsOptions | None) -> Example:
    output = is_output(record)
    if "candidates" in record and not output:
        return _of_candidates(record, where)
    if not output:
        check_keys(record)
    scored = not output and any(key in record for key in SCORE_KEYS)
    tokens = strings(record.get("tokens", []), "tokens")
    if "tokens" not in record and not scored:
        raise ValueError('no sequence; expected "tokens", or scores')
    if "columns" in record:
        tokens = _with_columns(tokens, record["columns"])
    labels = None if record.get("labels") is None else _labels(record, reading)
    if labels is not None and (tokens or not scored) and len(labels) != len(tokens):
        raise ValueError(f"{counted(len(labels), 'label')} for {counted(len(tokens), 'token')}")
    rank = whole(record.get("rank", 1), "rank", shown=kind_of)
    scores = _scores(record, reading) if scored else None
    known = {} if output else read_given(record.get("given", {}))
    return Example(tokens, labels, where, scores, rank, about=about_of(record), given=known, predicted=output)


def _labels(record: dict[str, Any], reading: LogitsOptions | None) -> tuple[str, ...]:
    """Labels given as texts, or as numbers of the names in the record or from the caller."""
    names = record.get("label_names", reading and reading.names)
    if not isinstance(names, list | tuple | dict | None):
        raise ValueError(f"label_names is {kind_of(names)}; expected a list of texts")
    known = None if names is None else label_names(names)
    tags = items(record["labels"], "labels")
    found = iter(names_of_tags([tag for tag in tags if tag is not None], known, "labels", NAME_TAGS))
    return strings([NO_LABEL if tag is None else next(found) for tag in tags], "labels")


def _of_candidates(record: dict[str, Any], where: str) -> Example:
    """The sequence of a record with candidate spans, with scores made from them."""
    check_notes(record)
    known_keys = (*CANDIDATE_KEYS, "text", "tokens", "given", *ABOUT)
    odd = next((key for key in record if key in KEYS and key not in known_keys), None)
    if odd is not None:
        raise ValueError(f"{odd} cannot be combined with candidates; remove it")
    if ("text" in record) == ("tokens" in record):
        raise ValueError("candidates need a text or tokens; give one of them")
    given = text(record["text"], "text") if "text" in record else strings(record["tokens"], "tokens")
    listed = items(record["candidates"], "candidates", of=f"objects such as {EXAMPLE}")
    options = {key: record[key] for key in ("offsets", "threshold", "prior") if key in record}
    fields = strings(record.get("fields", []), "fields")
    group, _ = read_candidates(given, listed, fields=fields, **options)
    about = {key: value for key, value in about_of(record).items() if key != "text"}
    known = read_given(record.get("given", {}))
    return Example(group.tokens, None, where, group.scores, about=about, given=known, candidates=group)


@one_notice
def _scores(record: dict[str, Any], reading: LogitsOptions | None) -> SequenceScores:
    allowed, _ = FORMS[form_of(record)]
    values = {key: _null_as_forbidden(record[key]) for key in allowed if key in record and key != "word_ids"}
    given, what = record.get("label_names"), "label_names"
    if "logits" in record:
        if isinstance(given, dict):
            values["label_names"] = dict(zip(given, strings(list(given.values()), what), strict=True))
        elif given is not None:
            values["label_names"] = strings(given, what)
        if "word_ids" in record:
            values["word_ids"] = record["word_ids"]
            values["tokens"] = record.get("tokens") or None
        return scores_of(values, reading or LogitsOptions())
    names = None if given is None else strings(given, what)
    own: dict[str, Any] = {}
    if any(key in record for key in TRELLIS_KEYS):
        own = {key: strings(record.get(key, []), key) for key in ("optional_fields", "never")}
        own["scheme"] = text(record.get("scheme", ""), "scheme")
    if "node" in record:
        return _step_scores(names, record, own)
    arrays: dict[str, Any] = {key: _array(value, key) for key, value in values.items()}
    return SequenceScores(names, **arrays, **own)


def _step_scores(
    names: tuple[str, ...] | None, record: dict[str, Any], own: dict[str, Any]
) -> SequenceScores:
    """Scores for each step of a joined trellis."""
    known = {"tokens": [""] * len(record["node"]), "label_names": names, "scheme": "plain"}
    scores = {key: record[key] for key in GENERAL_KEYS}
    trellis = Trellis.from_dict({**known, **scores})
    return SequenceScores(names, start=trellis.start, first=trellis.first, edges=trellis.edges, **own)


def _array(value: Any, what: str) -> Floats:
    """Numbers in nested lists as an array; ValueError for numbers that the score grid refuses."""
    array = score_array(value, what)
    snap(array, what)
    return array


def _with_columns(tokens: tuple[str, ...], columns: Any) -> tuple[str, ...]:
    if not isinstance(columns, dict):
        raise ValueError(
            f'columns is {kind_of(columns)}; expected an object such as {{"pos": ["NNP", "VBD"]}}'
        )
    cells = {name: strings(value, f"columns: {name}") for name, value in columns.items()}
    try:
        return with_columns(tokens, cells)
    except ValueError as error:
        raise ValueError(f"columns: {error}") from None


def _null_as_forbidden(value: Any) -> Any:
    """Nested lists with null replaced by -inf."""
    if not isinstance(value, list):
        return float("-inf") if value is None else value
    return value if {*map(type, value)} <= {float, int} else [_null_as_forbidden(v) for v in value]
