"""Rule files: TOML in, rules out, and back; every error with its place."""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from formulations.constraints.defining import named_formula
from formulations.constraints.feature import Feature
from formulations.constraints.formulas import Defined, Linear, Logic, Matches, Text
from formulations.constraints.rule import SCOPES, Rule
from formulations.constraints.template import SELECTORS, TEMPLATES, Template
from formulations.constraints.tokens import TokenPattern, as_pattern
from formulations.labels import EACH_FIELD, OUTSIDE, Group, LabelSet, suggestion
from formulations.language.syntax import FormulaError, NamedFormula, check_named
from formulations.language.toml_text import KEY, dumps, locate, syntax_place
from formulations.rules import RuleError, RuleSet

TOP = ("title", "source", "fields", "groups", "template", "rule", "feature")
FORMS = ("template", "linear", "logic")
COMMON = ("name", "penalty", "distance", "scope", "partial", "reason")
"""What every rule may have beside its form and the form's parameters."""
WORDS = ("words", "unless", "phrases")
"""Parameters whose list of words may come from a file."""


class Misplaced(ValueError):
    """Something wrong at a place of the document: where a path of keys leads, and how far into a text."""

    def __init__(self, message: str, *path: Any, offset: int | None = None) -> None:
        super().__init__(message)
        self.message, self.path, self.offset = message, path, offset


