"""Parsing of texts into formulas, inequalities and named formulas."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from formulations.labels.selectors import Selector
from formulations.logic.ast import Formula, Inequality, Name, Position
from formulations.logic.counts import Inequalities
from formulations.logic.names import NamedFormula
from formulations.logic.parser import FormulaError, offset_of, parse, read_call
from formulations.logic.resolver import DEEPEST

__all__ = [
    "FormulaError",
    "NamedFormula",
    "check_body",
    "check_named_formulas",
    "mentions",
    "read",
]


def read(
    form: str,
    text: str,
    resolve: Callable[[str], Selector] = str,
    named: Mapping[str, NamedFormula] | None = None,
    arguments: Mapping[str, Selector] | None = None,
) -> Any:
    """The `Formula` of a text, or its `Inequality` where the form is "linear"; FormulaError for a text that is none."""
    known = {} if form == "linear" or named is None else named
    return _read(form, Inequalities(text, resolve, known, {k: Name(v) for k, v in (arguments or {}).items()}))


@lru_cache(maxsize=256)
def mentions(
    form: str, text: str, named: tuple[NamedFormula, ...], parameters: tuple[str, ...]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names of fields, labels and groups that a text mentions, in their order, and those of the formulas that it calls."""
    words: dict[str, str] = {}
    known = {} if form == "linear" else {formula.name: formula for formula in named}
    scope: dict[str, Position | Name] = {name: Name("O") for name in parameters}
    reader = Inequalities(text, lambda word: words.setdefault(word, word), known, scope)
    _read(form, reader)
    return tuple(words), frozenset(name for name, *_ in reader.instances)


def _read(form: str, reader: Inequalities) -> Formula | Inequality:
    try:
        if form == "linear":
            return reader.inequality(parse(reader.text, "inequality"))
        return reader.formula(parse(reader.text, "formula"))
    except RecursionError:
        raise FormulaError("parts lie too deep inside one another", reader.text, 0) from None


def check_named_formulas(formulas: Iterable[NamedFormula], kind: str = "formula") -> None:
    """Raise FormulaError for a syntax error in a named formula, and for formulas that call each other in a circle."""
    named = {formula.name: formula for formula in formulas}
    calls = {
        name: [call for call in parse(formula.text, kind).find_data("call") if read_call(call)[0] in named]
        for name, formula in named.items()
    }
    sound: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if len(path) > DEEPEST:
            raise FormulaError(
                f"named formulas call each other more than {DEEPEST} deep", named[name].text, 0
            )
        for call in calls[name]:
            inner = read_call(call)[0]
            if inner in (*path, name):
                circle = " → ".join(
                    (*path[path.index(inner) :], name, inner) if inner in path else (name, inner)
                )
                message = f"a formula that calls itself: {circle}"
                raise FormulaError(message, named[name].text, offset_of(call))
            if inner not in sound:
                visit(inner, (*path, name))
        sound.add(name)

    for name in named:
        visit(name, ())


def check_body(
    formula: NamedFormula, kind: str, resolve: Callable[[str], Selector], named: Mapping[str, NamedFormula]
) -> None:
    """Raise FormulaError where the text of a named formula cannot be used, whatever its parameters stand for."""
    errors: list[FormulaError] = []
    places: list[Name | Position] = [Name("O"), Position("?", 0)]
    for chosen in product(places, repeat=min(len(formula.parameters), 8)):
        scope = dict(zip(formula.parameters, chosen, strict=False))
        reader = Inequalities(formula.text, resolve, named, scope)
        try:
            _read(kind, reader)
            return
        except FormulaError as error:
            errors.append(error)
    specific = [error for error in errors if " stands for " not in error.message]
    raise max(specific or errors, key=lambda error: error.offset)
