"""Regular expressions over label names, compiled to minimal automata by Brzozowski derivatives; see `matches` for the syntax."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from formulations import time_limits
from formulations.automata.machine import Automaton
from formulations.logic.texts import FormulaError

MAX_COUNT = 1_000
MAX_NESTING = 100
MAX_STATES = 10_000
MAX_WORK = 2_000_000

_TOKEN = re.compile(
    r"""(?P<space> \s+ ) | (?P<mark> [()|] | \Z )
      | (?P<letter> \. | (?P<not>!)? (?P<name> [A-Za-z_][\w-]* | '[^']*' | "[^"]*" ) (?P<glued> [!'"\w] )? )
      | (?P<repeat> [*+?] | \{ \s* [0-9]{1,9} \s* (?: , \s* (?: [0-9]{1,9} \s* )? )? \} ) | (?P<unknown> . )""",
    re.VERBOSE,
)
_UNKNOWN = {
    "!": "expected a name right after '!'",
    "{": f"expected a repetition {{m}}, {{m,}} or {{m,n}} with counts of at most {MAX_COUNT}",
    "'": "expected a closing ' after this one",
    '"': 'expected a closing " after this one',
}


class Letter(NamedTuple):
    name: str | None
    negated: bool
    offset: int


class Repeat(NamedTuple):
    low: int
    high: int | None


class Join(NamedTuple):
    operands: int
    union: bool


Expression = tuple[Letter | Repeat | Join, ...]
"""An expression in postfix order: letters are pushed, repeats and joins replace the top of the stack."""


def parse(text: str) -> Expression:
    """Parse an expression; raises `FormulaError` for a syntax error."""
    steps: list[Letter | Repeat | Join] = []
    opened: list[int] = []
    items, alternatives = [0], [0]  # content of each open group, the whole text first

    def expect(condition: object, message: str, offset: int) -> None:
        if not condition:
            raise FormulaError(message, text, offset)

    for token in _TOKEN.finditer(text):
        here, sign, name = token.start(), token[0], token["name"]
        unknown = f"unknown character {sign!r}: expected a name, in quotes unless it is an identifier"
        expect(not token["unknown"], _UNKNOWN.get(sign, unknown), here)
        expect(not token["glued"], "expected white space between two names", token.end() - 1)
        if token["letter"]:
            name = name[1:-1] if name and name[0] in "'\"" else name
            steps.append(Letter(name, bool(token["not"]), here))
            items[-1] += 1
        elif token["repeat"]:
            expect(items[-1], f"nothing to repeat: expected a name, '.' or ')' before {sign}", here)
            once = not isinstance(steps[-1], Repeat)
            expect(once, f"expected parentheses around what {sign} repeats", here)
            least, comma, most = {"*": "0,", "+": "1,", "?": "0,1"}.get(sign, sign.strip("{}")).partition(",")
            low = int(least)
            high = int(most) if most.strip() else None if comma else low
            expect(high is None or low <= high, f"expected m at most n in {{m,n}}, not {sign}", here)
            expect(max(low, high or 0) <= MAX_COUNT, _UNKNOWN["{"], here)
            steps.append(Repeat(low, high))
        elif sign == "(":
            expect(len(opened) < MAX_NESTING, f"expected parentheses at most {MAX_NESTING} deep", here)
            opened.append(here)
            items.append(0)
            alternatives.append(0)
        elif not token["space"]:
            expect(sign != ")" or opened, "unbalanced ')': expected a '(' before it", here)
            expect(sign or not opened, "unbalanced '(': expected a ')' after it", max(opened, default=0))
            expect(items[-1], "expected a name, '.', '!name' or '('", here)
            steps.append(Join(items[-1], union=False))
            items[-1] = 0
            alternatives[-1] += 1
            if sign != "|":
                steps.append(Join(alternatives.pop(), union=True))
            if sign == ")":
                del opened[-1], items[-1]
                items[-1] += 1
    return tuple(steps)


def names(expression: Expression) -> tuple[tuple[str, int], ...]:
    """Names in order of appearance, with the offsets of their first appearance."""
    first: dict[str, int] = {}
    for step in expression:
        if isinstance(step, Letter) and step.name is not None:
            first.setdefault(step.name, step.offset)
    return tuple(first.items())


_Node = tuple[Any, ...]  # operator and operands, by term number


class _Terms:
    """Hash-consed terms in normal form over kinds of letters; each term has a number."""

    def __init__(self, kinds: int) -> None:
        self.nodes: list[_Node] = []
        self.nullable: list[bool] = []
        self._numbers: dict[_Node, int] = {}
        self._derivatives: dict[int, dict[int, int]] = {}
        self._work = 0
        self.nothing = self.letters(())
        self.empty = self._number(True, "repeat", self.nothing, 0, None)
        self.anything = self.repeat(self.letters(range(kinds)), 0, None)

    def _number(self, nullable: bool, *node: Any) -> int:
        self._spend(1)
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.nullable.append(nullable)
        return self._numbers[node]

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise ValueError(f"the expression needs more than {MAX_WORK} steps to compile")

    def letters(self, kinds: Iterable[int]) -> int:
        return self._number(False, "letters", frozenset(kinds))

    def union(self, terms: Iterable[int]) -> int:
        operands = [self.nodes[term][1:] if self.nodes[term][0] == "union" else (term,) for term in terms]
        self._spend(sum(map(len, operands)))
        members = sorted(set().union(*operands) - {self.nothing})
        if len(members) < 2 or self.anything in members:
            return self.anything if self.anything in members else min(members, default=self.nothing)
        return self._number(any(self.nullable[member] for member in members), "union", *members)

    def chain(self, head: int, tail: int) -> int:
        if self.nothing in (head, tail):
            return self.nothing
        if self.empty in (head, tail):
            return tail if head == self.empty else head
        return self._number(self.nullable[head] and self.nullable[tail], "chain", head, tail)

    def repeat(self, body: int, low: int, high: int | None) -> int:
        low = 0 if self.nullable[body] else low
        if (low and body == self.nothing) or (low, high) == (1, 1):
            return body
        if high == 0 or body in (self.nothing, self.empty):
            return self.empty
        return self._number(low == 0, "repeat", body, low, high)

    def derivatives(self, term: int) -> dict[int, int]:
        """For each kind of letter that can begin a word of the term, the term of the remaining word."""
        if term in self._derivatives:
            return self._derivatives[term]
        after: defaultdict[int, set[int]] = defaultdict(set)
        beginnings: list[tuple[int, int]] = []  # terms in which a word can begin, and their continuations
        match self.nodes[term]:
            case "letters", kinds:
                after.update((kind, {self.empty}) for kind in kinds)
            case "union", *members:
                beginnings = [(member, self.empty) for member in members]
            case "repeat", body, low, high:
                beginnings = [(body, self.repeat(body, max(low - 1, 0), high and high - 1))]
            case "chain", head, rest:
                beginnings = [(head, rest)]
                while self.nullable[head] and rest != self.empty:
                    node = self.nodes[rest]
                    head, rest = node[1:] if node[0] == "chain" else (rest, self.empty)
                    beginnings.append((head, rest))
        for part, rest in beginnings:
            for kind, derivative in self.derivatives(part).items():
                after[kind].add(self.chain(derivative, rest))
        self._spend(len(beginnings) + len(after))
        self._derivatives[term] = {kind: self.union(targets) for kind, targets in after.items()}
        return self._derivatives[term]


def automaton(expression: Expression, letters: Mapping[str, Collection[int]], size: int) -> Automaton:
    """The minimal automaton of an expression over letters 0 to `size` - 1; a word that does not match is a violation."""
    matches = [(name, frozenset(letters[name])) for name, _ in names(expression)]
    matching = [frozenset(name for name, matching in matches if letter in matching) for letter in range(size)]
    kinds = {same: kind for kind, same in enumerate(dict.fromkeys(matching))}  # equivalent letters
    terms = _Terms(len(kinds))
    states = [_term(expression, kinds, terms)]
    number = {states[0]: 0}
    rows: list[list[int]] = []
    for term in states:
        time_limits.check()
        after = terms.derivatives(term)
        rows.append([])
        for target in (after.get(kind, terms.nothing) for kind in range(len(kinds))):
            if target not in number:
                number[target] = len(states)
                states.append(target)
            rows[-1].append(number[target])
        if len(states) > MAX_STATES:
            raise ValueError(f"the expression needs more than {MAX_STATES} states")
    accepting = [terms.nullable[term] for term in states]
    first = np.array(_first_equivalents(rows, accepting))
    representatives = np.unique(first)
    table = np.searchsorted(representatives, first[np.array(rows, dtype=np.int64)[representatives]])
    next_state = table[:, [kinds[same] for same in matching]]
    return Automaton(
        next_state, np.zeros_like(next_state), 1 - np.array(accepting, np.int64)[representatives]
    )


def _term(expression: Expression, kinds: Mapping[frozenset[str], int], terms: _Terms) -> int:
    stack: list[int] = []
    for step in expression:
        match step:
            case Letter(name, negated):
                matching = (kind for of, kind in kinds.items() if name is None or (name in of) != negated)
                stack.append(terms.letters(matching))
            case Repeat(low, high):
                stack.append(terms.repeat(stack.pop(), low, high))
            case Join(count, union):
                operands = [stack.pop() for _ in range(count)]  # the last comes first
                if union:
                    stack.append(terms.union(operands))
                else:
                    stack.append(reduce(lambda tail, head: terms.chain(head, tail), operands))
    return stack.pop()


def _first_equivalents(rows: list[list[int]], accepting: list[bool]) -> list[int]:
    """The first state equivalent to each, by Hopcroft's refinement of a partition."""
    arrows: list[list[tuple[int, int]]] = [[] for _ in rows]
    for source, row in enumerate(rows):
        for kind, target in enumerate(row):
            arrows[target].append((kind, source))
    block_of = [int(accepts) for accepts in accepting]
    blocks = [{state for state, block in enumerate(block_of) if block == side} for side in (0, 1)]
    pending = {0, 1}
    while pending:
        sources = defaultdict(list)
        for target in blocks[pending.pop()]:
            for kind, source in arrows[target]:
                sources[kind].append(source)
        for affected in sources.values():
            inside = defaultdict(set)
            for source in affected:
                inside[block_of[source]].add(source)
            for block, part in inside.items():
                if len(part) < len(blocks[block]):
                    blocks[block] -= part
                    smaller = block if len(blocks[block]) < len(part) else len(blocks)
                    pending.add(len(blocks) if block in pending else smaller)
                    for state in part:
                        block_of[state] = len(blocks)
                    blocks.append(part)
    first = [min(block, default=0) for block in blocks]
    return [first[block] for block in block_of]
