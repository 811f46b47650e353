"""Inputs and outputs of the decoding kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np

from formulations import Trellis
from formulations.dtypes import Booleans, Integers
from formulations.grid import Grid, is_forbidden
from ilpinfer.core.certificate import MachineKey
from ilpinfer.kernels.decoding import INSIDE, decode_batch, decode_one
from ilpinfer.kernels.tables import CODE, PROVED, UNKNOWN_CLASS, VALUE

SHARE = 1 / 4
"""Share of a time limit for label setting, so that passes and products, which have no limit of their own, end in time."""
STEPS_PER_SECOND = 2e8
"""Speed of label setting and Viterbi on a slow machine. Sequences that might pass a time limit go to methods with a clock."""
NO_STEPS = np.zeros(0, np.int64)


class Single(NamedTuple):
    """The output of `decode_one` for one sequence."""

    entry: "Entry"
    length: int
    buffer: Integers

    def path(self, _: int) -> Integers:
        """Label ids (T,)."""
        return self.buffer[: self.length]

    def results(self, _: int) -> Integers:
        """(6,) see `kernels.tables.CODE`."""
        return self.buffer[self.length : self.length + 6]

    def marks(self, _: int) -> Integers:
        """(2, M) see `decode_batch`."""
        return self.buffer[self.length + 6 :].reshape(2, -1)


class Outcome(NamedTuple):
    """The result of kernels for one sequence. All but `proved` is read at access.

    Parameters
    ----------
    proved : bool
        Whether the labelling is the best one under the rules that the tables hold.
    buffer : Single or Several
        Buffer of this sequence and perhaps of others.
    place : int
        Number of the sequence among these.
    """

    proved: bool
    buffer: "Single | Several"
    place: int

    @property
    def path(self) -> Integers:
        """Label ids (T,), -1 where there is none."""
        return self.buffer.path(self.place)

    @property
    def value(self) -> int:
        """Value of the labelling, grid units."""
        return self.buffer.results(self.place).item(VALUE)

    @property
    def machines(self) -> tuple[MachineKey, ...]:
        """The active machines."""
        return self._machines(self._marks[0] != 0)

    @property
    def product(self) -> frozenset[MachineKey]:
        """The active machines that the lattice was multiplied with."""
        return frozenset(self._machines(self._marks[0] == INSIDE))

    @property
    def multipliers(self) -> dict[MachineKey, int]:
        """Multipliers of components that are sums, grid units."""
        multipliers, components = self._marks[1], self.buffer.entry.components
        return {components[m]: multipliers.item(m) for m in multipliers.nonzero()[0].tolist()}

    @property
    def _marks(self) -> Integers:
        return self.buffer.marks(self.place)

    def _machines(self, sums_within: Booleans) -> tuple[MachineKey, ...]:
        keys = self.buffer.entry.keys
        return tuple([keys[m] for m in sums_within.nonzero()[0].tolist()])

    @property
    def incumbent(self) -> Integers | None:
        """The labelling, where there is one that keeps the hard rules of the tables."""
        return None if is_forbidden(self.value) else self.path


@dataclass
class Several(Sequence[Outcome]):
    """The output of `decode_batch` for N sequences. Methods as of `Single`."""

    kernel: ClassVar[Any] = staticmethod(decode_batch)
    entry: "Entry"
    begins: Integers
    limits: tuple[int, int, int]
    paths: Integers
    all_results: Integers
    all_marks: Integers

    @classmethod
    def of(cls, entry: "Entry", given: "Input", begins: Integers) -> "Several":
        """Room for the output."""
        N, M = len(given.lengths), len(entry.keys)
        limits = entry.limits_of(max(given.lengths), given.time_limit)
        arrays = np.empty(begins[-1], np.int64), np.zeros((N, 6), np.int64), np.zeros((N, 2, M), np.int64)
        return cls(entry, begins, limits, *arrays)

    @property
    def arrays(self) -> tuple[Integers, ...]:
        """Arrays that the kernel fills."""
        return self.paths, self.all_results, self.all_marks

    @cached_property
    def proved(self) -> bool:
        """Whether all of it is proved."""
        return int(self.all_results[:, CODE].max()) == PROVED

    def __len__(self) -> int:
        return len(self.all_results)

    @overload
    def __getitem__(self, place: int) -> Outcome: ...

    @overload
    def __getitem__(self, place: slice) -> list[Outcome]: ...

    def __getitem__(self, place: int | slice) -> Outcome | list[Outcome]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        return Outcome(self.all_results.item(place, CODE) == PROVED, self, place)

    def path(self, place: int) -> Integers:
        return self.paths[self.begins[place] : self.begins[place + 1]]

    def results(self, place: int) -> Integers:
        return np.asarray(self.all_results[place])

    def marks(self, place: int) -> Integers:
        return np.asarray(self.all_marks[place])


class Entry(NamedTuple):
    """Tables as one object for kernels.

    Parameters
    ----------
    pool : Grid
        Edge scores of the model.
    changes : int
        Changes of the vocabulary, before they were made.
    handle : object
        Windows, scores and machines.
    keys : list of MachineKey
        Machine of each place in the tables.
    components : list of MachineKey
        And which component of a rule it belongs to.
    limits : tuple of (int, int, int)
        Limits of `decode_batch`.
    """

    pool: Grid
    changes: int
    handle: Any
    keys: list[MachineKey]
    components: list[MachineKey]
    limits: tuple[int, int, int]

    def limits_of(self, length: int, time_limit: float | None) -> tuple[int, int, int]:
        """The limits for sequences of at most so many tokens within a time limit for each."""
        if time_limit is None:
            return self.limits
        token, least, slots = self.limits
        steps = int(min(time_limit * STEPS_PER_SECOND * SHARE, float(token * length + least)))
        return min(token, steps // length), min(least, steps), slots


class Input(NamedTuple):
    """Sequences that one call of a kernel decodes.

    Parameters
    ----------
    lengths : list of int
        Lengths of N sequences.
    words : sequence of str
        (total,) texts.
    emission : Grid or None
        (total, K) grid scores of labels; None where the texts tell them.
    pool : Grid
        (P, K, K) edge scores.
    steps : ndarray of int, default NO_STEPS
        (total,) the pool's entry of the step into each token; (0,) where it has one only.
    own : bool, default False
        Whether the pool has one entry for each step of a single sequence.
    time_limit : float, optional
        Seconds for each sequence.
    """

    lengths: list[int]
    words: Sequence[str]
    emission: Grid | None
    pool: Grid
    steps: Integers = NO_STEPS
    own: bool = False
    time_limit: float | None = None


def input_of(trellises: Sequence[Trellis], pool: Grid, time_limit: float | None) -> Input:
    """Sequences with one pool."""
    lattices = [trellis.lattice for trellis in trellises]
    lengths = [len(trellis.tokens) for trellis in trellises]
    emission, own, steps = lattices[0].node, False, NO_STEPS
    words: Sequence[str] = trellises[0].tokens
    if len(lattices) > 1:
        emission = np.concatenate([lattice.node for lattice in lattices])
        words = list(chain.from_iterable([trellis.tokens for trellis in trellises]))
    if len(pool) > 1:
        steps = np.concatenate([steps for lattice in lattices for steps in ([0], lattice.step)])
        own = len(lattices) == 1 and np.array_equal(lattices[0].step, np.arange(len(pool)))
    return Input(lengths, words, emission, pool, steps, own, time_limit)


def single(
    entry: Entry, emission: Grid, tokens: Integers, steps: Integers, own: bool, time_limit: float | None
) -> Outcome | None:
    """One sequence; None where a class is new.

    Parameters
    ----------
    steps : ndarray of int
        As in `Input`.
    own : bool
        Whether the scores (T, K) are those of its tokens, rather than (V, K) of the vocabulary.
    """
    T = len(tokens)
    buffer = np.empty(T + 6 + 2 * len(entry.keys), np.int64)
    code = decode_one(entry.handle, emission, tokens, steps, own, entry.limits_of(T, time_limit), buffer)
    if code == UNKNOWN_CLASS:
        return None
    return Outcome(code == PROVED, Single(entry, T, buffer), 0)
