"""Records of formulas, from the parser, for checker and compiler."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from inspect import get_annotations
from typing import dataclass_transform

from formulations.labels.selectors import Selector
from formulations.tokens.token_pattern import TokenPattern

Value = int | Selector
Environment = Mapping[str, Value]
"""Values of variables: token numbers for positions; fields, labels or groups for label variables."""


@dataclass(frozen=True)
class Position:
    """A token: an offset from a variable, from "last", or from token 0 (empty base)."""

    base: str
    shift: int

    def at(self, environment: Environment, length: int) -> int:
        """The token's number; it may lie outside the sequence."""
        if not self.base:
            return self.shift
        result = length - 1 if self.base == "last" else environment[self.base]
        assert isinstance(result, int)
        return result + self.shift

    @property
    def free(self) -> frozenset[str]:
        return frozenset([self.base]) - {"", "last"}


@dataclass(frozen=True)
class Name:
    """A field, label or group, or a variable with such a value."""

    selector: Selector
    variable: bool = False

    def of(self, environment: Environment) -> Selector:
        result = environment[str(self.selector)] if self.variable else self.selector
        assert not isinstance(result, int)
        return result

    @property
    def free(self) -> frozenset[str]:
        return frozenset([str(self.selector)]) if self.variable else frozenset()


@dataclass_transform(frozen_default=True)
class Formula:
    """A formula about a labelling with free variables `free`; subclasses are frozen dataclasses."""

    def __init_subclass__(cls) -> None:
        if get_annotations(cls) or not is_dataclass(cls):
            dataclass(frozen=True)(cls)

    def children(self) -> tuple["Formula | Position | Name", ...]:
        return tuple(v for v in vars(self).values() if isinstance(v, Formula | Position | Name))

    @cached_property
    def free(self) -> tuple[str, ...]:
        return tuple(sorted({name for child in self.children() for name in child.free}))

    @cached_property
    def size(self) -> int:
        """Number of subformulas, including repetitions."""
        return 1 + sum(child.size for child in self.children() if isinstance(child, Formula))


class Constant(Formula):
    value: bool


class Not(Formula):
    inner: Formula


class _Joined(Formula):
    left: Formula
    right: Formula


class And(_Joined): ...


class Or(_Joined): ...


class Iff(_Joined): ...


@dataclass(frozen=True)
class PositionBinder:
    """A variable over tokens from `low` to `high`, inclusive, except `unequal`."""

    name: str
    low: Position = Position("", 0)
    high: Position = Position("last", 0)
    unequal: Position | None = None


@dataclass(frozen=True)
class LabelBinder:
    """A variable over "fields" (all except `O`), "labels", or the alternatives (domain "")."""

    name: str
    domain: str
    alternatives: tuple[Selector, ...] = ()


Binder = PositionBinder | LabelBinder


class Quantified(Formula):
    """A quantified formula. `block` is the number of the quantifier in the text; a quantifier may bind several variables."""

    universal: bool
    binder: Binder
    inner: Formula
    block: int

    def children(self) -> tuple[Formula | Position | Name, ...]:
        return (self.inner,)

    @cached_property
    def free(self) -> tuple[str, ...]:
        result = set(self.inner.free) - {self.binder.name}
        if isinstance(self.binder, PositionBinder):
            for bound in (self.binder.low, self.binder.high, self.binder.unequal):
                result |= bound.free if bound is not None else set()
        return tuple(sorted(result))


class Atom(Formula):
    """A formula about one or two tokens, false if one of them is outside the sequence."""

    def tokens(self, environment: Environment, length: int) -> list[int]:
        """The tokens; empty if one is outside the sequence."""
        places = [v.at(environment, length) for v in vars(self).values() if isinstance(v, Position)]
        return places if all(0 <= t < length for t in places) else []


class _FieldAt(Atom):
    field: Name
    at: Position


class Member(_FieldAt): ...


class Innermost(_FieldAt):
    """The innermost field of the token is this field, or in this group."""


class Begins(_FieldAt): ...


class Ends(_FieldAt): ...


class Change(Atom):
    """The step into the token begins a run of any field or enters `O`."""

    at: Position


class Edge(Atom):
    before: Name
    after: Name
    at: Position


class Same(Atom):
    """Two tokens have the same label, field (the innermost one) or edge."""

    what: str
    left: Position
    right: Position


class Has(Atom):
    """The token has this label, or this innermost field."""

    what: str
    name: str
    at: Position


class TokenIs(Atom):
    pattern: TokenPattern
    at: Position


class SameToken(Atom):
    left: Position
    right: Position


class Compare(Formula):
    relation: str  # "<", "<=" or "="
    left: Position
    right: Position


class SameName(Formula):
    """Two label variables, or a label variable and a name, are equal."""

    left: Name
    right: Name


@dataclass(frozen=True)
class Term:
    """A coefficient times the number of tokens at which a formula is true; the formula reads at most one step."""

    times: int
    variable: str
    formula: Formula


@dataclass(frozen=True)
class Inequality:
    """low <= Σ terms <= high."""

    terms: tuple[Term, ...]
    low: int | None
    high: int | None
