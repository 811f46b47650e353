"""Requests: their models read, check and describe them."""

import json
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from formulations.messages import counted, suggestion
from formulations.score_numbers import OneNotice
from ilpinfer.core.solution_fields import OWN
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.json_records import parse
from ilpinfer.corpus.record_keys import KEYS, check_names
from ilpinfer.corpus.records import example
from ilpinfer.serving.limits import Limits
from ilpinfer.serving.refusal import Refusal, invalid, too_large

Number = float | None
Vector = list[Number]
Matrix = list[Vector]
Cube = list[Matrix]

RECORD = 'an object such as {"tokens": ["Ada"]}'
BATCH = 'an object such as {"sequences": [{"tokens": ["Ada"]}]}'
ELSEWHERE = {"sequences": "; send several sequences to /batch", "tokens": "; send one sequence to /decode"}
"""The way out for keys of another path."""
MOST_NOTES = 100
"""Notes of a sequence, whose names are compared with those of options."""
LISTS = {
    "tokens": 'a list such as ["Ada", "."]',
    "label_names": 'a list such as ["name", "O"], or an object of them',
}
SEVERAL = 'a list with at least one sequence such as {"tokens": ["Ada"]}'


class Context(NamedTuple):
    """The limits of the service, and the place of what is validated, for messages."""

    limits: Limits
    where: str = "body"


def _context(info: ValidationInfo) -> Context:
    assert isinstance(info.context, Context)
    return info.context