def read(text: str, source: str, folder: Path) -> RuleSet:
    """A rule set from TOML text."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, place = syntax_place(error, text)
        where = f" (line {place.line}, column {place.column})" if place else ""
        raise RuleError(f"{source}: not TOML: {message}{where}", place.caret() if place else "") from None
    except RecursionError:
        raise RuleError(
            f"{source}: not TOML that can be read: brackets too deep inside one another"
        ) from None
    try:
        return _Reader(document, source, folder).rule_set()
    except Misplaced as error:
        place = locate(text, error.path, error.offset) if error.path else None
        where = f" (line {place.line}, column {place.column})" if place else ""
        title = _title(document, error.path)
        excerpt = place.caret() if place else ""
        raise RuleError(f"{source}{title}: {error.message}{where}", excerpt) from None


def _title(document: Mapping[str, Any], path: tuple[Any, ...]) -> str:
    """`, rule 3 ("one title")`."""
    if len(path) > 1 and path[0] in ("rule", "feature", "template") and isinstance(path[1], int):
        table = document[path[0]][path[1]]
        name = table.get("name") if isinstance(table, dict) else None
        return f", {path[0]} {path[1] + 1}" + (f' ("{name}")' if isinstance(name, str) and name else "")
    return f", group {path[1]!r}" if len(path) > 1 and path[0] == "groups" else ""


@dataclass
class _Reader:
    document: Mapping[str, Any]
    source: str
    folder: Path
    declared: tuple[str, ...] = ()
    groups: dict[str, Group] = field(default_factory=dict)
    templates: dict[str, tuple[NamedFormula, str]] = field(default_factory=dict)

    def rule_set(self) -> RuleSet:
        _known(self.document, TOP, ())
        texts = {name: self._text(self.document.get(name, ""), name, name) for name in ("title", "source")}
        self.declared = self._names(self.document.get("fields", []), "fields", "fields")
        self._read_groups(self.document.get("groups", {}))
        for _, table, path in self._tables("template"):
            self._guarded(lambda t=table, p=path: self._define(t, p), table, path)
        self._check_templates()
        items: list[Rule | Feature] = []
        for kind, build in (("rule", self._rule), ("feature", self._feature)):
            for _, table, path in self._tables(kind):
                items.append(self._guarded(lambda b=build, t=table, p=path: b(t, p), table, path))
        groups, templates = tuple(self.groups.values()), tuple(self.templates.values())
        return RuleSet(tuple(items), self.declared, self.source, groups, templates, **texts)

    def _tables(self, kind: str) -> Iterable[tuple[int, Mapping[str, Any], tuple[Any, ...]]]:
        tables = self.document.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise Misplaced(f"write each {kind} as a table of its own, [[{kind}]]", kind)
        return ((i, table, (kind, i)) for i, table in enumerate(tables))

    def _guarded(self, build: Callable[[], Any], table: Mapping[str, Any], path: tuple[Any, ...]) -> Any:
        """What `build` makes; errors without a place get that of the parameter which they begin with."""
        try:
            return build()
        except Misplaced:
            raise
        except FormulaError as error:
            keys = [k for k in (*FORMS, "regex") if table.get(k) == error.text]
            at = error.offset if keys else None
            raise Misplaced(error.message, *path, *keys[:1], offset=at) from None
        except (TypeError, ValueError) as error:
            words = re.findall(r"\w+", str(error))
            keys = [w for w in words if w in table][:1]
            raise Misplaced(str(error), *path, *keys) from None

    # rules and features ------------------------------------------------------------------------------------------

    def _rule(self, table: Mapping[str, Any], path: tuple[Any, ...]) -> Rule:
        forms = [form for form in FORMS if form in table]
        if not forms:
            raise Misplaced(
                f"no template; there are {', '.join(sorted(TEMPLATES))}; or write linear or logic", *path
            )
        if len(forms) > 1:
            raise Misplaced(f"{forms[0]} and {forms[1]}: a rule has one form", *path, forms[1], KEY)
        common = {key: table[key] for key in COMMON if key in table}
        scope = common.get("scope", "")
        if scope and scope not in SCOPES:
            raise Misplaced(f"no scope {scope!r}; there are each label, each pair", *path, "scope")
        penalty = common.pop("penalty", "hard")
        number = math.inf if penalty == "hard" else _number(penalty, "penalty", path)
        rule = Rule(self._statement(table, path, forms[0], SCOPES.get(scope, ())), number, **common)
        self._check_names(rule, SCOPES.get(scope, ()))
        return rule

    def _statement(
        self, table: Mapping[str, Any], path: tuple[Any, ...], form: str, placeholders: tuple[str, ...]
    ) -> Template:
        if form != "template":
            _known(table, (form, *COMMON), path)
            made = Linear if form == "linear" else Logic
            return made(self._text(table[form], form, *path, form), *self._named())
        name = table["template"]
        if name in self.templates if isinstance(name, str) else False:
            return self._defined(table, path, name, placeholders)
        if not isinstance(name, str) or name not in TEMPLATES:
            options = [*TEMPLATES, *self.templates]
            raise Misplaced(f'no template "{name}"{suggestion(str(name), options)}', *path, "template")
        if issubclass(TEMPLATES[name], Text):
            raise Misplaced(f'write {name} = "…" in place of template', *path, "template")
        parameters = self._parameters(table, TEMPLATES[name], (*COMMON, "template"), path, placeholders)
        if TEMPLATES[name] is Matches:
            parameters["groups"] = tuple(self.groups.values())
        return TEMPLATES[name](**parameters)

    def _named(self) -> tuple[tuple[Group, ...], tuple[NamedFormula, ...]]:
        formulas = tuple(formula for formula, kind in self.templates.values() if kind == "logic")
        return tuple(self.groups.values()), formulas

    def _defined(
        self, table: Mapping[str, Any], path: tuple[Any, ...], name: str, placeholders: tuple[str, ...]
    ) -> Defined:
        formula, kind = self.templates[name]
        _known(table, (*formula.parameters, *COMMON, "template"), path)
        for parameter in formula.parameters:
            if parameter not in table:
                raise Misplaced(f"{parameter} is missing", *path)
        values = tuple(self._selector(table[p], p, (*path, p), placeholders) for p in formula.parameters)
        return Defined(formula, values, *self._named(), kind)

    def _feature(self, table: Mapping[str, Any], path: tuple[Any, ...]) -> Feature:
        parameters = self._parameters(table, Feature, (), path, ())
        _number(parameters["weight"], "weight", path)
        return Feature(**parameters)

    def _check_names(self, rule: Rule, placeholders: tuple[str, ...]) -> None:
        """Names in a text must be declared: nothing else would notice before a labelling is at hand."""
        known = LabelSet(tuple(dict.fromkeys((*self.declared, OUTSIDE, *placeholders))), "plain")
        statement = rule.statement
        if isinstance(statement, Defined):
            statement.statement.read(known)
        elif isinstance(statement, Text):
            statement.read(known)
        elif isinstance(statement, Matches):
            statement.check(known)

    def _parameters(
        self,
        table: Mapping[str, Any],
        record: type[Any],
        other: tuple[str, ...],
        path: tuple[Any, ...],
        placeholders: tuple[str, ...],
    ) -> dict[str, Any]:
        """Parameters of a template or feature, field names checked; `from` stands for `from_`."""
        known = {f.name.rstrip("_"): f for f in fields(record) if f.name != "groups"}
        _known(table, (*known, *other), path)
        missing = [name for name, f in known.items() if f.default is MISSING and name not in table]
        if missing:
            raise Misplaced(f"{missing[0]} is missing", *path)
        found = {}
        for name, f in known.items():
            if name not in table or name in other:
                continue
            value, at = table[name], (*path, name)
            if f.type in SELECTORS:
                value = self._selector(value, name, at, placeholders)
            elif name in WORDS:
                value = self._words(value, name, at)
            elif f.type == TokenPattern | None:
                value = self._pattern(value, name, at)
            elif name == "sequence" and isinstance(value, list):
                value = tuple(self._pattern(v, name, (*at, i)) for i, v in enumerate(value))
            found[f.name] = value
        return found

    def _pattern(self, value: Any, name: str, path: tuple[Any, ...]) -> TokenPattern:
        if isinstance(value, dict):
            value = {k: self._words(v, k, (*path, k)) if k in WORDS else v for k, v in value.items()}
        try:
            return as_pattern(value, name)
        except (TypeError, ValueError) as error:
            raise Misplaced(str(error), *path) from None

    def _words(self, value: Any, name: str, path: tuple[Any, ...]) -> Any:
        """A list of words; `{ file = "words.txt" }` reads one a line, lines that begin with # left out."""
        if not isinstance(value, dict):
            return value
        if value.keys() != {"file"} or not isinstance(value["file"], str):
            raise Misplaced(f'{name}: expected a list of words, or {{ file = "words.txt" }}', *path)
        try:
            text = (self.folder / value["file"]).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            what = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise Misplaced(f"{name}: {value['file']} cannot be read: {what}", *path, "file") from None
        lines = (line.strip() for line in text.splitlines())
        return tuple(line for line in lines if line and not line.startswith("#"))

    # templates ---------------------------------------------------------------------------------------------------

    def _define(self, table: Mapping[str, Any], path: tuple[Any, ...]) -> None:
        _known(table, ("name", "parameters", "logic", "linear", "reason"), path)
        forms = [form for form in ("logic", "linear") if form in table]
        if len(forms) != 1 or "name" not in table:
            raise Misplaced("a template has a name, parameters, and either logic or linear", *path)
        name = self._text(table["name"], "name", *path, "name")
        if name in self.templates:
            raise Misplaced(f"two templates are named {name!r}", *path, "name")
        if name in self.declared or name in self.groups:
            raise Misplaced(f"a field or group is named {name!r} already", *path, "name")
        parameters = self._names(table.get("parameters", []), "parameters", *path, "parameters")
        text = self._text(table[forms[0]], forms[0], *path, forms[0])
        self.templates[name] = named_formula(name, parameters, text, forms[0]), forms[0]

    def _check_templates(self) -> None:
        logic = [formula for formula, kind in self.templates.values() if kind == "logic"]
        try:
            check_named(logic)
        except FormulaError as error:
            tables: list[Any] = self.document.get("template", [])
            number = next(i for i, table in enumerate(tables) if table.get("logic") == error.text)
            raise Misplaced(error.message, "template", number, "logic", offset=error.offset) from None

    # names -------------------------------------------------------------------------------------------------------

    def _selector(self, value: Any, what: str, path: tuple[Any, ...], placeholders: tuple[str, ...]) -> Any:
        """A field, a list of them, or a group, each of them declared."""
        if isinstance(value, list) and value:
            return tuple(self._selector(v, what, (*path, i), placeholders) for i, v in enumerate(value))
        if isinstance(value, dict) and value.keys() == {"not"}:
            listed = isinstance(value["not"], list)
            members = value["not"] if listed else [value["not"]]
            places = [(*path, "not", i) if listed else (*path, "not") for i in range(len(members))]
            inner = tuple(
                self._selector(v, what, at, placeholders) for v, at in zip(members, places, strict=True)
            )
            return Group(f"other than {', '.join(map(str, inner))}", inner, complement=True)
        if not isinstance(value, str):
            raise Misplaced(
                f"{what} is {value!r}; expected a field, a list of fields, or {{ not = [...] }}", *path
            )
        if value in self.groups:
            return self.groups[value]
        if value not in (*self.declared, OUTSIDE, EACH_FIELD, *placeholders):
            raise Misplaced(f'no field "{value}"{suggestion(value, [*self.declared, *self.groups])}', *path)
        return value

    def _read_groups(self, table: Any) -> None:
        if not isinstance(table, dict):
            raise Misplaced(f"groups is {table!r}; expected a table of lists", "groups")
        for name, members in table.items():
            path = ("groups", name)
            if name in self.declared:
                raise Misplaced("a field has that name already", *path, KEY)
            if members == []:
                raise Misplaced("without a member; name at least one field", *path)
            complement = isinstance(members, dict) and members.keys() == {"not"}
            listed, at = (members["not"], (*path, "not")) if complement else (members, path)
            names = self._names(listed, f"group {name!r}", *at)
            inner = tuple(self._selector(m, "member", (*at, i), ()) for i, m in enumerate(names))
            self.groups[name] = Group(name, inner, complement)

    def _names(self, value: Any, what: str, *path: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            raise Misplaced(f"{what} is {value!r}; expected a list of names", *path)
        return tuple(value)

    def _text(self, value: Any, what: str, *path: Any) -> str:
        if not isinstance(value, str):
            raise Misplaced(f"{what} is {value!r}; expected a text", *path)
        return value


def _number(value: Any, what: str, path: tuple[Any, ...]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**31:
        raise Misplaced(
            f"{what} is {value!r}; expected nats up to 2^31{', or hard' if what == 'penalty' else ''}",
            *path,
            what,
        )
    return float(value)


def _known(table: Mapping[str, Any], known: Iterable[str], path: tuple[Any, ...]) -> None:
    for key in table:
        if key not in known:
            raise Misplaced(f'nothing is called "{key}"{suggestion(key, known)}', *path, key, KEY)


# writing ---------------------------------------------------------------------------------------------------------


def write(rules: RuleSet) -> str:
    """A rule set as TOML text."""
    declared = rules.fields or _fields(rules)
    groups = {group.name: group for group in rules.groups}
    for item in rules:
        for selector in _selectors(item):
            _gather(selector, groups)
    document: dict[str, Any] = {
        "title": rules.title,
        "source": rules.source,
        "fields": list(declared),
        "groups": {name: _members(group) for name, group in groups.items()},
        "template": [
            {"name": f.name, "parameters": list(f.parameters), kind: f.text} for f, kind in rules.templates
        ],
        "rule": [_rule_table(item) for item in rules if isinstance(item, Rule)],
        "feature": [_feature_table(item) for item in rules if isinstance(item, Feature)],
    }
    return dumps({key: value for key, value in document.items() if value})


def _rule_table(rule: Rule) -> dict[str, Any]:
    statement = rule.statement
    table: dict[str, Any] = {"name": rule.name} if rule.name else {}
    if isinstance(statement, Text):
        if statement.arguments:
            raise ValueError(f"rule {rule.title!r}: a formula with arguments has no form in a file")
        table[statement.form] = statement.text
    elif isinstance(statement, Defined):
        table["template"] = statement.formula.name
        parameters = zip(statement.formula.parameters, statement.values, strict=True)
        table |= {name: _written(value) for name, value in parameters}
    else:
        table["template"] = statement.rule_name
        table |= _changed(statement)
    if not rule.hard:
        table["penalty"] = rule.penalty
    table |= {"distance": rule.distance} if rule.distance != "count" else {}
    for key in ("scope", "partial", "reason"):
        if getattr(rule, key):
            table[key] = getattr(rule, key)
    return table


def _feature_table(feature: Feature) -> dict[str, Any]:
    return _changed(feature)


def _changed(record: Any) -> dict[str, Any]:
    """Parameters that are not at their defaults."""
    return {
        f.name.rstrip("_"): _written(getattr(record, f.name))
        for f in fields(record)
        if f.name != "groups" and getattr(record, f.name) != f.default
    }


def _written(value: Any) -> Any:
    if isinstance(value, Group):
        members = [_written(member) for member in value.members]
        return {"not": members} if value.complement and value.name.startswith("other than ") else value.name
    if isinstance(value, TokenPattern):
        return _changed(value)
    return [_written(v) for v in value] if isinstance(value, tuple) else value


def _members(group: Group) -> Any:
    members = [_written(member) for member in group.members]
    return {"not": members} if group.complement else members


def _selectors(item: Rule | Feature) -> list[Any]:
    if isinstance(item, Feature):
        return [item.label, item.from_, item.to]
    return item.statement.selectors()


def _gather(selector: Any, groups: dict[str, Group]) -> None:
    """Named groups, inner ones first."""
    if isinstance(selector, Group):
        for member in selector.members:
            _gather(member, groups)
        unnamed = selector.complement and selector.name.startswith("other than ")
        if not unnamed and groups.setdefault(selector.name, selector) != selector:
            raise ValueError(f"two different groups are named {selector.name!r}: give them different names")
    elif isinstance(selector, tuple):
        for member in selector:
            _gather(member, groups)


def _fields(rules: RuleSet) -> list[str]:
    """What rules made in Python name, which a file has to declare."""
    found: dict[str, None] = {}

    def add(selector: Any, taken: tuple[str, ...]) -> None:
        if isinstance(selector, str):
            if selector not in (OUTSIDE, EACH_FIELD, *taken):
                found[selector] = None
        elif selector is not None:
            for member in selector.members if isinstance(selector, Group) else selector:
                add(member, taken)

    for item in rules:
        taken = SCOPES[item.scope] if isinstance(item, Rule) else ()
        for selector in _selectors(item):
            add(selector, taken)
        statement = item.statement if isinstance(item, Rule) else None
        if isinstance(statement, Text):
            groups = {group.name for group in statement.groups}
            for name in statement.words():
                if name not in groups:
                    add(name, taken)
    return list(found)
