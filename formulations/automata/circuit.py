"""Circuits: formulas on a sequence as gates, and their machines if these are small (Plaisted and Greenbaum 1986)."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Machine, TooManyStates, local, unroll
from formulations.automata.merging import merged
from formulations.dtypes import Booleans, Integers, LabelIds

FALSE, TRUE = 0, 1
LITERAL, AND, OR = range(3)


class Gates:
    """Nodes by number: 0 is false, 1 is true, and children have lower numbers. A literal is a token and the number of a table."""

    def __init__(self, labels: int) -> None:
        self.labels = labels
        self.nodes: list[tuple[int, int, int]] = [(-1, 0, 0), (-1, 1, 1)]
        self.first, self.last = [2**31, 2**31], [-1, -1]
        self.tables: list[Booleans] = []
        self._number: dict[tuple[int, int, int], int] = {}
        self._table: dict[bytes, int] = {}

    def table(self, table: Booleans) -> int:
        """The number of a Boolean table of steps, (K, K), or (1, K) if the previous label does not matter."""
        if len(table) > 1 and (table == table[0]).all():
            table = table[:1]
        key = table.tobytes()
        if key not in self._table:
            self._table[key] = len(self.tables)
            self.tables.append(table)
        return self._table[key]

    def literal(self, token: int, table: int) -> int:
        """True where the step into the token is in the table."""
        values = self.tables[table]
        if token == 0 and len(values) > 1:
            raise ValueError("token 0 has no previous label")
        if not values.any():
            return FALSE
        return TRUE if values.all() else self._node(LITERAL, token, table, token, token)

    def both(self, a: int, b: int) -> int:
        return self._gate(AND, a, b, FALSE, TRUE)

    def either(self, a: int, b: int) -> int:
        return self._gate(OR, a, b, TRUE, FALSE)

    def _gate(self, kind: int, a: int, b: int, decisive: int, neutral: int) -> int:
        if a == decisive or b == decisive:
            return decisive
        if a in (neutral, b):
            return b
        if b == neutral:
            return a
        first, last = min(self.first[a], self.first[b]), max(self.last[a], self.last[b])
        return self._node(kind, *((a, b) if a < b else (b, a)), first, last)

    def _node(self, kind: int, a: int, b: int, first: int, last: int) -> int:
        key = (kind, a, b)
        result = self._number.get(key)
        if result is None:
            result = self._number[key] = len(self.nodes)
            self.nodes.append(key)
            self.first.append(first)
            self.last.append(last)
        return result

    def below(self, roots: Iterable[int]) -> list[int]:
        """The roots and all nodes below them, children first."""
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node > TRUE and node not in seen:
                seen.add(node)
                kind, a, b = self.nodes[node]
                if kind != LITERAL:
                    stack += (a, b)
        return sorted(seen)

    def is_local(self, node: int) -> bool:
        first, last = self.first[node], self.last[node]
        if last - first > 1:
            return False
        inner = (self.nodes[n] for n in self.below([node]))
        return last <= first or all(
            kind != LITERAL or token == last or len(self.tables[table]) == 1 for kind, token, table in inner
        )

    def truth(self, node: int, token: int) -> Booleans:
        """(K, K), or (1, K) at token 0: the steps into the token for which a node that depends on this step only is true."""
        shape = (self.labels if token else 1, self.labels)
        result: dict[int, Booleans] = {FALSE: np.zeros((1, 1), bool), TRUE: np.ones((1, 1), bool)}
        for n in self.below([node]):
            kind, a, b = self.nodes[n]
            if kind == LITERAL:
                result[n] = self.tables[b] if a == token else self.tables[b].T
            else:
                result[n] = result[a] & result[b] if kind == AND else result[a] | result[b]
        return np.broadcast_to(result[node], shape)

    def after(self, node: int, token: int, symbol: frozenset[int], known: dict[int, int]) -> int:
        """The simplified node, given that the step into the token lies in exactly these tables."""
        if self.first[node] > token:
            return node
        stack = [node]
        while stack:
            n = stack[-1]
            if n in known or self.first[n] > token:
                stack.pop()
                continue
            kind, a, b = self.nodes[n]
            if kind == LITERAL:
                known[n] = TRUE if b in symbol else FALSE
                continue
            waiting = [c for c in (a, b) if self.first[c] <= token and c not in known]
            if waiting:
                stack += waiting
                continue
            join = self.both if kind == AND else self.either
            known[n] = join(known.get(a, a), known.get(b, b))
        return known.get(node, node)


MOST_TOGETHER, MOST_APART = 5_000, 20_000
"""Largest number of states of one machine for all groundings of a formula, and of separate machines in total."""
MOST_EVALUATED, EACH = 400_000, 10
"""Limit on evaluated gates for one machine: the first number, or the second times the number of gates if that is more; a few seconds."""


@dataclass(frozen=True)
class Circuit:
    """Groundings of a formula. A grounding that does not hold is a violation."""

    gates: Gates  # may be shared with other circuits of the same sequence
    roots: tuple[int, ...]  # a node for each grounding
    length: int  # T
    once: bool = False  # whether the circuit counts at most one violation
    parts: tuple[
        tuple[int, ...], ...
    ] = ()  # nodes with as many violations in total as the roots, for small machines

    is_local = False

    @property
    def most(self) -> int:
        return len(self.roots)

    def violations(self, path: LabelIds) -> int:
        gates, true = self.gates, {FALSE: False, TRUE: True}
        for node in gates.below(self.roots):
            kind, a, b = gates.nodes[node]
            if kind == LITERAL:
                table = gates.tables[b]
                true[node] = bool(table[path[a - 1] if len(table) > 1 else 0, path[a]])
            else:
                true[node] = (true[a] and true[b]) if kind == AND else (true[a] or true[b])
        return sum(not true[root] for root in self.roots)

    @cached_property
    def machines(self) -> tuple[Machine, ...] | None:
        """A machine for each part; without parts, one for all groundings, or one for each grounding. None for too many states."""
        with contextlib.suppress(TooManyStates):
            parts = self.parts if len(self.parts) > 1 else (self.roots,)
            if len(parts) > 1 or len(self.roots) != 1:
                return tuple(self._machine(part, MOST_TOGETHER) for part in parts)
        machines: list[Machine] = []
        with contextlib.suppress(TooManyStates):
            for root in self.roots:
                machines.append(self._machine((root,), MOST_APART - sum(m.states for m in machines)))
            return tuple(machines)
        return None

    def _machine(self, roots: Sequence[int], most: int) -> Machine:
        """A machine. A state consists of the simplified gates of undecided groundings, and of the gates that later gates share."""
        gates, below = self.gates, self.gates.below(roots)
        begins, kept_until = _order(gates, below)
        starts, read_later = dict[int, list[tuple[int, int]]](), dict[int, list[int]]()
        for root, times in Counter(roots).items():
            if root > TRUE:
                starts.setdefault(begins[root], []).append((root, times))
        for node in kept_until:
            read_later.setdefault(begins[node], []).append(node)
        tables = sorted({gates.nodes[node][2] for node in below if gates.nodes[node][0] == LITERAL})
        steps, symbols = _symbols(gates, tables, self.length)
        known: dict[tuple[object, ...], dict[int, int]] = {}
        evaluated, most_evaluated = 0, max(MOST_EVALUATED, EACH * len(below))

        def read(token: int, state: _Rest | None, symbol: int) -> tuple[_Rest | None, int]:
            nonlocal evaluated
            if state is None:  # already violated, counted once
                return None, 0
            pending, kept = state
            cache = known.setdefault((token, symbol, kept), {n: value for n, value in kept if value <= TRUE})
            evaluated -= len(cache)
            left: Counter[int] = Counter()
            for node, times in (*pending, *starts.get(token, ())):
                left[gates.after(node, token, symbols[symbol], cache)] += times
            broken = left.pop(FALSE, 0)
            left.pop(TRUE, None)
            later = [(node, gates.after(value, token, symbols[symbol], cache)) for node, value in kept]
            later += [(n, gates.after(n, token, symbols[symbol], cache)) for n in read_later.get(token, ())]
            evaluated += len(cache)
            if evaluated > most_evaluated:
                raise TooManyStates(f"more than {most_evaluated} gates to evaluate")
            needed = tuple((node, value) for node, value in later if kept_until[node] > token)
            if self.once:
                waiting = tuple((node, 1) for node in sorted(left))
                return (None, 1) if broken else ((waiting, needed), 0)
            return (tuple(sorted(left.items())), needed), broken

        certain, first = sum(root == FALSE for root in roots), sorted({*steps.at(0)[0].tolist()})
        possible = [first, *([range(len(symbols))] * (self.length - 1))]
        machine = unroll(steps, ((), ()), read, possible, certain=certain, most=most)
        return Machine(steps, merged(machine.automaton, self.length, first))


_Rest = tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]
"""Simplified gates of groundings, with the numbers of groundings; and shared gates, with their simplified gates."""


def _order(gates: Gates, below: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """The token at which the evaluation of each node begins; and for shared nodes, the last token at which they are read."""
    begins, kept_until = dict[int, int](), dict[int, int]()
    parents = Counter(
        child for kind, *pair in map(gates.nodes.__getitem__, below) if kind != LITERAL for child in pair
    )
    for node in below:
        kind, a, b = gates.nodes[node]
        if kind == LITERAL:
            begins[node] = a
            continue
        early, late = (a, b) if begins[a] <= begins[b] else (b, a)
        begins[node] = begins[early]
        # a chain over all earlier tokens, which the gates of later tokens share, is then evaluated once
        follows = gates.last[early] + 1 == begins[late] and gates.last[late] - begins[late] <= 1
        if follows and parents[early] > 1:
            begins[node] = begins[late]
            kept_until[early] = max(kept_until.get(early, 0), begins[late])
    return begins, kept_until


def _symbols(gates: Gates, tables: list[int], length: int) -> tuple[StepTable, list[frozenset[int]]]:
    """The symbol of each step, and the tables of each symbol; they are the same at all tokens."""
    K = gates.labels
    lies = np.zeros((len(tables), K + 1, K), bool)
    for place, table in enumerate(tables):
        lies[place, 1:] = gates.tables[table]
        lies[place, 0] = gates.tables[table][0]  # no literal reads a table of steps at token 0
    patterns, which = np.unique(lies.reshape(len(tables), (K + 1) * K), axis=1, return_inverse=True)
    symbols = [frozenset(np.array(tables)[pattern].tolist()) for pattern in patterns.T]
    return StepTable(which.reshape(1, K + 1, K), np.zeros(length, np.int64)), symbols


def components_of(
    gates: Gates, roots: Sequence[int], length: int, split: Callable[[], Sequence[Sequence[int]]] = tuple
) -> list[Machine | Circuit]:
    """The component of groundings: a local machine if each grounding is about one step, else a circuit with the parts of `split()`."""
    if not all(root == TRUE or (root > TRUE and gates.is_local(root)) for root in roots):
        kept = tuple(root for root in roots if root != TRUE)
        return [Circuit(gates, kept, length, parts=tuple(map(tuple, split())))]
    broken: dict[int, Integers] = {}
    for number, (root, times) in enumerate(Counter(roots).items()):
        if not number % 256:
            time_limits.check()
        if root != TRUE:
            token = gates.last[root]
            table = broken.setdefault(token, np.zeros((gates.labels if token else 1, gates.labels), np.int64))
            table += times * ~gates.truth(root, token)
    return [local(by_token(broken, gates.labels, length))] if broken else []


def by_token(tables: dict[int, Integers], labels: int, length: int) -> StepTable:
    """A step table from tables (K, K), or (1, K) at token 0, of some tokens; 0 elsewhere."""
    pool: dict[bytes, int] = {}
    values: list[Integers] = []
    index = np.zeros(length, np.int64)
    flat = all(len(t) == 1 or (t == t[0]).all() for t in tables.values())
    for token in range(length):
        result = tables.get(token)
        table = np.zeros((1 if flat else labels + 1, labels), np.int64)
        if result is not None:
            table[0 if flat or token == 0 else slice(1, None)] = result[0] if flat else result
        key = table.tobytes()
        if key not in pool:
            pool[key] = len(values)
            values.append(table)
        index[token] = pool[key]
    return StepTable(np.array(values), index)
