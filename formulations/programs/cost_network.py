"""Cost networks (weighted constraint satisfaction): a variable for each token, and chains of states for rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from formulations import time_limits
from formulations.automata.label_chains import LabelChain, flagged
from formulations.automata.lattice import StepTable
from formulations.dtypes import Integers
from formulations.errors import InferenceError
from formulations.grid import Grid, is_forbidden, violation_costs
from formulations.problem.problem import GroundRule, Problem
from formulations.programs.names import Meaning, Owner, bracketed, meanings

FORBIDDEN_COST = -1
"""The cost of forbidden values."""
MOST_STATES = 1000
"""Largest number of states of a rule's machine; tables are quadratic."""
MOST_COSTS = 60_000_000
"""Largest total size of the tables of chains; larger networks take minutes to build."""
DIRECT = 40
"""Largest number of labels for chains that read labels directly; above, variables for label classes are added."""


class NoNetwork(InferenceError, ValueError):
    """A problem without a cost network, or with a too large one."""


@dataclass(frozen=True, eq=False)
class CostFunction:
    """Costs as a function of a few variables."""

    scope: tuple[int, ...]  # numbers of its variables
    table: Integers  # grid units, an axis for each variable; `FORBIDDEN_COST` for forbidden values

    def cost(self, values: Sequence[int]) -> int:
        return int(self.table[tuple(values[variable] for variable in self.scope)])


@dataclass(frozen=True, eq=False)
class CostNetwork:
    """A problem as variables and cost functions, for toulbar2.

    The first T variables are the labels of the tokens. The others are states of rules between tokens, classes of labels if there are
    many labels, and marks of rules that count once. The score of a labelling is `best` minus the least cost over the other variables.

    Parameters
    ----------
    tokens : int
        Number T of tokens.
    sizes : tuple of int
        Number of values 0, 1, … of each variable.
    functions : tuple of CostFunction
        Cost functions with a `scope`, numbers of variables, and a `table` of costs in grid units with an axis for each variable; -1
        is forbidden.
    best : int
        Score at cost 0, grid units of 2^-20 nats.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C, formulate
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> network = formulate(trellis, [C.at_most_tokens("a", 1, penalty=0.75)]).network
    >>> network.sizes, [variable.name for variable in network.meanings()]
    ((2, 2, 2), ['label[0]', 'label[1]', 'state["at_most_tokens(a, 1)",0]'])
    >>> (network.best - network.cost([0, 0, 1])) / 2**20
    -0.75
    """

    tokens: int
    sizes: tuple[int, ...]
    functions: tuple[CostFunction, ...]
    best: int
    _names: tuple[Meaning, ...]

    @property
    def most(self) -> int:
        """A cost above that of every solution."""
        return 1 + sum(int(each.table.max(initial=0)) for each in self.functions)

    def meanings(self) -> tuple[Meaning, ...]:
        """Name, kind, rule and token of each variable.

        Returns
        -------
        tuple of Meaning
            Records with these attributes; kinds are "label", "class", "state" and "paid".
        """
        return meanings([(len(self._names), lambda: self._names)])

    def cost(self, values: Sequence[int]) -> int | None:
        """The cost of an assignment.

        Parameters
        ----------
        values : sequence of int
            A value for each variable.

        Returns
        -------
        int or None
            Grid units; None for forbidden values.
        """
        costs = [each.cost(values) for each in self.functions]
        return None if FORBIDDEN_COST in costs else sum(costs)


def cost_network(
    problem: Problem, *, most_states: int = MOST_STATES, most_costs: int = MOST_COSTS, direct: int = DIRECT
) -> CostNetwork:
    """The network of a problem; NoNetwork for rules without a machine, and for too large tables.

    Rules that fold are functions of one or two labels. Each machine of another rule is a chain of states, with a function of state,
    label and next state at each token. A soft rule that counts once over several machines has a variable for its payment.
    """
    T, K = problem.shape
    chains = [(rule, part) for rule in problem.rules for part in _chains(rule, K, most_states)]
    size = sum(T * c.states**2 * (K if direct >= K else min(K, c.classes)) for _, (_, c) in chains)
    if size > most_costs:
        raise NoNetwork(f"{len(chains)} machines of rules, with tables of {size / 1e6:.0f} million costs")
    network = _Builder(problem, direct)
    network.scores()
    for rule in problem.rules:
        if rule.folds:
            network.local(rule)
    paid = dict[str, int]()
    for rule, (owner, chain) in chains:
        time_limits.check()
        if rule.once and len(rule.machines) > 1:
            if rule.name not in paid:
                paid[rule.name] = network.variable(2, Owner(rule.name).means("paid", "paid"))
                network.add((paid[rule.name],), np.array([0, rule.penalty]))
            network.chain(chain, owner, None, paid[rule.name])
        else:
            network.chain(chain, owner, rule.penalty)
    return CostNetwork(T, tuple(network.sizes), tuple(network.functions), network.best, tuple(network.names))


def _chains(rule: GroundRule, labels: int, most_states: int) -> list[tuple[Owner, LabelChain]]:
    if rule.folds:
        return []
    if rule.machineless:
        raise NoNetwork(f"rule {rule.name!r} has no machine")
    if (largest := max((machine.states for machine in rule.machines), default=0)) > most_states:
        raise NoNetwork(f"rule {rule.name!r} has a machine of {largest} states; at most {most_states}")
    machines, owner = rule.machines, Owner(rule.name)
    if rule.once:
        machines = tuple(flagged(each) if len(machines) > 1 else each.once for each in machines)
    named = ((owner.part(n, len(machines)), each) for n, each in enumerate(machines))
    return [(own, LabelChain.of(machine, labels)) for own, machine in named]


