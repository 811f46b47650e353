"""A relaxation of a problem: multipliers in its scores and machines, states pruned, and searches over prefixes that it bounds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.calls import limits_within
from ilpinfer.exact.ground import NO_WINDOWS
from ilpinfer.exact.known import Known
from ilpinfer.kernels.counts import NO_COUNTS
from ilpinfer.kernels.decoding import DIRECT, MOST_CELLS, VECTOR, bound_jointly, price
from ilpinfer.kernels.handle import together
from ilpinfer.kernels.keys import BITS
from ilpinfer.kernels.label_setting import STOPPED, WIDEST, Options, advance, room_for_prefixes
from ilpinfer.kernels.multipliers import reparametrise
from ilpinfer.kernels.prefixes import CUT, MADE, STEPS, spell_all
from ilpinfer.kernels.recursion import DEAD, bare, prune

WORK_PER_CALL = 500_000
"""Steps of label setting between two looks at the clock."""
MOST_PREFIXES = 2**25
"""Prefixes of a search, after which it is given up."""


@dataclass(frozen=True)
class Prefixes:
    """The result of a search over prefixes."""

    paths: list[LabelIds]
    values: list[int]
    left_out: int
    complete: bool = True
    costs: Sequence[int] = ()
    left: Sequence[int] = ()
    """By token, the number of prefixes that a proof of the best value, or of what was left out, has to tell apart."""

    def exact(self, floor: int) -> bool:
        """Whether the first labelling is the best one that reaches the floor, or there is none."""
        return self.complete and self.left_out < (self.values[0] if self.paths else max(floor, DEAD))


class Bounds(NamedTuple):
    """A product of the machines `within`, and its recursion: completion, tail and the best value."""

    joint: Any
    within: list[int]
    recursion: tuple[Integers, Integers, int]


class Relaxation:
    """The scores and machines of a problem with its multipliers in them."""

    def __init__(self, known: Known) -> None:
        self.known, self.ground = known, known.ground
        one = self.ground
        self.edge_at, self.classes = one.classes[0].copy(), one.classes[1]
        prices = np.array(
            [known.multipliers.get(c, 0) if s else 0 for c, s in zip(one.components, one.sums, strict=True)],
            np.int64,
        )
        self.handle: Any = one.handle
        self.emission, self.scores, self.machines = one.emission.copy(), one.scores, one.machines
        if prices.any():
            self.scores, self.machines, self.emission = reparametrise(
                one.handle, one.emission, self.edge_at, self.classes, prices
            )
            self.handle = together(NO_WINDOWS, self.scores, self.machines, NO_COUNTS)
        self.complete()

    def complete(self) -> None:
        """Compute the best completions, the bound, and the best labelling without machines."""
        order, states = np.arange(len(self.emission)), np.zeros(len(self.emission), np.int64)
        self.completion, self.tail = self.ground.room()
        rows = order, 0 * order, self.edge_at
        total = bare(self.scores, self.emission, *rows, self.completion, self.tail, states)
        self.total, self.path = int(total), self.ground.lattice.labels_of(states)

    def prune(self, floor: int) -> None:
        """Leave out the states through which no labelling reaches the floor."""
        if floor > DEAD:
            prune(self.scores, self.emission, self.edge_at, self.completion, floor)
            self.complete()

    def multiply(
        self, machines: Sequence[int], most: int, cells: int = MOST_CELLS, *, steps: bool = False
    ) -> Bounds:
        """The product of machines, each of which is inside if there are at most `most` joint states, and the recursion over it.

        Machines that read the previous label stay outside, unless `steps`.
        """
        active = np.array(machines, np.int64)
        bare = self.completion, self.tail, self.total
        arrays = self.handle, self.emission, self.edge_at, self.classes, bare, active
        joint, within, completion, tail, total = bound_jointly(*arrays, most, cells, steps)
        return Bounds(joint, active[within].tolist(), (completion, tail, total))

    def words(self, machines: Sequence[int]) -> int:
        """About the number of words of a key of these machines."""
        plain = self.ground.plain
        return 1 + sum((plain[m].automaton.states - 1).bit_length() for m in machines) // BITS

    def prefixes(
        self,
        machines: Sequence[int],
        deadline: Deadline,
        *,
        floor: int = FORBIDDEN,
        width: int = WIDEST,
        copies: int = 1,
        most: int = MOST_PREFIXES,
        budget: int = -1,
        inside: int = 1,
        bounds: Bounds | None = None,
    ) -> Prefixes:
        """The best labellings under some machines, by label setting; with a budget of violations, the cheapest ones within it.

        Unless `bounds` are given, the machines are multiplied up to `inside` joint states.
        """
        one, (T, S) = self.ground, self.emission.shape
        bounds = bounds or self.multiply(machines, inside, cells_within(MOST_CELLS, S, deadline))
        plain, joint, total, within = one.machines, bounds.joint, bounds.recursion[2], set(bounds.within)
        own = np.array([m for m in machines if budget >= 0 or m not in within], np.int64)
        held = np.zeros(len(one.plain), np.int64)
        held[bounds.within] = 1
        p, at = room_for_prefixes(plain, own, S, len(joint.final), T, int(budget >= 0))
        p.clock[0] = 0
        code = STOPPED
        while code == STOPPED:
            if deadline.passed or at[MADE] > most:
                return Prefixes([], [], total, complete=False)
            options = Options(
                max(floor, DEAD), int(at[STEPS]) + WORK_PER_CALL, False, False, copies, width, budget,
                plain.cost, plain.final, held,
            )  # fmt: skip
            code, p = advance(
                self.handle, self.edge_at, self.classes, joint, own, bounds.recursion, options, p, at
            )
        ends = np.arange(p.level[T], at[MADE])
        ends = ends[p.reach[ends] >= max(floor, DEAD)]
        costs = p.key[ends, -1] if budget >= 0 else 0 * ends
        order = np.lexsort((-p.reach[ends], costs))
        ends, costs = ends[order], costs[order]
        paths = np.empty((len(ends), T), np.int64)
        spell_all(p, ends, paths)
        labels = [one.lattice.labels_of(path) for path in paths]
        values, claim = p.reach[ends].tolist(), int(at[CUT])
        before = np.append(0, np.cumsum(p.reach[: p.level[T + 1]] > max([claim, *values[:1]])))
        left = np.diff(before[p.level]).tolist()
        return Prefixes(labels, values, claim, costs=costs.tolist(), left=left)


def cells_within(most: int, states: int, deadline: Deadline) -> int:
    """At most so many values of a recursion, fewer where a time limit demands it."""
    work = 0, most * states // VECTOR, DIRECT
    return limits_within(work, 1, deadline.remaining)[1] * VECTOR // states


def price_sums(known: Known) -> None:
    """Give multipliers to the sums, by Polyak's steps from 0."""
    one = known.ground
    prices = np.zeros(len(one.plain), np.int64)
    price(one.handle, one.emission, one.classes, prices)
    known.multipliers |= {one.components[m]: prices.item(m) for m in np.flatnonzero(prices).tolist()}


def undominated(result: Prefixes) -> Iterator[int]:
    """Places of the labellings that score more than every cheaper one, cheapest first."""
    best = FORBIDDEN
    for place, (value, cost) in enumerate(zip(result.values, result.costs, strict=True)):
        if value + cost > best:
            best = value + cost
            yield place
