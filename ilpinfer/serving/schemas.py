"""Schemas of requests and answers for OpenAPI, with valid examples.

These models are for the description only. The readers of `ilpinfer.corpus` check bodies, including keys that exclude
each other.
"""

from collections.abc import Callable
from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from ilpinfer.decoding.decoder import Decoder
from ilpinfer.serving.requests import ASKED

Number = float | None


class Sequence(BaseModel):
    """One sequence of T tokens and K labels: tokens, which the model of the service scores, or scores.

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
    """Options of a request."""

    model_config = ConfigDict(extra="forbid")
    deadline: float | None = Field(
        None, gt=0, description="Seconds from the arrival of the request to its answer, waiting included."
    )
    top: int | None = Field(
        None, ge=1, description="Number of labellings to return; `alternatives` has those after the best one."
    )
    certificate: bool = Field(False, description="Whether solutions contain their proofs.")


class DecodeRequest(Sequence, Options):
    """One sequence, with options."""


class BatchRequest(Options):
    """Many sequences with one deadline."""

    sequences: list[Sequence] = Field(description="At least one; results have the same order.")


class Solution(BaseModel):
    """The best labelling found, and the proved bound; scores in nats, null for infinite ones."""

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
        None, description="The proof of the bound, if it was requested."
    )
    method: str = Field(description="The method that found it.")
    seconds: float = Field(description="Of decoding.")
    warm_up_seconds: float = Field(description="Seconds for loading kernels, counted apart.")
    queue_seconds: float | None = Field(
        None, description="Seconds from the arrival of the request to the start of decoding."
    )
    reason: str = Field(description="Why there is no labelling, or the message of an error.")
    error: str | None = Field(None, description="In a batch: the type of the error of this sequence.")
    alternatives: "list[Solution] | None" = Field(
        None, description="Further labellings, best first, with top."
    )


class BatchAnswer(BaseModel):
    """One result for each sequence, in order."""

    results: list[Solution]


class Refused(BaseModel):
    """The reason why a request is refused."""

    detail: str = Field(description="A message with the value, the place and a remedy.")
    retry_after: float | None = Field(None, description="Seconds; with status 503.")


REASONS = {
    408: "The body was not complete in time.",
    413: "The body, a sequence, its labels or the batch is too large.",
    422: "The request is invalid.",
    500: "Decoding failed.",
    503: "The request cannot be answered in time, or the service is not ready; see Retry-After.",
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
    """Arguments of the route for one sequence."""
    return _operation(DecodeRequest, Solution, _examples(decoder))


def batch_operation(decoder: Decoder) -> dict[str, Any]:
    """Arguments of the route for a batch."""
    records = list(_examples(decoder).values())
    plain = [{key: value for key, value in each.items() if key not in ASKED} for each in records]
    return _operation(BatchRequest, BatchAnswer, {"batch": {"sequences": plain, "deadline": 2.0}})


def _examples(decoder: Decoder) -> dict[str, Any]:
    """Example requests for this decoder: tokens if it has a model, else scores."""
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
    """The OpenAPI schema of an application with the models of bodies, cached."""
    if app.openapi_schema is None:
        made = make()
        schemas = made["components"]["schemas"]
        for model in (DecodeRequest, BatchRequest):
            own = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= own.pop("$defs", {})
            schemas[model.__name__] = own
    return make()
