"""Exact probabilities under rules: of labels, of edges, of violations, and of the rules themselves."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.arguments import whole
from formulations.automata.lattice import Lattice
from formulations.automata.machine import Machine, TooManyStates
from formulations.dtypes import Floats, Integers, LabelIds
from formulations.errors import InferenceError
from formulations.grid import FORBIDDEN, HARD, nats
from formulations.labels.label_set import Field
from formulations.labels.selectors import Selector
from formulations.messages import counted
from formulations.problem.known_labels import Given
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.printing import short
from ilpinfer.core.request import MOST
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.exact.limits import BUDGET
from ilpinfer.exact.product import product_of


class NoLabelling(InferenceError, ValueError):
    """Error for hard rules that no labelling of a sequence keeps."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """Probabilities p(y) ∝ exp(score(y)) over the labellings y of a sequence that keep the hard rules.

    The score is as in `decode`: model and features minus penalties. Costly fields are computed at first
    access: `edges`, `entropy`, `probability_holds`.

    Parameters
    ----------
    labels : ndarray of float, shape (T, K)
        Probability of label k at token t.
    log_partition : float
        Logarithm of Σ exp(score(y)), nats.
    expected_violations : dict of str to float
        Expected number of violations of each rule; 0 for hard rules.
    problem : Problem, optional
        The trellis with its compiled rules.
    product : Product, optional
        The lattice of labels and rule states.
    budget : int, optional
        Limit on joint states.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, 0.0]]], labels=["a", "b"])
    >>> chances = ilpinfer.marginals(trellis, [C.at_most_tokens("a", 1)])
    >>> chances.labels.round(2).tolist(), round(chances.probability_holds, 2)
    ([[0.33, 0.67], [0.33, 0.67]], 0.75)
    """

    labels: Floats
    log_partition: float
    expected_violations: dict[str, float]
    problem: Problem = field(repr=False)
    product: Any = field(repr=False)
    budget: int = field(repr=False)

    def __repr__(self) -> str:
        T, K = self.labels.shape
        size = f"{counted(T, 'token')}, {counted(K, 'label')}"
        return f"Marginals({size}, log_partition={self.log_partition:.10g})"

    def __str__(self) -> str:
        (T, K), names = self.labels.shape, self.problem.labels.names
        lines = [f"{counted(T, 'token')}, {counted(K, 'label')}, log partition {self.log_partition:.6g} nats"]
        for t in np.argsort(self.labels.max(axis=1, initial=0), kind="stable")[:1].tolist():
            likely = [k for k in np.argsort(-self.labels[t], kind="stable")[:3].tolist() if self.labels[t, k]]
            chances = ", ".join(f"{names[k]} {self.labels[t, k]:.3f}" for k in likely)
            lines.append(f"least certain: token {t}, {chances}")
        expected = {name: count for name, count in self.expected_violations.items() if count}
        counts = ", ".join(f'"{name}" {count:.3g}' for name, count in expected.items()) or "none"
        return short([*lines, f"expected violations: {counts}"])

    @cached_property
    def edges(self) -> Floats:
        """(T-1, K, K) probability of label i at token t, then j at t+1."""
        edges: Floats = self.product.probabilities(edges=True)[1]
        return edges

    def run_probability(self, selector: Selector, begin: int, end: int) -> float:
        """Probability that tokens `begin` … `end` - 1 are one run of a field, from sums over such labellings.

        Parameters
        ----------
        selector : str, Group or list of str
            A field, label or group; with labels such as BIO, the run is the entity.
        begin, end : int
            First token, and the token after the last.

        Returns
        -------
        float
            The probability, under the rules.

        Raises
        ------
        ValueError
            For an unknown field, and tokens out of range.

        Examples
        --------
        >>> from ilpinfer import Trellis, constraints as C
        >>> trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, 0.0]]], labels=["a", "b"])
        >>> chances = marginals(trellis, [C.at_most_tokens("a", 1)])
        >>> round(chances.run_probability("a", 0, 1), 3), chances.run_probability("a", 0, 2)
        (0.333, 0.0)
        """
        begin = whole(begin, "begin", 0, max(len(self.labels) - 1, 0))
        end = whole(end, "end", begin + 1, len(self.labels))
        lattice = _of_one_run(self._folded.lattice, self.problem.labels.field(selector), begin, end)
        return self._share(product_of(replace(self._folded, lattice=lattice), self.budget).log_sum)

    def entities(self, labelling: Iterable[object]) -> list[tuple[str, int, int, float]]:
        """The probability of each run of a labelling, except `O`; see `run_probability`.

        Parameters
        ----------
        labelling : iterable of object
            T label names or ids.

        Returns
        -------
        list of tuple of (str, int, int, float)
            Field, first token, token after the last, and probability.

        Raises
        ------
        ValueError
            For unknown labels, and another number of labels.

        Examples
        --------
        >>> from ilpinfer import Trellis, constraints as C
        >>> trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, 0.0]]], labels=["a", "O"])
        >>> marginals(trellis).entities(["a", "O"])
        [('a', 0, 1, 0.25)]
        """
        runs = self.problem.labels.runs(self._ids(labelling))
        return [(name, begin, end, self.run_probability(name, begin, end)) for name, begin, end in runs]

    def probability(self, labelling: Iterable[object]) -> float:
        """Probability of a whole labelling.

        Parameters
        ----------
        labelling : iterable of object
            T label names or ids.

        Returns
        -------
        float
            The probability under the rules; 0 if the labelling breaks a hard rule.

        Raises
        ------
        ValueError
            For unknown labels, and another number of labels.
        """
        ids = self._ids(labelling)
        return self._share(nats(self.problem.value(ids).score)) if len(ids) else 1.0

    def _ids(self, labelling: Iterable[object]) -> LabelIds:
        ids, T = self.problem.labels.ids(labelling), len(self.labels)
        if len(ids) != T:
            raise ValueError(f"{counted(len(ids), 'label')} for {counted(T, 'token')}")
        return ids

    def _share(self, log_sum: float) -> float:
        return min(1.0, math.exp(log_sum - self.log_partition))

    @cached_property
    def _folded(self) -> Problem:
        return self.problem.fold()

    @cached_property
    def probability_holds(self) -> float:
        """Probability that every rule holds, hard or soft, under the model without rules: p(y) ∝ exp(model score).

        Features and penalties are left out, so that the value measures how well the model has learnt the rules.

        Raises
        ------
        TooManyStates
            If the rules need more joint states than the budget.
        """
        held, alone = (
            product_of(_alone(self.problem, rules), self.budget).log_sum for rules in (self.problem.rules, ())
        )
        return min(1.0, math.exp(held - alone))

    @cached_property
    def entropy(self) -> float:
        """-Σ p(y) log p(y), nats: log_partition minus the expected score, with the rounding of both."""
        node, pool, _, _ = (np.nan_to_num(scores, neginf=0.0) for scores in self.product.lattice.scores)
        score = float((self.labels * node).sum())
        for edges, which in zip(self.edges, self.product.lattice.groups.step, strict=True):
            score += float((edges * pool[which]).sum())
        for rule in self._folded.rules:
            score -= nats(rule.finite_penalty) * self.expected_violations[rule.name]
        return max(0.0, self.log_partition - score)

    def sample(self, n: int, seed: int | np.random.Generator | None = None) -> Integers:
        """Label ids (n, T) of n independent labellings drawn from p.

        Parameters
        ----------
        n : int
            Number of labellings, at least 1.
        seed : int or Generator, optional
            Seed of `numpy.random.default_rng`, or a generator; None for a different sample each time.

        Returns
        -------
        ndarray of int, shape (n, T)
            Label ids.
        """
        if not isinstance(seed, np.random.Generator | None):
            whole(seed, "seed", 0)
        if not len(self.labels):
            return np.zeros((whole(n, "n", 1, MOST["n"]), 0), np.int64)
        uniform = np.random.default_rng(seed).random((whole(n, "n", 1, MOST["n"]), len(self.labels)))
        ids: Integers = self.product.draw(uniform)
        return ids


def marginals(
    trellis: Trellis, rules: Rules = (), *, budget: int = BUDGET, given: Given | None = None
) -> Marginals:
    """Exact probabilities of labels under rules, by forward and backward sums over labels and rule states.

    p(y) = exp(score(y)) / Σ exp(score(y')), soft penalties included, over labellings that keep the hard rules.
    The sums are as in Rabiner 1989, section III, on the product of the labels with the rules' automata, in
    double precision.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels.
    rules : Rules, optional
        Rules and features, or a rule set.
    budget : int, default BUDGET
        Limit on joint states: K for each combination of rule states that is reached, summed over tokens.
    given : mapping of int to str, int or set, optional
        Known labels by position, names or ids, or sets of allowed ones; see `Trellis.with_given`.

    Returns
    -------
    Marginals
        The probabilities.

    Raises
    ------
    TooManyStates
        A ValueError, if the rules need more joint states than the budget, or a rule has no machine.
    NoLabelling
        A ValueError, if no labelling keeps the hard rules.
    ValueError
        For second-order trellises, and for anything that `decode` refuses.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, 0.0]]], labels=["a", "b"])
    >>> marginals(trellis, [C.starts_with("a")]).labels.round(2).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    budget = whole(budget, "budget", 1, MOST["budget"])
    compiler = compiler_of(rules)
    trellis = compiler.fit(trellis).with_given(given)
    _check(trellis)
    return _of(compiler.problem(trellis), budget)


