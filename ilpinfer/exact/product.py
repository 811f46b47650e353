"""The product of a lattice with rule machines: reachable joint states, and sums over their paths."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from formulations.automata.machine import TooManyStates
from formulations.dtypes import Booleans, Floats, Integers, Small
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.exact import limits
from ilpinfer.exact.ground import joint_symbols, pack_problem
from ilpinfer.exact.viterbi import completions
from ilpinfer.kernels.joint_states import Symbols, vector_size
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import Machines, Rules


class Readings(NamedTuple):
    """Numbers for the symbols of all machines on steps, N kinds of tokens: steps with equal symbols have one number."""

    number: Small  # (N, K+1, K) of each step, START first
    symbols: Small  # (R, M) the machines' symbols for each number
    begin: Integers  # (N+1,) the first number of each kind
    kind: Integers  # (T,) of each token


class Groups(NamedTuple):
    """Groups of labels before a step with the same readings; N kinds of steps."""

    alike: Small  # (N, K)
    possible: Small  # (N, K) labels with different possible edges are apart, too
    pair: Integers  # (T-1,) the kind of each step
    step: Integers  # (T-1,) the index of its edge scores


class JointStates(NamedTuple):
    """V reachable vectors of machine states, and their A arcs."""

    first: Integers  # (T+1,) vectors of token t are first[t] … first[t+1] - 1
    states: Small  # (V, J) machine states; 0 for rules that count once and are paid
    labels: Booleans  # (V, K) whether a vector is reachable with a label
    arc_at: Integers  # (V+1,) where the arcs of each vector begin, by reading; entry 0 for START
    leads: Small  # (A,) the vector that an arc leads to, -1 where it breaks a hard rule, or -2 where no step reads it
    cost: Floats  # (A,) nats
    end: Floats  # (V,) nats charged after the last token, 0 for vectors of other tokens
    passed: int  # token at which the budget was exceeded, otherwise T


class Nats(NamedTuple):
    """Scores in nats: node (T, K), pool (P, K, K), exp(pool - largest) (P, K, K), and largest (P, K)."""

    node: Floats
    pool: Floats
    scaled: Floats
    largest: Floats


class ProductLattice(NamedTuple):
    """A product with the readings and scores of its steps."""

    product: JointStates
    readings: Readings
    groups: Groups
    scores: Nats


@dataclass(frozen=True, eq=False)
class Product:
    """All joint states of a problem (a label and a state of each machine) and log sums of their completions."""

    rules: Rules
    rule: tuple[Integers, int]
    lattice: ProductLattice
    tail: Floats
    log_sum: float

    @property
    def shape(self) -> tuple[int, int]:
        """(T, K)."""
        T, K = self.lattice.scores.node.shape
        return T, K

    def probabilities(self, *, edges: bool) -> tuple[Floats, Floats, Floats]:
        """Probabilities of labels (T, K) and, if wanted, edges (T-1, K, K); expected violations of each rule (R,)."""
        T, K = self.shape
        labels, pairs = np.empty((T, K)), np.empty((T - 1 if edges else 0, K, K))
        joint, readings, _, _ = self.lattice
        mass, ended = np.empty(len(joint.leads)), np.empty(len(self.tail))
        kernels.forward(self.lattice, self.tail, (labels, pairs, mass, ended))
        rule, count = self.rule
        expected = np.zeros(count)
        if (self.rules.machines.penalty != HARD).any():
            kernels.expected_counts(self.rules, rule, readings, joint, mass, ended, expected)
        return labels, pairs, expected

    def draw(self, uniform: Floats) -> Integers:
        """Label ids (n, T) drawn with uniform numbers (n, T) in [0, 1)."""
        ids = np.empty(uniform.shape, np.int64)
        kernels.draw(self.lattice, self.tail, uniform, ids)
        return ids


def product_of(problem: Problem, budget: int) -> Product:
    """The product of a problem's lattice with the machines of the rules that do not fold into it."""
    for rule in problem.rules:
        if rule.machineless:
            why = "is a Python function" if rule.functions else "has no machine that is small enough"
            raise TooManyStates(
                f"rule {rule.name!r} {why}, so exact sums over labellings are not possible; remove it, or state it with a "
                "simpler template",
                (rule.name,),
            )
    problem = replace(problem, rules=tuple(replace(rule, forced=False) for rule in problem.rules))
    lattice, (instance, tokens) = problem.lattice, pack_problem(problem)
    rules = Rules(instance.machines, tokens.classes)
    readings, groups = _read(problem, joint_symbols(instance, tokens.classes))
    node, pool = _nats(lattice.node), _nats(lattice.pool)
    possible = ~is_forbidden(lattice.node) & ~is_forbidden(completions(lattice))
    shape = vector_size(rules), readings, groups, possible
    joint = JointStates(*kernels.expand(rules, *shape, lattice.pool, budget))
    if joint.passed < len(node):
        raise _refusal(problem, rules.machines, joint, budget)
    largest = pool.max(axis=2, initial=-np.inf)
    largest[np.isneginf(largest)] = 0.0
    own = ProductLattice(
        joint, readings, groups, Nats(node, pool, np.exp(pool - largest[:, :, None]), largest)
    )
    tail = np.empty(joint.labels.shape)
    log_sum = kernels.backward(own, tail)
    return Product(rules, (_owners(problem), len(problem.rules)), own, tail, log_sum)


