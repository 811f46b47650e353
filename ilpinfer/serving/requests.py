"""Requests: options, and sequences, which are records as in input files."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import ConfigDict, Field

from formulations.arguments import positive, whole
from formulations.messages import counted
from formulations.plain_values import READERS, kind_of, parse_json, record
from formulations.score_numbers import OneNotice
from ilpinfer.core.solution_fields import OWN
from ilpinfer.corpus.examples import Example, InputError, input_at
from ilpinfer.corpus.record_keys import KEYS, check_names
from ilpinfer.corpus.records import example
from ilpinfer.serving.limits import Limits

MOST_NOTES = 100
"""Notes of a sequence, whose names are compared with those of options."""


class LimitError(InputError):
    """A request, or a sequence of one, that is larger than a limit."""


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """Options of a request."""

    TITLE: ClassVar = "the request"
    expected: ClassVar[str]
    deadline: Annotated[float | None, Field(gt=0, description="Seconds from arrival to answer.")] = None
    top: Annotated[
        int | None, Field(ge=1, description="Labellings; `alternatives` has those after the best.")
    ] = None
    certificate: Annotated[bool, Field(description="Whether solutions contain their proofs.")] = False


@dataclass(frozen=True, kw_only=True)
class DecodeRequest(RequestOptions):
    """A record of one sequence as in input files, such as `{"tokens": ["Ada"]}`, with options."""

    expected = 'an object such as {"tokens": ["Ada"]}'
    rules: Annotated[
        str | None, Field(description="Rules in place of those of the service: TOML, or a name.")
    ] = None
    explain: Annotated[
        bool | int,
        Field(
            ge=0,
            description="Whether to add `explanation`; the position of a token asks why it has its label.",
        ),
    ] = False
    marginals: Annotated[
        bool, Field(description="Whether to add `marginals`, the probabilities of labels.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class BatchRequest(RequestOptions):
    """Many sequences with one deadline."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    expected = 'an object such as {"sequences": [{"tokens": ["Ada"]}]}'
    sequences: Annotated[list[Any], Field(description="Records as in input files.")]


def _flag_or_position(value: Any, what: str) -> bool | int:
    if isinstance(value, bool) or (type(value) is int and value >= 0):
        return value
    raise ValueError(f"{what} is {kind_of(value)}; expected true, false, or the position of a token")


READERS[bool | int] = _flag_or_position
OPTIONS = tuple(each.name for each in fields(DecodeRequest))
Asked = TypeVar("Asked", bound=RequestOptions)


def read_request(kind: type[Asked], body: bytes, limits: Limits) -> tuple[Asked, dict[str, Any]]:
    """The request of a body, and the record of its sequence if it is for one; InputError for an invalid one."""
    with input_at("body"):
        try:
            values = parse_json(body.decode("utf-8-sig"), f"expected {kind.expected}", finite=False)
        except UnicodeDecodeError as error:
            raise ValueError(f"{error}; send UTF-8") from None
        if not isinstance(values, dict):
            raise ValueError(f"{kind.TITLE} is {kind_of(values)}; expected {kind.expected}")
        own = [key for key in values if kind is BatchRequest or key in OPTIONS]
        request = record(kind, {key: values.pop(key) for key in own}, "")
        if request.deadline is not None:
            deadline, most = positive(request.deadline, "deadline", "seconds"), limits.longest_deadline
            if deadline > most:
                raise ValueError(f"deadline is {deadline:g}; expected at most {most:g} seconds")
        if request.top is not None:
            whole(request.top, "top", 1, limits.top)
        if isinstance(request, BatchRequest):
            _check_size(len(request.sequences), "sequence", limits.sequences, "body", "send several batches")
    return request, values


def read_record(values: Any, where: str, limits: Limits) -> tuple[Example, int, list[str]]:
    """The sequence of a record, the number of labels of its scores, and notices about odd ones; InputError for an invalid record."""
    if isinstance(values, dict):
        notes = sorted(values.keys() - OWN - {*KEYS})
        _check_size(len(notes), "note", MOST_NOTES, where, 'put them under "metadata"')
        with input_at(where):
            check_names(notes, OPTIONS)
    with OneNotice() as odd:
        found = example(values, where, None)
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
