"""Regular expressions over label names, compiled to minimal automata by Brzozowski derivatives.

``DT (JJ | NN)* !'.' .{0,3}``: names follow one another, separated by white space, in quotes unless they are
identifiers; ``.`` is any letter, ``!name`` any letter that does not belong to the name. A letter is a class of
labels, and a name matches a set of letters.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

MAX_COUNT = 1_000
MAX_NESTING = 100
MAX_STATES = 10_000
MAX_WORK = 3_000_000


class LabelRegexError(ValueError):
    """A text that is not a label expression, and the offset of the character at which it goes wrong."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message, offset)
        self.message, self.offset = message, offset

    def __str__(self) -> str:
        return f"{self.message} (at character {self.offset + 1})"


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


@dataclass(frozen=True)
class Expression:
    """An expression in postfix order: a letter is pushed, repeats and joins replace what is on top."""

    steps: tuple[Letter | Repeat | Join, ...]


@dataclass(frozen=True, eq=False)
class Automaton:
    """A minimal complete automaton: `next_state` (states, letters), `accepting` (states,), start state 0."""

    next_state: np.ndarray
    accepting: np.ndarray


_TOKEN = re.compile(
    r"""(?P<space> \s+ ) | (?P<mark> [()|] ) | (?P<any> \. )
      | (?P<negated>!)? (?: (?P<bare>[A-Za-z_][\w-]*) | '(?P<single>[^']*)' | "(?P<double>[^"]*)" )
      | (?P<repeat> [*+?] | \{ \s* (?P<low>[0-9]{1,4}) \s* (?P<range> , \s* (?P<high>[0-9]{1,4})? \s* )? \} )""",
    re.VERBOSE,
)
_EXPECTED = {
    "!": "expected a name right after '!'",
    "{": f"expected {{m}}, {{m,}} or {{m,n}}, with m at most n and both at most {MAX_COUNT}",
    "'": "expected a closing ' after this one",
    '"': 'expected a closing " after this one',
}


def parse(text: str) -> Expression:
    """Read an expression; raises `LabelRegexError` where the text is not one."""
    steps: list[Letter | Repeat | Join] = []
    opened: list[int] = []
    counts = [[0, 0]]  # items and finished alternatives of each open group, the whole text first
    name_end = -1

    def end_alternative(offset: int) -> None:
        items, alternatives = counts[-1]
        if not items:
            raise LabelRegexError("expected a name, '.', '!name' or '('", offset)
        steps.append(Join(items, union=False))
        counts[-1] = [0, alternatives + 1]

    for token in _tokens(text):
        here, sign = token.start(), token[0]
        name = next((name for name in token.group("bare", "single", "double") if name is not None), None)
        if name is not None or sign == ".":
            if name is not None and here == name_end:
                raise LabelRegexError("expected white space between two names", here)
            name_end = -1 if name is None else token.end()
            steps.append(Letter(name, token["negated"] is not None, here))
            counts[-1][0] += 1
        elif token["repeat"]:
            if not counts[-1][0]:
                raise LabelRegexError(f"nothing to repeat: expected a name, '.' or ')' before {sign}", here)
            if isinstance(steps[-1], Repeat):
                raise LabelRegexError(f"expected parentheses around the repetition that {sign} repeats", here)
            steps.append(_repeat(token))
        elif sign == "(":
            if len(opened) == MAX_NESTING:
                raise LabelRegexError(f"expected at most {MAX_NESTING} parentheses inside one another", here)
            opened.append(here)
            counts.append([0, 0])
        elif sign == "|":
            end_alternative(here)
        elif sign == ")":
            if not opened:
                raise LabelRegexError("unbalanced ')': expected a '(' before it", here)
            end_alternative(here)
            opened.pop()
            steps.append(Join(counts.pop()[1], union=True))
            counts[-1][0] += 1
    if opened:
        raise LabelRegexError("unbalanced '(': expected a ')' after it", opened[-1])
    end_alternative(len(text))
    return Expression((*steps, Join(counts[0][1], union=True)))


def _tokens(text: str) -> Iterator[re.Match[str]]:
    offset = 0
    while offset < len(text):
        token = _TOKEN.match(text, offset)
        if token is None:
            unknown = f"unknown character {text[offset]!r}: expected a name, in quotes unless an identifier"
            raise LabelRegexError(_EXPECTED.get(text[offset], unknown), offset)
        yield token
        offset = token.end()


