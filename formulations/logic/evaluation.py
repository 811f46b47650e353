"""Evaluation of formulas on a labelling in plain Python, the reference for compiled formulas.

A quantifier searches the tokens that make its inner formula true once for all equivalent values of outer variables. Most formulas
then take linear time.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from formulations import time_limits
from formulations.labels.reading import Reading
from formulations.logic import ast, semantics
from formulations.logic.ast import Environment, Formula, Value
from formulations.logic.searches import Comparison, Literal, TokenSearch, literals, search
from formulations.logic.semantics import front, innermost, too_many, values

FEW = 8  # up to this number, tokens are tried one by one, without the cache over the sequence
Window = tuple[int, int, set[int]]


class Evaluator:
    """The truth of formulas on one labelling."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.length = reading, len(reading)
        self._searches: dict[int, TokenSearch] = {}
        self._found: dict[tuple[object, ...], tuple[list[int], dict[object, list[int]]]] = {}
        self._index: dict[str, dict[object, list[int]]] = {}

    def holds(self, formula: Formula, environment: Environment) -> bool:
        """Whether a formula is true; atoms about tokens outside the sequence are false."""
        T = self.length
        match formula:
            case ast.Constant(value):
                return value
            case ast.Not(inner):
                return not self.holds(inner, environment)
            case ast.And(left, right):
                return self.holds(left, environment) and self.holds(right, environment)
            case ast.Or(left, right):
                return self.holds(left, environment) or self.holds(right, environment)
            case ast.Iff(left, right):
                return self.holds(left, environment) == self.holds(right, environment)
            case ast.Quantified(universal, binder, inner, _):
                if isinstance(binder, ast.PositionBinder):
                    return self._somewhere(formula, binder, environment) != universal
                options = values(binder, self.reading.labels, T, environment)
                result = (self.holds(inner, {**environment, binder.name: value}) for value in options)
                return all(result) if universal else any(result)
            case ast.Compare(relation, left, right):
                a, b = left.at(environment, T), right.at(environment, T)
                return a < b if relation == "<" else a <= b if relation == "<=" else a == b
            case ast.SameName(left, right):
                return left.of(environment) == right.of(environment)
            case ast.Atom():
                tokens = formula.tokens(environment, T)
                return bool(tokens) and self._atom(formula, environment, *tokens)
        raise TypeError(f"{type(formula).__name__} is no formula")

    def _atom(self, atom: ast.Atom, environment: Environment, t: int, other: int = 0) -> bool:
        """Whether an atom about token t (and another token, for two) is true."""
        reading = self.reading
        match atom:
            case ast.Member(field):
                return reading.has(t, field.of(environment))
            case ast.Innermost(field):
                return innermost(reading.names[t], field.of(environment), reading.labels)
            case ast.Begins(field):
                return reading.begins(t, field.of(environment))
            case ast.Ends(field):
                return reading.ends(t, field.of(environment))
            case ast.Change():
                return reading.change(t)
            case ast.Edge(before, after):
                inside = t > 0 and reading.has(t - 1, before.of(environment))
                return inside and reading.has(t, after.of(environment))
            case ast.Same(what):
                return self._content(what, t) == self._content(what, other)
            case ast.Has(what, name):
                return self._content(what, t) == name
            case ast.TokenIs(pattern):
                return pattern.matches(reading.tokens[t])
            case ast.SameToken():
                return reading.tokens[t] == reading.tokens[other]
        raise TypeError(f"{type(atom).__name__} is no formula")

    @cached_property
    def _fields(self) -> list[str]:
        return [self.reading.labels.strip(name) for name in self.reading.names]

    def _content(self, what: str, t: int) -> object:
        """The label, field, edge or text of a token, or the labels near it; None outside the sequence."""
        if not 0 <= t < self.length:
            return None
        names = self.reading.names
        match what:
            case "label":
                return names[t]
            case "field":
                return self._fields[t]
            case "token":
                return self.reading.tokens[t]
            case "edge":
                return names[t - 1] if t else "", names[t]
        return names[t - 1] if t else "", names[t], names[t + 1] if t + 1 < self.length else ""

    def _somewhere(
        self, formula: ast.Quantified, binder: ast.PositionBinder, environment: Environment
    ) -> bool:
        """Whether some token makes the inner formula true (for a universal quantifier: false)."""
        time_limits.check()
        wanted = self._searches.get(id(formula))
        if wanted is None:
            wanted = search(binder, literals(formula.inner, not formula.universal))
            self._searches[id(formula)] = wanted
        if not self._hold(wanted.outer, environment):
            return False
        window = wanted.window(environment, self.length)
        if self._one_by_one(wanted, window):
            return next(self._tokens(wanted, window, environment), None) is not None
        found, groups = self._everywhere(wanted, environment)
        count = _count(found, *window)
        if count and wanted.different is not None:
            count -= _count(groups.get(self._other(wanted.different, environment), ()), *window)
        return count > 0

    def tokens(self, wanted: TokenSearch, environment: Environment) -> Iterator[int]:
        """The tokens at which the literals about the variable hold."""
        time_limits.check()
        window = low, high, barred = wanted.window(environment, self.length)
        if self._one_by_one(wanted, window):
            yield from self._tokens(wanted, window, environment)
            return
        found, _ = self._everywhere(wanted, environment)
        for t in found[bisect_left(found, low) : bisect_right(found, high)]:
            if t not in barred and self._differs(wanted.different, t, environment):
                yield t

    @staticmethod
    def _one_by_one(wanted: TokenSearch, window: Window) -> bool:
        return wanted.placed or window[1] - window[0] < FEW

    def _tokens(self, wanted: TokenSearch, window: Window, environment: Environment) -> Iterator[int]:
        low, high, barred = window
        for t in self._candidates(wanted.same, environment, low, high):
            if t not in barred and self._differs(wanted.different, t, environment):
                time_limits.check()
                if self._hold(wanted.rest, {**environment, wanted.name: t}):
                    yield t

    def _everywhere(
        self, wanted: TokenSearch, environment: Environment
    ) -> tuple[list[int], dict[object, list[int]]]:
        """All tokens of the sequence that satisfy the equality with another token, if any, and the remaining literals; and these
        tokens by the content that has to differ."""
        other = None if wanted.same is None else self._other(wanted.same, environment)
        reads = (self._read(what, part, environment) for what, part in wanted.reads)
        key = (id(wanted), other, *reads)
        result = self._found.get(key)
        if result is None:
            found = list[int]()
            for t in self._candidates(wanted.same, environment, 0, self.length - 1):
                time_limits.check()
                if self._hold(wanted.rest, {**environment, wanted.name: t}):
                    found.append(t)
            groups, pair = dict[object, list[int]](), wanted.different
            if pair is not None:
                for t in found:
                    groups.setdefault(self._content(pair.what, t + pair.shift), []).append(t)
            groups.pop(None, None)
            result = self._found[key] = found, groups
        return result

    def _other(self, pair: Comparison, environment: Environment) -> object:
        return self._content(pair.what, pair.other.at(environment, self.length))

    def _differs(self, pair: Comparison | None, t: int, environment: Environment) -> bool:
        own = None if pair is None else self._content(pair.what, t + pair.shift)
        return pair is None or own is None or own != self._other(pair, environment)

    def _candidates(
        self, pair: Comparison | None, environment: Environment, low: int, high: int
    ) -> Sequence[int]:
        """The tokens of a range that satisfy the equality of a pair."""
        if pair is None:
            return range(low, high + 1)
        if pair.what not in self._index:
            index = self._index[pair.what] = {}
            for t in range(self.length):
                index.setdefault(self._content(pair.what, t), []).append(t)
        places = self._index[pair.what].get(self._other(pair, environment), [])
        first, last = bisect_left(places, low + pair.shift), bisect_right(places, high + pair.shift)
        return [place - pair.shift for place in places[first:last]]

    def _hold(self, wanted: Sequence[Literal], environment: Environment) -> bool:
        return all(self.holds(formula, environment) == positive for formula, positive in wanted)

    def _read(self, what: str, part: ast.Position | ast.Name | Formula, environment: Environment) -> object:
        if isinstance(part, ast.Name):
            return part.of(environment)
        if isinstance(part, Formula):
            return self.holds(part, environment)
        return self._content(what, part.at(environment, self.length))

    def trials(self, formula: Formula) -> Iterator[tuple[Environment, bool]]:
        """The groundings of the outermost "for all" with a true premise, if there is a premise; and whether each holds."""
        binders, conclusion = front(formula)
        wanted = list[Literal]()
        match conclusion:
            case ast.Or(ast.Not(premise), implied):
                wanted, conclusion = list(literals(premise)), implied
        levels: list[list[Literal]] = [[] for _ in range(len(binders) + 1)]
        for literal in wanted:
            last = max((i for i, b in enumerate(binders, 1) if b.name in literal[0].free), default=0)
            levels[last].append(literal)
        searches = [
            search(binder, some) if isinstance(binder, ast.PositionBinder) else None
            for binder, some in zip(binders, levels[1:], strict=True)
        ]
        tried = 0

        def bound(level: int, environment: dict[str, Value]) -> Iterator[dict[str, Value]]:
            nonlocal tried
            if level == len(binders):
                yield environment
                return
            binder, wanted = binders[level], searches[level]
            options: Iterable[Value]
            if wanted is not None:
                options = self.tokens(wanted, environment)
            else:
                options = values(binder, self.reading.labels, self.length, environment)
            for value in options:
                tried += 1
                if tried > semantics.MOST:
                    raise too_many(self.length)
                extended = {**environment, binder.name: value}
                if wanted is not None or self._hold(levels[level + 1], extended):
                    yield from bound(level + 1, extended)

        if self._hold(levels[0], {}):
            for environment in bound(0, {}):
                yield environment, self.holds(conclusion, environment)


def _count(tokens: Sequence[int], low: int, high: int, barred: set[int]) -> int:
    """The number of tokens between `low` and `high`, except barred ones."""
    without = sum(
        low <= t <= high and tokens[at : at + 1] == [t] for t in barred for at in [bisect_left(tokens, t)]
    )
    return max(0, bisect_right(tokens, high) - bisect_left(tokens, low) - without)
