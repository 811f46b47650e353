"""Requests: options, which models of pydantic check, and sequences, which are records as in input files."""

import json
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from formulations.messages import counted, cut, suggestion
from formulations.score_numbers import OneNotice
from ilpinfer.core.solution_fields import OWN
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.json_records import parse
from ilpinfer.corpus.record_keys import KEYS, check_names
from ilpinfer.corpus.records import example
from ilpinfer.serving.limits import Limits

MOST_NOTES = 100
"""Notes of a sequence, whose names are compared with those of options."""


class LimitError(InputError):
    """A request, or a sequence of one, that is larger than a limit."""


class RequestOptions(BaseModel):
    """Options of a request."""

    expected: ClassVar[str]
    deadline: float | None = Field(None, gt=0, description="Seconds from arrival to answer.")
    top: int | None = Field(None, ge=1, description="Labellings; `alternatives` has those after the best.")
    certificate: bool = Field(False, description="Whether solutions contain their proofs.")


class DecodeRequest(RequestOptions):
    """A record of one sequence as in input files, such as `{"tokens": ["Ada"]}`, with options."""

    expected = 'an object such as {"tokens": ["Ada"]}'
    model_config = ConfigDict(extra="allow", strict=True)
    rules: str | None = Field(None, description="Rules in place of those of the service: TOML, or a name.")
    explain: bool | Annotated[int, Field(ge=0)] = Field(
        False, description="Whether to add `explanation`; the position of a token asks why it has its label."
    )
    marginals: bool = Field(False, description="Whether to add `marginals`, the probabilities of labels.")


class BatchRequest(RequestOptions):
    """Many sequences with one deadline."""

    expected = 'an object such as {"sequences": [{"tokens": ["Ada"]}]}'
    model_config = ConfigDict(extra="forbid", strict=True)
    sequences: list[Any] = Field(description="Records as in input files.")


Asked = TypeVar("Asked", bound=RequestOptions)


def read_request(model: type[Asked], body: bytes, limits: Limits) -> Asked:
    """The request of a body; InputError for an invalid one."""
    try:
        values = parse(body.decode("utf-8-sig"), "body", f"expected {model.expected}")
        request = model.model_validate(values)
    except UnicodeDecodeError as error:
        raise InputError(f"body: {error}; send UTF-8") from None
    except ValidationError as error:
        raise InputError(f"body: {_message(model, error)}") from None
    for name, most in (("deadline", limits.longest_deadline), ("top", limits.top)):
        value = getattr(request, name)
        if value is not None and value > most:
            raise InputError(f"body: {name} is {_shown(value)}; it should be at most {most:g}")
    if isinstance(request, BatchRequest):
        _check_size(len(request.sequences), "sequence", limits.sequences, "body", "send several batches")
    return request


def _message(model: type[RequestOptions], error: ValidationError) -> str:
    """One line for the first key that there is not, or else for all that is wrong with the first invalid one."""
    errors = error.errors(include_url=False, include_context=False)
    first = min(errors, key=lambda each: each["type"] != "extra_forbidden")
    if first["type"] == "missing" or not first["loc"]:
        return f"{_shown(first['input'])}; expected {model.expected}"
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return f"unknown key {json.dumps(name[:60])}{suggestion(name, model.model_fields)}"
    texts = [each["msg"].removeprefix("Input should be ") for each in errors if each["loc"][0] == name]
    return f"{name} is {_shown(first['input'])}; it should be {' or '.join(texts)}"


def _shown(value: Any) -> str:
    return cut(json.dumps(value), 41)


def read_record(record: Any, where: str, limits: Limits) -> tuple[Example, int, list[str]]:
    """The sequence of a record, the number of labels of its scores, and notices about odd ones; InputError for an invalid record."""
    if isinstance(record, dict):
        notes = sorted(record.keys() - OWN - {*KEYS})
        _check_size(len(notes), "note", MOST_NOTES, where, 'put them under "metadata"')
        check_names(notes, where, DecodeRequest.model_fields)
    with OneNotice() as odd:
        found = example(record, where, None)
    length, labels = len(found.tokens), 0
    if (scores := found.scores) is not None:
        by_label = scores.start if scores.emissions is None else scores.emissions
        length = max(length, scores.length)
        labels = by_label.shape[-1] if by_label is not None and by_label.ndim else 0
    _check_size(length, "token", limits.tokens, where, "split the sequence")
    _check_size(labels, "label", limits.labels, where, "leave out labels that are not used")
    return found, labels, odd.texts


def _check_size(count: int, noun: str, most: int, where: str, remedy: str) -> None:
    """LimitError for more than `most`."""
    if count > most:
        raise LimitError(f"{where}: {counted(count, noun)}; at most {most} are accepted; {remedy}")
