"""From the text of a formula or inequality to its records, with every name and type checked."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count as numbers
from pathlib import Path
from typing import Any

from formulations.constraints.tokens import TOKEN_CLASSES, TokenPattern, compiled
from formulations.labels import Selector, suggestion
from formulations.language.ast import (
    And,
    Begins,
    Change,
    Compare,
    Constant,
    Edge,
    Ends,
    Formula,
    Iff,
    Inequality,
    LabelBinder,
    Member,
    Name,
    Not,
    Or,
    Position,
    PositionBinder,
    Quantified,
    Same,
    SameName,
    SameToken,
    Term,
    TokenIs,
)

LONGEST = 20_000
"""Characters of a formula."""
DEEPEST = 100
"""How deep parts of a formula, and calls of named formulas, may lie inside one another."""

POSITIONS = ("first", "last", "length")
LABELS = ("label", "field", "edge")
ATOMS = ("begins", "ends", "change", "token", *LABELS)


class FormulaError(ValueError):
    """A formula that cannot be used.

    Parameters
    ----------
    message : what is wrong
    text : the formula
    offset : the character at which it goes wrong
    """

    def __init__(self, message: str, text: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.text, self.offset = message, text, offset

    def __str__(self) -> str:
        line = self.text[: self.offset].count("\n")
        column = self.offset - (self.text.rfind("\n", 0, self.offset) + 1)
        shown = (self.text.split("\n") or [""])[line]
        where = f"line {line + 1}, " if "\n" in self.text else ""
        return f"{self.message} ({where}column {column + 1})\n  {shown}\n  {' ' * column}^"


@dataclass(frozen=True)
class NamedFormula:
    """A formula with parameters, which others may use: `name(argument, …)`."""

    name: str
    parameters: tuple[str, ...]
    text: str


def read_formula(
    text: str,
    resolve: Callable[[str], Selector] = str,
    named: Mapping[str, NamedFormula] | None = None,
    arguments: Mapping[str, Selector] | None = None,
) -> Formula:
    """The formula of a text.

    Parameters
    ----------
    text : see the README of the language
    resolve : what a name stands for; raises ValueError for an unknown one
    named : formulas that it may call
    arguments : names that stand for fields

    Raises
    ------
    FormulaError
        for a text that is no formula, a free variable, an unknown name, or a comparison of unlike things.
    """
    reader = _Reader(text, resolve, named or {}, {k: Name(v) for k, v in (arguments or {}).items()})
    return reader.guarded(lambda: reader.formula(_parse(text, "formula")))


def read_inequality(
    text: str, resolve: Callable[[str], Selector] = str, arguments: Mapping[str, Selector] | None = None
) -> Inequality:
    """The inequality of a text; see `read_formula`."""
    reader = _Reader(text, resolve, {}, {k: Name(v) for k, v in (arguments or {}).items()})
    return reader.guarded(lambda: reader.inequality(_parse(text, "inequality")))


def names_in(
    form: str, text: str, named: Mapping[str, NamedFormula], arguments: Mapping[str, Selector]
) -> list[str]:
    """The names that a text mentions, as they stand there."""
    found: dict[str, None] = {}

    def resolve(word: str) -> Selector:
        found[word] = None
        return word

    if form == "linear":
        read_inequality(text, resolve, arguments)
    else:
        read_formula(text, resolve, named, arguments)
    return list(found)


@lru_cache
def _parser() -> Any:
    from lark import Lark

    grammar = (Path(__file__).parent / "grammar.lark").read_text("utf-8")
    return Lark(
        grammar,
        parser="lalr",
        start=["formula", "inequality"],
        propagate_positions=True,
        maybe_placeholders=True,
    )


_SIGNS = {
    "NAME": "a name",
    "STRING": "a quoted text",
    "INT": "a number",
    "COMPARISON": "a comparison such as <=",
    "QUANTIFIER": "forall or exists",
    "SIGN": "+ or -",
    "_AND": "and",
    "_OR": "or",
    "_NOT": "not",
    "_IN": "in",
    "_IS": "is",
    "_MATCHES": "matches",
    "_IMPLIES": "->",
    "_IFF": "<->",
    "LPAR": "(",
    "RPAR": ")",
    "COLON": ":",
    "COMMA": "a comma",
    "__ANON_0": "..",
    "LBRACE": "{",
    "RBRACE": "}",
    "LSQB": "[",
    "RSQB": "]",
    "STAR": "*",
    "COUNT": "count",
    "$END": "the end",
}


def _parse(text: str, start: str) -> Any:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    if len(text) > LONGEST:
        raise FormulaError(f"{len(text)} characters; a formula may have {LONGEST}", text[:80], 0)
    try:
        return _parser().parse(text, start=start)
    except UnexpectedCharacters as error:
        at = error.pos_in_stream
        what = (
            "a quotation mark without its partner"
            if text[at] in "\"'"
            else f"{text[at]!r} does not belong here"
        )
        raise FormulaError(what, text, at) from None
    except UnexpectedToken as error:
        expected = sorted({_SIGNS.get(name, name.lower()) for name in error.expected})
        found = "the end" if error.token.type == "$END" else f"{str(error.token)!r}"
        at = len(text) if error.token.type == "$END" else error.token.start_pos
        wanted = ", ".join(expected[:-1]) + (" or " if expected[:-1] else "") + expected[-1]
        raise FormulaError(f"{found} where {wanted} was expected", text, at) from None


def check_named(formulas: Iterable[NamedFormula], kind: str = "formula") -> None:
    """Raise FormulaError where the text of a named formula is none, or where formulas call each other in a circle."""
    named = {formula.name: formula for formula in formulas}
    calls = {
        name: [call for call in _parse(formula.text, kind).find_data("call") if _called(call)[0] in named]
        for name, formula in named.items()
    }
    for name in named:
        _no_circle(name, (), calls, named)


def _no_circle(
    name: str, path: tuple[str, ...], calls: Mapping[str, list[Any]], named: Mapping[str, NamedFormula]
) -> None:
    if len(path) > DEEPEST:
        raise FormulaError(f"named formulas call each other more than {DEEPEST} deep", named[name].text, 0)
    for call in calls[name]:
        called = _called(call)[0]
        if called in (*path, name):
            circle = " → ".join((*path, name, called))
            raise FormulaError(f"a formula that calls itself: {circle}", named[name].text, _offset(call))
        _no_circle(called, (*path, name), calls, named)


@dataclass
class _Reader:
    text: str
    resolve: Callable[[str], Selector]
    named: Mapping[str, NamedFormula]
    scope: dict[str, Position | Name]
    fresh: Any = field(default_factory=numbers)
    calls: tuple[str, ...] = ()

    def guarded(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except RecursionError:
            raise FormulaError("parts lie too deep inside one another", self.text, 0) from None

    def fail(self, message: str, node: Any) -> FormulaError:
        return FormulaError(message, self.text, _offset(node))

    # formulas ------------------------------------------------------------------------------------------------

    def formula(self, node: Any) -> Formula:
        """A tree as a formula."""
        found: Formula = getattr(self, f"_{node.data}")(node)
        return found

    def _both(self, node: Any) -> Formula:
        return And(*map(self.formula, node.children))

    def _either(self, node: Any) -> Formula:
        return Or(*map(self.formula, node.children))

    def _implies(self, node: Any) -> Formula:
        left, right = map(self.formula, node.children)
        return Or(Not(left), right)

    def _iff(self, node: Any) -> Formula:
        return Iff(*map(self.formula, node.children))

    def _negation(self, node: Any) -> Formula:
        return Not(self.formula(node.children[0]))

    def _constant(self, node: Any) -> Formula:
        word = str(node.children[0])
        if word not in ("true", "false"):
            raise self.fail(f"{word!r} alone says nothing; for a token write {word}(t)", node)
        return Constant(word == "true")

    def _quantified(self, node: Any) -> Formula:
        quantifier, *binders, inner = node.children
        block, before = next(self.fresh), dict(self.scope)
        bound = [self._bind(binder) for binder in binders]
        found = self.formula(inner)
        self.scope = before
        for binder in reversed(bound):
            found = Quantified(not str(quantifier).startswith("exists"), binder, found, block)
        return found

    def _bind(self, node: Any) -> PositionBinder | LabelBinder:
        token = node.children[0]
        word, inner = str(token), f"{token}#{next(self.fresh)}"
        if word in POSITIONS or word in ATOMS:
            raise self.fail(f"{word!r} has a meaning of its own: choose another name for the variable", token)
        if node.data == "domain":
            domain = str(node.children[1])
            if domain not in ("fields", "labels", "tokens"):
                raise self.fail(
                    f"no domain {domain!r}{suggestion(domain, ('fields', 'labels', 'tokens'))}",
                    node.children[1],
                )
            made: PositionBinder | LabelBinder = (
                PositionBinder(inner) if domain == "tokens" else LabelBinder(inner, domain)
            )
        elif node.data == "listed":
            names = tuple(self._field(name) for name in node.children[1:])
            for name, child in zip(names, node.children[1:], strict=True):
                if name.variable:
                    raise self.fail("a variable cannot be listed here: name a field", child)
            made = LabelBinder(inner, tuple(name.selector for name in names))
        else:
            made = self._range(node, inner)
        is_label = isinstance(made, LabelBinder)
        self.scope[word] = Name(inner, variable=True) if is_label else Position(inner, 0)
        return made

    def _range(self, node: Any, name: str) -> PositionBinder:
        if node.data == "everywhere":
            return PositionBinder(name)
        if node.data == "ranged":
            low, high = (
                default if sum_ is None else self._position(sum_)
                for sum_, default in zip(
                    node.children[1:], (Position("", 0), Position("last", 0)), strict=True
                )
            )
            made = PositionBinder(name, low, high)
        else:
            _, relation, bound = node.children
            at = self._position(bound)
            below, above = Position(at.base, at.shift - 1), Position(at.base, at.shift + 1)
            made = {
                "<": PositionBinder(name, high=below),
                "<=": PositionBinder(name, high=at),
                ">": PositionBinder(name, low=above),
                ">=": PositionBinder(name, low=at),
                "=": PositionBinder(name, at, at),
                "!=": PositionBinder(name, unequal=at),
            }[str(relation)]
        if (made.low.base == made.high.base and made.low.shift > made.high.shift) or (
            made.high.base == "" and made.high.shift < 0
        ):
            raise self.fail(f"an empty range: there is no token for {node.children[0]}", node)
        return made

    def _predicate(self, node: Any) -> Formula:
        call = node.children[0]
        name, arguments = _called(call)
        if name in ("begins", "ends"):
            self._count(call, arguments, 2, f"{name}(field, t)")
            kind = Begins if name == "begins" else Ends
            return kind(self._field(arguments[0]), self._position(arguments[1]))
        if name == "change":
            self._count(call, arguments, 1, "change(t)")
            return Change(self._position(arguments[0]))
        if name in (*LABELS, "token"):
            raise self.fail(f"{name}(…) is no statement: compare it with something", call)
        if name in self.named:
            return self._use(call, self.named[name], arguments)
        self._count(call, arguments, 1, f"{name}(t), or the name of a formula")
        return Member(self._field(call.children[0]), self._position(arguments[0]))

    def _use(self, call: Any, formula: NamedFormula, arguments: list[Any]) -> Formula:
        if formula.name in self.calls:
            path = " → ".join((*self.calls[self.calls.index(formula.name) :], formula.name))
            raise self.fail(f"a formula that calls itself: {path}", call)
        if len(self.calls) >= DEEPEST:
            raise self.fail(f"named formulas call each other more than {DEEPEST} deep", call)
        usage = f"{formula.name}({', '.join(formula.parameters)})"
        self._count(call, arguments, len(formula.parameters), usage)
        scope = {p: self._argument(a) for p, a in zip(formula.parameters, arguments, strict=True)}
        inner = _Reader(
            formula.text, self.resolve, self.named, scope, self.fresh, (*self.calls, formula.name)
        )
        return inner.formula(_parse(formula.text, "formula"))

    def _argument(self, node: Any) -> Position | Name:
        if _is_name(node) and _word(node) not in (*POSITIONS, *self.scope):
            return self._field(node)
        found = self.scope.get(_word(node)) if _is_name(node) else None
        return found if isinstance(found, Name) else self._position(node)

    def _comparison(self, node: Any) -> Formula:
        left, token, right = node.children
        relation = str(token)
        if _kind(left) in ("sum", "text") and _kind(right) not in ("sum", "text", "pair"):
            left, right, relation = right, left, _turned(relation)
        kind = _kind(left)
        if kind == "sum" and _kind(right) in ("sum", "text"):
            return self._compare(node, left, relation, right)
        if kind in (*LABELS, "token"):
            if relation not in ("=", "!="):
                raise self.fail(f"{kind}(…) can be compared by = and != only", token)
            found = self._token(left, right) if kind == "token" else self._label(kind, left, right)
            return Not(found) if relation == "!=" else found
        raise self.fail(f"{_spoken(left)} compared with {_spoken(right)}", node)

    def _compare(self, node: Any, left: Any, relation: str, right: Any) -> Formula:
        a, b = (self._operand(side) for side in (left, right))
        if isinstance(a, Name) or isinstance(b, Name):
            if isinstance(a, Position) or isinstance(b, Position):
                raise self.fail("label compared with number", node)
            if relation not in ("=", "!="):
                raise self.fail("labels can be compared by = and != only", node)
            found: Formula = SameName(a, b)
            return Not(found) if relation == "!=" else found
        if relation in (">", ">="):
            a, b, relation = b, a, _turned(relation)
        return Not(Compare("=", a, b)) if relation == "!=" else Compare(relation, a, b)

    def _operand(self, node: Any) -> Position | Name:
        if _kind(node) == "text" or (_is_name(node) and _word(node) not in (*POSITIONS, *self.scope)):
            return self._field(node)
        found = self.scope.get(_word(node)) if _is_name(node) else None
        return found if isinstance(found, Name) else self._position(node)

    def _label(self, kind: str, left: Any, right: Any) -> Formula:
        at = self._only_position(left)
        other = _kind(right)
        if other == kind:
            return Same(kind, at, self._only_position(right))
        if kind == "edge" and other == "pair":
            before, after = (self._field(name) for name in right.children)
            return Edge(before, after, at)
        if kind != "edge" and (other == "text" or _is_name(right)):
            found = self.scope.get(_word(right)) if _is_name(right) else None
            if isinstance(found, Position) or (_is_name(right) and _word(right) in POSITIONS):
                raise self.fail("label compared with number", right)
            return Member(self._field(right), at)
        if other == "sum":
            raise self.fail("label compared with number", right)
        raise self.fail(f"{kind}(…) compared with {_spoken(right)}", right)

    def _token(self, left: Any, right: Any) -> Formula:
        at = self._only_position(left)
        if _kind(right) == "token":
            return SameToken(at, self._only_position(right))
        if _kind(right) != "text":
            raise self.fail(f"token compared with {_spoken(right)}; expected a quoted text", right)
        return self._words(at, [right.children[0]])

    def _words(self, at: Position, words: Iterable[Any]) -> Formula:
        return TokenIs(TokenPattern(tuple(_unquoted(w) or "\0" for w in words), ignore_case=False), at)

    def _among(self, node: Any) -> Formula:
        call, *words = node.children
        return self._words(self._token_of(call), words)

    def _matching(self, node: Any) -> Formula:
        call, pattern = node.children
        text = _unquoted(pattern)
        try:
            compiled(text)
        except ValueError as error:
            raise self.fail(str(error), pattern) from None
        return TokenIs(TokenPattern(pattern=text or "(?!)", ignore_case=False), self._token_of(call))

    def _of_class(self, node: Any) -> Formula:
        call, name = node.children
        if str(name) not in TOKEN_CLASSES:
            raise self.fail(f"no token class {str(name)!r}{suggestion(str(name), TOKEN_CLASSES)}", name)
        return TokenIs(TokenPattern(token_class=str(name)), self._token_of(call))

    def _token_of(self, call: Any) -> Position:
        if _called(call)[0] != "token":
            raise self.fail("only a token can be matched: token(t)", call)
        return self._only_position(call)

    # names and positions ---------------------------------------------------------------------------------------

    def _only_position(self, call: Any) -> Position:
        name, arguments = _called(call)
        self._count(call, arguments, 1, f"{name}(t)")
        return self._position(arguments[0])

    def _count(self, call: Any, arguments: list[Any], wanted: int, usage: str) -> None:
        if len(arguments) != wanted:
            raise self.fail(f"{len(arguments)} arguments; expected {usage}", call)

    def _position(self, node: Any) -> Position:
        if getattr(node, "data", "") == "text":
            raise self.fail("a name where a position was expected", node)
        children = [c for c in node.children if c is not None]
        sign, shift, base = 1, 0, Position("", 0)
        for child in children:
            if child.type == "SIGN":
                sign = 1 if str(child) == "+" else -1
            elif child.type == "INT":
                shift += sign * int(child)
            else:
                base = self._variable(child)
        if abs(shift) > 2**31:
            raise self.fail("a number beyond 2^31", node)
        return Position(base.base, base.shift + shift)

    def _variable(self, token: Any) -> Position:
        word = str(token)
        known = {"first": Position("", 0), "last": Position("last", 0), "length": Position("last", 1)}
        found = self.scope.get(word, known.get(word))
        if isinstance(found, Position):
            return found
        if isinstance(found, Name):
            raise self.fail(f"{word!r} stands for a label where a position was expected", token)
        bound = [*known, *(name for name, value in self.scope.items() if isinstance(value, Position))]
        raise self.fail(f"a free variable: nothing binds {word!r}{suggestion(word, bound)}", token)

    def _field(self, node: Any) -> Name:
        word = _word(node) if _is_name(node) else _unquoted(getattr(node, "children", [node])[0])
        if getattr(node, "data", "") == "sum" and not _is_name(node):
            raise self.fail("a number where a field was expected", node)
        quoted = not _is_name(node)
        found = None if quoted else self.scope.get(word)
        if isinstance(found, Name):
            return found
        if isinstance(found, Position):
            raise self.fail(f"{word!r} stands for a position where a field was expected", node)
        try:
            return Name(self.resolve(word))
        except ValueError as error:
            raise self.fail(str(error), node) from None

    # inequalities ----------------------------------------------------------------------------------------------

    def inequality(self, node: Any) -> Inequality:
        """A tree as low <= Σ terms <= high."""
        left, relation, right = node.children
        terms, constant = self._side(left, 1)
        others, other = self._side(right, -1)
        terms, bound = terms + others, -(constant + other)
        if not any(tree.data in ("call", "counted") for tree in node.iter_subtrees()):
            raise self.fail(
                "nothing is counted: use runs(…), tokens(…), at(…), steps(…), changes() or count(…)", node
            )
        sides = {
            "<=": (None, bound),
            "<": (None, bound - 1),
            ">=": (bound, None),
            ">": (bound + 1, None),
            "=": (bound, bound),
        }
        if str(relation) not in sides:
            raise self.fail("an inequality has one of <=, <, >=, > and =", relation)
        return Inequality(tuple(terms), *sides[str(relation)])

    def _side(self, node: Any, factor: int) -> tuple[list[Term], int]:
        terms, constant, sign = [], 0, 1
        for child in node.children:
            if child is None:
                continue
            if getattr(child, "type", "") == "SIGN":
                sign = 1 if str(child) == "+" else -1
                continue
            number, counted = self._factors(child)
            if counted is None:
                constant += factor * sign * number
            elif number:
                variable, formula = counted
                terms.append(Term(factor * sign * number, variable, formula))
        return terms, constant

    def _factors(self, node: Any) -> tuple[int, tuple[str, Formula] | None]:
        number, counted = 1, None
        for child in node.children:
            if getattr(child, "type", "") == "INT":
                number = int(child)
            elif child is not None:
                counted = self._counted_by(child)
        if number > 2**31:
            raise self.fail("a number beyond 2^31", node)
        return number, counted

    def _counted_by(self, node: Any) -> tuple[str, Formula]:
        variable = f"t#{next(self.fresh)}"
        here = Position(variable, 0)
        if node.data == "counted":
            before = dict(self.scope)
            self.scope[str(node.children[0])] = here
            found = self.formula(node.children[1])
            self.scope = before
            return variable, found
        name, arguments = _called(node)
        usages = {"runs": 1, "tokens": 1, "changes": 0, "steps": 2, "at": 2}
        if name not in usages:
            raise self.fail(f"nothing is counted by {name!r}{suggestion(name, (*usages, 'count'))}", node)
        usage = {"steps": "steps(from, to)", "at": "at(field, position)", "changes": "changes()"}
        self._count(node, arguments, usages[name], usage.get(name, f"{name}(field)"))
        if name == "changes":
            return variable, Change(here)
        field_ = self._field(arguments[0])
        if name == "runs":
            return variable, Begins(field_, here)
        if name == "tokens":
            return variable, Member(field_, here)
        if name == "steps":
            return variable, Edge(field_, self._field(arguments[1]), here)
        at = self._position(arguments[1])
        at = Position("last", at.shift + 1) if not at.base and at.shift < 0 else at
        return variable, And(Compare("=", here, at), Member(field_, here))


def _offset(node: Any) -> int:
    start = getattr(node, "start_pos", None)
    if start is None and getattr(node, "meta", None) is not None and not node.meta.empty:
        start = node.meta.start_pos
    return int(start or 0)


def _called(call: Any) -> tuple[str, list[Any]]:
    name, *arguments = call.children
    return _unquoted(name) if name.type == "STRING" else str(name), [a for a in arguments if a is not None]


def _unquoted(token: Any) -> str:
    text = str(token)
    return text[1:-1] if text[:1] in ("'", '"') else text


def _is_name(node: Any) -> bool:
    """Whether a node is one bare name."""
    if getattr(node, "type", "") == "NAME":
        return True
    children = getattr(node, "children", [])
    return getattr(node, "data", "") == "sum" and len(children) == 1 and children[0].type == "NAME"


def _word(node: Any) -> str:
    return str(node if getattr(node, "type", "") == "NAME" else node.children[0])


def _kind(node: Any) -> str:
    return _called(node)[0] if node.data == "call" else str(node.data)


def _spoken(node: Any) -> str:
    kinds = {"sum": "number", "text": "a quoted text", "pair": "a pair"}
    return kinds.get(str(node.data), f"{_kind(node)}(…)")


def _turned(relation: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(relation, relation)


def written(name: str) -> str:
    """A name as a formula writes it: quoted unless it is a plain word."""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else f'"{name}"'
