"""Resolution of the names in a formula: variables, positions, fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count as numbers
from typing import Any

from formulations.labels.selectors import Selector
from formulations.logic.ast import Name, Position
from formulations.logic.parser import FormulaError, is_name, offset_of, read_call, unquote, word_of
from formulations.messages import suggestion

POSITIONS = ("first", "last", "length")


@dataclass(frozen=True)
class NamedFormula:
    """A formula with parameters, which others may use: `name(argument, …)`."""

    name: str
    parameters: tuple[str, ...]
    text: str

    @property
    def usage(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})"


@dataclass
class Names:
    """Resolves the names of one text; `callers` are the named formulas whose text it is, outermost first."""

    text: str
    resolve: Callable[[str], Selector]
    named: Mapping[str, NamedFormula]
    scope: dict[str, Position | Name]
    counter: Any = field(default_factory=numbers)
    instances: dict[Any, Any] = field(default_factory=dict)
    callers: tuple[str, ...] = ()

    def fail(self, message: str, node: Any) -> FormulaError:
        return FormulaError(message, self.text, offset_of(node))

    def _only_position(self, call: Any) -> Position:
        name, arguments = read_call(call)
        self._count(call, arguments, 1, f"{name}(t)")
        return self._position(arguments[0])

    def _count(self, call: Any, arguments: list[Any], number: int, usage: str) -> None:
        if len(arguments) != number:
            raise self.fail(f"{len(arguments)} arguments; expected {usage}", call)

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
        raise self.fail(f"a free variable: nothing binds {word!r}{suggestion(word, bound)}", token)

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
