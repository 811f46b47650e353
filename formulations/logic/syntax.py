"""Parsing of texts into formulas, inequalities and named formulas."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from formulations.labels.selectors import Selector
from formulations.logic import ast
from formulations.logic.ast import Formula, Inequality, Name, Position
from formulations.logic.parser import offset_of, parse, read_call
from formulations.logic.resolver import Formulas
from formulations.logic.texts import FormulaError, NamedFormula
from formulations.messages import suggestion

DEEPEST = 100  # calls of named formulas inside one another


class Inequalities(Formulas):
    def inequality(self, node: Any) -> ast.Inequality:
        """A tree as low <= Σ terms <= high."""
        left, relation, right = node.children
        terms, constant = self._side(left, 1)
        others, other = self._side(right, -1)
        terms, bound = terms + others, -(constant + other)
        if not any(tree.data in ("call", "counted") for tree in node.iter_subtrees()):
            ways = "runs(…), tokens(…), at(…), steps(…), changes() or count(…)"
            raise self.fail(f"the inequality counts nothing; use {ways}", node)
        sides = {
            "<=": (None, bound),
            "<": (None, bound - 1),
            ">=": (bound, None),
            ">": (bound + 1, None),
            "=": (bound, bound),
        }
        if str(relation) not in sides:
            raise self.fail("an inequality has one of <=, <, >=, > and =", relation)
        return ast.Inequality(tuple(terms), *sides[str(relation)])

    def _side(self, node: Any, factor: int) -> tuple[list[ast.Term], int]:
        terms, constant, sign = [], 0, 1
        for child in filter(None, node.children):
            if getattr(child, "type", "") == "SIGN":
                sign = 1 if str(child) == "+" else -1
                continue
            times, summand = factor * sign, None
            for each in filter(None, child.children):
                if getattr(each, "type", "") == "INT":
                    times *= self._whole(each)
                else:
                    summand = self._summand(each)
            if summand is None:
                constant += times
            elif times:
                terms.append(ast.Term(times, *summand))
        return terms, constant

    def _summand(self, node: Any) -> tuple[str, ast.Formula]:
        variable = f"t#{next(self.counter)}"
        here = ast.Position(variable, 0)
        if node.data == "counted":
            before = dict(self.scope)
            self.scope[str(node.children[0])] = here
            result, self.scope = self.formula(node.children[1]), before
            return variable, result
        name, arguments = read_call(node)
        usages = {"runs": 1, "tokens": 1, "changes": 0, "steps": 2, "at": 2}
        if name not in usages:
            raise self.fail(f"no count {name!r}{suggestion(name, (*usages, 'count'))}", node)
        parameters = {"steps": "from, to", "at": "field, position", "changes": ""}.get(name, "field")
        self._count(node, arguments, usages[name], f"{name}({parameters})")
        if name == "changes":
            return variable, ast.Change(here)
        field_ = self._field(arguments[0])
        if name == "runs":
            return variable, ast.Begins(field_, here)
        if name == "tokens":
            return variable, ast.Member(field_, here)
        if name == "steps":
            return variable, ast.Edge(field_, self._field(arguments[1]), here)
        at = self._position(arguments[1])
        at = ast.Position("last", at.shift + 1) if not at.base and at.shift < 0 else at
        return variable, ast.And(ast.Compare("=", here, at), ast.Member(field_, here))


def read(
    form: str,
    text: str,
    resolve: Callable[[str], Selector] = str,
    named: Mapping[str, NamedFormula] | None = None,
    arguments: Mapping[str, Selector] | None = None,
) -> Any:
    """Parse a text as a `Formula`, or as an `Inequality` for the form "linear"; FormulaError for invalid texts."""
    known = {} if form == "linear" or named is None else named
    return _read(form, Inequalities(text, resolve, known, {k: Name(v) for k, v in (arguments or {}).items()}))


@lru_cache(maxsize=256)
def mentions(
    form: str, text: str, named: tuple[NamedFormula, ...], parameters: tuple[str, ...]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """Names of fields, labels and groups in a text, in order, including names in called formulas."""
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
    """Raise FormulaError for a syntax error in a named formula, and for recursion."""
    named = {formula.name: formula for formula in formulas}
    calls = {
        name: [call for call in parse(formula.text, kind).find_data("call") if read_call(call)[0] in named]
        for name, formula in named.items()
    }
    sound: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        text, path = named[name].text, (*path, name)
        if len(path) > DEEPEST + 1:
            raise FormulaError(f"named formulas call each other more than {DEEPEST} deep", text, 0)
        for call in calls[name]:
            inner = read_call(call)[0]
            if inner in path:
                circle = " → ".join((*path[path.index(inner) :], inner))
                raise FormulaError(f"a formula that calls itself: {circle}", text, offset_of(call))
            if inner not in sound:
                visit(inner, path)
        sound.add(name)

    for name in named:
        visit(name, ())


def check_body(
    formula: NamedFormula, kind: str, resolve: Callable[[str], Selector], named: Mapping[str, NamedFormula]
) -> None:
    """Raise FormulaError if the text of a named formula is invalid for all values of its parameters."""
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
