"""toulbar2 on the same problem: a variable for each token, and each rule as a chain of states and ternary tables."""

import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import Answer, CannotState
from formulations import Trellis
from formulations.automata.machine import Machine
from formulations.constraints.rule_set import RuleSet
from formulations.grid import UNITS_PER_NAT, Grid, is_forbidden
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import GroundRule, Problem

MOST_COSTS = 60_000_000
"""Entries of all ternary tables; beyond them building alone takes minutes."""
MOST_STATES = 200
"""Of one rule: the tables grow with the square."""
DIRECT = 40
"""Up to so many labels the tables take labels; above it, a variable for the label's class stands between them."""


def decode(trellis: Trellis, rules: RuleSet, time_limit: float) -> Answer:
    """Build and solve; the time limit is toulbar2's own and rounded up to whole seconds."""
    from pytoulbar2 import pytb2

    try:
        network, ceiling = network_of(compile_problem(trellis, rules).fold())
    except pytb2.Contradiction:
        return Answer(None, None, True, "no labelling")
    network.NoPreprocessing()
    network.Option.hbfs = 0
    seconds = max(1, round(time_limit))
    began = time.perf_counter()
    try:
        result = network.Solve(timeLimit=seconds)
    finally:
        # The timer of a limit goes on after the search; until it is off, processor time is read in whole ticks.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    # Neither its dual bound nor its own flag says reliably that depth-first search has ended by itself.
    proved = time.perf_counter() - began < 0.95 * seconds
    if result is None:
        return Answer(None, None, proved, "no labelling")
    path = np.array(result[0][: len(trellis)], np.int64)
    return Answer(path, (ceiling - result[1]) / UNITS_PER_NAT, proved)


def network_of(problem: Problem) -> tuple[Any, int]:
    """The network of a folded problem, and the score in grid units of a cost of 0; CannotState where tables are too large."""
    import pytoulbar2

    chains = [(rule, chain) for rule in problem.rules for chain in _chains(rule, problem)]
    T, K = problem.shape
    size = sum(T * chain.states**2 * min(K, chain.classes if K > DIRECT else K) for _, chain in chains)
    if size > MOST_COSTS:
        raise CannotState(f"{len(chains)} rules, {size / 1e6:.0f} million costs")
    network = pytoulbar2.CFN(vac=0, verbose=-1)
    ceiling, names = _scores(network, problem), _Classes(network, T, K)
    for number, (rule, chain) in enumerate(chains):
        _add(network, f"q{number}", rule, chain, names)
    return network, ceiling


def _costs(scores: Grid, top: float) -> tuple[NDArray[np.float64], int]:
    """Costs above 0 and what they were measured from; a forbidden score costs `top`."""
    forbidden = is_forbidden(scores)
    best = int(scores[~forbidden].max()) if not forbidden.all() else 0
    return np.where(forbidden, top, (best - scores).astype(float)), best


def _scores(network: Any, problem: Problem) -> int:
    """A variable for each token with unary and binary costs; the score that a cost of 0 stands for."""
    T, K = problem.shape
    lattice, ceiling = problem.lattice, 0
    for t in range(T):
        network.AddVariable(f"y{t}", range(K))
    tables = [_costs(pool, network.Top) for pool in lattice.pool]
    lists = [costs.ravel().tolist() for costs, _ in tables]
    for t in range(T):
        costs, best = _costs(lattice.node[t], network.Top)
        network.AddFunction([t], costs.tolist())
        ceiling += best
    for t, which in enumerate(lattice.step.tolist()):
        network.AddFunction([t, t + 1], lists[which])
        ceiling += tables[which][1]
    return ceiling


