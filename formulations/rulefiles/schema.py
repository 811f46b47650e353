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
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Rules of ilpinfer",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "title": _TEXT,
            "source": _TEXT,
            "fields": {**names, "description": "every field that rules may name"},
            "groups": {
                "type": "object",
                "additionalProperties": {"oneOf": [_SELECTORS, _not(_SELECTORS)]},
            },
            "template": {"type": "array", "items": _named_template(names)},
            "rule": {"type": "array", "items": {"oneOf": [*_templates(), *_formulas(), _user_template()]}},
            "feature": {"type": "array", "items": _feature()},
        },
        "definitions": _definitions(names),
    }


def _definitions(names: dict[str, Any]) -> dict[str, Any]:
    from_file = {
        "type": "object",
        "required": ["file"],
        "additionalProperties": False,
        "properties": {"file": _TEXT, "words": names},
    }
    return {
        "selector": {"oneOf": [{**_TEXT, "minLength": 1}, _SELECTORS, _not({"oneOf": [_TEXT, _SELECTORS]})]},
        "words": {"oneOf": [names, from_file]},
        "tokens": {"oneOf": [_TEXT, _record(TokenPattern, {})]},
    }


def _not(members: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["not"],
        "additionalProperties": False,
        "properties": {"not": members},
    }


def _feature() -> dict[str, Any]:
    step = {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]}
    label = {"required": ["label"]}
    one_of = [{**label, "not": step}, {**step, "not": label}]
    return {**_record(Feature, {}), "oneOf": one_of}


def _named_template(names: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {"name": _TEXT, "parameters": names, "logic": _TEXT, "linear": _TEXT, "reason": _TEXT},
        "oneOf": [{"required": ["logic"]}, {"required": ["linear"]}],
    }


def _templates() -> list[dict[str, Any]]:
    return [
        _record(
            record, {"template": {"const": name, "description": _summary(record)}, **_COMMON}, ("template",)
        )
        for name, record in sorted(TEMPLATES.items())
        if not issubclass(record, Text)
    ]


def _formulas() -> list[dict[str, Any]]:
    return [
        {
            "type": "object",
            "required": [form],
            "additionalProperties": False,
            "properties": {form: {**_TEXT, "description": _summary(TEMPLATES[form])}, **_COMMON},
        }
        for form in ("linear", "logic")
    ]


def _user_template() -> dict[str, Any]:
    """The schema of a rule with a template that the file defines."""
    return {
        "type": "object",
        "required": ["template"],
        "properties": {"template": {"allOf": [_TEXT, {"not": {"enum": sorted(TEMPLATES)}}]}, **_COMMON},
        "additionalProperties": _SELECTOR,
    }


def _record(record: type[Any], more: dict[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    known = [f for f in fields(record) if f.name != "groups"]
    missing = [f.name.rstrip("_") for f in known if f.default is MISSING]
    return {
        "type": "object",
        "required": [*required, *missing],
        "additionalProperties": False,
        "properties": {**more, **{f.name.rstrip("_"): kinds(record)[f.name].schema for f in known}},
    }


def _summary(record: type[Any]) -> str:
    return (record.__doc__ or "").strip().split("\n")[0]
