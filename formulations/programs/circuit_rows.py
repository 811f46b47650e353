"""Rows of a circuit: a column z for each gate below the top, and rows z <= inputs, since gates have one polarity."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from formulations import time_limits
from formulations.automata.circuit import AND, FALSE, LITERAL, TRUE, Circuit
from formulations.problem.problem import GroundRule
from formulations.programs.builder import ProgramBuilder
from formulations.programs.names import Meaning, Owner


def add_circuit(
    circuit: Circuit, rule: GroundRule, of: Owner, once: int | None, program: ProgramBuilder
) -> None:
    """Rows: every grounding holds, or its σ is 1; `once` is the σ of a rule that counts at most one violation."""
    writer, roots = _Writer(circuit, of, program), Counter(circuit.roots)
    for number, (root, times) in enumerate(roots.items()):
        if not number % 64:
            time_limits.check()
        part, slack = of.part(number, len(roots)), once
        if slack is None and not rule.hard:
            slack = program.sigma(part, 1, rule.penalty * times)
        writer.require(root, slack, part)
    writer.finish()


class _Writer:
    """Collects the coefficients of a circuit's rows."""

    def __init__(self, circuit: Circuit, of: Owner, program: ProgramBuilder) -> None:
        self.gates, self.of, self.program = circuit.gates, of, program
        self.column: dict[int, int] = {}
        self.entries: list[tuple[int, int, int]] = []  # row, column and value
        self.lower: list[int] = []
        self.owner: list[Owner | int] = []
        self.uses = Counter(circuit.roots)
        for node in self.gates.below(circuit.roots):
            kind, a, b = self.gates.nodes[node]
            if kind != LITERAL:
                self.uses.update((a, b))

    def require(self, root: int, slack: int | None, of: Owner) -> None:
        """Add clauses: the node is true, or the slack is 1."""
        stack = [root]
        while stack:
            node = stack.pop()
            kind, a, b = self.gates.nodes[node]
            if kind == AND:
                stack += (a, b)
            elif node != TRUE:
                columns = [] if node == FALSE else self._columns(self._inputs(node), np.logical_or)
                terms = [(column, 1) for column in columns]
                self._clause([*terms, *([] if slack is None else [(slack, 1)])], 1, of)

    def _inputs(self, node: int) -> list[int]:
        """The inputs of an OR; inner ORs with a single use are flattened."""
        kind, a, b = self.gates.nodes[node]
        if kind in (LITERAL, AND):
            return [node]
        result, stack = [], [b, a]
        while stack:
            n = stack.pop()
            inner, c, d = self.gates.nodes[n]
            if inner not in (LITERAL, AND) and self.uses[n] == 1:
                stack += (d, c)
            else:
                result.append(n)
        return list(dict.fromkeys(result))

    def _column(self, node: int) -> int:
        """The column of a node, after the columns of its inputs."""
        stack = [node]
        while stack:
            n = stack[-1]
            if n in self.column:
                stack.pop()
                continue
            kind, a, b = self.gates.nodes[n]
            if kind == LITERAL:
                self.column[n] = self.program.indicator(a, self.gates.tables[b])
                continue
            inputs = [a, b] if kind == AND else self._inputs(n)
            waiting = [i for i in inputs if i not in self.column and self.gates.nodes[i][0] != LITERAL]
            if waiting:
                stack += waiting
                continue
            z = self.column[n] = int(self.program.columns.add(1, self.of.one("gate", "gate", n))[0])
            together = np.logical_and if kind == AND else np.logical_or
            columns = [(column, 1) for column in self._columns(inputs, together)]
            for terms in [[column] for column in columns] if kind == AND else [columns]:
                self._clause([*terms, (z, -1)], 0, n)
        return self.column[node]

    def _columns(self, inputs: list[int], together: np.ufunc) -> list[int]:
        """The columns of inputs. Literals of one token, or of both tokens of a step, share an indicator, which tightens the relaxation."""
        tables, result = dict[int, NDArray[np.bool_]](), list[int]()
        for n in inputs:
            kind, token, b = self.gates.nodes[n]
            if kind == LITERAL:
                table = self.program.inner(token, self.gates.tables[b]).astype(bool)
                tables[token] = together(tables[token], table) if token in tables else table
            else:
                result.append(self._column(n))
        for token in sorted(tables, reverse=True):
            if token not in tables:
                continue
            table, before = tables[token], tables.get(token - 1)
            if before is not None and len(before) == 1:
                table = together(table, before.T)
                del tables[token - 1]
            result.append(self.program.indicator(token, table))
        return result

    def _clause(self, terms: list[tuple[int, int]], least: int, owner: Owner | int) -> None:
        """Add a row of a root, or a row that defines a gate (number)."""
        self.entries += [(len(self.lower), at, value) for at, value in terms]
        self.lower.append(least)
        self.owner.append(owner)

    def finish(self) -> None:
        new = self.program.rows.add(len(self.lower), self._names, lower=np.array(self.lower, np.int64))
        row, at, value = np.array(self.entries, np.int64).reshape(-1, 3).T
        self.program.put(new[row], at, value)

    def _names(self) -> Iterator[Meaning]:
        """`rule["r",numbers,clause]` and `link["r",numbers,gate,clause]`; a single clause has no number."""
        clauses, seen = Counter(self.owner), Counter[Owner | int]()
        for owner in self.owner:
            clause = (seen[owner],) if clauses[owner] > 1 else ()
            seen[owner] += 1
            if isinstance(owner, Owner):
                yield owner.means("rule", "rule", *clause)
            else:
                yield self.of.means("link", "link", owner, *clause)