def _repeat(token: re.Match[str]) -> Repeat:
    if token["low"] is None:
        return {"*": Repeat(0, None), "+": Repeat(1, None), "?": Repeat(0, 1)}[token[0]]
    low = int(token["low"])
    high = int(token["high"]) if token["high"] else None if token["range"] else low
    if not low <= (low if high is None else high) <= MAX_COUNT:
        raise LabelRegexError(_EXPECTED["{"], token.start())
    return Repeat(low, high)


def names(expression: Expression) -> tuple[tuple[str, int], ...]:
    """The names an expression uses, in order of appearance, each with the offset where it first appears."""
    first: dict[str, int] = {}
    for step in expression.steps:
        if isinstance(step, Letter) and step.name is not None:
            first.setdefault(step.name, step.offset)
    return tuple(first.items())


class _Letters(NamedTuple):
    kinds: frozenset[int]


class _Union(NamedTuple):
    members: tuple[int, ...]


class _Chain(NamedTuple):
    head: int
    tail: int


class _Repetition(NamedTuple):
    body: int
    low: int
    high: int | None

    def leaves_gaps(self, low: int, high: int | None) -> bool:
        """Whether `low` to `high` of these repetitions skip a length between the least and the greatest."""
        if low == high or (low and self.high is None):
            return False
        return self.low * (low + 1) > (self.high or 0) * low + 1


class _Terms:
    """Hash-consed terms over kinds of letters, each built in normal form and known by its number.

    Nothing, the empty set of letters, is the only term without words; repeated, it is the empty word.
    """

    def __init__(self, kinds: int) -> None:
        self.nodes: list[_Letters | _Union | _Chain | _Repetition] = []
        self.nullable: list[bool] = []
        self._numbers: dict[_Letters | _Union | _Chain | _Repetition, int] = {}
        self._derivatives: dict[int, dict[int, int]] = {}
        self._work = 0
        self.nothing = self.letters(())
        self.empty = self._number(_Repetition(self.nothing, 0, None), True)
        self.anything = self.repetition(self.letters(range(kinds)), 0, None)

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise ValueError(f"the expression needs more than {MAX_WORK} steps to compile")

    def _number(self, node: _Letters | _Union | _Chain | _Repetition, nullable: bool) -> int:
        self._spend(1)
        number = self._numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.nullable.append(nullable)
        return number

    def letters(self, kinds: Iterable[int]) -> int:
        return self._number(_Letters(frozenset(kinds)), False)

    def union(self, terms: Iterable[int]) -> int:
        members: set[int] = set()
        for term in terms:
            node = self.nodes[term]
            parts = node.members if isinstance(node, _Union) else (term,)
            members.update(parts)
            self._spend(len(parts))
        letters = {member for member in members if isinstance(self.nodes[member], _Letters)}
        if len(letters) > 1:
            members -= letters
            members.add(self.letters(kind for member in letters for kind in self.nodes[member].kinds))
        members.discard(self.nothing)
        if self.anything in members:
            return self.anything
        nullable = any(self.nullable[member] for member in members if member != self.empty)
        if nullable:
            members.discard(self.empty)
        if len(members) < 2:
            return min(members, default=self.nothing)
        return self._number(_Union(tuple(sorted(members))), nullable or self.empty in members)

    def concatenation(self, head: int, tail: int) -> int:
        if self.nothing in (head, tail):
            return self.nothing
        if tail == self.empty:
            return head
        heads = []
        while isinstance(node := self.nodes[head], _Chain):
            heads.append(node.head)
            head = node.tail
        for part in (head, *reversed(heads)):
            if part != self.empty:
                tail = self._number(_Chain(part, tail), self.nullable[part] and self.nullable[tail])
        return tail

    def repetition(self, body: int, low: int, high: int | None) -> int:
        node = self.nodes[body]
        if self.nullable[body]:
            low = 0
            if isinstance(node, _Union) and self.empty in node.members:
                return self.repetition(self.union(set(node.members) - {self.empty}), low, high)
        if (low and body == self.nothing) or (low, high) == (1, 1):
            return body
        if high == 0 or body in (self.nothing, self.empty):
            return self.empty
        if (low, high) == (0, 1):
            return self.union((self.empty, body))
        if isinstance(node, _Repetition) and not node.leaves_gaps(low, high):
            high = None if node.high is None or high is None else node.high * high
            return self.repetition(node.body, node.low * low, high)
        return self._number(_Repetition(body, low, high), low == 0)

    def derivatives(self, term: int) -> dict[int, int]:
        """What must follow each kind of letter with which a word of the term can begin."""
        if term in self._derivatives:
            return self._derivatives[term]
        after: defaultdict[int, set[int]] = defaultdict(set)

        def add(first: int, rest: int) -> None:
            for kind, derivative in self.derivatives(first).items():
                after[kind].add(self.concatenation(derivative, rest))

        match self.nodes[term]:
            case _Letters(kinds):
                after.update((kind, {self.empty}) for kind in kinds)
            case _Union(members):
                for member in members:
                    add(member, self.empty)
            case _Repetition(body, low, high):
                add(body, self.repetition(body, max(low - 1, 0), high and high - 1))
            case _Chain(head, rest):
                add(head, rest)
                while self.nullable[head] and isinstance(node := self.nodes[rest], _Chain):
                    head, rest = node
                    add(head, rest)
                if self.nullable[head]:
                    add(rest, self.empty)
        self._spend(len(after))
        self._derivatives[term] = {kind: self.union(terms) for kind, terms in after.items()}
        return self._derivatives[term]


