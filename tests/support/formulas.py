"""Brute-force oracle for logic formulas and linear inequalities: their meaning, their text, and strategies.

A labelling `y` is the sequence of its label names, `x` its tokens. `env` maps each variable to its value, a
position or a name, and `fields` and `labels` to their domains. An atom or a term is its concrete form, with
`{}` and a letter for each part (see `_part`). text() has only the parentheses that precedence needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from operator import and_, eq, ge, gt, le, lt, ne, not_, or_
from typing import Any, NamedTuple

from hypothesis import strategies as st
from support import oracles

Env = dict[str, Any]
Names = Sequence[str]

TOKENS = (".", "word", "pp", "1999")
REGEXES = ("[0-9]+", ".", "[a-z]+", "pp?", "word|[.]", "wor", "(19|20)[0-9]*", ".*")
ROMAN = "(?=[ivxlcdm])m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})"
CLASSES = {
    "punctuation": r"[\W_]+",
    "number": r"\d+([.,/-]\d+)*",
    "capitalised": r"[^a-zA-Z]*[A-Z].*[a-z].*",
    "lowercase": r"[^A-Z]*[a-z][^A-Z]*",
    "uppercase": r"[^a-z]*[A-Z][^a-z]*",
    "year": r"(19|20)\d\d",
    "newline": r"@newline@|<NEWLINE>|NEWLINE|\n",
    "numbering": rf"[(\[]?(\d+(\.\d+)*|[A-Za-z]|{ROMAN}|{ROMAN.upper()})[.)\]]?",
}
LEVEL = {"<->": 1, "iff": 1, "->": 2, "implies": 2, "or": 3, "and": 4, "not": 5, "()": 6}
TRUTH = {"<->": eq, "iff": eq, "->": le, "implies": le, "or": or_, "and": and_, "not": not_, "()": bool}
COMPARE = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt, "!=": ne}


class Sentence(NamedTuple):
    """A labelling of tokens, with predicates of fields F and positions t."""

    y: tuple[str, ...]
    x: tuple[str, ...]
    scheme: str

    def members(self, F: str) -> set[int]:
        """Positions whose label is called F or belongs to the field F."""
        return set(oracles.tokens_of(self.y, F, self.scheme))

    def starts(self, F: str) -> set[int]:
        """Positions where a run of F begins: by the scheme, or because F is entered."""
        return set(oracles.run_starts(self.y, F, self.scheme))

    def ends(self, F: str) -> set[int]:
        return {t for t in self.members(F) if t + 1 not in self.members(F) or t + 1 in self.starts(F)}

    def steps(self, F: str, G: str) -> set[int]:
        return {t for t in self.members(G) if t - 1 in self.members(F)}

    def changes(self) -> list[int]:
        return oracles.changes(self.y, self.scheme)

    def field(self, t: int) -> str:
        return oracles.fields_of(self.y[t], self.scheme)[-1][0]


ATOMS = {
    "{}({})": ("Fe", lambda s, F, t: t in s.members(F)),
    "begins({}, {})": ("fb", lambda s, F, t: t in s.starts(F)),
    "ends({}, {})": ("fa", lambda s, F, t: t in s.ends(F)),
    "change({})": ("b", lambda s, t: t in s.changes()),
    "edge({}) = ({}, {})": ("bFF", lambda s, t, F, G: t in s.steps(F, G)),
    "edge({}) = edge({})": ("bb", lambda s, t, u: ["", *s.y][t : t + 2] == ["", *s.y][u : u + 2]),
    "label({}) = label({})": ("ee", lambda s, t, u: s.y[t] == s.y[u]),
    "label({}) = {}": ("eF", lambda s, t, F: t in s.members(F)),
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
# Of integers, in the sequence or not; = and != also of names.
COMPARISONS = {f"{{}} {op} {{}}": ("nn", compare) for op, compare in COMPARE.items()}
TERMS = {
    "1": ("", lambda s: 1),
    "runs({})": ("f", lambda s, F: len(s.starts(F))),
    "tokens({})": ("f", lambda s, F: len(s.members(F))),
    "changes()": ("", lambda s: len(s.changes())),
    "steps({}, {})": ("ff", lambda s, F, G: len(s.steps(F, G))),
    "at({}, {})": ("fi", lambda s, F, t: int((t + len(s.y) if t < 0 else t) in s.members(F))),
    "count({}: {})": ("vp", lambda s, t, phi: sum(phi.holds({t: i}, *s) for i in range(len(s.y)))),
}
OTHERS = "forall exists first last length fields labels"
KEYWORDS = set(re.findall("[a-z]+", " ".join([*ATOMS, *TERMS, *LEVEL, OTHERS])))


@dataclass(frozen=True)
class Name:
    """A field or label, quoted also a word or a regular expression; or several: {a, b}, quoted ["a", "b"]."""

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
    """An integer, a variable, `first`, `last` or `length`, with integers added; or `fields` or `labels`."""

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
    """A form and its parts: of ATOMS (or with != for =) or COMPARISONS it holds, of TERMS it has a value."""

    form: str
    parts: tuple[Name | Expr | Formula, ...] = ()

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        values = [part.value(env, len(y)) for part in self.parts]
        if self.form in COMPARISONS:
            return COMPARISONS[self.form][1](*values)
        inside = all(0 <= value < len(y) for value in values if isinstance(value, int))
        meaning = ATOMS[self.form.replace("!=", "=")][1]
        return (inside and meaning(Sentence(tuple(y), tuple(x), scheme), *values)) != ("!=" in self.form)

    def value(self, y: Names, x: Names, scheme: str) -> int:
        parts = [part.value({}, len(y)) if isinstance(part, Name | Expr) else part for part in self.parts]
        return TERMS[self.form][1](Sentence(tuple(y), tuple(x), scheme), *parts)

    def text(self, last: bool = True) -> str:
        return self.form.format(*(part.text() for part in self.parts))


@dataclass(frozen=True)
class Connected:
    """A word of LEVEL and its one or two operands; `()` is a pair of parentheses."""

    op: str
    parts: tuple[Formula, ...]

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        return TRUTH[self.op](*[part.holds(env, y, x, scheme) for part in self.parts])

    def text(self, last: bool = True) -> str:
        """`last`: nothing follows before the next closing parenthesis, so a quantifier needs none."""
        level = LEVEL[self.op]
        if self.op == "()":
            return f"({self.parts[0].text()})"
        *left, right = self.parts
        words = [_operand(part, level + (level == LEVEL["->"]), False) for part in left]
        return " ".join([*words, self.op, _operand(right, level, last)])


def _operand(part: Formula, level: int, last: bool) -> str:
    """The text of an operand that must bind at least so tightly."""
    own = LEVEL[part.op] if isinstance(part, Connected) else LEVEL["()"]
    bare = last if isinstance(part, Quantified) else own >= level
    return part.text(last) if bare else f"({part.text()})"


@dataclass(frozen=True)
class Binder:
    """`t`, `t < e` and so on, `t in a..b`; `X in fields`, `X in labels`, `X in {title, "job title"}`."""

    name: str
    op: str = ""
    bounds: tuple[Expr | Name, ...] = ()

    def values(self, env: Env, T: int) -> list:
        bounds = [bound.value(env, T) for bound in self.bounds]
        if len(bounds) == 2:
            return [t for t in range(T) if bounds[0] <= t <= bounds[1]]
        if self.op == "in":
            return list(bounds[0])
        return [t for t in range(T) if not bounds or COMPARE[self.op](t, bounds[0])]

    def text(self) -> str:
        return f"{self.name} {self.op} {'..'.join(bound.text() for bound in self.bounds)}".rstrip()


@dataclass(frozen=True)
class Quantified:
    """`forall` or `exists` with its binders; a bound may name an earlier variable."""

    word: str
    binders: tuple[Binder, ...]
    inner: Formula

    def groundings(self, env: Env, T: int) -> list[Env]:
        result = [env]
        for binder in self.binders:
            result = [{**known, binder.name: value} for known in result for value in binder.values(known, T)]
        return result

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        result = (self.inner.holds(bound, y, x, scheme) for bound in self.groundings(env, len(y)))
        return all(result) if self.word == "forall" else any(result)

    def text(self, last: bool = True) -> str:
        return f"{self.word} {', '.join(binder.text() for binder in self.binders)}: {self.inner.text()}"


Formula = Atom | Connected | Quantified


def violations(formula: Formula, y: Names, x: Names, scheme: str, names: Names) -> int:
    """Failing groundings of the outermost forall, of other formulas 1 if it fails; `names`: of all labels."""
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
        both = [*self.left, *((-k, term) for k, term in self.right)]
        return sum(k * term.value(y, x, scheme) for k, term in both)

    def violations(self, y: Names, x: Names, scheme: str) -> int:
        """Excess or shortfall; for = either."""
        d = self.difference(y, x, scheme)
        excess = {"=": abs(d), "<=": d, "<": d + 1, ">=": -d, ">": 1 - d}[self.op]
        return max(0, excess)

    def text(self) -> str:
        def product_of(k: int, term: Atom) -> str:
            return str(k) if term.form == "1" else term.text() if k == 1 else f"{k}*{term.text()}"

        sides = (" + ".join(product_of(k, term) for k, term in side) for side in (self.left, self.right))
        return f" {self.op} ".join(sides).replace(" + -", " - ")


class Scope(NamedTuple):
    """The scope of a formula: label variables with their domains; `local`: only tokens t and t - 1."""

    fields: tuple[str, ...]
    positions: tuple[str, ...] = ()
    variables: tuple[tuple[str, Expr | Name], ...] = ()
    local: bool = False

    def over(self, labels: bool) -> list[Expr]:
        """The label variables that range over labels, or those over fields."""
        return [Expr(X) for X, domain in self.variables if (domain == Expr("labels")) == labels]

    def free(self, letters: str) -> st.SearchStrategy[str]:
        """Letters that are no field and no variable yet."""
        used = {*self.fields, *self.positions, *dict(self.variables)}
        return st.sampled_from([letter for letter in letters if letter not in used])


def _part(kind: str, scope: Scope) -> st.SearchStrategy:
    """Any name F, field f, integer i, word w, words W, regex r, class c, number n, or place: e, b, a.

    Where the scope is local, b is the end of the step to t, a its start, and e either.
    """
    names = [Name(field, quoted) for field in scope.fields for quoted in (False, False, True)]
    if scope.local and kind in "eba":
        here, before = Expr(scope.positions[0]), Expr(scope.positions[0], (-1,))
        return st.sampled_from({"e": (here, before), "b": (here,), "a": (before,)}[kind])
    bases = st.sampled_from([*scope.positions * 5, "first", "last", "length", 0, 1, 2])
    shifts = st.sampled_from([()] * 12 + [(-1,), (1,), (-1,), (1,), (-2,), (2,), (1, 1), (2, -1), (-1, 2)])
    return {
        "F": st.sampled_from(names + scope.over(False) * 4 + scope.over(True) * 4),
        "f": st.sampled_from(names + scope.over(False) * 4),
        "i": st.integers(-3, 3).map(Expr),
        "w": st.sampled_from(TOKENS).map(lambda word: Name(word, True)),
        "W": st.sets(st.sampled_from(TOKENS), min_size=1).map(lambda words: Name(tuple(sorted(words)), True)),
        "r": st.sampled_from(REGEXES).map(lambda regex: Name(regex, True)),
        "c": st.sampled_from([name for name in CLASSES if name != "uppercase"]).map(Name),
    }.get(kind, st.builds(Expr, bases, shifts))


@st.composite
def _atoms(draw: st.DrawFn, scope: Scope) -> Atom:
    forms, names = {**ATOMS, **COMPARISONS}, [Name(field) for field in scope.fields]
    over_fields, over_labels = scope.over(False), scope.over(True)
    pairs = [*permutations(over_labels, 2), *permutations(over_fields, 2), *product(over_fields, names)]
    if pairs and draw(st.integers(0, 3)) == 0:
        form, parts = "{} = {}", draw(st.sampled_from(pairs))
    else:
        form = draw(st.sampled_from(list(forms)))
        parts = tuple(draw(_part(kind, scope)) for kind in forms[form][0])
    return Atom(form.replace(" = ", " != ") if draw(st.booleans()) else form, parts)


@st.composite
def _binders(draw: st.DrawFn, scope: Scope, kind: str) -> Binder:
    if kind == "X":
        names = st.lists(st.sampled_from(scope.fields), min_size=1, max_size=3, unique=True).map(tuple)
        domains = st.one_of(st.just(Expr("fields")), st.just(Expr("labels")), names.map(Name))
        return Binder(draw(scope.free("XYZ")), "in", (draw(domains),))

    def possible(how: tuple) -> bool:
        places = ((T, at) for T in range(1, 7) for at in product(range(T), repeat=len(scope.positions)))
        return any(Binder("", *how).values(dict(zip(scope.positions, at)), T) for T, at in places)

    e, one = _part("n", scope), st.sampled_from(("<", "<=", "!=", ">=", ">"))
    bounds = st.one_of(st.just(()), st.tuples(one, st.tuples(e)), st.tuples(st.just("in"), st.tuples(e, e)))
    return Binder(draw(scope.free("stuij")), *draw(bounds.filter(possible)))


@st.composite
def _quantified(draw: st.DrawFn, scope: Scope, depth: int, word: str) -> Quantified:
    room, binders = {"p": 2 - len(scope.positions), "X": 2 - len(scope.variables)}, []
    kinds = [some for some in ("p", "pp", "pX", "Xp", "X") if all(some.count(c) <= room[c] for c in room)]
    for kind in draw(st.sampled_from(kinds)):
        binders.append(binder := draw(_binders(scope, kind)))
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
    parts = [draw(_formulas(scope, depth - 1)) for _ in range(1 if op in ("not", "()") else 2)]
    return Connected(op, tuple(parts))


def formulas(fields: Sequence[str]) -> st.SearchStrategy[Formula]:
    """Closed formulas on these fields, most of them outermost forall."""
    scope = Scope(tuple(fields))
    counted = _quantified(scope, 3, "forall")
    other = _formulas(scope, 3).filter(lambda formula: getattr(formula, "op", "") != "()")
    return st.one_of(counted, counted, other)


@st.composite
def _terms(draw: st.DrawFn, scope: Scope, forms: Sequence[str]) -> tuple[int, Atom]:
    form, t = draw(st.sampled_from(forms)), draw(scope.free("stuij"))
    if form == "count({}: {})":
        parts = [Name(t), draw(_formulas(scope._replace(positions=(t,), local=True), 2))]
    else:
        parts = [draw(_part(kind, scope)) for kind in TERMS[form][0]]
    return draw(st.integers(-3, 3)), Atom(form, tuple(parts))


@st.composite
def inequalities(draw: st.DrawFn, fields: Sequence[str]) -> Inequality:
    """Inequalities on these fields, whose first term is no integer."""
    first, other = (_terms(Scope(tuple(fields)), list(TERMS)[n:]) for n in (1, 0))
    left, right = (draw(st.lists(other, min_size=n, max_size=2)) for n in (0, 1))
    op = draw(st.sampled_from([op for op in COMPARE if op != "!="]))
    return Inequality((draw(first), *left), op, tuple(right))
