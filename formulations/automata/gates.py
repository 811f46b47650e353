"""Gates over literals about single steps, shared where equal and in one polarity (Plaisted and Greenbaum 1986)."""

from collections.abc import Iterable

import numpy as np

from formulations.dtypes import Booleans

FALSE, TRUE = 0, 1
LITERAL, AND, OR = range(3)


class Gates:
    """Nodes by number: 0 is false, 1 is true, and children have lower numbers; a literal is a token and a table's number."""

    def __init__(self, labels: int) -> None:
        self.labels = labels
        self.nodes: list[tuple[int, int, int]] = [(-1, 0, 0), (-1, 1, 1)]
        self.first, self.last = [2**31, 2**31], [-1, -1]
        self.tables: list[Booleans] = []
        self._number: dict[tuple[int, int, int], int] = {}
        self._table: dict[bytes, int] = {}

    def table(self, table: Booleans) -> int:
        """The number of a table (K, K), or (1, K) where the previous label does not matter: true where a step is."""
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
        if a == FALSE or b == FALSE:
            return FALSE
        if a in (TRUE, b):
            return b
        return a if b == TRUE else self._gate(AND, a, b)

    def either(self, a: int, b: int) -> int:
        if a == TRUE or b == TRUE:
            return TRUE
        if a in (FALSE, b):
            return b
        return a if b == FALSE else self._gate(OR, a, b)

    def _gate(self, kind: int, a: int, b: int) -> int:
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
        """(K, K), or (1, K) at token 0: where a node that looks only at the step into the token is true."""
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
        """The node that remains once the step into the token is known to lie in the symbol's tables."""
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
