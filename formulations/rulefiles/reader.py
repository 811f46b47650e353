"""Reading of rule files; every error has a place."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from formulations import time_limits
from formulations.constraints.feature import Feature
from formulations.constraints.rule import COMMON, SCOPES, Rule
from formulations.constraints.rule_set import RuleError, RuleSet
from formulations.constraints.template import FORMULAS, TEMPLATES, Template
from formulations.labels.label_set import LabelSet
from formulations.labels.schemes import OUTSIDE
from formulations.labels.selectors import EACH_FIELD
from formulations.logic.texts import FormulaError, NamedFormula
from formulations.messages import brief, near_name, suggestion
from formulations.parameters import KEY, WORDS, KeyPath, ParameterError, at, each, kinds
from formulations.rulefiles.declarations import Declarations, check_keys, names_of, text_of, with_word_files
from formulations.rulefiles.toml_text import NotToml, loads, locate

TOP = ("title", "source", "fields", "never", "groups", "template", "rule", "feature")
FORMS = ("template", "linear", "logic")
_UNKNOWN = re.compile(r'no field "(.+?)"')
_MOST_UNKNOWN = 20  # fields in a message
_ANOTHER = "\0"  # placeholder for labels of a model that the file does not declare


def read(text: str, source: str, folder: Path | None) -> RuleSet:
    """The rules of a text. `folder` is the folder of word files; without a folder, they are errors."""
    try:
        document = loads(text)
    except NotToml as error:
        raise RuleError(f"{source}: {error}", error.place.caret() if error.place else "") from None
    try:
        return _Reader(document, source, folder).rule_set()
    except ParameterError as error:
        place = locate(text, error.path, error.offset) if error.path else None
        where = f" (line {place.line}, column {place.column})" if place else ""
        title = _title(document, error.path)
        excerpt = place.caret() if place else ""
        message = _with_other_fields(f"{error.message}{where}", document, source, folder)
        raise RuleError(f"{source}{title}: {message}", excerpt) from None


def _with_other_fields(message: str, document: Mapping[str, Any], source: str, folder: Path | None) -> str:
    """Add all other undeclared fields to a message about an undeclared field."""
    unknown, found = list[str](), _UNKNOWN.match(message)
    while found and found[1] not in unknown and len(unknown) < _MOST_UNKNOWN:
        unknown.append(found[1])
        try:
            _Reader(
                {**document, "fields": [*document.get("fields", ()), *unknown]}, source, folder
            ).rule_set()
        except ParameterError as error:
            found = _UNKNOWN.match(error.message)
        else:
            break
    if len(unknown) < 2:
        return message
    names = [json.dumps(name, ensure_ascii=False) for name in unknown]
    alone = f"declare it: fields = [{names[0]}]"
    if alone in message:
        return message.replace(alone, f"declare it and the others: fields = [{', '.join(names)}]")
    return f"{message}; other fields that are not declared: {', '.join(names[1:])}"


def _title(document: Mapping[str, Any], path: KeyPath) -> str:
    """`, rule 3 ("one title")`."""
    if len(path) > 1 and path[0] in ("rule", "feature", "template") and isinstance(path[1], int):
        table = document[path[0]][path[1]]
        name = table.get("name") if isinstance(table, dict) else None
        return f", {path[0]} {path[1] + 1}" + (f' ("{name}")' if isinstance(name, str) and name else "")
    return f", group {path[1]!r}" if len(path) > 1 and path[0] == "groups" else ""


@dataclass
class _Reader(Declarations):
    document: Mapping[str, Any]
    source: str
    folder: Path | None

    def rule_set(self) -> RuleSet:
        document = self.document
        check_keys(document, TOP)
        about = {key: text_of(document, key) for key in ("title", "source")}
        self.fields = names_of(document, "fields")
        for number, name in enumerate(self.fields):
            if name in self.fields[:number] or name in (OUTSIDE, EACH_FIELD):
                raise ParameterError(f"{name!r} need not be declared again", "fields", number)
        groups = document.get("groups", {})
        if not isinstance(groups, dict):
            raise ParameterError(f"groups is {brief(groups)}; expected a table of lists", "groups")
        for name, members in groups.items():
            with at("groups", name):
                self.read_group(name, members)
        self._tables("template", self.read_template)
        if self.templates:
            self.check_templates(document["template"])
            self._tables("template", self.check_template)
        items = [*self._tables("rule", self._rule), *self._tables("feature", self._feature)]
        names = set[str]()
        for kind in ("rule", "feature"):
            self._tables(kind, partial(_check_name, names))
        groups, templates = tuple(self.groups.values()), tuple(self.templates.values())
        never = names_of(document, "never")
        return RuleSet(tuple(items), self.fields, self.source, groups, templates, **about, never=never)

    def _tables(self, kind: str, read: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
        """Read the tables of a kind."""
        tables = self.document.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise ParameterError(f"write each {kind} as a table of its own, [[{kind}]]", kind)
        with at(kind):
            return each(tables, partial(self._read_table, read))

    def _read_table(self, read: Callable[[Mapping[str, Any]], Any], table: Mapping[str, Any]) -> Any:
        """Read a table; errors get the place of the parameter at the beginning of their message."""
        time_limits.check()
        try:
            return read(table)
        except ParameterError:
            raise
        except FormulaError as error:
            keys = [k for k in (*FORMS, "regex") if table.get(k) == error.text]
            unknown = _UNKNOWN.match(error.message) if not self.fields else None
            message = f"{unknown[0]}{self.hint(unknown[1])}" if unknown else error.message
            raise ParameterError(message, *keys[:1], offset=error.offset if keys else None) from None
        except (TypeError, ValueError) as error:
            keys = [word for word in re.findall(r"\w+", str(error)) if word in table]
            raise ParameterError(str(error), *keys[:1]) from None

    def _rule(self, table: Mapping[str, Any]) -> Rule:
        forms = [form for form in FORMS if form in table]
        if not forms:
            check_keys({key: None for key in table if near_name(key, FORMS)}, FORMS)
            known = ", ".join(sorted(TEMPLATES))
            raise ParameterError(f"no template; choose from {known}; or write linear or logic")
        if len(forms) > 1:
            raise ParameterError(
                f"{forms[0]} and {forms[1]}: a rule has one form; remove one of them", forms[1], KEY
            )
        common = {key: table[key] for key in COMMON if key in table}
        scope = common.get("scope", "")
        if scope not in list(SCOPES):
            raise ParameterError(f"no scope {brief(scope)}; choose from each label, each pair", "scope")
        self.placeholders, penalty = SCOPES[scope], common.pop("penalty", "hard")
        number = math.inf if penalty in ("hard", math.inf) else _number(penalty, "penalty")
        rule = Rule(self._statement(table, forms[0]), number, **common)
        self._check_names(rule.statement)
        return rule

    def _statement(self, table: Mapping[str, Any], form: str) -> Template:
        if form != "template":
            check_keys(table, (form, *COMMON))
            stated: dict[str, Any] = {"text": text_of(table, form), "named": self.formulas()}
            return TEMPLATES[form](**stated, groups=tuple(self.groups.values()))  # type: ignore[call-arg]
        name = table["template"]
        if isinstance(name, str) and name in self.templates:
            return self._user_template(table, *self.templates[name])
        if not isinstance(name, str) or name not in TEMPLATES:
            hint = suggestion(str(name)[:100], [*TEMPLATES, *self.templates])
            raise ParameterError(f'no template "{brief(name, quoted=False)}"{hint}', "template")
        if TEMPLATES[name].form in FORMULAS:
            raise ParameterError(f'write {name} = "…" in place of template', "template")
        parameters = self._parameters(table, TEMPLATES[name], (*COMMON, "template"))
        if "groups" in kinds(TEMPLATES[name]):
            parameters["groups"] = tuple(self.groups.values())
        return TEMPLATES[name](**parameters)

    def _user_template(self, table: Mapping[str, Any], formula: NamedFormula, kind: str) -> Template:
        from formulations.constraints.formulas import apply_template

        check_keys(table, (*formula.parameters, *COMMON, "template"))
        for parameter in formula.parameters:
            if parameter not in table:
                raise ParameterError(f"{parameter} is missing")
        values = [self._selector(table, parameter) for parameter in formula.parameters]
        return apply_template(formula, values, tuple(self.groups.values()), self.formulas(), kind)

    def _selector(self, table: Mapping[str, Any], key: str) -> Any:
        with at(key):
            return self.selector(table[key], key)

    def _feature(self, table: Mapping[str, Any]) -> Feature:
        self.placeholders = ()
        parameters = self._parameters(table, Feature, ())
        _number(parameters["weight"], "weight")
        return Feature(**parameters)

    def _check_names(self, statement: Template) -> None:
        """Check the names in a text, which otherwise would be checked only on the first labelling."""
        names = tuple(dict.fromkeys((*self.fields, OUTSIDE, *self.placeholders)))
        known, model = LabelSet(names, "plain"), LabelSet((*names, _ANOTHER), "plain")
        statement.check_names(known, model)

    def _parameters(
        self, table: Mapping[str, Any], record: type[Any], other: tuple[str, ...]
    ) -> dict[str, Any]:
        """Parameters of a template or feature; the key `from` is the parameter `from_`."""
        known = {f.name.rstrip("_"): f for f in fields(record) if f.name != "groups"}
        check_keys(table, (*known, *other))
        missing = [name for name, f in known.items() if f.default is MISSING and name not in table]
        if missing:
            raise ParameterError(f"{missing[0]} is missing")
        result = {}
        for key in (key for key in known if key in table and key not in other):
            name = known[key].name
            kind = kinds(record)[name]
            if kind.names_fields:
                result[name] = self._selector(table, key)
            else:
                with at(key):
                    result[name] = with_word_files(table[key], key, self.folder, kind is WORDS)
        return result


def _check_name(names: set[str], table: Mapping[str, Any]) -> None:
    name = table.get("name", "")
    if name in names:
        raise ParameterError(f"the name {name!r} is given twice: names must differ", "name")
    names.update([name] if name else [])


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**31:
        hard = ", or hard" if what == "penalty" else ""
        raise ParameterError(f"{what} is {brief(value)}; expected nats up to 2^31{hard}", what)
    return float(value)