class RequestOptions(BaseModel):
    """Options of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)
    deadline: float | None = Field(
        None, gt=0, description="Seconds from the arrival of the request to its answer, waiting included."
    )
    top: int | None = Field(
        None, ge=1, description="Number of labellings to return; `alternatives` has those after the best one."
    )
    certificate: bool = Field(False, description="Whether solutions contain their proofs.")

    @field_validator("deadline", "top")
    @classmethod
    def _limited(cls, value: float | None, info: ValidationInfo) -> float | None:
        limits = _context(info).limits
        if value is not None and value > (
            limits.top if info.field_name == "top" else limits.longest_deadline
        ):
            raise ValueError
        return value


class DecodeOptions(RequestOptions):
    """Options of a request for one sequence."""

    rules: str | None = Field(
        None,
        description="Rules in place of those of the service: TOML text, or a name of the catalogue; empty for none.",
    )
    forbidden: dict[str, list[str]] | None = Field(
        None, description='Labels that tokens cannot have, by position from 0, such as {"3": ["title"]}.'
    )
    explain: bool | Annotated[int, Field(ge=0)] = Field(
        False,
        description="Whether to add `explanation`: Viterbi's labelling, and the places of broken rules; the position of a token, "
        "from 0, asks why it has its label.",
    )
    marginals: bool = Field(
        False, description="Whether to add `marginals`, the probabilities of labels under the rules."
    )
    questions: int | None = Field(
        None,
        ge=1,
        description="Number of tokens in `questions`, whose labels a person should be asked for: those whose answers are expected to "
        "change most labels.",
    )

    @field_validator("questions")
    @classmethod
    def _few(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and value > _context(info).limits.tokens:
            raise ValueError
        return value

    @field_validator("rules")
    @classmethod
    def _short(cls, value: str | None, info: ValidationInfo) -> str | None:
        most = _context(info).limits.rule_text
        size = 0 if value is None else len(value.encode("utf-8", "surrogatepass"))
        if value is not None and not most:
            raise invalid("rules: this service takes no rules; leave them out")
        if size > most:
            raise too_large(f"rules: {size} bytes; at most {most} are accepted")
        return value


class Sequence(BaseModel):
    """One sequence of T tokens and K labels: tokens, which the model of the service scores, or scores.

    Scores are `emissions` and `transitions`, or `start` and `edges`, in nats; null forbids. Other keys are those of input files.
    """

    model_config = ConfigDict(extra="allow", strict=True)
    tokens: list[str] | None = Field(None, description="T texts; may be left out where there are scores.")
    given: dict[str, Any] = Field(
        {}, description='Known labels by token, from 0, such as {"3": "title"}; the solution has them.'
    )
    label_names: list[str] | dict[str, str] | None = Field(
        None, description="K names, for scores; 0, 1, ... if left out."
    )
    emissions: Matrix | None = Field(None, description="(T, K) nats.")
    transitions: Matrix | Cube | None = Field(
        None, description="(K, K) nats, from and to; (K, K, K) for second order."
    )
    start: Vector | None = Field(None, description="(K,) nats of the first label.")
    first: Matrix | None = Field(None, description="(K, K) nats of the first step, for second order.")
    end: Vector | None = Field(None, description="(K,) nats of the last label, with emissions.")
    edges: Cube | list[Cube] | None = Field(
        None,
        description="(T-1, K, K) nats: label i, then j, the score of the token of j included; (T-2, K, K, K) for second order.",
    )
    _example: Example | None = PrivateAttr(None)
    _notices: list[str] = PrivateAttr([])

    @property
    def example(self) -> Example:
        """The sequence as those of files are."""
        assert self._example is not None
        return self._example

    @property
    def notices(self) -> list[str]:
        """About odd scores."""
        return self._notices

    @property
    def length(self) -> int:
        scores = self.example.scores
        return max(len(self.example.tokens), 0 if scores is None else scores.length)

    @property
    def label_count(self) -> int:
        """Number of labels of the scores; 0 without scores."""
        scores = self.example.scores
        if scores is None:
            return 0
        by_label = scores.start if scores.emissions is None else scores.emissions.T
        return 0 if by_label is None else len(by_label)

    @model_validator(mode="after")
    def _within_limits(self, info: ValidationInfo) -> Self:
        """Read the example; Refusal for keys that exclude each other, and for a sequence that is too large.

        Sequences of a batch come here once more, from the batch, when they have been read.
        """
        if self._example is not None:
            return self
        limits, where = context = _context(info)
        _check_length(len(self.tokens or ()), context)
        options = DecodeOptions.model_fields.keys() if isinstance(self, DecodeOptions) else set[str]()
        own = self.model_fields_set - options
        notes = (self.model_extra or {}).keys() - OWN - {*KEYS}
        if len(notes) > MOST_NOTES:
            raise too_large(
                f'{where}: {len(notes)} notes; at most {MOST_NOTES} are taken, put them under "metadata"'
            )
        if "sequences" in notes:
            raise invalid(f'{where}: no use for "sequences"{ELSEWHERE["sequences"]}')
        try:
            check_names(sorted(notes), where, DecodeOptions.model_fields)
            with OneNotice() as odd:
                self._example = example({key: value for key, value in self if key in own}, where, None)
            self._notices = odd.texts
        except InputError as error:
            raise invalid(str(error)) from None
        _check_length(self.length, context)
        if self.label_count > limits.labels:
            raise too_large(
                f"{where}: scores of {counted(self.label_count, 'label')}; at most {limits.labels} are decoded here"
            )
        return self


def _check_length(length: int, context: Context) -> None:
    limits, where = context
    if length > limits.tokens:
        raise too_large(
            f"{where}: {counted(length, 'token')}; at most {limits.tokens} are decoded here, split the sequence"
        )


class DecodeRequest(Sequence, DecodeOptions):
    """One sequence, with options."""

    model_config = ConfigDict(extra="allow", strict=True)


class BatchRequest(RequestOptions):
    """Many sequences with one deadline."""

    sequences: list[Sequence | SkipJsonSchema[InstanceOf[Refusal]]] = Field(
        description="At least one; results have the same order."
    )

    @field_validator("sequences", mode="before")
    @classmethod
    def _each(cls, records: Any, info: ValidationInfo) -> list[Sequence | Refusal]:
        """The sequences, with a refusal in the place of each invalid one."""
        limits = _context(info).limits
        if not isinstance(records, list) or not records:
            raise ValueError
        if len(records) > limits.sequences:
            raise too_large(
                f"body: {counted(len(records), 'sequence')}; at most {limits.sequences} go in a batch, send several"
            )
        return [
            _attempt(record, Context(limits, f"sequences, item {number}"))
            for number, record in enumerate(records, 1)
        ]


Request = TypeVar("Request", bound=RequestOptions)


def read_request(model: type[Request], body: bytes, limits: Limits) -> Request:
    """The request of a body; Refusal for an invalid one."""
    try:
        record = parse(body.decode("utf-8-sig"), "body", f"expected {_expected(model)}")
    except UnicodeDecodeError as error:
        raise invalid(
            f"body: byte {body[error.start]:#04x} at {error.start} is not UTF-8; send UTF-8"
        ) from None
    except InputError as error:
        raise invalid(str(error)) from None
    return _validated(model, record, Context(limits))


def _expected(model: type[BaseModel]) -> str:
    return BATCH if model is BatchRequest else RECORD


Model = TypeVar("Model", bound=BaseModel)


def _validated(model: type[Model], record: Any, context: Context) -> Model:
    """The model of plain values; Refusal for invalid ones."""
    try:
        return model.model_validate(record, context=context)
    except ValidationError as error:
        raise invalid(f"{context.where}: {_message(model, error, context.limits)}") from None


def _attempt(record: Any, context: Context) -> Sequence | Refusal:
    try:
        return _validated(Sequence, record, context)
    except Refusal as refusal:
        return refusal


def _message(model: type[BaseModel], error: ValidationError, limits: Limits) -> str:
    """One line for the first unknown key, or else for the innermost error of the first invalid one."""
    errors = error.errors(include_url=False, include_context=False)
    errors.sort(key=lambda each: each["type"] != "extra_forbidden")
    of_one_key = [each for each in errors if each["loc"][:1] == errors[0]["loc"][:1]]
    first = max(of_one_key, key=lambda each: len(each["loc"]))
    shown = _shown(first["input"])
    name, *inner = map(str, first["loc"] or (first["input"],))
    # a key that is half of a surrogate pair is an error without a place
    if first["type"] == "extra_forbidden" or (first["type"] == "string_unicode" and not first["loc"]):
        hint = ELSEWHERE.get(name) or suggestion(name, tuple(model.model_fields))
        return f"no use for {json.dumps(name[:60])}{hint}"
    if not first["loc"]:
        return f"{shown}; expected {_expected(model)}"
    if name == "sequences":
        return f'expected "sequences", {SEVERAL}'
    if name in ("tokens", "label_names"):
        return f"{name} is not a list of texts; expected {LISTS[name]}"
    if name == "forbidden":
        return 'forbidden is not lists of labels by position, such as {"3": ["title"]}'
    number = "a list" if first["type"] == "list_type" else "a number, not beyond 2^31, or null"
    expected = {
        "deadline": f"seconds above 0, at most {limits.longest_deadline:g}",
        "top": f"a whole number from 1 to {limits.top}",
        "rules": "TOML text of rules, or a name of the catalogue",
        "questions": f"a whole number from 1 to {limits.tokens}",
        **dict.fromkeys(("certificate", "marginals"), "true or false"),
        "explain": "true, false, or the position of a token",
        "given": 'an object such as {"3": "title"}',
    }.get(name, number)
    place = "".join(f", item {int(each) + 1}" for each in inner if each.isdecimal())
    return f"{name}{place} is {shown}; expected {expected}"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
