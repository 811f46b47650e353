"""Searches of quantifiers over tokens: literals, some of which bound the token or compare it with another, so that few tokens are tried."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from formulations.logic import ast
from formulations.logic.ast import Environment, Formula, Name, Position

Literal = tuple[Formula, bool]
"""A formula, and whether it has to be true or false."""
Read = tuple[str, Position | Name | Formula]
"""A value that an inner formula reads from outer variables: label, field, edge, text, neighbouring labels or position of a token; or
the value of a name or of a formula."""


def literals(formula: Formula, positive: bool = True) -> Iterator[Literal]:
    """The literals whose conjunction is the formula, or its negation."""
    if isinstance(formula, ast.Not):
        yield from literals(formula.inner, not positive)
    elif isinstance(formula, ast.And if positive else ast.Or):
        yield from literals(formula.left, positive)
        yield from literals(formula.right, positive)
    else:
        yield formula, positive


@dataclass(frozen=True)
class Comparison:
    """A comparison of the searched token, shifted by `shift`, with another token: equal label, field, edge or text."""

    what: str
    shift: int
    other: Position


@dataclass(frozen=True)
class TokenSearch:
    """A search for tokens at which literals hold; the literals are grouped by the way in which they restrict the token."""

    name: str
    binder: ast.PositionBinder
    outer: Sequence[Literal]
    """Literals about outer variables only."""
    bounds: Sequence[tuple[ast.Compare, bool]]
    same: Comparison | None
    different: Comparison | None
    rest: Sequence[Literal]
    reads: Sequence[Read]
    """Values of outer variables that `rest` reads."""

    @property
    def placed(self) -> bool:
        """Whether `rest` depends on positions of outer variables; results then cannot be shared between their values."""
        return any(what == "place" for what, _ in self.reads)

    def window(self, environment: Environment, length: int) -> tuple[int, int, set[int]]:
        """First and last possible token, and excluded tokens."""
        binder = self.binder
        low, high = (
            max(0, binder.low.at(environment, length)),
            min(binder.high.at(environment, length), length - 1),
        )
        barred = set[int]()
        if binder.unequal is not None:
            barred.add(binder.unequal.at(environment, length))
        for compare, positive in self.bounds:
            first = compare.left.base == self.name
            own, other = (compare.left, compare.right) if first else (compare.right, compare.left)
            at = other.at(environment, length) - own.shift
            if compare.relation == "=":
                if positive:
                    low, high = max(low, at), min(high, at)
                else:
                    barred.add(at)
            elif first == positive:
                high = min(high, at - ((compare.relation == "<") == positive))
            else:
                low = max(low, at + ((compare.relation == "<") == positive))
        return low, high, barred


def search(binder: ast.PositionBinder, wanted: Iterable[Literal]) -> TokenSearch:
    """The search for the tokens of a binder at which literals hold."""
    name, outer, bounds, rest = (
        binder.name,
        list[Literal](),
        list[tuple[ast.Compare, bool]](),
        list[Literal](),
    )
    pairs: dict[bool, Comparison] = {}
    for formula, positive in wanted:
        if name not in formula.free:
            outer.append((formula, positive))
        elif isinstance(formula, ast.Compare) and _parted(formula, name):
            bounds.append((formula, positive))
        elif (
            isinstance(formula, ast.Same | ast.SameToken) and _parted(formula, name) and positive not in pairs
        ):
            own, other = formula.left, formula.right
            if own.base != name:
                own, other = other, own
            what = formula.what if isinstance(formula, ast.Same) else "token"
            pairs[positive] = Comparison(what, own.shift, other)
        else:
            rest.append((formula, positive))
    reads = [each for formula, _ in rest for each in _reads(formula, frozenset([name]))]
    return TokenSearch(name, binder, outer, bounds, pairs.get(True), pairs.get(False), rest, reads)


def _parted(formula: ast.Compare | ast.Same | ast.SameToken, name: str) -> bool:
    """Whether exactly one side is about the variable."""
    return (formula.left.base == name) != (formula.right.base == name)


def _reads(formula: Formula, inside: frozenset[str]) -> Iterator[Read]:
    """Values of outer variables that a formula reads."""
    free = frozenset(formula.free)
    if free <= inside:
        return
    if free.isdisjoint(inside):
        yield "truth", formula
        return
    match formula:
        case ast.Quantified(_, binder, inner, _):
            if isinstance(binder, ast.PositionBinder):
                for bound in (binder.low, binder.high, binder.unequal):
                    if bound is not None and not bound.free <= inside:
                        yield "place", bound
            yield from _reads(inner, inside | {binder.name})
        case ast.Compare() | ast.SameName() | ast.Atom():
            what = _parts(formula)
            for part in formula.children():
                if not isinstance(part, Formula) and not part.free <= inside:
                    yield ("name" if isinstance(part, Name) else what), part
        case _:
            for child in formula.children():
                if isinstance(child, Formula):
                    yield from _reads(child, inside)


def _parts(formula: Formula) -> str:
    """The kind of value that a formula reads from its tokens."""
    match formula:
        case ast.Compare():
            return "place"
        case ast.Same(what):
            return what
        case ast.SameToken():
            return "token"
    return "near"
