"""The second step of parsing formulas: records from syntax trees, with checked names and types."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from formulations.logic import ast
from formulations.logic.parser import (
    POSITIONS,
    Names,
    description,
    is_name,
    mirror,
    parse,
    read_call,
    unquote,
    word_of,
)
from formulations.logic.texts import NamedFormula
from formulations.messages import suggestion
from formulations.tokens.regular_expressions import Expression
from formulations.tokens.token_pattern import TOKEN_CLASSES, TokenPattern

LARGEST = 20_000  # subformulas after expansion of named formulas
LABELS = ("label", "field", "edge")
ATOMS = ("begins", "ends", "change", "token", *LABELS)


class Formulas(Names):
    def formula(self, node: Any) -> ast.Formula:
        result: ast.Formula = getattr(self, f"_{node.data}")(node)
        return result

    def _both(self, node: Any) -> ast.Formula:
        """A chain of the same connective as a balanced tree."""
        operands, kind = [], node.data
        while node.data == kind:
            node, last = node.children
            operands.append(last)
        parts = [self.formula(part) for part in (node, *reversed(operands))]
        join = ast.And if kind == "both" else ast.Or
        while len(parts) > 1:
            pairs = [join(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = [*pairs, *parts[len(pairs) * 2 :]]
        return parts[0]

    _either = _both

    def _implies(self, node: Any) -> ast.Formula:
        left, right = map(self.formula, node.children)
        return ast.Or(ast.Not(left), right)

    def _iff(self, node: Any) -> ast.Formula:
        return ast.Iff(*map(self.formula, node.children))

    def _negation(self, node: Any) -> ast.Formula:
        return ast.Not(self.formula(node.children[0]))

    def _constant(self, node: Any) -> ast.Formula:
        word = str(node.children[0])
        if word not in ("true", "false"):
            hint = "" if word in self.scope else f"; for a token write {word}(t)"
            raise self.fail(f"{word!r} alone is not a condition{hint}", node)
        return ast.Constant(word == "true")

    def _quantified(self, node: Any) -> ast.Formula:
        quantifier, *binders, inner = node.children
        block, before = next(self.counter), dict(self.scope)
        bound = [self._bind(binder) for binder in binders]
        result = self.formula(inner)
        self.scope = before
        for binder in reversed(bound):
            result = ast.Quantified(not str(quantifier).startswith("exists"), binder, result, block)
        return result

    def _bind(self, node: Any) -> ast.Binder:
        token = node.children[0]
        word, inner = str(token), f"{token}#{next(self.counter)}"
        if word in POSITIONS or word in ATOMS:
            raise self.fail(f"{word!r} is a reserved word; choose another name for the variable", token)
        if node.data == "domain":
            domain = str(node.children[1])
            if domain not in (known := ("fields", "labels", "tokens")):
                raise self.fail(f"no domain {domain!r}{suggestion(domain, known)}", node.children[1])
            labels = domain != "tokens"
            result: ast.Binder = ast.LabelBinder(inner, domain) if labels else ast.PositionBinder(inner)
        elif node.data == "alternatives":
            names = tuple(self._field(name) for name in node.children[1:])
            for name, child in zip(names, node.children[1:], strict=True):
                if name.variable:
                    raise self.fail("a variable cannot be listed here: name a field", child)
            result = ast.LabelBinder(inner, "", tuple(name.selector for name in names))
        else:
            result = self._range(node, inner)
        is_label = isinstance(result, ast.LabelBinder)
        self.scope[word] = ast.Name(inner, variable=True) if is_label else ast.Position(inner, 0)
        return result

    def _range(self, node: Any, name: str) -> ast.PositionBinder:
        if node.data == "everywhere":
            return ast.PositionBinder(name)
        if node.data == "ranged":
            sides = zip(("low", "high"), node.children[1:], strict=True)
            given = {side: self._position(bound) for side, bound in sides if bound is not None}
            result = ast.PositionBinder(name, **given)
        else:
            _, relation, bound = node.children
            at = self._position(bound)
            below, above = ast.Position(at.base, at.shift - 1), ast.Position(at.base, at.shift + 1)
            result = {
                "<": ast.PositionBinder(name, high=below),
                "<=": ast.PositionBinder(name, high=at),
                ">": ast.PositionBinder(name, low=above),
                ">=": ast.PositionBinder(name, low=at),
                "=": ast.PositionBinder(name, at, at),
                "!=": ast.PositionBinder(name, unequal=at),
            }[str(relation)]
        low, high = result.low, result.high
        if (low.base == high.base and low.shift > high.shift) or (high.base == "" and high.shift < 0):
            raise self.fail(f"an empty range: there is no token for {node.children[0]}", node)
        return result

    def _predicate(self, node: Any) -> ast.Formula:
        call = node.children[0]
        name, arguments = read_call(call)
        if name in ("begins", "ends"):
            self._count(call, arguments, 2, f"{name}(field, t)")
            kind = ast.Begins if name == "begins" else ast.Ends
            return kind(self._field(arguments[0]), self._position(arguments[1]))
        if name == "change":
            self._count(call, arguments, 1, "change(t)")
            return ast.Change(self._position(arguments[0]))
        if name in (*LABELS, "token"):
            raise self.fail(f"{name}(…) is not a condition; compare it with a value", call)
        if name in self.named:
            return self._expand(call, self.named[name], arguments)
        near = suggestion(name, {*ATOMS, *self.named} - {name}) if len(arguments) != 1 else ""
        self._count(call, arguments, 1, f"{name}(t){near if 'did you mean' in near else ''}")
        return ast.Member(self._field(call.children[0]), self._position(arguments[0]))

    def _expand(self, call: Any, formula: NamedFormula, arguments: list[Any]) -> ast.Formula:
        self._count(call, arguments, len(formula.parameters), formula.usage)
        scope = {p: self._operand(a) for p, a in zip(formula.parameters, arguments, strict=True)}
        key = (formula.name, *scope.values())
        if key not in self.instances:
            inner = replace(self, text=formula.text, scope=scope)
            self.instances[key] = inner.formula(parse(formula.text, "formula"))
        result: ast.Formula = self.instances[key]
        if result.size > LARGEST:
            what = f"{formula.name} is more than {LARGEST} parts"
            raise self.fail(f"{what} after expansion of the formulas that it calls", call)
        return result

    def _comparison(self, node: Any) -> ast.Formula:
        left, token, right = node.children
        relation = str(token)
        if _kind(left) in ("sum", "text") and _kind(right) not in ("sum", "text", "pair"):
            left, right, relation = right, left, mirror(relation)
        kind = _kind(left)
        if kind == "sum" and _kind(right) in ("sum", "text"):
            return self._compare(node, left, relation, right)
        if kind in (*LABELS, "token"):
            if relation not in ("=", "!="):
                raise self.fail(f"{kind}(…) can be compared by = and != only", token)
            result = self._token(left, right) if kind == "token" else self._label(kind, left, right)
            return ast.Not(result) if relation == "!=" else result
        raise self.fail(f"{description(left)} compared with {description(right)}", node)

    def _compare(self, node: Any, left: Any, relation: str, right: Any) -> ast.Formula:
        a, b = (self._operand(side) for side in (left, right))
        if isinstance(a, ast.Name) or isinstance(b, ast.Name):
            if isinstance(a, ast.Position) or isinstance(b, ast.Position):
                raise self.fail("label compared with number", node)
            if relation not in ("=", "!="):
                raise self.fail("labels can be compared by = and != only", node)
            result: ast.Formula = ast.SameName(a, b)
            return ast.Not(result) if relation == "!=" else result
        if relation in (">", ">="):
            a, b, relation = b, a, mirror(relation)
        return ast.Not(ast.Compare("=", a, b)) if relation == "!=" else ast.Compare(relation, a, b)

    def _operand(self, node: Any) -> ast.Position | ast.Name:
        if _kind(node) == "text" or (is_name(node) and word_of(node) not in (*POSITIONS, *self.scope)):
            return self._field(node)
        result = self.scope.get(word_of(node)) if is_name(node) else None
        return result if isinstance(result, ast.Name) else self._position(node)

    def _label(self, kind: str, left: Any, right: Any) -> ast.Formula:
        at = self._only_position(left)
        other = _kind(right)
        if other == kind:
            return ast.Same(kind, at, self._only_position(right))
        if kind == "edge" and other == "pair":
            before, after = (self._field(name) for name in right.children)
            return ast.Edge(before, after, at)
        if kind != "edge" and (other == "text" or is_name(right)):
            result = self.scope.get(word_of(right)) if is_name(right) else None
            if isinstance(result, ast.Position) or (is_name(right) and word_of(right) in POSITIONS):
                raise self.fail("label compared with number", right)
            return (ast.Innermost if kind == "field" else ast.Member)(self._field(right), at)
        if kind == "edge" and is_name(right):
            raise self.fail("edge(…) compared with a name; expected a pair (from, to)", right)
        if other == "sum":
            raise self.fail("label compared with number", right)
        raise self.fail(f"{kind}(…) compared with {description(right)}", right)

    def _token(self, left: Any, right: Any) -> ast.Formula:
        at = self._only_position(left)
        if _kind(right) == "token":
            return ast.SameToken(at, self._only_position(right))
        if _kind(right) != "text":
            what = "a name" if is_name(right) else description(right)
            raise self.fail(f"token compared with {what}; expected a quoted text", right)
        return self._words(at, [right.children[0]])

    def _words(self, at: ast.Position, words: Iterable[Any]) -> ast.Formula:
        return ast.TokenIs(TokenPattern(tuple(unquote(w) or "\0" for w in words), ignore_case=False), at)

    def _among(self, node: Any) -> ast.Formula:
        call, *words = node.children
        return self._words(self._token_of(call), words)

    def _matching(self, node: Any) -> ast.Formula:
        call, pattern = node.children
        text = unquote(pattern)
        try:
            Expression(text)
        except ValueError as error:
            raise self.fail(str(error), pattern) from None
        return ast.TokenIs(TokenPattern(pattern=text or "(?!)", ignore_case=False), self._token_of(call))

    def _of_class(self, node: Any) -> ast.Formula:
        call, name = node.children
        word = str(name)
        if word not in TOKEN_CLASSES:
            raise self.fail(f"no token class {word!r}{suggestion(word, TOKEN_CLASSES)}", name)
        return ast.TokenIs(TokenPattern(token_class=word), self._token_of(call))

    def _token_of(self, call: Any) -> ast.Position:
        if read_call(call)[0] != "token":
            raise self.fail("only a token can be matched: token(t)", call)
        return self._only_position(call)


def _kind(node: Any) -> str:
    """The grammar rule; for a call of `label`, `field`, `edge` or `token`, the called name."""
    name = read_call(node)[0] if node.data == "call" else ""
    return name if name in (*LABELS, "token") else str(node.data)
