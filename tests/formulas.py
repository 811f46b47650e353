"""Brute-force oracle for logic formulas and linear inequalities: what each says, how it is written, and strategies.

A labelling `y` is the sequence of its label names, `x` its tokens. `env` maps each variable to its value (a position
or a name), and `fields` and `labels` to their domains. An atom or a term is the concrete form with `{}` for each
part; a letter per part says of which kind it is (see `_part`). text() has only the parentheses it needs.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import oracles
from hypothesis import strategies as st

Env = dict[str, Any]
Names = Sequence[str]

TOKENS = (".", "word", "pp", "1999")
REGEXES = ("[0-9]+", ".", "[a-z]+", "pp?", "word|[.]", "wor", "(19|20)[0-9]*", ".*")
LEVEL = {"<->": 1, "iff": 1, "->": 2, "implies": 2, "or": 3, "and": 4, "not": 5, "()": 6}
COMPARE = {"<": operator.lt, "<=": operator.le, "=": operator.eq, ">=": operator.ge, ">": operator.gt}
KEYWORDS = set(
    "forall exists not and or implies iff in is matches true false first last length fields labels begins ends "
    "change edge label field token runs tokens changes steps at count".split()
)
ROMAN = "(?=[ivxlcdm])m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})"
CLASSES = {
    "punctuation": r"[\W_]+",
    "number": r"\d+([.,/-]\d+)*",
    "capitalised": r"[^a-zA-Z]*[A-Z].*[a-z].*",
    "lowercase": r"[^A-Z]*[a-z][^A-Z]*",
    "year": r"(19|20)\d\d",
    "newline": r"@newline@|<NEWLINE>|NEWLINE|\n",
    "numbering": rf"[(\[]?(\d+(\.\d+)*|[A-Za-z]|{ROMAN}|{ROMAN.upper()})[.)\]]?",
    "uppercase": r"[^a-z]*[A-Z][^a-z]*",
}


@cache
def members(y: tuple[str, ...], F: str, scheme: str) -> frozenset[int]:
    """Positions whose label is called F or belongs to the field F."""
    return frozenset(oracles.tokens_of(y, F, scheme)) | {t for t, name in enumerate(y) if name == F}


@cache
def starts(y: tuple[str, ...], F: str, scheme: str) -> frozenset[int]:
    """Positions where a run of F begins: where the scheme says so, or where F is entered."""
    inside = members(y, F, scheme)
    return frozenset(oracles.run_starts(y, F, scheme)) | {t for t in inside if t - 1 not in inside}


class Sentence(NamedTuple):
    """A labelling of tokens, asked about positions that it has."""

    y: tuple[str, ...]
    x: Names
    scheme: str

    def has(self, t: int, F: str) -> bool:
        return t in members(self.y, F, self.scheme)

    def begins(self, t: int, F: str) -> bool:
        return t in starts(self.y, F, self.scheme)

    def field(self, t: int) -> str:
        return oracles.fields_of(self.y[t], self.scheme)[-1][0]

    def changes(self) -> list[int]:
        return oracles.changes(self.y, self.scheme)


ATOMS = {
    "{}({})": ("Fe", lambda s, F, t: s.has(t, F)),
    "begins({}, {})": ("fb", lambda s, F, t: s.begins(t, F)),
    "ends({}, {})": ("fa", lambda s, F, t: s.has(t, F) and (not s.has(t + 1, F) or s.begins(t + 1, F))),
    "change({})": ("b", lambda s, t: t in s.changes()),
    "edge({}) = ({}, {})": ("bFF", lambda s, t, F, G: s.has(t - 1, F) and s.has(t, G)),
    "edge({}) = edge({})": ("bb", lambda s, t, u: ["", *s.y][t : t + 2] == ["", *s.y][u : u + 2]),
    "label({}) = label({})": ("ee", lambda s, t, u: s.y[t] == s.y[u]),
    "label({}) = {}": ("eF", lambda s, t, F: s.has(t, F)),
    "field({}) = field({})": ("ee", lambda s, t, u: s.field(t) == s.field(u)),
    "field({}) = {}": ("ef", lambda s, t, F: s.field(t) == F),
    "token({}) = token({})": ("ee", lambda s, t, u: s.x[t] == s.x[u]),
    "token({}) = {}": ("ew", lambda s, t, word: s.x[t] == word),
    "token({}) in {}": ("eW", lambda s, t, words: s.x[t] in words),
    "token({}) matches {}": ("er", lambda s, t, regex: re.fullmatch(regex, s.x[t]) is not None),
    "token({}) is {}": ("ec", lambda s, t, kind: re.fullmatch(CLASSES[kind], s.x[t]) is not None),
    "true": ("", lambda s: True),
    "false": ("", lambda s: False),
}
COMPARISONS = {
    f"{{}} {op} {{}}": ("nn", compare) for op, compare in COMPARE.items()
}  # of integers or of names
TERMS = {
    "1": ("", lambda s: 1),
    "runs({})": ("f", lambda s, F: len(starts(s.y, F, s.scheme))),
    "tokens({})": ("f", lambda s, F: len(members(s.y, F, s.scheme))),
    "changes()": ("", lambda s: len(s.changes())),
    "steps({}, {})": ("ff", lambda s, F, G: sum(s.has(t - 1, F) and s.has(t, G) for t in range(1, len(s.y)))),
    "at({}, {})": ("fi", lambda s, F, t: int(s.has(t + len(s.y) if t < 0 else t, F))),
    "count({}: {})": ("vp", lambda s, t, phi: sum(phi.holds({t: i}, *s) for i in range(len(s.y)))),
}


@dataclass(frozen=True)
class Name:
    """The name of a field or label, quoted also a token or an expression; or several: {a, b}, quoted ["a", "b"]."""

    name: str | tuple[str, ...]
    quoted: bool = False

    def value(self, env: Env, T: int) -> str | tuple[str, ...]:
        return self.name

    def text(self) -> str:
        if isinstance(self.name, tuple):
            inner = ", ".join(Name(name, self.quoted).text() for name in self.name)
            return f"[{inner}]" if self.quoted else f"{{{inner}}}"
        bare = self.name.isidentifier() and self.name not in KEYWORDS and not self.quoted
        return self.name if bare else f'"{self.name}"'


@dataclass(frozen=True)
class Expr:
    """An integer, a variable, `first`, `last` or `length`, with integers added; or the domain `fields`, `labels`."""

    base: int | str
    shifts: tuple[int, ...] = ()

    def value(self, env: Env, T: int) -> Any:
        known = {"first": 0, "last": T - 1, "length": T, **env}
        base = self.base if isinstance(self.base, int) else known[self.base]
        return base + sum(self.shifts) if self.shifts else base

    def text(self) -> str:
        return str(self.base) + "".join(f" {'-' if n < 0 else '+'} {abs(n)}" for n in self.shifts)


@dataclass(frozen=True)
class Atom:
    """A form and its parts; one of ATOMS or COMPARISONS (perhaps with != for =) holds, one of TERMS has a value."""

    form: str
    parts: tuple[Name | Expr | Formula, ...] = ()

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        form, values = self.form.replace("!=", "="), [part.value(env, len(y)) for part in self.parts]
        if form in COMPARISONS:
            found = COMPARISONS[form][1](*values)
        else:
            inside = all(0 <= value < len(y) for value in values if isinstance(value, int))
            found = inside and ATOMS[form][1](Sentence(tuple(y), x, scheme), *values)
        return found != ("!=" in self.form)

    def value(self, y: Names, x: Names, scheme: str) -> int:
        parts = [part.value({}, len(y)) if isinstance(part, Name | Expr) else part for part in self.parts]
        return TERMS[self.form][1](Sentence(tuple(y), x, scheme), *parts)

    def text(self, last: bool = True) -> str:
        return self.form.format(*(part.text() for part in self.parts))


@dataclass(frozen=True)
class Connected:
    """A word of LEVEL and its one or two operands; `()` is a pair of parentheses."""

    op: str
    parts: tuple[Formula, ...]

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        a, *b = (part.holds(env, y, x, scheme) for part in self.parts)
        if not b:
            return a != (self.op == "not")
        return {"and": a and b[0], "or": a or b[0], "->": not a or b[0], "implies": not a or b[0]}.get(
            self.op, a == b[0]
        )

    def text(self, last: bool = True) -> str:
        """`last`: nothing follows before the next closing parenthesis, so a quantifier may end it bare."""

        def operand(part: Formula, level: int, last: bool) -> str:
            level_of = LEVEL.get(part.op, 6) if isinstance(part, Connected) else 6
            bare = last if isinstance(part, Quantified) else level_of >= level
            return part.text(last) if bare else f"({part.text()})"

        level = LEVEL[self.op]
        if self.op == "()":
            return f"({self.parts[0].text()})"
        if self.op == "not":
            return f"not {operand(self.parts[0], level, last)}"
        left = operand(self.parts[0], level + (level == LEVEL["->"]), False)
        return f"{left} {self.op} {operand(self.parts[1], level, last)}"


@dataclass(frozen=True)
class Binder:
    """`t`, `t < e` and so on, `t in a..b`; `X in fields`, `X in labels`, `X in {title, "job title"}`."""

    name: str
    op: str = ""
    bounds: tuple[Expr | Name, ...] = ()

    def values(self, env: Env, T: int) -> list:
        ends = [bound.value(env, T) for bound in self.bounds]
        if self.op == "in":
            return list(ends[0]) if len(ends) == 1 else [t for t in range(T) if ends[0] <= t <= ends[1]]
        return [t for t in range(T) if not ends or {**COMPARE, "!=": operator.ne}[self.op](t, ends[0])]

    def text(self) -> str:
        return f"{self.name} {self.op} {'..'.join(bound.text() for bound in self.bounds)}".rstrip()


@dataclass(frozen=True)
class Quantified:
    """`forall` or `exists` with its binders."""

    word: str
    binders: tuple[Binder, ...]
    inner: Formula

    def groundings(self, env: Env, T: int) -> Iterator[Env]:
        """Every environment with the variables bound; a bound may name an earlier variable."""
        found = [env]
        for binder in self.binders:
            found = [{**known, binder.name: value} for known in found for value in binder.values(known, T)]
        return iter(found)

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        found = (self.inner.holds(bound, y, x, scheme) for bound in self.groundings(env, len(y)))
        return all(found) if self.word == "forall" else any(found)

    def text(self, last: bool = True) -> str:
        return f"{self.word} {', '.join(binder.text() for binder in self.binders)}: {self.inner.text()}"


Formula = Atom | Connected | Quantified


def violations(formula: Formula, y: Names, x: Names, scheme: str, names: Names) -> int:
    """Failing groundings of the outermost forall, else 1 for a formula that fails; `names` are all the labels."""
    fields = dict.fromkeys(field for name in names for field, _ in oracles.fields_of(name, scheme))
    env = {"labels": tuple(names), "fields": tuple(field for field in fields if field != "O")}
    if isinstance(formula, Quantified) and formula.word == "forall":
        return sum(not formula.inner.holds(bound, y, x, scheme) for bound in formula.groundings(env, len(y)))
    return int(not formula.holds(env, y, x, scheme))


@dataclass(frozen=True)
class Inequality:
    """Two sums of (coefficient, term), and one of < <= = >= > between them."""

    left: tuple[tuple[int, Atom], ...]
    op: str
    right: tuple[tuple[int, Atom], ...]

    def difference(self, y: Names, x: Names, scheme: str) -> int:
        """Left minus right."""
        left, right = (
            sum(k * term.value(y, x, scheme) for k, term in side) for side in (self.left, self.right)
        )
        return left - right

    def violations(self, y: Names, x: Names, scheme: str) -> int:
        """Excess or shortfall; either for =."""
        d = self.difference(y, x, scheme)
        return {"=": abs(d), "<=": max(0, d), "<": max(0, d + 1), ">=": max(0, -d), ">": max(0, 1 - d)}[
            self.op
        ]

    def text(self) -> str:
        sides = []
        for side in (self.left, self.right):
            shown = ""
            for k, term in side:
                sign = f" {'-' if k < 0 else '+'} " if shown else "-" * (k < 0)
                one = term.form == "1"
                shown += sign + (str(abs(k)) if one else f"{abs(k)}*" * (abs(k) != 1) + term.text())
            sides.append(shown)
        return f" {self.op} ".join(sides)


class Scope(NamedTuple):
    """What a formula may name: label variables with their domains; `local`: only tokens t and t - 1."""

    fields: tuple[str, ...]
    positions: tuple[str, ...] = ()
    variables: tuple[tuple[str, Expr | Name], ...] = ()
    local: bool = False

    def free(self, letters: str) -> st.SearchStrategy[str]:
        """Letters that are no field and no variable yet."""
        return st.sampled_from(
            [c for c in letters if c not in (*self.fields, *self.positions, *dict(self.variables))]
        )


def _numbers(scope: Scope) -> st.SearchStrategy[Expr]:
    bases = [*scope.positions * 4, "first", "last", "length", 0, 1, 2]
    shifts = st.lists(st.sampled_from((-1, 1, 2)), max_size=2).map(tuple)
    return st.builds(Expr, st.sampled_from(bases), st.one_of(st.just(()), shifts))


def _part(kind: str, scope: Scope) -> st.SearchStrategy:
    """A part of the kind: any name F, field f, number n, small integer i, place e (b: a step ends, a: starts), …"""
    names = [Name(field, quoted) for field in scope.fields for quoted in (False, False, True)]
    over_fields = [Expr(X) for X, domain in scope.variables if domain != Expr("labels")]
    if scope.local and kind in "eab":
        return st.sampled_from(
            [
                Expr(scope.positions[-1], shift)
                for shift in {"e": ((), (-1,)), "a": ((-1,),), "b": ((),)}[kind]
            ]
        )
    return {
        "F": st.sampled_from(names + [Expr(X) for X, _ in scope.variables] * 4),
        "f": st.sampled_from(names + over_fields * 4),
        "i": st.integers(-3, 3).map(Expr),
        "w": st.sampled_from(TOKENS).map(lambda word: Name(word, True)),
        "W": st.lists(st.sampled_from(TOKENS), min_size=1, unique=True).map(
            lambda words: Name(tuple(words), True)
        ),
        "r": st.sampled_from(REGEXES).map(lambda regex: Name(regex, True)),
        "c": st.sampled_from([name for name in CLASSES if name != "uppercase"]).map(Name),
    }.get(kind, _numbers(scope))


@st.composite
def _atoms(draw: st.DrawFn, scope: Scope) -> Atom:
    forms, domains = {**ATOMS, **COMPARISONS}, dict(scope.variables)
    if domains and draw(st.integers(0, 3)) == 0:
        form, X = "{} = {}", draw(st.sampled_from(list(domains)))
        alike = [Expr(Y) for Y in domains if (domains[Y] == Expr("labels")) == (domains[X] == Expr("labels"))]
        names = [Name(field) for field in scope.fields if domains[X] != Expr("labels")]
        parts = (Expr(X), draw(st.sampled_from(alike + names)))
    else:
        form = draw(st.sampled_from(list(forms)))
        parts = tuple(draw(_part(kind, scope)) for kind in forms[form][0])
    return Atom(form.replace(" = ", " != ") if draw(st.booleans()) else form, parts)


def _binders(scope: Scope, of_position: bool) -> st.SearchStrategy[Binder]:
    def possible(binder: Binder) -> bool:
        places = ((T, at) for T in range(1, 7) for at in product(range(T), repeat=len(scope.positions)))
        return any(binder.values(dict(zip(scope.positions, at)), T) for T, at in places)

    if not of_position:
        names = (
            st.lists(st.sampled_from(scope.fields), min_size=1, max_size=3, unique=True).map(tuple).map(Name)
        )
        domains = st.one_of(st.just(Expr("fields")), st.just(Expr("labels")), names)
        return st.builds(Binder, scope.free("XYZ"), st.just("in"), st.tuples(domains))
    e, one = _numbers(scope), st.sampled_from(("<", "<=", "!=", ">=", ">"))
    within = st.one_of(st.just(()), st.tuples(one, st.tuples(e)), st.tuples(st.just("in"), st.tuples(e, e)))
    return st.builds(lambda t, how: Binder(t, *how), scope.free("stuij"), within).filter(possible)


@st.composite
def _quantified(draw: st.DrawFn, scope: Scope, depth: int, word: str) -> Quantified:
    room, binders = (2 - len(scope.positions), 2 - len(scope.variables)), []
    kinds = [
        kinds
        for kinds in ("p", "pp", "pX", "Xp", "X")
        if all(kinds.count(c) <= n for c, n in zip("pX", room))
    ]
    for kind in draw(st.sampled_from(kinds)):
        binder = draw(_binders(scope, kind == "p"))
        binders.append(binder)
        if kind == "p":
            scope = scope._replace(positions=(*scope.positions, binder.name))
        else:
            scope = scope._replace(variables=(*scope.variables, (binder.name, binder.bounds[0])))
    return Quantified(word, tuple(binders), draw(_formulas(scope, depth)))


@st.composite
def _formulas(draw: st.DrawFn, scope: Scope, depth: int) -> Formula:
    room = not scope.local and len(scope.positions) + len(scope.variables) < 4
    op = draw(st.sampled_from(["", *[*LEVEL, *("forall", "exists") * 2 * room] * (depth > 0)]))
    if not op:
        return draw(_atoms(scope))
    if op in ("forall", "exists"):
        return draw(_quantified(scope, depth, op))
    return Connected(
        op, tuple(draw(_formulas(scope, depth - 1)) for _ in range(1 if op in ("not", "()") else 2))
    )


def formulas(fields: Sequence[str]) -> st.SearchStrategy[Formula]:
    """Closed formulas on these fields, most of them outermost forall."""
    scope = Scope(tuple(fields))
    other = _formulas(scope, 3).filter(
        lambda formula: not (isinstance(formula, Connected) and formula.op == "()")
    )
    return st.one_of(_quantified(scope, 3, "forall"), _quantified(scope, 3, "forall"), other)


@st.composite
def _terms(draw: st.DrawFn, scope: Scope, forms: Sequence[str]) -> tuple[int, Atom]:
    form, t = draw(st.sampled_from(forms)), draw(scope.free("stuij"))
    local = scope._replace(positions=(t,), local=True)
    kinds = TERMS[form][0]
    parts = (
        (Name(t), draw(_formulas(local, 2)))
        if kinds == "vp"
        else (draw(_part(kind, scope)) for kind in kinds)
    )
    return draw(st.integers(-3, 3)), Atom(form, tuple(parts))


@st.composite
def inequalities(draw: st.DrawFn, fields: Sequence[str]) -> Inequality:
    """Inequalities on these fields, the first term no integer."""
    scope = Scope(tuple(fields))
    some = partial(st.lists, _terms(scope, list(TERMS)))
    left = (draw(_terms(scope, list(TERMS)[1:])), *draw(some(max_size=2)))
    return Inequality(left, draw(st.sampled_from(list(COMPARE))), tuple(draw(some(min_size=1, max_size=2))))
