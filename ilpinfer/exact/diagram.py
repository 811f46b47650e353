"""Decision diagrams: the labellings that can still be worth a floor, in layers that tell more and more of them apart.

A node stands for the prefixes that agree in the last state and in the states of the machines that have followed so far.
Letting further machines follow makes nodes of them that differ in those too, and the best through each step, which is
exact for the machines so far, says which steps are left out (incremental refinement of decision diagrams: Hadzic et
al., CP 2008; Bergman et al. 2016, Decision Diagrams for Optimization, chapters 3 to 5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from formulations.grid import FORBIDDEN
from ilpinfer.deadline import Deadline
from ilpinfer.exact.follow import grown_memo, memo_of
from ilpinfer.exact.guide import Alive, Guide, Integers, Path, given_back, joint_symbols
from ilpinfer.exact.parts import Priced, pack_parts
from ilpinfer.kernels import diagram as kernels

_WORK_PER_CALL = 200_000
_LARGEST_MEMO = 1_000_000
"""Entries of what is kept about joint states and symbols, beyond which it does not grow any more."""
MOST_NODES, MOST_STEPS = 2_000_000, 6_000_000
"""Of a diagram, with 36 and 16 bytes each."""
_SAMPLE = 20_000
"""Steps by whose bests the floor is chosen that leaves few enough."""


class Room:
    """Memory in which diagrams are made, one after the other; the system hands out what is used of it."""

    def __init__(self) -> None:
        self.nodes = [np.empty(MOST_NODES, kind) for kind in (np.int32, *3 * [np.int64], *2 * [np.int32])]
        self.steps = [np.empty(MOST_STEPS, kind) for kind in (np.int32, np.int64)]
        self.symbols = np.empty(MOST_STEPS, np.int32)
        self.table = np.empty(256, np.int64), np.empty(256, np.int32)

    def arrays(self, layers: Integers) -> tuple:
        """State, value, layers, first, target, score; old node, joint state and bound; hash table."""
        state, value, first, bound, coarse, joint = self.nodes
        return state, value, layers, first, *self.steps, coarse, joint, bound, self.table

    def widen(self) -> None:
        """Twice the room in the hash table."""
        n = 2 * len(self.table[0])
        self.table = np.empty(n, np.int64), np.empty(n, np.int32)


@dataclass(frozen=True)
class Diagram:
    """Labellings in layers, one a token after that of the root.

    Parameters
    ----------
    guide : whose lattice the states are of
    state, value, ahead : (N,) last state of a node, -1 for the root; the best that leads to it, and that follows it
    layers : (T+2,) where the nodes of each layer begin
    first, target, score : where the steps of each node begin (N+1,), where they lead, and what they are worth
    end : what nodes of the last layer are worth more
    back : grid units that are given back for charges still among the scores
    left_out : no labelling that is left out is worth more, grid units, if it is worth the floor
    """

    guide: Guide
    state: NDArray[np.int32]
    value: Integers
    layers: Integers
    first: Integers
    target: NDArray[np.int32]
    score: Integers
    end: Integers
    ahead: Integers
    back: int
    left_out: int

    @property
    def empty(self) -> bool:
        """Whether no labelling is left."""
        return len(self.state) == 0

    @property
    def bound(self) -> int:
        """On every labelling, grid units; `FORBIDDEN` for none."""
        return max(self.left_out, self.best)

    @property
    def best(self) -> int:
        """On the labellings that are left."""
        return FORBIDDEN if self.empty else int(self.ahead[0]) + self.back

    @property
    def path(self) -> Path:
        """Label ids (T,) of the best labelling, the first ones by label ids."""
        states = np.empty(len(self.layers) - 2, np.int64)
        kernels.trace(self.state, self.first, self.target, self.score, self.ahead, states)
        return self.guide.lattice.labels_of(states)

    @property
    def _arrays(self) -> tuple:
        return self.state, self.value, self.layers, self.first, self.target, self.score, self.end, self.ahead

    def copy(self) -> "Diagram":
        """One that can be used up."""
        return replace(self, target=self.target.copy(), score=self.score.copy())

    def completed(self, deadline: Deadline) -> "Diagram | None":
        """With `ahead` worked out; None past the deadline."""
        T = len(self.layers) - 2
        stretch = max(1, 5 * _WORK_PER_CALL * T // (len(self.target) + 1))
        for last in range(T, -1, -stretch):
            if deadline.passed:
                return None
            steps = self.first, self.target, self.score, self.end, self.ahead
            kernels.complete(self.layers, *steps, last, max(0, last - stretch + 1))
        return self

    def thinned(self, floor: int, most: int) -> "Diagram":
        """Without what cannot reach the floor, nor, where more than about `most` steps would be left, the worst.

        What was there before is used up.
        """
        every = len(self.target) // _SAMPLE + 1
        if len(self.target) > most:
            found = np.empty(len(self.target) // every + 1, np.int64)
            steps = self.value, self.first, self.target, self.score, self.ahead
            found = found[: kernels.marginals(*steps, every, found)]
            keep = min(len(found), most // every + 1)
            floor = max(floor, int(np.partition(found, -keep)[-keep]) + self.back)
        state, number = np.empty_like(self.state), np.empty(len(self.state), np.int32)
        value, ahead, first = (np.empty_like(array) for array in (self.value, self.ahead, self.first))
        layers, end = np.empty_like(self.layers), np.empty_like(self.end)
        made = state, value, layers, first, end, ahead
        steps, left = kernels.thin(self._arrays, floor - self.back, number, made)
        n = layers[-1]
        return replace(
            self,
            state=state[:n],
            value=value[:n],
            layers=layers,
            first=first[: n + 1],
            target=self.target[:steps].copy(),
            score=self.score[:steps].copy(),
            end=end[: n - layers[-2]],
            ahead=ahead[:n],
            left_out=max(self.left_out, left + self.back if left > FORBIDDEN else FORBIDDEN),
        )

    def multiplied(
        self,
        parts: Sequence[Priced],
        prices: Mapping[tuple[int, int], int],
        deadline: Deadline,
        room: Room,
        *,
        floor: int,
        most: int,
    ) -> "Diagram | None":
        """The diagram that the machines of `parts` follow too; None past the deadline, or where it gets too large.

        Parameters
        ----------
        prices : grid units a unit of weight, of the sums charged so far, by key
        floor : grid units; what cannot reach it is left out
        most : about how many steps may be left
        """
        T = len(self.layers) - 2
        packed, flags = pack_parts(list(parts), self.guide.lattice)
        symbol, table, read = joint_symbols(self.guide.lattice, parts)
        worth, ahead = _charges(parts, prices, read), self.guide.futures(prices).of(parts)
        memo = memo_of(64, len(parts) + 1 + int(flags.max(initial=-1)), read.shape[1])
        symbols = room.symbols
        arrays = self.state, self.layers, self.first, self.target
        kernels.read_steps(*arrays, self.guide.lattice.base, symbol, table, symbols)
        back = self.back - sum(given_back(part, prices[part.key]) for part in parts if part.key in prices)
        made = room.arrays(np.zeros(T + 2, np.int64))
        made[0][0], made[1][0], made[2][:2], made[6][0], made[7][0] = -1, 0, (0, 1), 0, 0
        counts = np.array([0, 1, 0, 1, FORBIDDEN])
        width = max(64, 4 * most * len(self.state) // (T * (len(self.target) + 1)))
        while counts[0] < T:
            if deadline.passed:
                return None
            machines = packed, flags, read, symbols, memo, worth, ahead
            limits = back, floor, width, _WORK_PER_CALL
            code = kernels.multiply(self._arrays, machines, made, counts, *limits)
            if code == kernels.MEMO:
                if memo[1].size > _LARGEST_MEMO:
                    return None
                memo = grown_memo(memo)
            elif code == kernels.SLOTS:
                room.widen()
                made = room.arrays(made[2])
            elif code == kernels.FULL:
                return None
        nodes, steps = int(counts[1]), int(counts[2])
        state, value, layers, first, target, score, coarse, joint, *_ = made
        end = np.empty(nodes - layers[-2], np.int64)
        at = self.layers[-2], layers[-2]
        kernels.finish(packed, flags, memo, value, joint, coarse, self.end, *at, end)
        diagram = replace(
            self,
            state=state[:nodes],
            value=value[:nodes],
            layers=layers,
            first=first[: nodes + 1],
            target=target[:steps],
            score=score[:steps],
            end=end,
            ahead=np.empty(nodes, np.int64),
            back=back,
            left_out=max(self.left_out, int(counts[4])),
        ).completed(deadline)
        return diagram and diagram.thinned(floor, most)


def unfolded(
    guide: Guide, prices: Integers, alive: Alive, deadline: Deadline, room: Room, *, floor: int, most: int
) -> Diagram | None:
    """The diagram of a lattice, no machine followed yet, and sums charged as in a guide; None where it is too large.

    Parameters
    ----------
    guide, prices : what the sums are charged, grid units (R,)
    alive : the states that each token can have
    floor, most : as in `multiplied`
    """
    lattice, T = guide.lattice, len(guide.lattice.node)
    nodes, steps = len(alive.states) + 1, alive.steps + int(alive.begins[1])
    if nodes >= MOST_NODES or steps > MOST_STEPS or deadline.passed:
        return None
    charge = prices @ guide.weights if len(guide.charged) else np.zeros(max(1, guide.read.shape[1]), np.int64)
    made = state, value, layers, first, target, score = room.arrays(np.zeros(T + 2, np.int64))[:6]
    scores = lattice.node, lattice.pool, lattice.step, lattice.base, alive.states, alive.begins
    steps = kernels.unfold(*scores, (guide.symbol, guide.table, charge), made)
    back = sum(given_back(part, int(price)) for part, price in zip(guide.charged, prices, strict=True))
    diagram = Diagram(
        guide,
        state[:nodes],
        value[:nodes],
        layers,
        first[: nodes + 1],
        target[:steps],
        score[:steps],
        np.zeros(layers[-1] - layers[-2], np.int64),
        np.empty(nodes, np.int64),
        back,
        FORBIDDEN,
    ).completed(deadline)
    return diagram and diagram.thinned(floor, most)


def _charges(
    parts: Sequence[Priced], prices: Mapping[tuple[int, int], int], read: NDArray[np.int32]
) -> Integers:
    """What joint symbols give back of the charges (J,)."""
    worth = np.zeros(max(1, read.shape[1]), np.int64)
    for part, symbols in zip(parts, read, strict=True):
        if prices.get(part.key) and part.total is not None:
            worth += prices[part.key] * part.total.weights[symbols]
    return worth
