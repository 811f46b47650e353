"""The first step of parsing formulas and inequalities: syntax trees, and their variables, positions and fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count as numbers
from pathlib import Path
from typing import Any

from formulations.labels.selectors import Selector
from formulations.logic.ast import Name, Position
from formulations.logic.texts import FormulaError, NamedFormula, in_quotes
from formulations.messages import counted, suggestion

LONGEST = 20_000  # characters of a formula
DEEPEST = 150  # largest depth of a syntax tree


@lru_cache
def _parser() -> Any:
    from lark import Lark

    grammar = (Path(__file__).parent / "grammar.lark").read_text("utf-8")
    starts = ["formula", "inequality"]
    return Lark(grammar, parser="lalr", start=starts, propagate_positions=True, maybe_placeholders=True)


_SIGNS = {
    "NAME": "a name",
    "STRING": "a quoted text",
    "INT": "a number",
    "COMPARISON": "a comparison such as <=",
    "QUANTIFIER": "forall, exists",
    "SIGN": "+, -",
    "_AND": "and",
    "_OR": "or",
    "_NOT": "not",
    "_IN": "in",
    "_IS": "is",
    "_MATCHES": "matches",
    "_IMPLIES": "->",
    "_IFF": "<->",
    "COMMA": "a comma",
    "$END": "the end",
}


def parse(text: str, start: str) -> Any:
    """Parse a text as "formula" or "inequality"; FormulaError for a syntax error."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    if len(text) > LONGEST:
        raise FormulaError(f"{len(text)} characters; a formula may have at most {LONGEST}", text, 0)
    try:
        tree = _parser().parse(text, start=start)
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        what = "an unmatched quotation mark" if text[at] in "\"'" else f"unexpected {text[at]!r}"
        raise FormulaError(what + in_quotes(text, at), text, at) from None
    except UnexpectedToken as error:
        expected = sorted(
            {_SIGNS.get(name) or _parser().get_terminal(name).pattern.value for name in error.expected}
        )
        ended = error.token.type == "$END"
        at = len(text) if ended else int(error.token.start_pos or 0)
        if not expected:
            what = f"unexpected {str(error.token)!r}{in_quotes(text, at)}"
            raise FormulaError(what, text, at) from None
        what = "the text ends" if ended else f"{str(error.token)!r} stands"
        options = (
            f"{expected[0]} is expected"
            if len(expected) == 1
            else f"one of these is expected: {', '.join(expected)}"
        )
        raise FormulaError(f"{what} where {options}{in_quotes(text, at)}", text, at) from None
    _check_depth(tree, text)
    return tree


def _check_depth(tree: Any, text: str) -> None:
    """Raise FormulaError for a tree that is too deep; chains of "and" or "or" do not count."""
    stack = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > DEEPEST:
            message = f"parts lie more than {DEEPEST} deep inside one another"
            raise FormulaError(message, text, offset_of(node))
        inner = depth + (len(node.children) - 1 if node.data == "quantified" else 1)
        for child in node.children:
            if hasattr(child, "data"):
                chained = child.data == node.data and node.data in ("both", "either")
                stack.append((child, depth if chained else inner))


def offset_of(node: Any) -> int:
    start = getattr(node, "start_pos", None)
    if start is None and getattr(node, "meta", None) is not None and not node.meta.empty:
        start = node.meta.start_pos
    return int(start or 0)


def read_call(call: Any) -> tuple[str, list[Any]]:
    """Name and arguments of a call; a quoted name keeps its quotation marks, since it is a field, not a predicate."""
    name, *arguments = call.children
    return str(name), [a for a in arguments if a is not None]


def unquote(token: Any) -> str:
    text = str(token)
    return text[1:-1] if text[:1] in ("'", '"') else text


def is_name(node: Any) -> bool:
    if getattr(node, "type", "") == "NAME":
        return True
    children = getattr(node, "children", [])
    return getattr(node, "data", "") == "sum" and len(children) == 1 and children[0].type == "NAME"


def word_of(node: Any) -> str:
    return str(node if getattr(node, "type", "") == "NAME" else node.children[0])


def description(node: Any) -> str:
    kinds = {"sum": "number", "text": "a quoted text", "pair": "a pair"}
    return kinds[str(node.data)] if node.data in kinds else f"{read_call(node)[0]}(…)"


def mirror(relation: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(relation, relation)


POSITIONS = ("first", "last", "length")


@dataclass
class Names:
    """Resolves the names of one text."""

    text: str
    resolve: Callable[[str], Selector]
    named: Mapping[str, NamedFormula]
    scope: dict[str, Position | Name]
    counter: Any = field(default_factory=numbers)
    instances: dict[Any, Any] = field(default_factory=dict)

    def fail(self, message: str, node: Any) -> FormulaError:
        return FormulaError(message, self.text, offset_of(node))

    def _only_position(self, call: Any) -> Position:
        name, arguments = read_call(call)
        self._count(call, arguments, 1, f"{name}(t)")
        return self._position(arguments[0])

    def _count(self, call: Any, arguments: list[Any], number: int, usage: str) -> None:
        if len(arguments) != number:
            raise self.fail(f"{counted(len(arguments), 'argument')}; expected {usage}", call)

    def _position(self, node: Any) -> Position:
        if getattr(node, "data", "") == "text":
            raise self.fail("a name where a position was expected", node)
        sign, shift, base = 1, 0, Position("", 0)
        for child in filter(None, node.children):
            if child.type == "SIGN":
                sign = 1 if str(child) == "+" else -1
            elif child.type == "INT":
                shift += sign * self._whole(child)
            else:
                base = self._variable(child)
        if abs(shift) > 2**31:
            raise self.fail("a number beyond 2^31", node)
        return Position(base.base, base.shift + shift)

    def _whole(self, token: Any) -> int:
        digits = str(token).lstrip("0") or "0"
        if len(digits) > len(str(2**31)) or int(digits) > 2**31:
            raise self.fail("a number beyond 2^31", token)
        return int(digits)

    def _variable(self, token: Any) -> Position:
        word = str(token)
        known = {"first": Position("", 0), "last": Position("last", 0), "length": Position("last", 1)}
        result = self.scope.get(word, known.get(word))
        if isinstance(result, Position):
            return result
        if isinstance(result, Name):
            raise self.fail(f"{word!r} stands for a label where a position was expected", token)
        bound = [*known, *(name for name, value in self.scope.items() if isinstance(value, Position))]
        raise self.fail(f"variable {word!r} is not bound by forall or exists{suggestion(word, bound)}", token)

    def _field(self, node: Any) -> Name:
        plain = is_name(node)
        word = word_of(node) if plain else unquote(getattr(node, "children", [node])[0])
        if getattr(node, "data", "") == "sum" and not plain:
            raise self.fail("a number where a field was expected", node)
        result = self.scope.get(word) if plain else None
        if isinstance(result, Name):
            return result
        if isinstance(result, Position):
            raise self.fail(f"{word!r} stands for a position where a field was expected", node)
        try:
            return Name(self.resolve(word))
        except ValueError as error:
            raise self.fail(str(error), node) from None
