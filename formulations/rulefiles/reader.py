"""Reads rule files: TOML in, rules out, every error with its place."""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from formulations.constraints.defining import named_formula
from formulations.constraints.feature import Feature
from formulations.constraints.formulas import Linear, Logic, Text, apply_template
from formulations.constraints.patterns import Matches
from formulations.constraints.rule import COMMON, SCOPES, Rule
from formulations.constraints.rule_set import RuleError, RuleSet
from formulations.constraints.template import TEMPLATES, Template
from formulations.files import Unreadable, read_text
from formulations.labels.label_set import OUTSIDE, LabelSet
from formulations.labels.selectors import EACH_FIELD, Group, Selector
from formulations.logic.syntax import FormulaError, NamedFormula, check_named_formulas
from formulations.messages import brief, suggestion
from formulations.parameters import KEY, WORDS, KeyPath, ParameterError, Words, kinds
from formulations.rulefiles.declarations import Declarations, DocumentError, check_keys
from formulations.rulefiles.toml_text import locate, syntax_place
from formulations.tokens.token_pattern import TokenPattern

TOP = ("title", "source", "fields", "groups", "template", "rule", "feature")
FORMS = ("template", "linear", "logic")
_ANOTHER = "\0"
"""Stands for labels of a model that a file does not declare."""
MOST_WORDS = 64 * 2**20
"""Bytes of a file of words."""


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
    folder: Path
    templates: dict[str, tuple[NamedFormula, str]] = field(default_factory=dict)

    def rule_set(self) -> RuleSet:
        check_keys(self.document, TOP, ())
        texts = {name: self.text(self.document.get(name, ""), name, name) for name in ("title", "source")}
        self.fields = self.names(self.document.get("fields", []), "fields", "fields")
        for number, name in enumerate(self.fields):
            if name in self.fields[:number] or name in (OUTSIDE, EACH_FIELD):
                raise DocumentError(f"{name!r} need not be declared again", "fields", number)
        self.read_groups(self.document.get("groups", {}))
        for _, table, path in self._tables("template"):
            self._define(table, path)
        self._check_templates()
        for _, table, path in self._tables("template"):
            self._with_place(partial(self._check_template, table), table, path)
        items: list[Rule | Feature] = []
        for kind, build in (("rule", self._rule), ("feature", self._feature)):
            for _, table, path in self._tables(kind):
                items.append(self._with_place(partial(build, table, path), table, path))
        self._check_rule_names(items)
        groups, templates = tuple(self.groups.values()), tuple(self.templates.values())
        return RuleSet(tuple(items), self.fields, self.source, groups, templates, **texts)

    def _check_rule_names(self, items: list[Rule | Feature]) -> None:
        seen: set[str] = set()
        for kind in ("rule", "feature"):
            for number, table in enumerate(self.document.get(kind, [])):
                if table.get("name") in seen:
                    raise DocumentError(
                        f"the name {table['name']!r} is given twice: names must differ", kind, number, "name"
                    )
                seen |= {table["name"]} if table.get("name") else set()

    def _tables(self, kind: str) -> Iterable[tuple[int, Mapping[str, Any], KeyPath]]:
        tables = self.document.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise DocumentError(f"write each {kind} as a table of its own, [[{kind}]]", kind)
        return ((i, table, (kind, i)) for i, table in enumerate(tables))

    def _with_place(self, build: Callable[[], Any], table: Mapping[str, Any], path: KeyPath) -> Any:
        """The result of `build`; its errors get the place of the parameter that their message begins with."""
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
        except ParameterError as error:
            raise DocumentError(str(error), *path, *_keys(table, error), *error.path) from None
        except (TypeError, ValueError) as error:
            words = re.findall(r"\w+", str(error))
            keys = [w for w in words if w in table][:1]
            raise DocumentError(str(error), *path, *keys) from None

    # rules and features ------------------------------------------------------------------------------------------

    def _rule(self, table: Mapping[str, Any], path: KeyPath) -> Rule:
        forms = [form for form in FORMS if form in table]
        if not forms:
            raise DocumentError(
                f"no template; there are {', '.join(sorted(TEMPLATES))}; or write linear or logic", *path
            )
        if len(forms) > 1:
            raise DocumentError(f"{forms[0]} and {forms[1]}: a rule has one form", *path, forms[1], KEY)
        common = {key: table[key] for key in COMMON if key in table}
        scope = common.get("scope", "")
        if not isinstance(scope, str) or (scope and scope not in SCOPES):
            raise DocumentError(f"no scope {brief(scope)}; there are each label, each pair", *path, "scope")
        penalty = common.pop("penalty", "hard")
        number = math.inf if penalty == "hard" else _number(penalty, "penalty", path)
        rule = Rule(self._statement(table, path, forms[0], SCOPES.get(scope, ())), number, **common)
        self._check_names(rule, SCOPES.get(scope, ()))
        return rule

    def _statement(
        self, table: Mapping[str, Any], path: KeyPath, form: str, placeholders: tuple[str, ...]
    ) -> Template:
        if form != "template":
            check_keys(table, (form, *COMMON), path)
            made = Linear if form == "linear" else Logic
            return made(self.text(table[form], form, *path, form), *self._groups_and_formulas())
        name = table["template"]
        if name in self.templates if isinstance(name, str) else False:
            return self._user_template(table, path, name, placeholders)
        if not isinstance(name, str) or name not in TEMPLATES:
            options = [*TEMPLATES, *self.templates]
            raise DocumentError(
                f'no template "{brief(name, quoted=False)}"{suggestion(str(name)[:100], options)}',
                *path,
                "template",
            )
        if issubclass(TEMPLATES[name], Text):
            raise DocumentError(f'write {name} = "…" in place of template', *path, "template")
        parameters = self._parameters(table, TEMPLATES[name], (*COMMON, "template"), path, placeholders)
        if TEMPLATES[name] is Matches:
            parameters["groups"] = tuple(self.groups.values())
        return TEMPLATES[name](**parameters)

    def _groups_and_formulas(self) -> tuple[tuple[Group, ...], tuple[NamedFormula, ...]]:
        formulas = tuple(formula for formula, kind in self.templates.values() if kind == "logic")
        return tuple(self.groups.values()), formulas

    def _user_template(
        self, table: Mapping[str, Any], path: KeyPath, name: str, placeholders: tuple[str, ...]
    ) -> Text:
        formula, kind = self.templates[name]
        check_keys(table, (*formula.parameters, *COMMON, "template"), path)
        for parameter in formula.parameters:
            if parameter not in table:
                raise DocumentError(f"{parameter} is missing", *path)
        values = tuple(self.selector(table[p], p, (*path, p), placeholders) for p in formula.parameters)
        return apply_template(formula, values, *self._groups_and_formulas(), kind)

    def _feature(self, table: Mapping[str, Any], path: KeyPath) -> Feature:
        parameters = self._parameters(table, Feature, (), path, ())
        _number(parameters["weight"], "weight", path)
        return Feature(**parameters)

    def _check_names(self, rule: Rule, placeholders: tuple[str, ...]) -> None:
        """Names in a text must be declared: nothing else would notice before a labelling is at hand."""
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
        """Parameters of a template or feature, field names checked; `from` stands for `from_`."""
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
                value = self._read_word_files(value, name, at, kind is WORDS)
            try:
                result[f.name] = kind.check(value, name)
            except ParameterError as error:
                raise DocumentError(str(error), *at, *error.path) from None
        return result

    def _read_word_files(self, value: Any, name: str, path: KeyPath, words: bool) -> Any:
        """The value with the words that stand in files, in token patterns too."""
        if words:
            return self._words(value, name, path)
        if isinstance(value, list):
            return [self._read_word_files(v, name, (*path, i), False) for i, v in enumerate(value)]
        if not isinstance(value, dict):
            return value
        own = kinds(TokenPattern)
        return {k: self._read_word_files(v, k, (*path, k), own.get(k) is WORDS) for k, v in value.items()}

    def _words(self, value: Any, name: str, path: KeyPath) -> Any:
        """A list of words; `{ file = "words.txt" }` reads one a line, lines that begin with # left out."""
        if not isinstance(value, dict):
            return value
        if value.keys() != {"file"} or not isinstance(value["file"], str):
            raise DocumentError(f'{name}: expected a list of words, or {{ file = "words.txt" }}', *path)
        try:
            return read_words(self.folder, value["file"])
        except Unreadable as error:
            shown = brief(value["file"], quoted=False)
            raise DocumentError(f"{name}: {shown} cannot be read: {error}", *path, "file") from None

    # templates ---------------------------------------------------------------------------------------------------

    def _define(self, table: Mapping[str, Any], path: KeyPath) -> None:
        check_keys(table, ("name", "parameters", "logic", "linear", "reason"), path)
        forms = [form for form in ("logic", "linear") if form in table]
        if len(forms) != 1 or "name" not in table:
            raise DocumentError("a template has a name, parameters, and either logic or linear", *path)
        name = self.text(table["name"], "name", *path, "name")
        if name in self.templates:
            raise DocumentError(f"two templates are named {name!r}", *path, "name")
        if name in self.fields or name in self.groups:
            raise DocumentError(f"a field or group is named {name!r} already", *path, "name")
        parameters = self.names(table.get("parameters", []), "parameters", *path, "parameters")
        text = self.text(table[forms[0]], forms[0], *path, forms[0])
        self.templates[name] = NamedFormula(name, parameters, text), forms[0]

    def _check_template(self, table: Mapping[str, Any]) -> None:
        formula, kind = self.templates[table["name"]]
        _, named = self._groups_and_formulas()
        named_formula(formula.name, formula.parameters, formula.text, kind, self._resolve, named)

    def _resolve(self, word: str) -> Selector:
        if word in self.groups:
            return self.groups[word]
        if word not in (*self.fields, OUTSIDE):
            raise ValueError(f'no field "{word}"{self.hint(word)}')
        return word

    def _check_templates(self) -> None:
        logic = [formula for formula, kind in self.templates.values() if kind == "logic"]
        try:
            check_named_formulas(logic)
        except FormulaError as error:
            tables: list[Any] = self.document.get("template", [])
            number = next(i for i, table in enumerate(tables) if table.get("logic") == error.text)
            raise DocumentError(error.message, "template", number, "logic", offset=error.offset) from None


def read_words(folder: Path, name: str) -> Words:
    """Words of a file, one a line; empty lines and those that begin with # are left out.

    Raises
    ------
    Unreadable
        for a file that cannot be read.
    """
    try:
        text = read_text(folder / name, MOST_WORDS)
    except FileNotFoundError as error:
        raise Unreadable(error.strerror) from None
    lines = (line.strip() for line in text.splitlines())
    words = Words(line for line in lines if line and not line.startswith("#"))
    words.source = name
    return words


def _keys(table: Mapping[str, Any], error: ParameterError) -> list[str]:
    """The parameter that a message begins with."""
    return [word for word in re.findall(r"\w+", str(error))[:1] if word in table]


def _number(value: Any, what: str, path: KeyPath) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**31:
        raise DocumentError(
            f"{what} is {brief(value)}; expected nats up to 2^31{', or hard' if what == 'penalty' else ''}",
            *path,
            what,
        )
    return float(value)
