"""Exact probabilities under rules: of labels, of edges, of violations, and of the rules themselves."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from formulations import Trellis
from formulations.automata.machine import Machine
from formulations.dtypes import Floats, Integers
from formulations.errors import InferenceError
from formulations.grid import HARD, nats
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.request import natural
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.exact.product import MARGINALS, Product, product_of
from ilpinfer.exact.viterbi import VITERBI

BUDGET = 4_000_000
"""Joint states that a call may build: one or two seconds for K up to 136, and less than a gigabyte."""


class NoLabelling(InferenceError, ValueError):
    """Hard rules that no labelling of a sequence keeps."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """Probabilities p(y) ∝ exp(score(y)) over the labellings y of a sequence that keep the hard rules.

    The score is that of `decode`: model and features less penalties. Costly fields are computed at first
    access: `edges`, `entropy`, `probability_holds`, `rule_probabilities`.

    Parameters
    ----------
    labels : (T, K) probability of label k at token t
    log_partition : log Σ exp(score(y)), nats
    expected_violations : {rule: expectation of its violations}; 0 for hard rules
    """

    labels: Floats
    log_partition: float
    expected_violations: dict[str, float]
    problem: Problem = field(repr=False)
    product: Product = field(repr=False)
    budget: int = field(repr=False)

    @cached_property
    def edges(self) -> Floats:
        """(T-1, K, K) probability of label i at token t, then j at t+1."""
        return self.product.probabilities(edges=True)[1]

    @cached_property
    def probability_holds(self) -> float:
        """Probability that every rule holds, hard or soft, under the model alone: p(y) ∝ exp(model score).

        Neither features nor penalties count, so that it says how well the model knows the rules by itself.

        Raises
        ------
        TooManyStates
            where the rules take more joint states than the budget.
        """
        return self._holds(self.problem.rules)

    @cached_property
    def rule_probabilities(self) -> dict[str, float]:
        """{rule: probability that it holds}, each by itself, under the model alone as in `probability_holds`."""
        return {rule.name: self._holds((rule,)) for rule in self.problem.rules}

    @cached_property
    def entropy(self) -> float:
        """-Σ p(y) log p(y), nats: log_partition less the expected score; rounded as much as that is."""
        node, pool, _, _ = (np.nan_to_num(scores, neginf=0.0) for scores in self.product.scores)
        score = float((self.labels * node).sum())
        for edges, which in zip(self.edges, self.product.groups.step, strict=True):
            score += float((edges * pool[which]).sum())
        for rule in self.problem.fold().rules:
            score -= nats(rule.finite_penalty) * self.expected_violations[rule.name]
        return max(0.0, self.log_partition - score)

    def sample(self, n: int, seed: int | np.random.Generator | None = None) -> Integers:
        """Label ids (n, T) of n independent labellings drawn from p.

        Parameters
        ----------
        n : how many, at least 1
        seed : of `numpy.random.default_rng`, or a generator; None draws differently each time
        """
        uniform = np.random.default_rng(seed).random((natural(n, "n"), len(self.labels)))
        return self.product.draw(uniform)

    @cached_property
    def _log_model(self) -> float:
        """log Σ exp(model score) over all labellings, nats."""
        return product_of(_alone(self.problem, ()), self.budget).log_sum

    def _holds(self, rules: tuple[GroundRule, ...]) -> float:
        kept = product_of(_alone(self.problem, rules), self.budget).log_sum
        return min(1.0, math.exp(kept - self._log_model))


def marginals(trellis: Trellis, rules: Rules = (), *, budget: int = BUDGET) -> Marginals:
    """Exact probabilities of labels under rules, by forward and backward sums over labels and rules' states.

    p(y) = exp(score(y)) / Σ exp(score(y')), soft penalties included, over labellings that keep the hard rules.
    The sums are those of Rabiner 1989, section III, on the product of the labels with the rules' automata, in
    double precision.

    Parameters
    ----------
    trellis : scores of T tokens and K labels
    rules : rules and features, or a rule set
    budget : joint states, K for each combination of the rules' states that is reached, over all tokens

    Raises
    ------
    TooManyStates
        a ValueError, where the rules take more joint states than the budget, or one of them has no machine.
    NoLabelling
        a ValueError, where no labelling keeps the hard rules.
    ValueError
        for second-order trellises, and for whatever `decode` refuses.
    """
    budget = natural(budget, "budget")
    VITERBI.warm()
    MARGINALS.warm()
    if trellis.order > 1:
        raise ValueError(
            "marginals are for first-order trellises: this one's scores look at two labels before; decode takes it"
        )
    problem = compiler_of(rules).problem(trellis)
    folded = problem.fold()
    product = product_of(folded, budget)
    if product.log_sum == -math.inf:
        raise NoLabelling(
            "no labelling keeps the hard rules, so that there are no probabilities; ilpinfer.decode says why"
        )
    local = [rule for rule in problem.rules if rule not in folded.rules and not rule.hard]
    wide = any(_looks_back(machine) for rule in local for machine in rule.machines)
    labels, edges, counts = product.probabilities(edges=wide)
    expected = {rule.name: 0.0 for rule in problem.rules}
    expected |= {rule.name: sum(_expected(rule, m, labels, edges) for m in rule.machines) for rule in local}
    kept = zip(folded.rules, counts.tolist(), strict=True)
    expected |= {rule.name: 0.0 if rule.hard else count for rule, count in kept}
    result = Marginals(labels, product.log_sum, expected, problem, product, budget)
    if wide:
        result.__dict__["edges"] = edges
    return result


def _alone(problem: Problem, rules: tuple[GroundRule, ...]) -> Problem:
    """The model's scores under rules made hard."""
    hard = tuple(replace(rule, penalty=HARD) for rule in rules)
    return Problem(problem.model, problem.model, hard, problem.labels).fold()


def _looks_back(machine: Machine) -> bool:
    return bool(machine.steps.values.shape[1] > 1)


def _expected(rule: GroundRule, machine: Machine, labels: Floats, edges: Floats) -> float:
    """Violations expected of a machine with one state."""
    counts = machine.steps.map(np.minimum(machine.emits[0], 1) if rule.binary else machine.emits[0])
    if not _looks_back(machine):
        return float((labels * counts.values[counts.index, 0]).sum())
    total = float(labels[0] @ counts.at(0)[0])
    for t, table in enumerate(counts.index[1:].tolist()):
        if counts.values[table, 1:].any():
            total += float((edges[t] * counts.values[table, 1:]).sum())
    return total
