"""A relaxation of a problem: multipliers in scores and machines, pruning of states, and bounded searches over prefixes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.instance import Instance, work_within
from ilpinfer.kernels.native import JointProduct, Search, kernels
from ilpinfer.kernels.tables import DEAD, Tokens


@dataclass(frozen=True)
class Prefixes:
    """The result of a search over prefixes."""

    paths: list[LabelIds]
    values: list[int]
    left_out: int
    complete: bool = True
    costs: Sequence[int] = ()
    left: Sequence[int] = ()
    """Per token, the number of distinct prefixes in a proof of the best value or of the part left out."""

    def exact(self, floor: int) -> bool:
        """Whether the first labelling is the best at or above the floor, or there is none."""
        return self.complete and self.left_out < (self.values[0] if self.paths else max(floor, DEAD))


class Bounds(NamedTuple):
    """A product of the machines `within`, its recursion, and the best value."""

    joint: JointProduct
    within: list[int]
    total: int


class Relaxation:
    """The scores and machines of a problem with multipliers applied."""

    def __init__(self, one: Instance, tokens: Tokens, multipliers: Mapping[MachineKey, int]) -> None:
        self.bare = self.instance = one
        self.tokens = tokens._replace(emission=tokens.emission.copy())
        prices = np.array(
            [multipliers.get(c, 0) if s else 0 for c, s in zip(one.components, one.sums, strict=True)],
            np.int64,
        )
        if prices.any():
            edge, cost, last, owing, charged, emission, edges = kernels.reprice(one.tables, tokens, prices)
            fixed = np.zeros_like(one.machines.sums)
            machines = one.machines._replace(cost=cost, final=last, owing=owing, charged=charged, sums=fixed)
            self.instance = replace(one, scores=one.scores._replace(edge=edge), machines=machines)
            self.tokens = Tokens(emission, edges, tokens.classes)
        self.complete()

    def complete(self) -> None:
        """Compute the best completions, the bound, and the best labelling without machines."""
        self.total, self.path, self.completion, self.tail = self.instance.complete(self.tokens)

    def expect(self, completion: Integers) -> None:
        """Use other best completions (T, S); the bound of a prefix is then no bound on its labellings."""
        S = completion.shape[1]
        self.completion[:, :S] = completion
        self.tail[:, :S] = np.maximum(self.tokens.emission + completion, FORBIDDEN)

    def prune(self, floor: int) -> None:
        """Remove the states through which no labelling reaches the floor."""
        if floor > DEAD:
            emission, edges, _ = self.tokens
            kernels.prune(self.instance.scores, emission, edges, self.completion, floor)
            self.complete()

    def multiply(
        self, machines: Sequence[int], most: int, cells: int = kernels.MOST_CELLS, *, steps: bool = False
    ) -> Bounds:
        """The product of machines, each included while there are at most `most` joint states, and the recursion over it.

        Machines that read the previous label stay outside, unless `steps`.
        """
        active = np.array(machines, np.int64)
        bare = self.completion, self.tail, self.total
        joint = JointProduct(self.instance.tables, self.tokens, *bare, active, most, cells, steps, FORBIDDEN)
        return Bounds(joint, active[joint.inside].tolist(), joint.total)

    def words(self, machines: Sequence[int]) -> int:
        """Approximate number of words of a key of these machines."""
        return 1 + sum((self.bare.states[m] - 1).bit_length() for m in machines) // kernels.BITS

    def prefixes(
        self,
        machines: Sequence[int],
        deadline: Deadline,
        *,
        floor: int = FORBIDDEN,
        width: int = kernels.WIDEST,
        copies: int = 1,
        greedy: bool = False,
        most: int = limits.MOST_PREFIXES,
        budget: int = -1,
        inside: int = 1,
        bounds: Bounds | None = None,
    ) -> Prefixes:
        """The best labellings under some machines, by label setting; with a budget of violations, the cheapest within it.

        Unless `bounds` are given, the machines are multiplied up to `inside` joint states. A greedy search keeps the prefixes with the
        best scores so far.
        """
        S = self.tokens.emission.shape[1]
        bounds = bounds or self.multiply(machines, inside, cells_within(kernels.MOST_CELLS, S, deadline))
        search = self.search(machines, bounds, floor, width, copies, greedy=greedy, budget=budget)
        while True:
            if deadline.passed or search.made > most:
                return Prefixes([], [], bounds.total, complete=False)
            if search.advance(limits.WORK_PER_CALL):
                break
        reached, keys, paths = search.labellings()
        costs = keys[:, -1] if budget >= 0 else np.zeros(len(keys), np.int64)
        order = np.lexsort((-reached, costs))
        labels = [self.bare.labels_of(path) for path in paths[order]]
        values, claim = reached[order].tolist(), search.cut
        left = search.above(max([claim, *values[:1]]))
        return Prefixes(labels, values, claim, costs=costs[order].tolist(), left=left)

    def search(
        self,
        machines: Sequence[int],
        bounds: Bounds,
        floor: int,
        width: int = kernels.WIDEST,
        copies: int = 1,
        *,
        greedy: bool = False,
        budget: int = -1,
    ) -> Search:
        """A search over prefixes, not started."""
        unpriced, within = self.bare.machines, set(bounds.within)
        own = np.array([m for m in machines if budget >= 0 or m not in within], np.int64)
        held = np.zeros(len(self.bare.sources), np.int64)
        held[bounds.within] = 1
        account = budget, unpriced.cost, unpriced.final, held
        options = max(floor, DEAD), width, copies, greedy, account
        return Search(self.instance.tables, self.tokens, bounds.joint, own, *options)


def cells_within(most: int, states: int, deadline: Deadline) -> int:
    """The largest number of values of a recursion; smaller if a time limit requires it."""
    work = 0, most * states // kernels.VECTOR, limits.DIRECT
    return work_within(work, 1, deadline.remaining)[1] * kernels.VECTOR // states


def undominated(result: Prefixes) -> Iterator[int]:
    """Indices of the labellings that score more than every cheaper labelling, cheapest first."""
    best = FORBIDDEN
    for place, (value, cost) in enumerate(zip(result.values, result.costs, strict=True)):
        if value + cost > best:
            best = value + cost
            yield place
