"""Records of formulas, which the parser builds and checker and compiler read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from formulations.labels.selectors import Selector
from formulations.tokens.token_pattern import TokenPattern

Value = int | Selector
Environment = Mapping[str, Value]
"""Values of variables: numbers for positions; fields, labels or groups for label variables."""


@dataclass(frozen=True)
class Position:
    """A token: an offset from a variable, from the last token, or from token 0.

    Parameters
    ----------
    base : str
        A variable's name, "last", or "" for token 0.
    shift : int
        Added to it.
    """

    base: str
    shift: int

    def at(self, environment: Environment, length: int) -> int:
        """The token's number, which may lie outside the sequence."""
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
    """A field, label or group, or a variable with such a value.

    Parameters
    ----------
    selector : str, Group or list of str
        Name of the field, label or group, or of the variable.
    variable : bool, default False
        Whether it is one.
    """

    selector: Selector
    variable: bool = False

    def of(self, environment: Environment) -> Selector:
        """The field, label or group."""
        result = environment[str(self.selector)] if self.variable else self.selector
        assert not isinstance(result, int)
        return result

    @property
    def free(self) -> frozenset[str]:
        return frozenset([str(self.selector)]) if self.variable else frozenset()


class Formula:
    """A formula about a labelling; `free` are its free variables."""

    def children(self) -> tuple["Formula | Position | Name | None", ...]:
        """The formulas, positions and names that the formula consists of."""
        return tuple(v for v in vars(self).values() if isinstance(v, Formula | Position | Name))

    @cached_property
    def free(self) -> tuple[str, ...]:
        result: frozenset[str] = frozenset()
        for child in self.children():
            result |= frozenset(child.free) if child is not None else frozenset()
        return tuple(sorted(result))

    @cached_property
    def size(self) -> int:
        """Number of subformulas; shared ones are counted each time they occur."""
        return 1 + sum(child.size for child in self.children() if isinstance(child, Formula))


@dataclass(frozen=True)
class Constant(Formula):
    """True or False."""

    value: bool


@dataclass(frozen=True)
class Not(Formula):
    """The opposite."""

    inner: Formula


@dataclass(frozen=True)
class _Joined(Formula):
    left: Formula
    right: Formula


class And(_Joined):
    """Both."""


class Or(_Joined):
    """At least one of the two."""


class Iff(_Joined):
    """Both or neither."""


@dataclass(frozen=True)
class PositionBinder:
    """A variable over tokens from `low` to `high`, both included, but not `unequal`."""

    name: str
    low: Position = Position("", 0)
    high: Position = Position("last", 0)
    unequal: Position | None = None


@dataclass(frozen=True)
class LabelBinder:
    """A variable over "fields" (all but `O`), "labels", or the alternatives (domain "")."""

    name: str
    domain: str
    alternatives: tuple[Selector, ...] = ()


Binder = PositionBinder | LabelBinder


@dataclass(frozen=True)
class Quantified(Formula):
    """A quantified formula. `block` is the number of the quantifier in the text, which may bind several variables."""

    universal: bool
    binder: Binder
    inner: Formula
    block: int

    def children(self) -> tuple[Formula | Position | Name | None, ...]:
        return (self.inner,)

    @cached_property
    def free(self) -> tuple[str, ...]:
        result = set(self.inner.free) - {self.binder.name}
        if isinstance(self.binder, PositionBinder):
            for bound in (self.binder.low, self.binder.high, self.binder.unequal):
                result |= bound.free if bound is not None else set()
        return tuple(sorted(result))


@dataclass(frozen=True)
class _FieldAt(Formula):
    field: Name
    at: Position


class Member(_FieldAt):
    """The token belongs to the field."""


class Innermost(_FieldAt):
    """The innermost field of the token is this one, or one of the group."""


class Begins(_FieldAt):
    """A run of the field begins at the token."""


class Ends(_FieldAt):
    """A run of the field ends at the token."""


@dataclass(frozen=True)
class Change(Formula):
    """The step into the token begins a run of any field or enters `O`."""

    at: Position


@dataclass(frozen=True)
class Edge(Formula):
    """The step into the token leads from one field to another."""

    before: Name
    after: Name
    at: Position


@dataclass(frozen=True)
class Same(Formula):
    """Two tokens have the same label, field (the innermost one) or edge."""

    what: str
    left: Position
    right: Position


@dataclass(frozen=True)
class TokenIs(Formula):
    """The token matches."""

    pattern: TokenPattern
    at: Position


@dataclass(frozen=True)
class SameToken(Formula):
    """Two tokens are the same text."""

    left: Position
    right: Position


@dataclass(frozen=True)
class Compare(Formula):
    """Positions compared: "<", "<=" or "="."""

    relation: str
    left: Position
    right: Position


@dataclass(frozen=True)
class SameName(Formula):
    """Two label variables, or one and a name, stand for the same."""

    left: Name
    right: Name


@dataclass(frozen=True)
class Term:
    """A coefficient times the number of tokens for which a formula is true; the formula reads at most one step.

    Parameters
    ----------
    times : int
        The coefficient.
    variable : str
        The token's.
    formula : Formula
        True or false of it.
    """

    times: int
    variable: str
    formula: Formula


@dataclass(frozen=True)
class Inequality:
    """low <= Σ terms <= high."""

    terms: tuple[Term, ...]
    low: int | None
    high: int | None
