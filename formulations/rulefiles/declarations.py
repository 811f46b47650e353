"""The declarations of a rule file: fields, groups and templates; and lists of words in files of their own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from formulations.constraints.defining import named_formula
from formulations.errors import InferenceError
from formulations.files import Unreadable, read_text
from formulations.labels.schemes import OUTSIDE
from formulations.labels.selectors import EACH_FIELD, Group, Selector, alternatives
from formulations.logic.names import NamedFormula
from formulations.logic.parser import FormulaError
from formulations.logic.syntax import check_named_formulas
from formulations.messages import brief, suggestion
from formulations.parameters import KEY, WORDS, KeyPath, ParameterError, Words, kinds
from formulations.parameters import words as check_words
from formulations.tokens.token_pattern import TokenPattern

MOST_WORDS = 64 * 2**20  # bytes of a file of words


class DocumentError(InferenceError, ValueError):
    """An error at a place of a document: the keys that lead to it, and characters into the text there."""

    def __init__(self, message: str, *path: Any, offset: int | None = None) -> None:
        super().__init__(message)
        self.message, self.path, self.offset = message, path, offset


@dataclass(kw_only=True)
class Declarations:
    """Fields, groups and templates of a rule file; each template has its form, "logic" or "linear"."""

    fields: tuple[str, ...] = ()
    groups: dict[str, Group] = field(default_factory=dict)
    templates: dict[str, tuple[NamedFormula, str]] = field(default_factory=dict)

    def selector(self, value: Any, what: str, path: KeyPath, placeholders: tuple[str, ...]) -> Any:
        """Convert a selector; every name in it has to be declared."""
        if isinstance(value, list) and value:
            return tuple(self.selector(v, what, (*path, i), placeholders) for i, v in enumerate(value))
        if isinstance(value, dict) and value.keys() == {"not"}:
            if value["not"] == []:
                raise DocumentError(f"{what}: not of nothing; name at least one field", *path, "not")
            inner = alternatives(self.selector(value["not"], what, (*path, "not"), placeholders))
            return Group(f"other than {', '.join(map(str, inner))}", inner, complement=True)
        if not isinstance(value, str):
            expected = "a field, a list of fields, or { not = [...] }"
            raise DocumentError(f"{what} is {brief(value)}; expected {expected}", *path)
        if value in self.groups:
            return self.groups[value]
        if value not in (*self.fields, OUTSIDE, EACH_FIELD, *placeholders):
            raise DocumentError(f'no field "{value}"{self.hint(value)}', *path)
        return value

    def hint(self, name: str) -> str:
        return suggestion(name, [*self.fields, *self.groups]) or '; declare it: fields = ["' + name + '"]'

    def read_groups(self, table: Any) -> None:
        """Read the groups, which may name groups above them."""
        if not isinstance(table, dict):
            raise DocumentError(f"groups is {brief(table)}; expected a table of lists", "groups")
        for name, members in table.items():
            path = ("groups", name)
            if name in (OUTSIDE, EACH_FIELD):
                raise DocumentError(f"{name!r} means something already: choose another name", *path, KEY)
            if name in self.fields:
                raise DocumentError("a field has that name already", *path, KEY)
            complement = isinstance(members, dict) and members.keys() == {"not"}
            values, at = (members["not"], (*path, "not")) if complement else (members, path)
            if not isinstance(values, list):
                raise DocumentError(f"group {name!r} is {brief(values)}; expected a list of names", *at)
            if not values:
                raise DocumentError("without a member; name at least one field", *at)
            inner = tuple(self.selector(m, "member", (*at, i), ()) for i, m in enumerate(values))
            try:
                self.groups[name] = Group(name, inner, complement)
            except ValueError as error:
                raise DocumentError(str(error), *path) from None

    def formulas(self) -> tuple[NamedFormula, ...]:
        """The templates that formulas may call."""
        return tuple(formula for formula, kind in self.templates.values() if kind == "logic")

    def read_template(self, table: Mapping[str, Any], path: KeyPath) -> None:
        """Read a template; its text is checked later, as it may call templates below it."""
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

    def check_template(self, table: Mapping[str, Any]) -> None:
        """Raise ValueError for a template whose name or text cannot be used."""
        formula, kind = self.templates[table["name"]]
        named_formula(formula.name, formula.parameters, formula.text, kind, self._resolve, self.formulas())

    def _resolve(self, word: str) -> Selector:
        if word in self.groups:
            return self.groups[word]
        if word not in (*self.fields, OUTSIDE):
            raise ValueError(f'no field "{word}"{self.hint(word)}')
        return word

    def check_templates(self, tables: list[Any]) -> None:
        """Raise DocumentError where templates call each other in a circle."""
        try:
            check_named_formulas(self.formulas())
        except FormulaError as error:
            number = next(i for i, table in enumerate(tables) if table.get("logic") == error.text)
            raise DocumentError(error.message, "template", number, "logic", offset=error.offset) from None

    def names(self, value: Any, what: str, *path: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            raise DocumentError(f"{what} is {brief(value)}; expected a list of names", *path)
        return tuple(value)

    def text(self, value: Any, what: str, *path: Any) -> str:
        if not isinstance(value, str):
            raise DocumentError(f"{what} is {brief(value)}; expected a text", *path)
        return value


def check_keys(table: Mapping[str, Any], known: Iterable[str], path: KeyPath) -> None:
    for key in table:
        if key not in known:
            raise DocumentError(f'nothing is called "{key}"{suggestion(key, known)}', *path, key, KEY)


def with_word_files(value: Any, name: str, path: KeyPath, folder: Path | None, words: bool) -> Any:
    """The value of a parameter with the words from files in the folder, also inside token patterns; no file is read without a folder."""
    if words:
        return _words(value, name, path, folder)
    if isinstance(value, list):
        return [with_word_files(v, name, (*path, i), folder, False) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    own = kinds(TokenPattern)
    return {k: with_word_files(v, k, (*path, k), folder, own.get(k) is WORDS) for k, v in value.items()}


def _words(value: Any, name: str, path: KeyPath, folder: Path | None) -> Any:
    """A list of words, or those in the file of `{ file = "words.txt" }`; the file is not read where words stand beside it."""
    if not isinstance(value, dict):
        return value
    if not {"file"} <= value.keys() <= {"file", "words"} or not isinstance(value["file"], str):
        raise DocumentError(f'{name}: expected a list of words, or {{ file = "words.txt" }}', *path)
    if "words" in value:
        try:
            words = Words(check_words(value["words"], name))
        except ParameterError as error:
            raise DocumentError(str(error), *path, "words", *error.path) from None
        words.source = value["file"]
        return words
    if folder is None:
        raise DocumentError(f"{name}: no file is read here; write the words: words = [...]", *path, "file")
    try:
        return read_words(folder, value["file"])
    except Unreadable as error:
        shown = brief(value["file"], quoted=False)
        raise DocumentError(f"{name}: {shown} cannot be read: {error}", *path, "file") from None


def read_words(folder: Path, name: str) -> Words:
    """Words of a file, one a line; empty lines and those that begin with # are left out. Unreadable for a file that cannot be read."""
    try:
        text = read_text(folder / name, MOST_WORDS)
    except FileNotFoundError as error:
        raise Unreadable(error.strerror) from None
    lines = (line.strip() for line in text.splitlines())
    words = Words(line for line in lines if line and not line.startswith("#"))
    words.source = name
    return words
