"""Grounding: formulas on a sequence as gates, with shared subformulas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from formulations import time_limits
from formulations.automata.circuit import FALSE, TRUE, Gates
from formulations.dtypes import Booleans
from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Selector
from formulations.logic import ast
from formulations.logic.ast import Formula, Value
from formulations.logic.comparisons import Cases, ComparedToken
from formulations.logic.semantics import MOST, groundings, innermost, too_many, values

AtomKind = tuple[Any, ...]
"""The condition of an atom on a token's label: a word such as "member", and fields, or for "labels" truth values (K,)."""

MOST_CASES = 100
"""Largest number of machines by the labels of two tokens of a formula; the number by the labels of one token is unlimited."""
MOST_PARTED = 100_000
"""Largest number of groundings times labels for a split by label."""


@dataclass
class Grounder:
    """Adds the formulas of one sequence to a circuit."""

    labels: LabelSet
    tokens: Sequence[str]
    gates: Gates
    _nodes: dict[tuple[object, ...], int] = field(default_factory=dict)
    _tables: dict[tuple[object, ...], int] = field(default_factory=dict)

    @cached_property
    def _cases(self) -> Cases:
        return Cases(self.labels)

    def node(self, formula: Formula, environment: dict[str, Value], positive: bool = True) -> int:
        """The node of the formula, or of its negation if not `positive`."""
        key = (id(formula), positive, *(environment[name] for name in formula.free))
        result = self._nodes.get(key)
        if result is None:
            result = self._nodes[key] = self._build(formula, environment, positive)
            self._check(len(self._nodes))
            self._check(len(self.gates.nodes))
        return result

    def _check(self, size: int) -> None:
        if not size % 256:
            time_limits.check()
        if size > MOST:
            raise too_many(len(self.tokens))

    def _build(self, formula: Formula, environment: dict[str, Value], positive: bool) -> int:
        gates, T = self.gates, len(self.tokens)
        match formula:
            case ast.Not(inner):
                return self.node(inner, environment, not positive)
            case ast.And(left, right) | ast.Or(left, right):
                conjunction = isinstance(formula, ast.And) == positive
                a = self.node(left, environment, positive)
                if a == (FALSE if conjunction else TRUE):
                    return a
                join = gates.both if conjunction else gates.either
                return join(a, self.node(right, environment, positive))
            case ast.Iff(left, right):
                a, b = self.node(left, environment), self.node(right, environment, positive)
                not_a = self.node(left, environment, False)
                not_b = self.node(right, environment, not positive)
                return gates.both(gates.either(not_a, b), gates.either(a, not_b))
            case ast.Quantified():
                return self._quantified(formula, environment, positive)
            case ast.Compare(relation, left, right):
                s, t = left.at(environment, T), right.at(environment, T)
                return int((s < t if relation == "<" else s <= t if relation == "<=" else s == t) == positive)
            case ast.SameName(left, right):
                return int((left.of(environment) == right.of(environment)) == positive)
            case ast.Constant(value):
                return int(value == positive)
            case ast.Atom():
                tokens = formula.tokens(environment, T)
                return self._atom(formula, environment, positive, *tokens) if tokens else int(not positive)
        raise TypeError(f"{type(formula).__name__} is no formula")

    def _atom(
        self, atom: ast.Atom, environment: dict[str, Value], positive: bool, t: int, other: int = 0
    ) -> int:
        """The node of an atom about token t (and another token, for two)."""
        match atom:
            case ast.TokenIs(pattern):
                return int(pattern.matches(self.tokens[t]) == positive)
            case ast.SameToken():
                return int((self.tokens[t] == self.tokens[other]) == positive)
            case ast.Same(what):
                return self._same(what, t, other, positive)
            case ast.Has(what, name):
                return self._has(what, name, t, positive)
            case ast.Ends(name):
                return self._ends(name.of(environment), t, positive)
            case ast.Member(name):
                return self._at(t, ("member", name.of(environment)), positive)
            case ast.Innermost(name):
                selector = name.of(environment)
                inside = tuple(innermost(label, selector, self.labels) for label in self.labels.names)
                return self._at(t, ("labels", inside), positive)
            case ast.Begins(name):
                return self._at(t, ("begins", name.of(environment)), positive)
            case ast.Change():
                return self._at(t, ("change",), positive)
            case ast.Edge(before, after):
                return self._at(t, ("edge", before.of(environment), after.of(environment)), positive)
        raise TypeError(f"{type(atom).__name__} is no formula")

    def _at(self, token: int, kind: AtomKind, positive: bool) -> int:
        key = (token == 0, positive, *kind)
        if key not in self._tables:
            rows = self._rows(kind)
            table = rows[:1] if token == 0 or len(rows) == 1 else rows[1:]
            self._tables[key] = self.gates.table(table if positive else ~table)
        return self.gates.literal(token, self._tables[key])

    def _rows(self, kind: AtomKind) -> Booleans:
        """(1, K), or (K+1, K) with START first."""
        labels = self.labels
        match kind:
            case ("member", name):
                return labels.field(name).member[None, :]
            case ("begins", name):
                return labels.field(name).begins
            case ("goes on", name):
                result = labels.field(name)
                return result.member[None, :] & ~result.begins
            case ("change",):
                return labels.change
            case ("edge", before, after):
                held = np.concatenate([[False], labels.field(before).member])
                return held[:, None] & labels.field(after).member[None, :]
        return np.array(kind[1])[None, :]

    def _ends(self, name: Selector, token: int, positive: bool) -> int:
        """The node for the end of a run: the token is in the field; the next token is outside it or begins another run."""
        T = len(self.tokens)
        inside = self._at(token, ("member", name), positive)
        if token == T - 1:
            return inside
        join = self.gates.both if positive else self.gates.either
        return join(inside, self._at(token + 1, ("goes on", name), not positive))

    def _same(self, what: str, s: int, t: int, positive: bool) -> int:
        gates = self.gates
        if s == t:
            return int(positive)
        if what == "edge":
            if s == 0 or t == 0:
                return int(not positive)
            join = gates.both if positive else gates.either
            return join(self._same("label", s - 1, t - 1, positive), self._same("label", s, t, positive))
        total = FALSE if positive else TRUE
        for name in dict.fromkeys(self._names(what)):
            a, b = (self._has(what, name, token, positive) for token in (s, t))
            if positive:
                total = gates.either(total, gates.both(a, b))
            else:
                total = gates.both(total, gates.either(a, b))
        return total

    def _names(self, what: str) -> Sequence[str]:
        """The label, or the innermost field, of each label."""
        labels = self.labels.names
        return labels if what == "label" else [self.labels.strip(label) for label in labels]

    def _has(self, what: str, name: str, token: int, positive: bool) -> int:
        return self._at(token, ("labels", tuple(other == name for other in self._names(what))), positive)

    def _in_cases(
        self, formula: Formula, place: ComparedToken, environment: dict[str, Value]
    ) -> Iterator[tuple[str | None, Formula, int]]:
        """Each label or field of a place, the formula in this case, and the node of all other cases; None outside the sequence."""
        token, cases = place.at.at(environment, len(self.tokens)), self._cases
        if not 0 <= token < len(self.tokens):
            yield None, cases.where(formula, place, None), FALSE
            return
        for name in cases.values(place):
            yield name, cases.where(formula, place, name), self._has(place.what, name, token, False)

    def _quantified(self, formula: ast.Quantified, environment: dict[str, Value], positive: bool) -> int:
        """A chain of gates, for each label in comparisons with an outer variable; ranges with a common end share gates."""
        place = self._cases.place(formula.inner, frozenset([formula.binder.name]))
        if place is not None:
            result = TRUE
            for _, case, elsewhere in self._in_cases(formula, place, environment):
                here = self.node(case, environment, positive)
                result = self.gates.both(result, self.gates.either(elsewhere, here))
            return result
        binder = formula.binder
        join = self.gates.both if formula.universal == positive else self.gates.either
        chosen = values(binder, self.labels, len(self.tokens), environment)
        growing = isinstance(binder, ast.PositionBinder) and binder.high.free and not binder.low.free
        if not (isinstance(binder, ast.PositionBinder) and binder.unequal):
            return self._chain(formula, environment, positive, chosen if growing else chosen[::-1])
        barred = binder.unequal.at(environment, len(self.tokens))
        before = [t for t in chosen if isinstance(t, int) and t < barred]
        after = [t for t in chosen if isinstance(t, int) and t > barred]
        return join(
            self._chain(formula, environment, positive, before),
            self._chain(formula, environment, positive, after[::-1]),
        )

    def _chain(
        self, formula: ast.Quantified, environment: dict[str, Value], positive: bool, chosen: Sequence[Value]
    ) -> int:
        """Join the inner formula over the values; chains with a common beginning share gates."""
        name, conjunction = formula.binder.name, formula.universal == positive
        join, total = (self.gates.both, TRUE) if conjunction else (self.gates.either, FALSE)
        outer = tuple(environment[v] for v in formula.inner.free if v != name)
        prefix = (id(formula), "chain", positive, *outer)
        known = len(chosen)
        while known and (*prefix, chosen[0], chosen[known - 1]) not in self._nodes:
            known -= 1
        if known:
            total = self._nodes[*prefix, chosen[0], chosen[known - 1]]
        for value in chosen[known:]:
            total = join(total, self.node(formula.inner, {**environment, name: value}, positive))
            self._nodes[(*prefix, chosen[0], value)] = total
        return total

    def groundings(self, formula: Formula) -> list[tuple[int, Formula, dict[str, Value]]]:
        """The node of each grounding of the outermost "for all" of the text, with the inner formula and its variables."""
        result = groundings(self._cases.without_edges(formula), self.labels, len(self.tokens))
        return [(self.node(inner, environment), inner, environment) for environment, inner in result]

    def parts(self, found: list[tuple[int, Formula, dict[str, Value]]]) -> list[list[int]]:
        """Partition the groundings by compared labels or label variables, with as many violations in total; a single part if that is impossible or too large."""
        names = len(self.labels)
        undecided = sum(root > TRUE for root, _, _ in found)
        parts = dict[tuple[object, ...], list[int]]()
        for root, inner, environment in found:
            variables = tuple(value for value in environment.values() if not isinstance(value, int))
            split = root > TRUE and undecided * names <= MOST_PARTED
            nodes = self._split(inner, environment) if split else {(): root}
            for labels, node in nodes.items():
                if node != TRUE:
                    parts.setdefault((variables, labels), []).append(node)
        return list(parts.values())

    def _split(
        self, formula: Formula, environment: dict[str, Value], known: tuple[str | None, ...] = ()
    ) -> dict[tuple[str | None, ...], int]:
        """Nodes of a grounding, by the labels of tokens that it compares with other tokens."""
        place = self._cases.place(formula, frozenset())
        if place is None or (known and len(self.labels) ** (1 + len(known)) > MOST_CASES):
            return {known: self.node(formula, environment)}
        result = dict[tuple[str | None, ...], int]()
        for name, case, elsewhere in self._in_cases(formula, place, environment):
            for labels, node in self._split(case, environment, (*known, name)).items():
                result[labels] = self.gates.either(elsewhere, node)
        return result
