"""Bounds by Viterbi: over the lattice multiplied with a few machines, and with multipliers on the sums of others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.automata.sums import Sum
from formulations.dtypes import Integers, LabelIds, Small
from formulations.grid import FORBIDDEN, HARD, is_forbidden
from ilpinfer.core.certificate import MachineKey
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.rule_machines import RuleMachine
from ilpinfer.exact.viterbi import best_completed
from ilpinfer.kernels import guide as kernels
from ilpinfer.kernels.guide import Domains
from ilpinfer.kernels.machines import Symbols
from ilpinfer.kernels.packed import chain_of

_WORK_PER_CALL = 1_000_000
_SECONDS_A_FUTURE = 1e-8
"""Seconds for a state, a symbol and a token, on a slow machine."""
_MOST_SYMBOLS = 256
"""Joint symbols beyond which those that never occur are left out."""


@dataclass(frozen=True)
class Relaxed:
    """The best labelling of a relaxation.

    Parameters
    ----------
    bound : int
        Bound on every labelling, grid units; `FORBIDDEN` where there is none.
    path : ndarray of int
        Label ids (T,) that attain it in the relaxation, the first ones by label ids.
    completion : ndarray of int, shape (T, S, Q)
        The best that follows a state and the states of the machines inside, multipliers charged.
    """

    bound: int
    path: LabelIds
    completion: Integers


def all_domains(lattice: Lattice) -> Domains:
    """Every state that a token can have."""
    (T, K), S = lattice.shape, lattice.states
    first, later = (0, K), (K if lattice.order == 2 else 0, S)
    states = [np.arange(*first), np.tile(np.arange(*later), T - 1)]
    begins = np.append(0, K + (later[1] - later[0]) * np.arange(T))
    return Domains(np.concatenate(states).astype(np.int32), begins, K)


def prune(lattice: Lattice, domains: Domains, completion: Integers, floor: int) -> Domains:
    """The states through which a labelling can still score at least `floor`, grid units, by their max-marginals.

    completion : (T, S) bounds on the score after a state.
    """
    kept = domains._replace(states=np.empty_like(domains.states), begins=np.zeros_like(domains.begins))
    kernels.prune(chain_of(lattice), domains, completion, floor, kept)
    return kept._replace(states=kept.states[: kept.begins[-1]])


def joint_symbols(lattice: Lattice, machines: Sequence[RuleMachine]) -> Symbols:
    """Joint symbols of each step for all machines together; most of them occur."""
    T, B = lattice.shape
    to = np.concatenate([[0], lattice.base])[:, None] + np.arange(B)
    place = np.zeros(T, np.int64)
    for machine in machines:
        steps = machine.steps
        if len(steps.values) > 1:
            _, place = np.unique(place * len(steps.values) + steps.index, return_inverse=True)
    _, first, table = np.unique(place, return_index=True, return_inverse=True)
    code, kinds = np.zeros((len(first), *to.shape), np.int64), 1
    read: list[Integers] = []
    for machine in machines:
        values, X = lattice.on_states(machine.steps).values, machine.emits.shape[1]
        which = values[machine.steps.index[first]]
        code = code * X + (which[:, 0][:, to] if values.shape[1] == 1 else which)
        read = [np.repeat(digits, X) for digits in read] + [np.tile(np.arange(X), kinds)]
        kinds *= X
        if kinds > _MOST_SYMBOLS:
            used = np.bincount(code.reshape(-1), minlength=kinds) > 0
            code, read = (np.cumsum(used) - 1)[code], [digits[used] for digits in read]
            kinds = int(used.sum())
    return Symbols(
        code.astype(np.int32),
        table.reshape(-1).astype(np.int64),
        np.array(read, np.int32).reshape(len(machines), kinds),
    )


class Futures:
    """The best futures of machines at the multipliers of their sums, less their costs.

    Parameters
    ----------
    charged : sequence of RuleMachine
        The machines.
    multipliers : mapping of MachineKey to int
        Grid units a unit of weight, by key.
    length : int
        Tokens.
    """

    def __init__(
        self, charged: Sequence[RuleMachine], multipliers: Mapping[MachineKey, int], length: int
    ) -> None:
        self.multipliers = multipliers
        rule_machines = [machine for machine in charged if multipliers.get(machine.key)]
        sizes = [length * machine.states for machine in rule_machines]
        begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64).tolist()
        self.table = np.empty(begins[-1], np.int64)
        self.begin, self.most = dict[MachineKey, int](), dict[MachineKey, int]()
        for machine, begin, end in zip(rule_machines, begins, begins[1:], strict=False):
            result = self.table[begin:end].reshape(length, -1)
            potentials(machine, multipliers[machine.key], result)
            self.begin[machine.key], self.most[machine.key] = begin, max(0, int(result.max()))

    def of(self, machines: Sequence[RuleMachine]) -> kernels.Futures:
        """The futures of some machines, for kernels."""
        begin = np.array([self.begin.get(machine.key, -1) for machine in machines], np.int64)
        return kernels.Futures(
            self.table, begin, np.array([machine.states for machine in machines], np.int64)
        )


class Guide:
    """A relaxation: exact for some machines, with multipliers on some sums, and without the other rules.

    Parameters
    ----------
    lattice : Lattice
        T tokens, S states.
    domains : Domains, optional
        The states that are looked at; all of them where not given.
    inside : sequence of RuleMachine
        Machines that the lattice is multiplied with; Q, the product of their states, is small.
    charged : sequence of RuleMachine, optional
        Machines whose `total` has a multiplier.
    """

    def __init__(
        self,
        lattice: Lattice,
        inside: Sequence[RuleMachine],
        charged: Sequence[RuleMachine] = (),
        domains: Domains | None = None,
    ) -> None:
        self.unpruned, self.domains = domains is None, all_domains(lattice) if domains is None else domains
        self.lattice, self.product, self.charged = lattice, tuple(inside), tuple(charged)
        self._futures: Futures | None = None
        sizes = [machine.states for machine in inside]
        self.radix = (
            np.concatenate([[1], np.cumprod(sizes[:-1])]).astype(np.int64) if sizes else np.zeros(0, np.int64)
        )
        self.states = int(np.prod(sizes)) if sizes else 1
        machines = [*self.product, *self.charged]
        self.symbols = joint_symbols(lattice, machines)
        self.usual = self._usual()
        self._machines()

    def _usual(self) -> Small:
        """(C, S) a symbol of the steps that lead to a state: the one from START, where that leads to it."""
        _, B = self.lattice.shape
        usual = np.zeros((len(self.symbols.symbol), self.lattice.states), np.int32)
        to = np.concatenate([self.lattice.base[::-1], [0]])[:, None] + np.arange(B)
        usual[:, to.reshape(-1)] = self.symbols.symbol[:, ::-1].reshape(len(usual), -1)
        return usual

    def _machines(self) -> None:
        """Set next joint states and costs of all joint symbols."""
        shape = (max(1, self.symbols.read.shape[1]), self.states)
        self.following, self.cost, self.final = (
            np.zeros(shape, np.int32),
            np.zeros(shape, np.int64),
            np.zeros(self.states, np.int64),
        )
        joint = np.arange(self.states)
        for machine, radix, symbol in zip(self.product, self.radix.tolist(), self.symbols.read, strict=False):
            state = joint // radix % machine.states
            at = (state[None, :], symbol[:, None])
            self.following += (radix * machine.next_state[at]).astype(np.int32)
            self.cost += machine.cost[at]
            self.final += machine.final_cost[state]
        self.cost, self.final = np.minimum(self.cost, HARD), np.minimum(self.final, HARD)

    @cached_property
    def weights(self) -> Integers:
        """(R, J) weight of each joint symbol in the sum of each charged machine."""
        rows = [
            p.total.weights[s]
            for p, s in zip(self.charged, self.symbols.read[len(self.product) :], strict=True)
            if p.total
        ]
        return np.array(rows, np.int64).reshape(len(self.charged), -1)

    def units(self, path: LabelIds) -> Integers:
        """(R,) weight that label ids (T,) take of the sum of each charged machine."""
        return np.array([p.total.steps.along(path).sum() for p in self.charged if p.total], np.int64)

    def futures_in_time(self, multipliers: Mapping[MachineKey, int], deadline: Deadline) -> bool:
        """Whether the futures at these multipliers can be computed before a deadline; their kernel does not check the time."""
        remaining = deadline.remaining
        if remaining is None or (self._futures is not None and self._futures.multipliers == multipliers):
            return True
        charged = [machine for machine in self.charged if multipliers.get(machine.key)]
        steps = sum(p.states * max(map(len, map(np.unique, p.steps.values))) for p in charged)
        return remaining > steps * len(self.lattice.node) * _SECONDS_A_FUTURE

    def futures(self, multipliers: Mapping[MachineKey, int]) -> Futures:
        """Futures of the charged machines at multipliers by key, grid units a unit of weight."""
        if self._futures is None or self._futures.multipliers != multipliers:
            self._futures = Futures(self.charged, dict(multipliers), len(self.lattice.node))
        return self._futures

    @property
    def work(self) -> int:
        """Steps of one solution."""
        return self.domains.steps * self.states

    def solve(self, multipliers: Integers, deadline: Deadline) -> Relaxed | None:
        """The best labelling at these multipliers, grid units (R,) a unit of weight; None past the deadline."""
        lattice, chain = self.lattice, chain_of(self.lattice)
        T, S = lattice.node.shape
        if not self.product and not self.charged and self.unpruned:
            score, path, completion = best_completed(lattice)
            return Relaxed(score, path, completion[:, :, None])
        cost = self.cost + (multipliers @ self.weights)[:, None] if len(self.charged) else self.cost
        product = kernels.Product(
            self.symbols.symbol, self.usual, self.symbols.table, self.following, cost, self.final
        )
        completion = np.full((T, S, self.states), FORBIDDEN)
        stretch = max(1, _WORK_PER_CALL * T // self.work)
        path, score = np.empty(T, np.int64), FORBIDDEN
        for last in range(T - 1, -1, -stretch):
            if deadline.passed:
                return None
            first = max(0, last - stretch + 1)
            score = kernels.complete(chain, self.domains, product, completion, last, first, path)
        path = lattice.labels_of(path)
        if is_forbidden(score):
            return Relaxed(FORBIDDEN, path, completion)
        back = sum(
            dual_constant(machine, int(multiplier))
            for machine, multiplier in zip(self.charged, multipliers, strict=True)
        )
        return Relaxed(score + back, path, completion)


def dual_constant(machine: RuleMachine, multiplier: int) -> int:
    """The dual constant of a multiplier on the sum of a machine, grid units."""
    assert machine.total is not None
    return worth(machine.total, machine.penalty, multiplier)


def worth(total: Sum, penalty: int, multiplier: int) -> int:
    """max over N of multiplier·N - penalty·(violations of N): the multiplier's term of the dual function, grid units.

    It is concave in N, so that the sides and the ends of its reach suffice. A hard rule has the sides only;
    `FORBIDDEN` where no sum lies within.
    """
    return max((multiplier * n - cost for n, cost in corners(total, penalty)), default=FORBIDDEN)


def corners(total: Sum, penalty: int) -> list[tuple[int, int]]:
    """The sums at the corners of the cost of violations, each with that cost; of a hard rule, those without violations."""
    least, most = total.reach
    sides = [side for side in (total.low, total.high) if side is not None and least <= side <= most]
    sums = sorted({least, most, *sides})
    if penalty == HARD:
        return [(n, 0) for n in sums if not total.away(n)]
    return [(n, penalty * total.away(n)) for n in sums]


def slope(machine: RuleMachine, multiplier: int, units: int) -> int:
    """A subgradient of the bound with its sign changed; 0 at an end of the multiplier's box."""
    total = machine.total
    assert total is not None
    low, high = machine.multipliers
    least, most = total.reach
    side = least if total.low is None else total.low, most if total.high is None else total.high
    away = units - (side[multiplier > 0] if multiplier else min(max(units, side[0]), side[1]))
    return 0 if (multiplier >= high and away > 0) or (multiplier <= low and away < 0) else away


def potentials(machine: RuleMachine, multiplier: int, result: Integers) -> None:
    """Fill result (T, Q) with the best future of a machine at this multiplier, less its costs."""
    assert machine.total is not None
    worth = multiplier * machine.total.weights[None, :] - machine.cost
    kinds = [np.unique(values) for values in machine.steps.values]
    symbols = np.full((len(kinds), max(map(len, kinds))), -1, np.int64)
    for row, kind in zip(symbols, kinds, strict=True):
        row[: len(kind)] = kind
    kernels.potentials(symbols, machine.steps.index, worth, machine.next_state, -machine.final_cost, result)
