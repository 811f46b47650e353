"""The description of the service: models of answers, examples, OpenAPI, and a web page without external files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI
from jinja2 import Environment
from pydantic import BaseModel, Field

from ilpinfer.decoding.decoder import Decoder
from ilpinfer.serving.requests import BatchRequest, DecodeOptions, DecodeRequest, Number, RequestOptions

OTHER_RULES = """[[rule]]
template = "at_most_runs"
field = "each field"
n = 1
penalty = 1.5
"""
PAGES = Path(__file__).parent / "pages"


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
    queue_seconds: float | None = Field(
        None, description="Seconds from the arrival of the request to the start of decoding."
    )
    reason: str = Field(description="Why there is no labelling, or the message of an error.")
    notices: list[str] | None = Field(
        None,
        description="About rules, labels and scores, none of which is an error; left out where there is none.",
    )
    error: str | None = Field(None, description="In a batch: the type of the error of this sequence.")
    explanation: "Explanation | None" = Field(None, description="With explain.")
    marginals: "Probabilities | None" = Field(None, description="With marginals.")
    questions: "list[QuestionOf] | None" = Field(None, description="With questions, best first.")
    alternatives: "list[Solution] | None" = Field(
        None, description="Further labellings, best first, with top."
    )


class QuestionOf(BaseModel):
    """A token whose label a person should be asked for."""

    token: int = Field(description="Position, from 0.")
    text: str
    label: str = Field(description="The label of the best labelling.")
    chances: dict[str, float] = Field(description="Probability of each label, most probable first.")
    entropy: float = Field(description="Of these probabilities, nats.")
    changes: float = Field(description="Expected number of labels that change with the answer.")


class RuleOf(BaseModel):
    """A rule that a sequence was decoded with."""

    name: str
    penalty: Number = Field(description="Nats a violation; null for a hard rule.")
    reason: str = Field(description="Why the rule is there, as its file says.")


class Viterbi(Solution):
    """Viterbi's labelling, which the model alone gives, valued under the rules."""

    places: dict[str, list[list[int]]] = Field(
        description="Positions of the tokens of each violation, by rule; none for the whole sequence."
    )


class Explanation(BaseModel):
    """What rules do to a labelling."""

    label_names: list[str] = Field(description="K names.")
    fields: list[str] = Field(description="K fields of these labels, the innermost ones.")
    rules: list[RuleOf] = Field(description="Rules in their order.")
    notices: list[str] = Field(description="About rules and labels, none of which is an error.")
    places: dict[str, list[list[int]]] = Field(description="Of the labelling, as those of `viterbi`.")
    viterbi: Viterbi
    change: "Change | None" = Field(
        None, description="Where `explain` is the position of a token: the answer for it."
    )


class Change(BaseModel):
    """A run of labels that are not Viterbi's, and the best labelling with Viterbi's labels there.

    For a token with Viterbi's label, the best labelling with any other label there.
    """

    tokens: list[int] = Field(description="Positions, from 0.")
    text: list[str]
    labels: list[str] = Field(description="Of the labelling.")
    viterbi: list[str] = Field(description="Viterbi's labels.")
    breaks: dict[str, int] = Field(
        description="Violations that Viterbi's labels there add while all other labels stay."
    )
    other: list[str] | None = Field(
        description="The best labelling, empty at tokens without scores; if none keeps the hard rules, one with the fewest violations."
    )
    status: str = Field(description="Of the search for it, as that of a solution.")
    loss: Number = Field(
        description="Its score is so many nats less; null where it breaks a hard rule, or the labelling does."
    )
    more: dict[str, int] = Field(description="Violations that it has more.")
    differs: list[int] = Field(description="Positions of the tokens at which it differs.")
    words: str = Field(description="All of it for readers.")


class EntityProbability(BaseModel):
    """The probability that these tokens are one run of a field."""

    field: str
    tokens: list[int] = Field(description="Positions, from 0.")
    probability: float


class Probabilities(BaseModel):
    """Probabilities of labels, p proportional to exp(score)."""

    labels: list[list[float] | None] | None = Field(
        description="(T, K) probabilities; null for tokens that the model leaves out, and where there are none."
    )
    entities: list[EntityProbability] = Field(description="Of the labelling, each as a whole.")
    labelling: float | None = Field(description="Probability of the labelling; null where there is none.")
    constrained: bool = Field(description="Whether rules are included; else these are the model's alone.")
    left_out: list[str] = Field(description="Rules that are not included, the largest first.")
    reason: str = Field(description="Why they are not included.")


class About(BaseModel):
    """What a service decodes with."""

    rules: str | None = Field(description="Rules as TOML text; null where they have no form as text.")
    rule_text: int = Field(description="Bytes that the rules of a request may have; 0 if it takes none.")
    label_names: list[str] | None = Field(description="Labels of the model; null for any.")
    examples: list[dict[str, Any]] = Field(description="Records that it can decode.")


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
    503: "The request cannot be answered in time; see Retry-After.",
}


def operation(decoder: Decoder, model: type[RequestOptions]) -> dict[str, Any]:
    """Arguments of the route for a request, with examples for this decoder."""
    examples = examples_of(decoder)
    answer: type[BaseModel] = Solution
    if model is BatchRequest:
        options = DecodeOptions.model_fields
        plain = [{k: each[k] for k in each if k not in options} for each in examples.values()]
        examples, answer = {"batch": {"sequences": plain[:2], "deadline": 2.0}}, BatchAnswer
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


def examples_of(decoder: Decoder) -> dict[str, Any]:
    """Example requests for this decoder: tokens if it has a model, else scores."""
    if decoder.model is not None:
        tokens = {"tokens": ["Ada", "Lovelace", ".", "Notes", "on", "engines", "."]}
        return {
            "tokens": tokens,
            "the best two": {**tokens, "top": 2, "deadline": 0.5, "certificate": True},
            "other rules, explained": {**tokens, "rules": OTHER_RULES, "explain": True, "marginals": True},
        }
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


def page(api: dict[str, Any]) -> str:
    """The page of an OpenAPI schema."""
    environment = Environment(autoescape=True)
    environment.filters["shown"] = _shown
    return environment.from_string((PAGES / "docs.html").read_text("utf-8")).render(api=api)


def _shown(record: dict[str, Any]) -> str:
    """JSON with a line for each key."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}"
