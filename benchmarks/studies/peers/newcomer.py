"""The citation rules in PuLP, term by term, as a newcomer would write them after reading the manual."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pulp

from benchmarks.methods import Answer, CannotState
from formulations import Feature, Rule, Trellis
from formulations.constraints.rule_set import RuleSet
from formulations.grid import FORBIDDEN, UNITS_PER_NAT
from formulations.labels.selectors import EACH_FIELD

Edges = list[dict[tuple[int, int], pulp.LpVariable]]
"""For each token its edges (previous, next); previous is -1 at token 0."""


class Writer:
    """The problem so far."""

    def __init__(self, trellis: Trellis) -> None:
        self.tokens, self.labels = trellis.tokens, list(trellis.labels.names)
        self.fields = [name[2:] if name[:2] in ("B-", "I-") else name for name in self.labels]
        self.problem = pulp.LpProblem("labelling", pulp.LpMaximize)
        self.score: list[pulp.LpAffineExpression] = []
        self.x: Edges = []
        self._path(trellis)

    def _path(self, trellis: Trellis) -> None:
        """One label for each token, by edges that follow on each other."""
        node, pool, step = trellis.lattice.node, trellis.lattice.pool, trellis.lattice.step
        T, K = node.shape
        for t in range(T):
            self.x.append({})
            for i in range(K) if t else (-1,):
                for j in range(K):
                    units = int(node[t, j]) + (int(pool[step[t - 1], i, j]) if t else 0)
                    if units > FORBIDDEN // 2:
                        self.x[t][i, j] = pulp.LpVariable(f"x_{t}_{i + 1}_{j}", cat="Binary")
                        self.score.append(units / UNITS_PER_NAT * self.x[t][i, j])
        self.problem += pulp.lpSum(self.x[0].values()) == 1
        for t in range(1, T):
            for k in range(K):
                into = [self.x[t - 1][i, k] for i in range(-1, K) if (i, k) in self.x[t - 1]]
                out = [self.x[t][k, j] for j in range(K) if (k, j) in self.x[t]]
                self.problem += pulp.lpSum(into) == pulp.lpSum(out)

    def slack(self, penalty: float, most: int) -> pulp.LpVariable | int:
        """How often a rule may be broken: 0 where it is hard."""
        if math.isinf(penalty):
            return 0
        violations = pulp.LpVariable(f"v_{len(self.score)}", 0, most, cat="Integer")
        self.score.append(-penalty * violations)
        return violations

    def begins(self, t: int, field: str) -> list[pulp.LpVariable]:
        """Edges into token t that begin a run of a field: label B, or label I after another field."""
        return [
            column
            for (i, j), column in self.x[t].items()
            if self.fields[j] == field
            and (self.labels[j].startswith("B-") or i < 0 or self.fields[i] != field)
        ]

    def at(self, t: int, fields: tuple[str, ...]) -> pulp.LpAffineExpression:
        """1 where token t has one of the fields."""
        return pulp.lpSum(column for (_, j), column in self.x[t].items() if self.fields[j] in fields)


def decode(trellis: Trellis, rules: RuleSet, time_limit: float) -> Answer:
    """Write the problem, and solve it with PuLP's CBC."""
    writer = Writer(trellis)
    for rule in rules:
        if isinstance(rule, Feature) or rule.distance != "count" or rule.statement.rule_name not in _RULES:
            raise CannotState(rule.name if isinstance(rule, Feature) else rule.title)
        _RULES[rule.statement.rule_name](writer, rule)
    writer.problem.setObjective(pulp.lpSum(writer.score))
    writer.problem.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=time_limit))
    if writer.problem.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return Answer(None, None, False, pulp.LpSolution[writer.problem.sol_status])
    path = np.zeros(len(trellis), np.int64)
    for t, edges in enumerate(writer.x):
        path[t] = next(j for (_, j), column in edges.items() if column.value() > 0.5)
    proved = writer.problem.sol_status == pulp.LpSolutionOptimal
    return Answer(path, pulp.value(writer.problem.objective), proved)


def _of(rule: Rule) -> Any:
    """The rule's template, whose parameters differ."""
    return rule.statement


def _names(selector: Any) -> tuple[str, ...]:
    return (selector,) if isinstance(selector, str) else tuple(selector)


def _at_most_runs(writer: Writer, rule: Rule) -> None:
    """Σ begins(field) <= n + violations."""
    field, n = _of(rule).field, _of(rule).n
    fields = sorted({f for f in writer.fields if f != "O"}) if field == EACH_FIELD else [field]
    for name in fields:
        result = [column for t in range(len(writer.tokens)) for column in writer.begins(t, name)]
        writer.problem += pulp.lpSum(result) <= n + writer.slack(rule.penalty, len(writer.tokens))


def _changes_only_after(writer: Writer, rule: Rule) -> None:
    """After a token that does not match, edges that begin a run or enter O are violations."""
    for t in range(1, len(writer.tokens)):
        if not _matches(rule, writer.tokens[t - 1]):
            changes = [
                column
                for (i, j), column in writer.x[t].items()
                if writer.fields[i] != writer.fields[j] or writer.labels[j].startswith("B-")
            ]
            writer.problem += pulp.lpSum(changes) <= writer.slack(rule.penalty, 1)


def _starts_with(writer: Writer, rule: Rule) -> None:
    """Token 0 has one of the fields."""
    fields = _names(_of(rule).field)
    writer.problem += writer.at(0, fields) >= 1 - writer.slack(rule.penalty, 1)


def _tag_at(writer: Writer, rule: Rule) -> None:
    """Each token that matches has one of the fields."""
    fields = _names(_of(rule).field)
    for t, token in enumerate(writer.tokens):
        if _matches(rule, token):
            writer.problem += writer.at(t, fields) >= 1 - writer.slack(rule.penalty, 1)


def _requires_present(writer: Writer, rule: Rule) -> None:
    """Each token of one field needs some token of the other."""
    names_present = pulp.lpSum(writer.at(t, _names(_of(rule).required)) for t in range(len(writer.tokens)))
    violation = writer.slack(rule.penalty, 1)
    for t in range(len(writer.tokens)):
        asking = writer.at(t, _names(_of(rule).field))
        writer.problem += asking <= names_present + violation


def _requires_before(writer: Writer, rule: Rule) -> None:
    """Each run of the later field needs some token of the earlier one before it."""
    (earlier,), (later,) = _names(_of(rule).earlier), _names(_of(rule).field)
    before = pulp.LpAffineExpression()
    for t in range(len(writer.tokens)):
        writer.problem += pulp.lpSum(writer.begins(t, later)) <= before + writer.slack(rule.penalty, 1)
        before = before + writer.at(t, (earlier,))


def _matches(rule: Rule, token: str) -> bool:
    """Words and patterns as rule files state them."""
    statement: Any = rule.statement
    if statement.words:
        ignore_case = statement.ignore_case
        words = {word.lower() if ignore_case else word for word in statement.words}
        return (token.lower() if ignore_case else token) in words
    return re.fullmatch(statement.pattern or r"[^\w\s]+|_+", token, re.IGNORECASE) is not None


_RULES: Mapping[str, Callable[[Writer, Rule], None]] = {
    "at_most_runs": _at_most_runs,
    "changes_only_after": _changes_only_after,
    "starts_with": _starts_with,
    "tag_at": _tag_at,
    "requires_present": _requires_present,
    "requires_before": _requires_before,
}