def automaton(expression: Expression, letters: Mapping[str, Collection[int]], size: int) -> Automaton:
    """Compile an expression over the letters 0 to `size` - 1, of which each name matches `letters[name]`.

    Raises ValueError if no word is accepted, or more than `MAX_STATES` states or `MAX_WORK` steps are needed.
    """
    matched = {name: frozenset(letters[name]) for name, _ in names(expression)}
    kinds: dict[frozenset[str], int] = {}  # letters that belong to the same names are of one kind
    kind_of = [
        kinds.setdefault(frozenset(name for name in matched if letter in matched[name]), len(kinds))
        for letter in range(size)
    ]
    terms = _Terms(len(kinds))
    start = _term(expression, kinds, terms)
    if start == terms.nothing:
        raise ValueError("the expression accepts nothing")
    states = {start: 0}
    rows: list[dict[int, int]] = []
    for term in (queue := [start]):
        rows.append({})
        for kind, derivative in sorted(terms.derivatives(term).items()):
            if derivative not in states:
                states[derivative] = len(states)
                queue.append(derivative)
            rows[-1][kind] = states[derivative]
        if len(states) > MAX_STATES:
            raise ValueError(f"the expression needs more than {MAX_STATES} states")
    blocks = _equivalent([terms.nullable[term] for term in queue], rows)
    number = {block: state for state, block in enumerate(dict.fromkeys(blocks))}
    dead = len(number)
    next_state = np.full((dead + 1, len(kinds)), dead, dtype=np.int64)
    accepting = np.zeros(dead + 1, dtype=bool)
    for term, block, row in zip(queue, blocks, rows, strict=True):
        accepting[number[block]] = terms.nullable[term]
        next_state[number[block], list(row)] = [number[blocks[target]] for target in row.values()]
    used = slice(None if (next_state[:dead] == dead).any() else dead)
    return Automaton(next_state[used, kind_of], accepting[used])


def _term(expression: Expression, kinds: Mapping[frozenset[str], int], terms: _Terms) -> int:
    stack: list[int] = []
    for step in expression.steps:
        match step:
            case Letter(None):
                stack.append(terms.letters(kinds.values()))
            case Letter(name, negated):
                stack.append(terms.letters(kind for of, kind in kinds.items() if (name in of) != negated))
            case Repeat(low, high):
                stack.append(terms.repetition(stack.pop(), low, high))
            case Join(count, union):
                operands = stack[-count:]
                del stack[-count:]
                if union:
                    stack.append(terms.union(operands))
                else:
                    stack.append(
                        reduce(lambda tail, head: terms.concatenation(head, tail), reversed(operands))
                    )
    return stack.pop()


def _equivalent(accepting: list[bool], rows: list[dict[int, int]]) -> list[int]:
    """The block of each state in the coarsest partition that acceptance and the rows respect (Hopcroft)."""
    arrows: list[list[tuple[int, int]]] = [[] for _ in rows]
    for source, row in enumerate(rows):
        for kind, target in row.items():
            arrows[target].append((kind, source))
    block_of = [int(accepts) for accepts in accepting]
    blocks = [{state for state, accepts in enumerate(accepting) if accepts == side} for side in (False, True)]
    waiting = {0, 1}
    while waiting:
        sources: defaultdict[int, list[int]] = defaultdict(list)
        for target in blocks[waiting.pop()]:
            for kind, source in arrows[target]:
                sources[kind].append(source)
        for inside in sources.values():
            split: defaultdict[int, set[int]] = defaultdict(set)
            for source in inside:
                split[block_of[source]].add(source)
            for block, part in split.items():
                if len(part) < len(blocks[block]):
                    blocks[block] -= part
                    waiting.add(
                        block if block not in waiting and len(blocks[block]) < len(part) else len(blocks)
                    )
                    for state in part:
                        block_of[state] = len(blocks)
                    blocks.append(part)
    return block_of