class Chain:
    """A machine over single labels whose state remembers the class of the label before; tables are (P, S, C)."""

    def __init__(self, machine: Machine, labels: int) -> None:
        values = machine.steps.values
        if values.shape[1] == 1:
            values = np.broadcast_to(values, (values.shape[0], labels + 1, labels))
        signature = np.concatenate(
            [
                values.transpose(2, 0, 1).reshape(labels, -1),
                values[:, 1:].transpose(1, 0, 2).reshape(labels, -1),
            ],
            1,
        )
        _, first, self.label_class = np.unique(signature, axis=0, return_index=True, return_inverse=True)
        self.label_class = self.label_class.reshape(-1)
        self.classes = len(first)
        before = np.concatenate([[0], first + 1])
        symbols = values[:, before][:, :, first]
        Q, B, P = machine.states, len(before), len(values)
        state = np.arange(Q * B)
        read = symbols[:, state % B]
        after = machine.next_state[(state // B)[None, :, None], read]
        emits = machine.emits[(state // B)[None, :, None], read]
        to = after * B + np.arange(1, B)[None, None, :]
        self.index = machine.steps.index
        merged = _merge(to, emits, machine.final[state // B], P)
        order = np.unique(merged, return_index=True)[1]
        self.next_state, self.emits = merged[to[:, order]], emits[:, order]
        self.final, self.start = machine.final[state // B][order], int(merged[0])
        self.states = len(order)


def _merge(to: Grid, emits: Grid, final: Grid, tables: int) -> Grid:
    """States that nothing tells apart, as the number of their class (S,)."""
    block = np.unique(final, return_inverse=True)[1].reshape(-1)
    while True:
        signature = np.concatenate(
            [block[None, :], *(np.concatenate([emits[p].T, block[to[p]].T]) for p in range(tables))]
        )
        finer = np.unique(signature, axis=1, return_inverse=True)[1].reshape(-1)
        if finer.max() == block.max():
            return finer
        block = finer


def _chains(rule: GroundRule, problem: Problem) -> Iterator[Chain]:
    if rule.machineless or rule.once:
        raise CannotState(rule.name)
    for machine in rule.machines:
        if machine.states > MOST_STATES:
            raise CannotState(f"{rule.name} ({machine.states} states)")
        yield Chain(machine, problem.shape[1])


class _Classes:
    """Variables for the label classes of tokens, shared by rules that tell the same labels apart."""

    def __init__(self, network: Any, T: int, K: int) -> None:
        self.network, self.T, self.K = network, T, K
        self.by_classes: dict[bytes, list[int]] = {}

    def variables(self, chain: Chain) -> tuple[list[int], NDArray[np.int64]]:
        """For each token the variable to read, and the class of each of its values."""
        if self.K <= DIRECT:
            return list(range(self.T)), chain.label_class
        key = chain.label_class.tobytes()
        if key not in self.by_classes:
            network, C = self.network, chain.classes
            wrong = np.where(chain.label_class[:, None] == np.arange(C), 0.0, network.Top)
            variables_of_class = [
                network.AddVariable(f"c{len(self.by_classes)}_{t}", range(C)) for t in range(self.T)
            ]
            for t, variable in enumerate(variables_of_class):
                network.AddFunction([t, variable], wrong.ravel().tolist())
            self.by_classes[key] = variables_of_class
        return self.by_classes[key], np.arange(chain.classes)


def _add(network: Any, name: str, rule: GroundRule, chain: Chain, classes: _Classes) -> None:
    """The chain of states of one machine."""
    top = network.Top
    penalty = top if rule.hard else float(rule.penalty)
    read, class_of = classes.variables(chain)
    S = chain.states
    states = [network.AddVariable(f"{name}_{t}", range(S)) for t in range(classes.T)] if S > 1 else []
    tables = {}
    for t in range(classes.T):
        p = int(chain.index[t])
        key = p, t == 0, t == classes.T - 1
        if key not in tables:
            tables[key] = _table(chain, p, class_of, penalty, top, last=key[2])
            if t == 0:
                tables[key] = tables[key][chain.start]
        scope = [read[t], states[t]] if t == 0 else [states[t - 1], read[t], states[t]]
        network.AddFunction(scope, tables[key].ravel().tolist())


def _table(
    chain: Chain, p: int, class_of: Grid, penalty: float, top: float, *, last: bool
) -> NDArray[np.float64]:
    """(S, values, S) costs of state, value read and next state."""
    S, V = chain.states, len(class_of)
    result = np.full((S, V, S), top)
    to, violations = chain.next_state[p][:, class_of], chain.emits[p][:, class_of]
    if last:
        violations = violations + chain.final[to]
    costs = np.where(violations > 0, penalty * np.maximum(violations, 1), 0.0)
    np.put_along_axis(result, to[:, :, None], costs[:, :, None], axis=2)
    return result
