"""Case distinction for formulas that compare labels: with the label of one token fixed, comparisons become tests of single tokens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from formulations.labels.label_set import LabelSet
from formulations.logic import ast
from formulations.logic.ast import Formula, Position


@dataclass(frozen=True)
class ComparedToken:
    """A token whose label or field a formula compares with other tokens."""

    what: str
    at: Position


@dataclass
class Cases:
    """Formulas for each label or field of a place; equal formulas are the same object, so that caches by identity work."""

    labels: LabelSet
    _changed: dict[tuple[object, ...], tuple[Formula, Formula]] = field(default_factory=dict)
    _places: dict[tuple[int, frozenset[str]], tuple[Formula, ComparedToken | None]] = field(
        default_factory=dict
    )

    def values(self, place: ComparedToken) -> list[str]:
        names = self.labels.names
        return list(names if place.what == "label" else dict.fromkeys(map(self.labels.strip, names)))

    def place(self, formula: Formula, inside: frozenset[str]) -> ComparedToken | None:
        """A place with an outer variable that the formula compares with the token of an inner variable; without inner variables, with any token except neighbours."""
        key = (id(formula), inside)
        if key not in self._places:
            found = [*_places(formula, inside, inner=bool(inside))]
            found.sort(key=lambda place: place.what != "label")
            self._places[key] = formula, found[0] if found else None
        return self._places[key][1]

    def where(self, formula: Formula, place: ComparedToken, value: str | None) -> Formula:
        """The formula if the place has this label or field; None for a place outside the sequence."""
        key = (id(formula), place, value)
        if key not in self._changed:
            self._changed[key] = formula, self._where(formula, place, value)
        return self._changed[key][1]

    def _where(self, formula: Formula, place: ComparedToken, value: str | None) -> Formula:
        if isinstance(formula, ast.Same):
            for own, other in ((formula.left, formula.right), (formula.right, formula.left)):
                if own == place.at:
                    if value is None:
                        return ast.Constant(False)
                    if formula.what == place.what:
                        return ast.Has(formula.what, value, other)
                    if place.what == "label":
                        return ast.Has(formula.what, self.labels.strip(value), other)
            return formula
        return _rebuilt(formula, lambda inner: self.where(inner, place, value))

    def without_edges(self, formula: Formula) -> Formula:
        """Replace comparisons of edges by comparisons of labels."""
        key = (id(formula), "edges")
        if key not in self._changed:
            self._changed[key] = formula, self._without_edges(formula)
        return self._changed[key][1]

    def _without_edges(self, formula: Formula) -> Formula:
        if not isinstance(formula, ast.Same) or formula.what != "edge":
            return _rebuilt(formula, self.without_edges)
        left, right = formula.left, formula.right
        before = [Position(each.base, each.shift - 1) for each in (left, right)]
        alike = ast.Or(ast.Compare("=", left, right), ast.Same("label", *before))
        return ast.And(ast.Same("label", left, right), alike)


def _rebuilt(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """The formula with changed subformulas; the same object if none changes."""
    match formula:
        case ast.Not(inner) | ast.Quantified(_, _, inner, _):
            new = change(inner)
            return formula if new is inner else replace(formula, inner=new)
        case ast.And(left, right) | ast.Or(left, right) | ast.Iff(left, right):
            a, b = change(left), change(right)
            return formula if a is left and b is right else type(formula)(a, b)
    return formula


def _places(formula: Formula, inside: frozenset[str], inner: bool) -> Iterator[ComparedToken]:
    match formula:
        case ast.Quantified(_, binder, body, _):
            yield from _places(body, inside | {binder.name}, inner)
        case ast.Same(what, left, right) if what != "edge":
            free = [each for each in (left, right) if each.base not in inside]
            near = left.base == right.base and abs(left.shift - right.shift) <= 1
            if free and not near and len(free) < 2 + (not inner):
                yield ComparedToken(what, free[-1])
        case _:
            for child in formula.children():
                if isinstance(child, Formula):
                    yield from _places(child, inside, inner)
