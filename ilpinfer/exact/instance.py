"""Scores and machines for kernels: the record that compiled rules and ground problems fill."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.automata.lattice import StepTable, states_of
from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.grid import HARD
from formulations.problem.folding import RuleMachine
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.exact import limits
from ilpinfer.kernels.counts import NO_COUNTS, Counts
from ilpinfer.kernels.native import Tables, kernels
from ilpinfer.kernels.tables import (
    INSIDE,
    LEAST,
    MOST,
    NO_WINDOWS,
    STATES,
    Machines,
    Scores,
    Tokens,
    Windows,
)

Followed = tuple[tuple[int, ...], frozenset[int], dict[MachineKey, int]]
"""Active machines, machines in the product, and multipliers of sums in grid units."""


@dataclass(frozen=True, eq=False)
class Instance:
    """States with scores, and M machines, for one sequence or for all sequences of a label set.

    Compiled rules also have token classes, and the violations that scores and machines count for each rule.
    """

    scores: Scores
    machines: Machines
    sources: tuple[RuleMachine, ...]
    """The origin of each machine."""
    windows: Windows = NO_WINDOWS
    counts: Counts = NO_COUNTS

    @cached_property
    def tables(self) -> Tables:
        """The arrays as one object."""
        return Tables(self.windows, self.scores, self.machines, self.counts)

    @cached_property
    def keys(self) -> tuple[MachineKey, ...]:
        return tuple(source.key for source in self.sources)

    @cached_property
    def components(self) -> tuple[MachineKey, ...]:
        """The component that each machine counts."""
        return tuple(source.component for source in self.sources)

    @cached_property
    def sums(self) -> Booleans:
        """(M,) which machines are sums that may have a multiplier."""
        return np.asarray(self.machines.sums[:, LEAST] < self.machines.sums[:, MOST])

    @cached_property
    def hard(self) -> Booleans:
        """(M,) which machines belong to hard rules."""
        return np.asarray(self.machines.penalty == HARD)

    @cached_property
    def states(self) -> list[int]:
        """Number of states of each machine."""
        states: list[int] = self.machines.layout[:, STATES].tolist()
        return states

    @cached_property
    def pass_steps(self) -> int:
        """Steps of a pass over one token, padding included."""
        return math.prod(self.scores.edge.shape[1:])

    @cached_property
    def work(self) -> tuple[int, int, int]:
        """Limits of kernels: steps of label setting for each token and for each sequence, and slots of a direct index."""
        return limits.PASSES * self.pass_steps, limits.LEAST_STEPS, limits.DIRECT

    def labels_of(self, states: Integers) -> LabelIds:
        """The label of each state."""
        S, B = self.scores.edge.shape[1], self.scores.labels
        return states if S == B else states % B

    def states_of(self, path: LabelIds) -> Integers:
        """The states (T,) of a labelling."""
        return states_of(path, self.scores.labels, self.scores.edge.shape[1])

    def steps(self, m: int, classes: Integers) -> StepTable:
        """The symbols of a machine on steps into tokens of classes (T,)."""
        symbols = self.sources[m].symbols
        begins, index = np.unique(self.machines.table[classes, m], return_inverse=True)
        values = self.machines.symbols[begins[:, None] + np.arange(symbols[0].size)]
        return StepTable(values.reshape(len(begins), *symbols.shape[1:]), index.reshape(-1))

    def room(self, T: int) -> tuple[Integers, Integers]:
        """Buffers for completions and tails (T, W) of a sequence."""
        size = T, int(self.scores.base[-1]) + self.scores.edge.shape[2]
        return np.empty(size, np.int64), np.empty(size, np.int64)

    def complete(self, tokens: Tokens) -> tuple[int, LabelIds, Integers, Integers]:
        """Score and label ids (T,) of the best labelling without machines, and completions and tails (T, W)."""
        states, room = np.zeros(len(tokens.emission), np.int64), self.room(len(tokens.emission))
        score = kernels.viterbi(self.scores, tokens.emission, tokens.edges, *room, states)
        return score, self.labels_of(states), *room

    def followed(self, marks: Integers) -> Followed:
        """The machines and multipliers of a kernel call, from its marks (2, M)."""
        active, prices = marks.tolist()
        return (
            tuple(m for m, mark in enumerate(active) if mark),
            frozenset(m for m, mark in enumerate(active) if mark == INSIDE),
            {self.components[m]: price for m, price in enumerate(prices) if price},
        )

    def leaf(
        self, active: Iterable[int], inside: Iterable[int], multipliers: Mapping[MachineKey, int]
    ) -> Leaf:
        """The proof by machines, at multipliers in grid units."""
        keys, within = self.keys, set(inside)
        stage = tuple(keys[m] for m in active if m not in within)
        return Leaf(
            {component: price << 10 for component, price in multipliers.items() if price},
            tuple(keys[m] for m in sorted(within)),
            (stage,) if stage else (),
        )


def work_within(work: tuple[int, int, int], length: int, seconds: float | None) -> tuple[int, int, int]:
    """Limits of kernels for sequences of at most `length` tokens; lower if a time limit per sequence requires it."""
    if seconds is None:
        return work
    token, least, slots = work
    steps = int(min(seconds * limits.STEPS_PER_SECOND * limits.KERNEL_SHARE, float(token * length + least)))
    return min(token, steps // length), min(least, steps), slots