def _owners(problem: Problem) -> Integers:
    """The rule of each machine (M,)."""
    return np.array([r for r, rule in enumerate(problem.rules) for _ in rule.machines], np.int64)


def _nats(units: Integers) -> Floats:
    return np.where(is_forbidden(units), -np.inf, np.maximum(units, FORBIDDEN) / UNITS_PER_NAT)


def _read(problem: Problem, joint: Symbols) -> tuple[Readings, Groups]:
    lattice, (T, K), kind = problem.lattice, problem.shape, joint.table
    numbers, symbols, begin = list[Integers](), list[Small](), [0]
    for code in joint.symbol:
        used, number = np.unique(code, return_inverse=True)
        numbers.append(number.reshape(code.shape))
        symbols.append(joint.read[:, used])
        begin.append(begin[-1] + len(used))
    symbol = np.concatenate(symbols, axis=1).T.copy()
    readings = Readings(np.array(numbers, np.int32), symbol, np.array(begin, np.int64), kind)
    pairs, pair = _distinct(np.stack([lattice.step, kind[1:]]), T - 1)
    read = [readings.number[k, 1:] for k in pairs[1]]
    apart = (np.hstack([rows, is_forbidden(lattice.pool[p])]) for rows, p in zip(read, pairs[0], strict=True))
    alike, possible = (
        np.array([_groups(rows) for rows in tables], np.int32).reshape(-1, K) for tables in (read, apart)
    )
    return readings, Groups(alike, possible, pair, lattice.step.astype(np.int64))


def _groups(rows: Small) -> list[int]:
    """A number for each row, equal for equal rows."""
    known: dict[bytes, int] = {}
    return [known.setdefault(row.tobytes(), len(known)) for row in rows]


def _distinct(columns: Integers, count: int) -> tuple[Integers, Integers]:
    """The distinct columns, and the index of each column in them."""
    if not columns.size:
        return np.zeros((len(columns), 1 if count else 0), np.int64), np.zeros(count, np.int64)
    distinct, which = np.unique(columns, axis=1, return_inverse=True)
    return np.ascontiguousarray(distinct), which.reshape(-1).astype(np.int64)


def _refusal(problem: Problem, machines: Machines, joint: JointStates, budget: int) -> TooManyStates:
    """The error that names the rules that make the product large."""
    T, _ = problem.shape
    owner, sizes = _owners(problem), dict[str, int]()
    for r, rule in enumerate(problem.rules):
        columns = np.flatnonzero(owner == r)
        marks = np.unique(machines.mark[columns])
        states = joint.states[:, np.append(columns, len(machines.mark) + marks[marks >= 0])]
        sizes[rule.name] = len(np.unique(states, axis=0))
    largest = sorted(sizes, key=lambda name: -sizes[name])[: limits.NAMED_RULES]
    named = ", ".join(f"{name!r} with {sizes[name]}" for name in largest) or "none, only labels"
    return TooManyStates(
        f"labels and rules take more than {budget} joint states within {joint.passed + 1} of {T} tokens; rules with "
        f"the most states so far: {named}. Leave out rules, or give a larger budget",
        tuple(largest),
    )