@dataclass
class _Builder:
    problem: Problem
    direct: int
    sizes: list[int] = field(default_factory=list)
    names: list[Meaning] = field(default_factory=list)
    functions: list[CostFunction] = field(default_factory=list)
    best: int = 0
    _classes: dict[bytes, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.T, self.K = self.problem.shape
        for t in range(self.T):
            self.variable(self.K, Meaning(bracketed("label", t), "label", token=t))

    def variable(self, size: int, meaning: Meaning) -> int:
        self.sizes.append(size)
        self.names.append(meaning)
        return len(self.sizes) - 1

    def add(self, scope: tuple[int, ...], table: Integers) -> None:
        if table.any():
            self.functions.append(CostFunction(scope, table))

    def add_scores(
        self, scope: tuple[int, ...], scores: Grid, known: dict[int, tuple[Integers, int]]
    ) -> None:
        """Add costs, the differences from the best score; repeated tables are computed once."""
        if id(scores) not in known:
            forbidden = is_forbidden(scores)
            best = 0 if forbidden.all() else int(scores[~forbidden].max())
            known[id(scores)] = np.where(forbidden, FORBIDDEN_COST, best - scores), best
        table, best = known[id(scores)]
        self.best += best
        self.add(scope, table)

    def scores(self) -> None:
        """Add the scores of tokens and steps; functions of three labels for second order."""
        lattice, K, T = self.problem.lattice, self.K, self.T
        known: dict[int, tuple[Integers, int]] = {}
        if lattice.order == 1:
            nodes, pools = list(lattice.node), list(lattice.pool)
            for t in range(T):
                self.add_scores((t,), nodes[t], known)
            for t, which in enumerate(lattice.step.tolist()):
                self.add_scores((t, t + 1), pools[which], known)
            return
        nodes = [row[:K] if t == 0 else row[K:].reshape(K, K) for t, row in enumerate(lattice.node)]
        first = {which: lattice.pool[which, :K] for which in lattice.step[:1].tolist()}
        later = {which: lattice.pool[which, K:].reshape(K, K, K) for which in set(lattice.step[1:].tolist())}
        for t in range(T):
            self.add_scores((t,) if t == 0 else (t - 1, t), nodes[t], known)
        for t, which in enumerate(lattice.step.tolist()):
            if t == 0:
                self.add_scores((0, 1), first[which], known)
            else:
                self.add_scores((t - 1, t, t + 1), later[which], known)

    def local(self, rule: GroundRule) -> None:
        """Add a rule that folds, as functions of one or two labels."""
        for table in rule.as_scores():
            self._local(table)

    def _local(self, table: StepTable) -> None:
        alone = table.values.shape[1] == 1
        known: dict[int, tuple[Integers, int]] = {}
        first = [values[0] for values in table.values]
        later = first if alone else [values[1:] for values in table.values]
        for t, which in enumerate(table.index.tolist()):
            if alone or t == 0:
                self.add_scores((t,), first[which], known)
            else:
                self.add_scores((t - 1, t), later[which], known)

    def chain(self, chain: LabelChain, owner: Owner, penalty: int | None, paid: int | None = None) -> None:
        """Add the states of a chain between tokens, with costs; with `paid`, violations instead require this variable to be 1."""
        T, S = self.T, chain.states
        read, class_of = self._read(chain)
        means = (owner.means("state", "state", t, token=t) for t in range(T - 1))
        states = [self.variable(S, each) for each in means] if S > 1 else []
        tables: dict[tuple[int, bool, bool], Integers] = {}
        for t in range(T):
            key = int(chain.index[t]), t == 0, t == T - 1
            if key not in tables:
                tables[key] = _table(chain, class_of, penalty, *key)
            before = [states[t - 1]] if S > 1 and t else []
            after = [states[t]] if S > 1 and t < T - 1 else []
            mark = [paid] if paid is not None and t == T - 1 else []
            self.add((*before, read[t], *after, *mark), tables[key])

    def _read(self, chain: LabelChain) -> tuple[Sequence[int], Integers]:
        """For each token, the variable that a chain reads, and the class of each value."""
        if self.direct >= self.K:
            return range(self.T), chain.label_class
        key, C = chain.label_class.tobytes(), chain.classes
        if key not in self._classes:
            number = len(self._classes)
            wrong = np.where(chain.label_class[:, None] == np.arange(C), 0, FORBIDDEN_COST)
            self._classes[key] = []
            for t in range(self.T):
                variable = self.variable(C, Meaning(bracketed("class", number, t), "class", token=t))
                self._classes[key].append(variable)
                self.add((t, variable), wrong)
        return self._classes[key], np.arange(C)


def _table(
    chain: LabelChain, class_of: Integers, penalty: int | None, p: int, first: bool, last: bool
) -> Integers:
    """Costs (state before, value, state after); the first token has no state before, the last token no state after.

    Without a penalty, the last token has a further axis, a mark: violations are forbidden if it is 0.
    """
    S, V = chain.states, len(class_of)
    to, violations = chain.next_state[p][:, class_of], chain.emits[p][:, class_of]
    if last:
        violations = violations + chain.final[to]
    if penalty is not None:
        costs = violation_costs(violations, penalty)
        costs = np.where(is_forbidden(-costs), FORBIDDEN_COST, costs)
    else:
        costs = np.where(violations > 0, FORBIDDEN_COST, 0)
    if last:
        result = costs if penalty is not None else np.stack([costs, np.zeros_like(costs)], axis=-1)
    elif S == 1:
        result = costs
    else:
        result = np.full((S, V, S), FORBIDDEN_COST)
        np.put_along_axis(result, to[:, :, None], costs[:, :, None], axis=2)
    return result[chain.start] if first or S == 1 else result
