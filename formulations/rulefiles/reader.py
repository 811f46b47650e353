"""Reads rule files: TOML in, rules out, every error with its place."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from formulations import time_limits
from formulations.constraints.feature import Feature
from formulations.constraints.formulas import Linear, Logic, Text, apply_template
from formulations.constraints.patterns import Matches
from formulations.constraints.rule import COMMON, SCOPES, Rule
from formulations.constraints.rule_set import RuleError, RuleSet
from formulations.constraints.template import TEMPLATES, Template
from formulations.labels.label_set import LabelSet
from formulations.labels.schemes import OUTSIDE
from formulations.labels.selectors import EACH_FIELD
from formulations.logic.parser import FormulaError
from formulations.messages import brief, suggestion
from formulations.parameters import KEY, WORDS, KeyPath, ParameterError, kinds
from formulations.rulefiles.declarations import Declarations, DocumentError, check_keys, with_word_files
from formulations.rulefiles.toml_text import NotToml, loads, locate

TOP = ("title", "source", "fields", "groups", "template", "rule", "feature")
FORMS = ("template", "linear", "logic")
_ANOTHER = "\0"  # stands for labels of a model that a file does not declare


def read(text: str, source: str, folder: Path | None) -> RuleSet:
    """The rules of a text; files of words are those of the folder, and errors where there is none."""
    try:
        document = loads(text)
    except NotToml as error:
        raise RuleError(f"{source}: {error}", error.place.caret() if error.place else "") from None
    try:
        return _Reader(document, source, folder).rule_set()
    except DocumentError as error:
        place = locate(text, error.path, error.offset) if error.path else None
        where = f" (line {place.line}, column {place.column})" if place else ""
        title = _title(document, error.path)
        excerpt = place.caret() if place else ""
        raise RuleError(f"{source}{title}: {error.message}{where}", excerpt) from None


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
        check_keys(self.document, TOP, ())
        texts = {name: self.text(self.document.get(name, ""), name, name) for name in ("title", "source")}
        self.fields = self.names(self.document.get("fields", []), "fields", "fields")
        for number, name in enumerate(self.fields):
            if name in self.fields[:number] or name in (OUTSIDE, EACH_FIELD):
                raise DocumentError(f"{name!r} need not be declared again", "fields", number)
        self.read_groups(self.document.get("groups", {}))
        for table, path in self._tables("template"):
            self.read_template(table, path)
        self.check_templates(self.document.get("template", []))
        for table, path in self._tables("template"):
            self._with_place(partial(self.check_template, table), table, path)
        items: list[Rule | Feature] = []
        for kind, build in (("rule", self._rule), ("feature", self._feature)):
            for table, path in self._tables(kind):
                items.append(self._with_place(partial(build, table, path), table, path))
        self._check_rule_names()
        groups, templates = tuple(self.groups.values()), tuple(self.templates.values())
        return RuleSet(tuple(items), self.fields, self.source, groups, templates, **texts)

    def _check_rule_names(self) -> None:
        seen: set[str] = set()
        for table, path in (*self._tables("rule"), *self._tables("feature")):
            if (name := table.get("name")) in seen:
                raise DocumentError(f"the name {name!r} is given twice: names must differ", *path, "name")
            seen |= {name} if name else set()

    def _tables(self, kind: str) -> Iterable[tuple[Mapping[str, Any], KeyPath]]:
        tables = self.document.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise DocumentError(f"write each {kind} as a table of its own, [[{kind}]]", kind)
        return ((table, (kind, i)) for i, table in enumerate(tables))

    def _with_place(self, build: Callable[[], Any], table: Mapping[str, Any], path: KeyPath) -> Any:
        """The result of `build`; its errors get the place of the parameter that their message begins with."""
        time_limits.check()
        try:
            return build()
        except DocumentError:
            raise
        except FormulaError as error:
            keys = [k for k in (*FORMS, "regex") if table.get(k) == error.text]
            at = error.offset if keys else None
            unknown = re.match(r'no field "(.+?)"', error.message) if not self.fields else None
            message = f"{unknown[0]}{self.hint(unknown[1])}" if unknown else error.message
            raise DocumentError(message, *path, *keys[:1], offset=at) from None
        except (TypeError, ValueError) as error:
            place = error.path if isinstance(error, ParameterError) else ()
            words = [] if place else re.findall(r"\w+", str(error))
            raise DocumentError(str(error), *path, *place, *[w for w in words if w in table][:1]) from None

    def _rule(self, table: Mapping[str, Any], path: KeyPath) -> Rule:
        forms = [form for form in FORMS if form in table]
        if not forms:
            known = ", ".join(sorted(TEMPLATES))
            raise DocumentError(f"no template; there are {known}; or write linear or logic", *path)
        if len(forms) > 1:
            raise DocumentError(f"{forms[0]} and {forms[1]}: a rule has one form", *path, forms[1], KEY)
        common = {key: table[key] for key in COMMON if key in table}
        scope = common.get("scope", "")
        if not isinstance(scope, str) or (scope and scope not in SCOPES):
            raise DocumentError(f"no scope {brief(scope)}; there are each label, each pair", *path, "scope")
        penalty, placeholders = common.pop("penalty", "hard"), SCOPES.get(scope, ())
        number = math.inf if penalty == "hard" else _number(penalty, "penalty", path)
        rule = Rule(self._statement(table, path, forms[0], placeholders), number, **common)
        self._check_names(rule, placeholders)
        return rule

    def _statement(
        self, table: Mapping[str, Any], path: KeyPath, form: str, placeholders: tuple[str, ...]
    ) -> Template:
        if form != "template":
            check_keys(table, (form, *COMMON), path)
            text = self.text(table[form], form, *path, form)
            return (Linear if form == "linear" else Logic)(text, tuple(self.groups.values()), self.formulas())
        name = table["template"]
        if isinstance(name, str) and name in self.templates:
            return self._user_template(table, path, name, placeholders)
        if not isinstance(name, str) or name not in TEMPLATES:
            hint = suggestion(str(name)[:100], [*TEMPLATES, *self.templates])
            raise DocumentError(f'no template "{brief(name, quoted=False)}"{hint}', *path, "template")
        if issubclass(TEMPLATES[name], Text):
            raise DocumentError(f'write {name} = "…" in place of template', *path, "template")
        parameters = self._parameters(table, TEMPLATES[name], (*COMMON, "template"), path, placeholders)
        if TEMPLATES[name] is Matches:
            parameters["groups"] = tuple(self.groups.values())
        return TEMPLATES[name](**parameters)

    def _user_template(
        self, table: Mapping[str, Any], path: KeyPath, name: str, placeholders: tuple[str, ...]
    ) -> Text:
        formula, kind = self.templates[name]
        check_keys(table, (*formula.parameters, *COMMON, "template"), path)
        for parameter in formula.parameters:
            if parameter not in table:
                raise DocumentError(f"{parameter} is missing", *path)
        values = tuple(self.selector(table[p], p, (*path, p), placeholders) for p in formula.parameters)
        return apply_template(formula, values, tuple(self.groups.values()), self.formulas(), kind)

    def _feature(self, table: Mapping[str, Any], path: KeyPath) -> Feature:
        parameters = self._parameters(table, Feature, (), path, ())
        _number(parameters["weight"], "weight", path)
        return Feature(**parameters)

    def _check_names(self, rule: Rule, placeholders: tuple[str, ...]) -> None:
        """Check the names in a text, which would otherwise be noticed only with the first labelling."""
        names = tuple(dict.fromkeys((*self.fields, OUTSIDE, *placeholders)))
        known, model = LabelSet(names, "plain"), LabelSet((*names, _ANOTHER), "plain")
        text = rule.statement
        if isinstance(text, Text):
            text.read(known)
        if isinstance(text, Matches):
            text.check(known)
        if isinstance(text, Linear | Matches):
            list(text.ground(model, ["", "", ""]))

    def _parameters(
        self,
        table: Mapping[str, Any],
        record: type[Any],
        other: tuple[str, ...],
        path: KeyPath,
        placeholders: tuple[str, ...],
    ) -> dict[str, Any]:
        """The parameters of a template or feature, checked; the key `from` is the parameter `from_`."""
        known = {f.name.rstrip("_"): f for f in fields(record) if f.name != "groups"}
        check_keys(table, (*known, *other), path)
        missing = [name for name, f in known.items() if f.default is MISSING and name not in table]
        if missing:
            raise DocumentError(f"{missing[0]} is missing", *path)
        result = {}
        for name, f in known.items():
            if name not in table or name in other:
                continue
            value, at = table[name], (*path, name)
            kind = kinds(record)[f.name]
            if kind.names_fields:
                value = self.selector(value, name, at, placeholders)
            else:
                value = with_word_files(value, name, at, self.folder, kind is WORDS)
            try:
                result[f.name] = kind.check(value, name)
            except ValueError as error:
                raise DocumentError(str(error), *at, *getattr(error, "path", ())) from None
        return result


def _number(value: Any, what: str, path: KeyPath) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**31:
        hard = ", or hard" if what == "penalty" else ""
        raise DocumentError(f"{what} is {brief(value)}; expected nats up to 2^31{hard}", *path, what)
    return float(value)