def marginals_within(trellis: Trellis, rules: Rules, budget: int) -> tuple[Marginals, dict[str, str]]:
    """Probabilities under as many rules as the budget allows, and the rules left out, largest first, with the reason."""
    _check(trellis)
    problem, left_out = compiler_of(rules).problem(trellis), dict[str, str]()
    while True:
        try:
            return _of(problem, budget), left_out
        except TooManyStates as error:
            if not error.largest:
                raise
            largest = error.largest[0]
            left_out[largest] = str(error).partition(";")[0]
            problem = replace(problem, rules=tuple(each for each in problem.rules if each.name != largest))


def _check(trellis: Trellis) -> None:
    if trellis.order > 1:
        raise ValueError("marginals need a first-order trellis, but this one is second-order; use decode")


def _of_empty(problem: Problem, budget: int) -> Marginals:
    """Marginals of an empty sequence, whose only labelling has probability 1."""
    K, names = problem.shape[1], [rule.name for rule in problem.rules]
    result = Marginals(np.zeros((0, K)), 0.0, dict.fromkeys(names, 0.0), problem, None, budget)
    result.__dict__.update(edges=np.zeros((0, K, K)), entropy=0.0, probability_holds=1.0)
    return result


def _of(problem: Problem, budget: int) -> Marginals:
    if not problem.shape[0]:
        return _of_empty(problem, budget)
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
    """Expected violations of a machine with one state."""
    counts = machine.steps.map(np.minimum(machine.emits[0], 1) if rule.binary else machine.emits[0])
    if not _looks_back(machine):
        return float((labels * counts.values[counts.index, 0]).sum())
    total = float(labels[0] @ counts.at(0)[0])
    for t, table in enumerate(counts.index[1:].tolist()):
        if counts.values[table, 1:].any():
            total += float((edges[t] * counts.values[table, 1:]).sum())
    return total


def _of_one_run(lattice: Lattice, field: Field, begin: int, end: int) -> Lattice:
    """The lattice, of first order, in which tokens `begin` … `end` - 1 are one run of the field."""
    node, step, pool = lattice.node.copy(), lattice.step.copy(), [lattice.pool]
    member, begins = field.member, field.begins[1:]
    node[begin:end, ~member] = FORBIDDEN
    within = ~begins
    ways = [(begin, begins)] if begin else []
    ways += [(t, within) for t in range(begin + 1, end)]
    ways += [(end, begins | ~member)] if end < len(node) else []
    made = dict[tuple[int, int], int]()
    for t, allowed in ways:
        key = int(lattice.step[t - 1]), id(allowed)
        if key not in made:
            made[key] = len(lattice.pool) + len(made)
            pool.append(np.where(allowed, lattice.pool[key[0]], FORBIDDEN)[None])
        step[t - 1] = made[key]
    return Lattice(node, np.concatenate(pool), step)
