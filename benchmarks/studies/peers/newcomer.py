"""The citation rules in PuLP, term by term, as a newcomer would write them after reading the manual."""

import math
import re
from typing import Any

import numpy as np
import pulp

from benchmarks.methods import Answer, CannotState
from formulations import Feature, Trellis
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


class RuleWriter(Writer):
    """A method for each template that is written, given its parameters and the penalty."""

    def at_most_runs(self, of: Any, penalty: float) -> None:
        """Σ begins(field) <= n + violations."""
        fields = sorted({f for f in self.fields if f != "O"}) if of.field == EACH_FIELD else [of.field]
        for name in fields:
            result = [column for t in range(len(self.tokens)) for column in self.begins(t, name)]
            self.problem += pulp.lpSum(result) <= of.n + self.slack(penalty, len(self.tokens))

    def changes_only_after(self, of: Any, penalty: float) -> None:
        """After a token that does not match, edges that begin a run or enter O are violations."""
        for t in range(1, len(self.tokens)):
            if not _matches(of, self.tokens[t - 1]):
                changes = [
                    column
                    for (i, j), column in self.x[t].items()
                    if self.fields[i] != self.fields[j] or self.labels[j].startswith("B-")
                ]
                self.problem += pulp.lpSum(changes) <= self.slack(penalty, 1)

    def starts_with(self, of: Any, penalty: float) -> None:
        """Token 0 has one of the fields."""
        self.problem += self.at(0, _names(of.field)) >= 1 - self.slack(penalty, 1)

    def tag_at(self, of: Any, penalty: float) -> None:
        """Each token that matches has one of the fields."""
        for t, token in enumerate(self.tokens):
            if _matches(of, token):
                self.problem += self.at(t, _names(of.field)) >= 1 - self.slack(penalty, 1)

    def requires_present(self, of: Any, penalty: float) -> None:
        """Each token of one field needs some token of the other."""
        present = pulp.lpSum(self.at(t, _names(of.required)) for t in range(len(self.tokens)))
        violation = self.slack(penalty, 1)
        for t in range(len(self.tokens)):
            self.problem += self.at(t, _names(of.field)) <= present + violation

    def requires_before(self, of: Any, penalty: float) -> None:
        """Each run of the later field needs some token of the earlier one before it."""
        (earlier,), (later,) = _names(of.earlier), _names(of.field)
        before = pulp.LpAffineExpression()
        for t in range(len(self.tokens)):
            self.problem += pulp.lpSum(self.begins(t, later)) <= before + self.slack(penalty, 1)
            before = before + self.at(t, (earlier,))


def decode(trellis: Trellis, rules: RuleSet, time_limit: float) -> Answer:
    """Write the problem, and solve it with PuLP's CBC."""
    writer = RuleWriter(trellis)
    for rule in rules:
        if isinstance(rule, Feature) or rule.distance != "count":
            raise CannotState(rule.name if isinstance(rule, Feature) else rule.title)
        if rule.statement.rule_name not in vars(RuleWriter):
            raise CannotState(rule.title)
        getattr(writer, rule.statement.rule_name)(rule.statement, rule.penalty)
    writer.problem.setObjective(pulp.lpSum(writer.score))
    writer.problem.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=time_limit))
    if writer.problem.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return Answer(None, None, False, pulp.LpSolution[writer.problem.sol_status])
    path = np.zeros(len(trellis), np.int64)
    for t, edges in enumerate(writer.x):
        path[t] = next(j for (_, j), column in edges.items() if column.value() > 0.5)
    proved = writer.problem.sol_status == pulp.LpSolutionOptimal
    return Answer(path, pulp.value(writer.problem.objective), proved)


def _names(selector: Any) -> tuple[str, ...]:
    return (selector,) if isinstance(selector, str) else tuple(selector)


def _matches(of: Any, token: str) -> bool:
    """Words and patterns as rule files state them."""
    if of.words:
        words = {word.lower() if of.ignore_case else word for word in of.words}
        return (token.lower() if of.ignore_case else token) in words
    return re.fullmatch(of.pattern or r"[^\w\s]+|_+", token, re.IGNORECASE) is not None
