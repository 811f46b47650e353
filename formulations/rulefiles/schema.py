"""The JSON Schema of rule files, derived from the templates, for editors."""

from dataclasses import MISSING, fields
from typing import Any

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
}


def schema() -> dict[str, Any]:
    names = {"type": "array", "items": {**_TEXT, "minLength": 1}}
    properties = {
        "title": _TEXT,
        "source": _TEXT,
        "fields": {**names, "description": "every field that rules may name"},
        "groups": {"type": "object", "additionalProperties": {"oneOf": [_SELECTORS, _not(_SELECTORS)]}},
        "template": {"type": "array", "items": _named_template(names)},
        "rule": {"type": "array", "items": {"oneOf": [*_templates(), *_formulas(), _user_template()]}},
        "feature": {"type": "array", "items": _feature()},
    }
    definitions = {
        "selector": {"oneOf": [{**_TEXT, "minLength": 1}, _SELECTORS, _not({"oneOf": [_TEXT, _SELECTORS]})]},
        "words": {"oneOf": [names, _object(["file"], file=_TEXT, words=names)]},
        "tokens": {"oneOf": [_TEXT, _record(TokenPattern)]},
    }
    about = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Rules of ilpinfer"}
    closed = {"type": "object", "additionalProperties": False}
    return {**about, **closed, "properties": properties, "definitions": definitions}


def _object(required: list[str], /, **properties: Any) -> dict[str, Any]:
    closed = {"type": "object", "required": required, "additionalProperties": False}
    return {**closed, "properties": properties}


def _not(members: dict[str, Any]) -> dict[str, Any]:
    return _object(["not"], **{"not": members})


def _feature() -> dict[str, Any]:
    step = {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]}
    label = {"required": ["label"]}
    return {**_record(Feature), "oneOf": [{**label, "not": step}, {**step, "not": label}]}


def _named_template(names: dict[str, Any]) -> dict[str, Any]:
    result = _object(["name"], name=_TEXT, parameters=names, logic=_TEXT, linear=_TEXT, reason=_TEXT)
    return {**result, "oneOf": [{"required": ["logic"]}, {"required": ["linear"]}]}


def _templates() -> list[dict[str, Any]]:
    return [
        _record(record, template={"const": name, "description": _summary(record)}, **_COMMON)
        for name, record in sorted(TEMPLATES.items())
        if not issubclass(record, Text)
    ]


def _formulas() -> list[dict[str, Any]]:
    texts = {form: {**_TEXT, "description": _summary(TEMPLATES[form])} for form in ("linear", "logic")}
    return [_object([form], **{form: text}, **_COMMON) for form, text in texts.items()]


def _user_template() -> dict[str, Any]:
    """The schema of a rule with a template that the file defines."""
    name = {"allOf": [_TEXT, {"not": {"enum": sorted(TEMPLATES)}}]}
    return {**_object(["template"], template=name, **_COMMON), "additionalProperties": _SELECTOR}


def _record(record: type[Any], /, **more: Any) -> dict[str, Any]:
    known = {f.name.rstrip("_"): f for f in fields(record) if f.name != "groups"}
    required = [name for name in ("template",) if name in more]
    required += [name for name, f in known.items() if f.default is MISSING]
    return _object(required, **more, **{name: kinds(record)[f.name].schema for name, f in known.items()})


def _summary(record: type[Any]) -> str:
    return (record.__doc__ or "").strip().split("\n")[0]
