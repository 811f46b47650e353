"""Brute-force oracle for logic formulas and linear inequalities: what each says and how it is written.

A labelling `y` is the sequence of its label names, `x` its tokens. `env` maps each variable to its value (a position
or a name), and `fields` and `labels` to their domains. An atom or a term is the concrete form with `{}` for each
part. text() has only the parentheses that precedence needs; `Parens` adds a pair.
"""

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import oracles

Env = dict[str, Any]
Names = Sequence[str]

TOKENS = (".", "word", "pp", "1999")
REGEXES = ("[0-9]+", ".", "[a-z]+", "pp?", "word|[.]", "wor", "(19|20)[0-9]*", ".*")
LEVEL = {"<->": 1, "iff": 1, "->": 2, "implies": 2, "or": 3, "and": 4}
COMPARE = {"<": operator.lt, "<=": operator.le, "=": operator.eq, ">=": operator.ge, ">": operator.gt}
KEYWORDS = set(
    ["forall", "exists", "not", "and", "or", "implies", "iff", "in", "is", "matches", "true", "false", "first", "last", "length", "fields", "labels", "begins", "ends", "change", "edge", "label", "field", "token", "runs", "tokens", "changes", "steps", "at", "count"]
)
_ROMAN = "(?=[ivxlcdm])m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})"
CLASSES = {
    "punctuation": r"[\W_]+",
    "number": r"\d+([.,/-]\d+)*",
    "capitalised": r"[^a-zA-Z]*[A-Z].*[a-z].*",
    "uppercase": r"[^a-z]*[A-Z][^a-z]*",
    "lowercase": r"[^A-Z]*[a-z][^A-Z]*",
    "year": r"(19|20)\d\d",
    "newline": r"@newline@|<NEWLINE>|NEWLINE|\n",
    "numbering": rf"[(\[]?(\d+(\.\d+)*|[A-Za-z]|{_ROMAN}|{_ROMAN.upper()})[.)\]]?",
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

    def ends(self, t: int, F: str) -> bool:
        return self.has(t, F) and (not self.has(t + 1, F) or self.begins(t + 1, F))

    def changes(self) -> list[int]:
        return oracles.changes(self.y, self.scheme)

    def field(self, t: int) -> str:
        return oracles.fields_of(self.y[t], self.scheme)[-1][0]

    def step(self, t: int) -> tuple[str | None, str]:
        return (self.y[t - 1] if t else None, self.y[t])


ATOMS = {
    "{}({})": lambda s, F, t: s.has(t, F),
    "begins({}, {})": lambda s, F, t: s.begins(t, F),
    "ends({}, {})": lambda s, F, t: s.ends(t, F),
    "change({})": lambda s, t: t in s.changes(),
    "edge({}) = ({}, {})": lambda s, t, F, G: s.has(t - 1, F) and s.has(t, G),
    "edge({}) = edge({})": lambda s, t, u: s.step(t) == s.step(u),
    "label({}) = label({})": lambda s, t, u: s.y[t] == s.y[u],
    "label({}) = {}": lambda s, t, F: s.has(t, F),
    "field({}) = field({})": lambda s, t, u: s.field(t) == s.field(u),
    "field({}) = {}": lambda s, t, F: s.field(t) == F,
    "token({}) = token({})": lambda s, t, u: s.x[t] == s.x[u],
    "token({}) = {}": lambda s, t, word: s.x[t] == word,
    "token({}) in {}": lambda s, t, words: s.x[t] in words,
    "token({}) matches {}": lambda s, t, regex: re.fullmatch(regex, s.x[t]) is not None,
    "token({}) is {}": lambda s, t, kind: re.fullmatch(CLASSES[kind], s.x[t]) is not None,
    "true": lambda s: True,
    "false": lambda s: False,
}
COMPARISONS = {f"{{}} {op} {{}}": compare for op, compare in COMPARE.items()}  # of integers or of names
TERMS = {
    "1": lambda s: 1,
    "runs({})": lambda s, F: len(starts(s.y, F, s.scheme)),
    "tokens({})": lambda s, F: len(members(s.y, F, s.scheme)),
    "changes()": lambda s: len(s.changes()),
    "steps({}, {})": lambda s, F, G: sum(s.has(t - 1, F) and s.has(t, G) for t in range(1, len(s.y))),
    "at({}, {})": lambda s, F, t: int(s.has(t + len(s.y) if t < 0 else t, F)),
    "count({}: {})": lambda s, t, formula: sum(formula.holds({t: i}, *s) for i in range(len(s.y))),
}


@dataclass(frozen=True)
class Name:
    """The name of a field or label; quoted also a token or a regular expression."""

    name: str
    quoted: bool = False

    def value(self, env: Env, T: int) -> str:
        return self.name

    def text(self) -> str:
        bare = self.name.isidentifier() and self.name not in KEYWORDS and not self.quoted
        return self.name if bare else f'"{self.name}"'


@dataclass(frozen=True)
class Listing:
    """Names in a pair of brackets."""

    names: tuple[Name, ...]
    brackets: str = "[]"

    def value(self, env: Env, T: int) -> tuple[str, ...]:
        return tuple(name.name for name in self.names)

    def text(self) -> str:
        return self.brackets[0] + ", ".join(name.text() for name in self.names) + self.brackets[1]


@dataclass(frozen=True)
class Variable:
    """A label variable, or `fields` or `labels`."""

    name: str

    def value(self, env: Env, T: int) -> Any:
        return env[self.name]

    def text(self) -> str:
        return self.name


@dataclass(frozen=True)
class Position:
    """An integer, a position variable, `first`, `last` or `length`, with integers added to it."""

    base: int | str
    shifts: tuple[int, ...] = ()

    def value(self, env: Env, T: int) -> int:
        known = {"first": 0, "last": T - 1, "length": T, **env}
        return sum(self.shifts, self.base if isinstance(self.base, int) else known[self.base])

    def text(self) -> str:
        return str(self.base) + "".join(f" {'-' if n < 0 else '+'} {abs(n)}" for n in self.shifts)


class Formula:
    """`level` is how tightly it binds; `last` in text(): nothing follows before the next closing parenthesis."""

    level = 6

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        raise NotImplementedError

    def text(self, last: bool = True) -> str:
        raise NotImplementedError

    def operand(self, level: int, last: bool) -> str:
        """The text as an operand that must bind at least so tightly."""
        bare = last if isinstance(self, Quantified) else self.level >= level
        return self.text(last) if bare else f"({self.text()})"


@dataclass(frozen=True)
class Atom(Formula):
    """A form of ATOMS or COMPARISONS, perhaps with != for =, and its parts."""

    form: str
    parts: tuple[Name | Listing | Variable | Position, ...] = ()

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        form, values = self.form.replace("!=", "="), [part.value(env, len(y)) for part in self.parts]
        if form in COMPARISONS:
            found = COMPARISONS[form](*values)
        else:
            inside = all(0 <= value < len(y) for value in values if isinstance(value, int))
            found = inside and ATOMS[form](Sentence(tuple(y), x, scheme), *values)
        return found != ("!=" in self.form)

    def text(self, last: bool = True) -> str:
        return self.form.format(*(part.text() for part in self.parts))


@dataclass(frozen=True)
class Parens(Formula):
    inner: Formula

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        return self.inner.holds(env, y, x, scheme)

    def text(self, last: bool = True) -> str:
        return f"({self.inner.text()})"


@dataclass(frozen=True)
class Not(Formula):
    inner: Formula
    level = 5

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        return not self.inner.holds(env, y, x, scheme)

    def text(self, last: bool = True) -> str:
        return f"not {self.inner.operand(self.level, last)}"


@dataclass(frozen=True)
class Binary(Formula):
    left: Formula
    op: str
    right: Formula

    @property
    def level(self) -> int:
        return LEVEL[self.op]

    def holds(self, env: Env, y: Names, x: Names, scheme: str) -> bool:
        a, b = (side.holds(env, y, x, scheme) for side in (self.left, self.right))
        return {"and": a and b, "or": a or b, "->": not a or b, "implies": not a or b}.get(self.op, a == b)

    def text(self, last: bool = True) -> str:
        left = self.left.operand(self.level + (self.level == LEVEL["->"]), False)
        return f"{left} {self.op} {self.right.operand(self.level, last)}"


@dataclass(frozen=True)
class Binder:
    """`t`, `t < e` and so on, `t in a..b`; `X in fields`, `X in labels`, `X in {title, "job title"}`."""

    name: str
    op: str = ""
    bounds: tuple[Position | Variable | Listing, ...] = ()

    def values(self, env: Env, T: int) -> list:
        ends = [bound.value(env, T) for bound in self.bounds]
        if self.op == "in":
            return list(ends[0]) if len(ends) == 1 else [t for t in range(T) if ends[0] <= t <= ends[1]]
        return [t for t in range(T) if not ends or {**COMPARE, "!=": operator.ne}[self.op](t, ends[0])]

    def text(self) -> str:
        return f"{self.name} {self.op} {'..'.join(bound.text() for bound in self.bounds)}".rstrip()


@dataclass(frozen=True)
class Quantified(Formula):
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
        return f"{self.word} {', '.join(b.text() for b in self.binders)}: {self.inner.text()}"


def violations(formula: Formula, y: Names, x: Names, scheme: str, names: Names) -> int:
    """Failing groundings of the outermost forall, else 1 for a formula that fails; `names` are all the labels."""
    fields = dict.fromkeys(field for name in names for field, _ in oracles.fields_of(name, scheme))
    env = {"labels": tuple(names), "fields": tuple(field for field in fields if field != "O")}
    if isinstance(formula, Quantified) and formula.word == "forall":
        return sum(not formula.inner.holds(bound, y, x, scheme) for bound in formula.groundings(env, len(y)))
    return int(not formula.holds(env, y, x, scheme))


@dataclass(frozen=True)
class Term:
    """A form of TERMS and its parts."""

    form: str
    parts: tuple[Name | Position | Variable | Formula, ...] = ()

    def value(self, sentence: Sentence) -> int:
        own = [
            part.name
            if isinstance(part, Name | Variable)
            else part.base
            if isinstance(part, Position)
            else part
            for part in self.parts
        ]
        return TERMS[self.form](sentence, *own)

    def text(self, k: int) -> str:
        """The term with its coefficient, without the sign."""
        shown = self.form.format(*(part.text() for part in self.parts))
        return str(abs(k)) if self.form == "1" else shown if abs(k) == 1 else f"{abs(k)}*{shown}"


@dataclass(frozen=True)
class Inequality:
    """Two sums of (coefficient, term) and one of < <= = >= >."""

    left: tuple[tuple[int, Term], ...]
    op: str
    right: tuple[tuple[int, Term], ...]

    def difference(self, y: Names, x: Names, scheme: str) -> int:
        """Left minus right."""
        left, right = (
            sum(k * term.value(Sentence(tuple(y), x, scheme)) for k, term in side)
            for side in (self.left, self.right)
        )
        return left - right

    def violations(self, y: Names, x: Names, scheme: str) -> int:
        d = self.difference(y, x, scheme)
        return {"=": abs(d), "<=": max(0, d), "<": max(0, d + 1), ">=": max(0, -d), ">": max(0, 1 - d)}[
            self.op
        ]

    def text(self) -> str:
        def side(terms: tuple[tuple[int, Term], ...]) -> str:
            shown = "".join(f" {'-' if k < 0 else '+'} {term.text(k)}" for k, term in terms)
            return shown.removeprefix(" + ") if shown[1] == "+" else "-" + shown.removeprefix(" - ")

        return f"{side(self.left)} {self.op} {side(self.right)}"
