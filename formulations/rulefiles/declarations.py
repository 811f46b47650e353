"""Declarations of a rule file: fields, groups and templates; and word lists in separate files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from formulations.files import Unreadable, read_text
from formulations.labels.schemes import OUTSIDE
from formulations.labels.selectors import EACH_FIELD, Group, Selector, alternatives
from formulations.logic.texts import FormulaError, NamedFormula
from formulations.messages import brief, suggestion
from formulations.parameters import KEY, WORDS, ParameterError, Words, at, each, kinds
from formulations.parameters import words as check_words
from formulations.tokens.token_pattern import TokenPattern

MOST_WORDS = 64 * 2**20  # bytes of a file of words


@dataclass(kw_only=True)
class Declarations:
    """Fields, groups and templates of a rule file; templates have the form "logic" or "linear"."""

    fields: tuple[str, ...] = ()
    groups: dict[str, Group] = field(default_factory=dict)
    templates: dict[str, tuple[NamedFormula, str]] = field(default_factory=dict)
    placeholders: tuple[str, ...] = ()  # placeholders of the current rule's scope

    def selector(self, value: Any, what: str) -> Any:
        """Convert a selector; all names must be declared."""
        if isinstance(value, list) and value:
            return tuple(each(value, lambda member: self.selector(member, what)))
        if isinstance(value, dict) and value.keys() == {"not"}:
            if value["not"] == []:
                raise ParameterError(f"{what}: not is empty; name at least one field", "not")
            with at("not"):
                inner = alternatives(self.selector(value["not"], what))
            return Group(f"other than {', '.join(map(str, inner))}", inner, complement=True)
        if not isinstance(value, str):
            expected = "a field, a list of fields, or { not = [...] }"
            raise ParameterError(f"{what} is {brief(value)}; expected {expected}")
        return self.declared(value, (EACH_FIELD, *self.placeholders))

    def declared(self, name: str, more: tuple[str, ...] = ()) -> Selector:
        """The field or group of a name; ValueError for an undeclared name that is not in `more`."""
        if name in self.groups:
            return self.groups[name]
        if name not in (*self.fields, OUTSIDE, *more):
            raise ValueError(f'no field "{name}"{self.hint(name)}')
        return name

    def hint(self, name: str) -> str:
        return suggestion(name, [*self.fields, *self.groups]) or '; declare it: fields = ["' + name + '"]'

    def read_group(self, name: str, members: Any) -> None:
        """Read a group, which may contain groups above it."""
        if name in (OUTSIDE, EACH_FIELD):
            raise ParameterError(f"{name!r} is a reserved word; choose another name", KEY)
        if name in self.fields:
            raise ParameterError("a field has that name already", KEY)
        complement = isinstance(members, dict) and members.keys() == {"not"}
        with at(*(["not"] if complement else [])):
            values = members["not"] if complement else members
            if not isinstance(values, list):
                raise ValueError(f"group {name!r} is {brief(values)}; expected a list of names")
            if not values:
                raise ValueError("without a member; name at least one field")
            inner = each(values, lambda member: self.selector(member, "member"))
        self.groups[name] = Group(name, inner, complement)

    def formulas(self) -> tuple[NamedFormula, ...]:
        """Templates that formulas may call."""
        return tuple(formula for formula, kind in self.templates.values() if kind == "logic")

    def read_template(self, table: Mapping[str, Any]) -> None:
        """Read a template; its text is checked later, since it may call templates below it."""
        check_keys(table, ("name", "parameters", "logic", "linear", "reason"))
        forms = [form for form in ("logic", "linear") if form in table]
        if len(forms) != 1 or "name" not in table:
            raise ParameterError("a template has a name, parameters, and either logic or linear")
        name = text_of(table, "name")
        if name in self.templates:
            raise ParameterError(f"two templates are named {name!r}", "name")
        if name in self.fields or name in self.groups:
            raise ParameterError(f"a field or group is named {name!r} already", "name")
        formula = NamedFormula(name, names_of(table, "parameters"), text_of(table, forms[0]))
        self.templates[name] = formula, forms[0]

    def check_template(self, table: Mapping[str, Any]) -> None:
        """Raise ValueError for a template with an invalid name or text."""
        from formulations.constraints.defining import check_definition

        formula, kind = self.templates[table["name"]]
        check_definition(formula, kind, self.declared, self.formulas())

    def check_templates(self, tables: list[Any]) -> None:
        """Raise ParameterError for recursive templates."""
        from formulations.logic.syntax import check_named_formulas

        try:
            check_named_formulas(self.formulas())
        except FormulaError as error:
            number = next(i for i, table in enumerate(tables) if table.get("logic") == error.text)
            raise ParameterError(error.message, "template", number, "logic", offset=error.offset) from None


def text_of(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ParameterError(f"{key} is {brief(value)}; expected a text", key)
    return value


def names_of(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise ParameterError(f"{key} is {brief(value)}; expected a list of names", key)
    return tuple(value)


def check_keys(table: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in table:
        if key not in known:
            raise ParameterError(f'unknown key "{key}"{suggestion(key, known)}', key, KEY)


def with_word_files(value: Any, name: str, folder: Path | None, words: bool) -> Any:
    """Replace word files in the value of a parameter by their words, also inside token patterns; without a folder, no file is read."""
    if words:
        return _words(value, name, folder)
    if isinstance(value, list):
        return each(value, lambda member: with_word_files(member, name, folder, False))
    if not isinstance(value, dict):
        return value
    own, result = kinds(TokenPattern), {}
    for key, inner in value.items():
        with at(key):
            result[key] = with_word_files(inner, key, folder, own.get(key) is WORDS)
    return result


def _words(value: Any, name: str, folder: Path | None) -> Any:
    """A list of words, or the words of `{ file = "words.txt" }`; with the key `words`, the file is not read."""
    if not isinstance(value, dict):
        return value
    if not {"file"} <= value.keys() <= {"file", "words"} or not isinstance(value["file"], str):
        raise ParameterError(f'{name}: expected a list of words, or {{ file = "words.txt" }}')
    if "words" in value:
        with at("words"):
            words = Words(check_words(value["words"], name))
        words.source = value["file"]
        return words
    if folder is None:
        raise ParameterError(f"{name}: no file is read here; write the words: words = [...]", "file")
    try:
        return read_words(folder, value["file"])
    except Unreadable as error:
        shown = brief(value["file"], quoted=False)
        raise ParameterError(f"{name}: {shown} cannot be read: {error}", "file") from None


def read_words(folder: Path, name: str) -> Words:
    """Words of a file, one per line; empty lines and lines that begin with # are ignored. Unreadable for a file that cannot be read."""
    try:
        text = read_text(folder / name, MOST_WORDS)
    except FileNotFoundError as error:
        raise Unreadable(error.strerror) from None
    lines = (line.strip() for line in text.splitlines())
    words = Words(line for line in lines if line and not line.startswith("#"))
    words.source = name
    return words
