"""Requests and answers as OpenAPI describes them, with examples that decode.

Bodies are checked by the readers of `ilpinfer.corpus`, which also know what belongs together; these models describe them.
"""

from collections.abc import Callable
from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from ilpinfer.decoding.decoder import Decoder
from ilpinfer.serving.requests import ASKED

Number = float | None


class Sequence(BaseModel):
    """One sequence of T tokens and K labels: tokens that the model of the service scores, or scores of its own.

    Scores are `emissions` and `transitions`, or `start` and `edges`, in nats; null forbids.
    """

    model_config = ConfigDict(extra="forbid")
    tokens: list[str] | None = Field(None, description="T texts; may be left out where there are scores.")
    label_names: list[str] | None = Field(None, description="K names, for scores; 0, 1, ... if left out.")
    emissions: list[list[Number]] | None = Field(None, description="(T, K) nats.")
    transitions: list[list[Number]] | None = Field(None, description="(K, K) nats, from and to.")
    start: list[Number] | None = Field(None, description="(K,) nats of the first label.")
    end: list[Number] | None = Field(None, description="(K,) nats of the last label, with emissions.")
    edges: list[list[list[Number]]] | None = Field(
        None, description="(T-1, K, K) nats: label i, then j, the score of the token of j included."
    )


class Options(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")
    deadline: float | None = Field(
        None, gt=0, description="Seconds from the arrival of the request to its answer, waiting included."
    )
    top: int | None = Field(
        None, ge=1, description="Number of labellings to return; `alternatives` has those after the best one."
    )
    certificate: bool = Field(False, description="Whether solutions have their proofs.")


class DecodeRequest(Sequence, Options):
    """One sequence, and what is asked for."""


class BatchRequest(Options):
    """Many sequences with one deadline."""

    sequences: list[Sequence] = Field(description="At least one; the results have their order.")


class Solution(BaseModel):
    """The best labelling found, and what is proved about it; scores in nats, null for what is not finite."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"] = Field(
        description="optimal: proved. feasible: found, and time ended before the proof. infeasible: proved that hard rules "
        "leave no labelling. unknown: time ended before a labelling was found, or there is an error."
    )
    labels: list[str] | None = Field(description="T label names; null without a labelling.")
    ids: list[int] | None = Field(description="Their numbers among the K labels.")
    score: Number = Field(description="model_score + feature_score - penalty, nats.")
    model_score: Number = Field(description="Nats.")
    feature_score: Number = Field(description="Nats.")
    penalty: Number = Field(description="Of broken soft rules, nats.")
    violations: dict[str, int] = Field(description="How often each rule is broken.")
    bound: Number = Field(description="Proved upper bound on the score of every labelling, nats.")
    gap: Number = Field(description="bound - score, nats.")
    certificate: dict[str, Any] | None = Field(
        None, description="What proves the bound, where it is asked for."
    )
    method: str = Field(description="What produced it.")
    seconds: float = Field(description="Of decoding.")
    warm_up_seconds: float = Field(description="Of loading kernels, apart.")
    queue_seconds: float | None = Field(None, description="From the arrival of the request to its work.")
    reason: str = Field(description="Why there is no labelling, or the message of an error.")
    error: str | None = Field(None, description="In a batch: the type of the error of this sequence.")
    alternatives: "list[Solution] | None" = Field(
        None, description="Further labellings, best first, with top."
    )


class BatchAnswer(BaseModel):
    """One result for each sequence, in order."""

    results: list[Solution]


class Refused(BaseModel):
    """Why a request has no answer."""

    detail: str = Field(description="A message with the value, the place and a remedy.")
    retry_after: float | None = Field(None, description="Seconds; with status 503.")


REASONS = {
    408: "The body was not complete in time.",
    413: "The body, a sequence, its labels or the batch is too large.",
    422: "The request is invalid.",
    500: "Decoding failed.",
    503: "It cannot be done in time, or the service is not ready; see Retry-After.",
}


def _operation(model: type[BaseModel], answer: type[BaseModel], examples: dict[str, Any]) -> dict[str, Any]:
    shown = {name: {"value": value} for name, value in examples.items()}
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    content = {"application/json": {"schema": reference, "examples": shown}}
    return {
        "responses": {
            200: {"model": answer, "description": "What was found."},
            **{status: {"model": Refused, "description": text} for status, text in REASONS.items()},
        },
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
    }


def decode_operation(decoder: Decoder) -> dict[str, Any]:
    """What the route of one sequence is declared with."""
    return _operation(DecodeRequest, Solution, _examples(decoder))


def batch_operation(decoder: Decoder) -> dict[str, Any]:
    """What the route of a batch is declared with."""
    records = list(_examples(decoder).values())
    plain = [{key: value for key, value in each.items() if key not in ASKED} for each in records]
    return _operation(BatchRequest, BatchAnswer, {"batch": {"sequences": plain, "deadline": 2.0}})


def _examples(decoder: Decoder) -> dict[str, Any]:
    """Requests that this decoder takes: tokens where it has a model, else scores."""
    if decoder.model is not None:
        tokens = {"tokens": ["Ada", "Lovelace", ".", "Notes", "on", "engines", "."]}
        return {"tokens": tokens, "the best two": {**tokens, "top": 2, "deadline": 0.5, "certificate": True}}
    names = ["title", "O"] if decoder.labels is None else list(decoder.labels.names)
    K = len(names)
    rows = [[-float((t + k) % K) for k in range(K)] for t in range(4)]
    emissions = {
        "label_names": names,
        "tokens": ["Notes", "on", "engines", "."],
        "emissions": rows,
        "transitions": [[0.0 if i == j else -0.5 for j in range(K)] for i in range(K)],
    }
    edges = {"label_names": names, "start": rows[0], "edges": [[rows[1]] * K], "top": 2, "deadline": 0.5}
    return {"emissions and transitions": emissions, "start and edges": edges}


def complete(app: FastAPI, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The schema of an application with the models of bodies, made once."""
    if app.openapi_schema is None:
        made = make()
        schemas = made["components"]["schemas"]
        for model in (DecodeRequest, BatchRequest):
            own = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= own.pop("$defs", {})
            schemas[model.__name__] = own
    return make()
