"""The JSON Schema of rule files, derived from the templates, for editors.

`python -m support.rule_schema`, in tests/, writes the file in the package anew.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema

import formulations
from formulations.constraints.feature import Feature
from formulations.constraints.formulas import Text
from formulations.constraints.rule import DISTANCES, SCOPES
from formulations.constraints.template import TEMPLATES
from formulations.parameters import kinds
from formulations.tokens.token_pattern import TokenPattern

_TEXT = {"type": "string"}
_SELECTOR = {"$ref": "#/definitions/selector"}
_SELECTORS = {"type": "array", "minItems": 1, "items": _SELECTOR}
_COMMON: dict[str, Any] = {
    "name": {**_TEXT, "description": "shown in violations and messages"},
    "penalty": {
        "description": "nats a violation, or hard",
        "oneOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 2**31}, {"const": "hard"}],
    },
    "distance": {"enum": list(DISTANCES)},
    "scope": {"enum": [scope for scope in SCOPES if scope]},
    "partial": {"enum": ["forced"]},
    "reason": {**_TEXT, "description": "why the rule is there"},
    "when": {**_TEXT, "description": "condition on the metadata of a sequence, such as intent = flight"},
}
FILE = Path(formulations.__file__).parent / "rulefiles" / "rules.schema.json"


@cache
def validator() -> Callable[[Any], Any]:
    """Checks a document against the schema."""
    return fastjsonschema.compile(json.loads(FILE.read_text("utf-8")))


def schema_text() -> str:
    """The schema as JSON, each object with required keys on a line of its own."""
    start = '{"type": "object", "required"'
    return json.dumps(schema(), ensure_ascii=False).replace(start, f"\n{start}") + "\n"


def schema() -> dict[str, Any]:
    names = {"type": "array", "items": {**_TEXT, "minLength": 1}}
    template = _object(["name"], name=_TEXT, parameters=names, logic=_TEXT, linear=_TEXT, reason=_TEXT)
    step, label = {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]}, {"required": ["label"]}
    properties = {
        "title": _TEXT,
        "source": _TEXT,
        "fields": {**names, "description": "every field that rules may name"},
        "never": {**names, "description": "labels that are never predicted, such as [PAD]"},
        "groups": {"type": "object", "additionalProperties": {"oneOf": [_SELECTORS, _not(_SELECTORS)]}},
        "template": _array({**template, "oneOf": [{"required": ["logic"]}, {"required": ["linear"]}]}),
        "rule": _array({"oneOf": list(_rules())}),
        "feature": _array({**_record(Feature), "oneOf": [{**label, "not": step}, {**step, "not": label}]}),
    }
    definitions = {
        "selector": {"oneOf": [{**_TEXT, "minLength": 1}, _SELECTORS, _not({"oneOf": [_TEXT, _SELECTORS]})]},
        "words": {"oneOf": [names, _object(["file"], file=_TEXT, words=names)]},
        "tokens": {"oneOf": [_TEXT, _record(TokenPattern)]},
    }
    about = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Rules of ilpinfer"}
    closed = {"type": "object", "additionalProperties": False}
    return {**about, **closed, "properties": properties, "definitions": definitions}


def _rules() -> Iterator[dict[str, Any]]:
    """A rule with each template, with a formula, and with a template that the file defines."""
    for name, record in sorted(TEMPLATES.items()):
        if not issubclass(record, Text):
            yield _record(record, template={"const": name, "description": _summary(record)}, **_COMMON)
    for form in ("linear", "logic"):
        yield _object([form], **{form: {**_TEXT, "description": _summary(TEMPLATES[form])}}, **_COMMON)
    own = {"allOf": [_TEXT, {"not": {"enum": sorted(TEMPLATES)}}]}
    yield {**_object(["template"], template=own, **_COMMON), "additionalProperties": _SELECTOR}


def _array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(required: list[str], /, **properties: Any) -> dict[str, Any]:
    closed = {"type": "object", "required": required, "additionalProperties": False}
    return {**closed, "properties": properties}


def _not(members: dict[str, Any]) -> dict[str, Any]:
    return _object(["not"], **{"not": members})


def _record(record: type[Any], /, **more: Any) -> dict[str, Any]:
    known = {f.name.rstrip("_"): f for f in fields(record) if f.name != "groups"}
    required = [name for name in ("template",) if name in more]
    required += [name for name, f in known.items() if f.default is MISSING]
    return _object(required, **more, **{name: kinds(record)[f.name].schema for name, f in known.items()})


def _summary(record: type[Any]) -> str:
    return (record.__doc__ or "").strip().split("\n")[0]


if __name__ == "__main__":
    FILE.write_text(schema_text(), "utf-8")
