"""The output of the kernel for the best few labellings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np

from formulations.dtypes import Integers
from ilpinfer.core.certificate import MachineKey
from ilpinfer.exact.calls import Entry, Input
from ilpinfer.kernels.decoding import INSIDE
from ilpinfer.kernels.few import NUMBER, decode_few
from ilpinfer.kernels.tables import CODE, NO_LABELLING, NO_PATH, PROVED

EFFORT = 8
"""Steps for a list of labellings, as a multiple of those for the best one: other methods take hundreds of times as long."""


class Ranked(NamedTuple):
    """The best few labellings of one sequence. All but `proved` is read at access.

    Parameters
    ----------
    proved : bool
        Whether they are the best ones under the rules that the tables hold, or there is none.
    lists : Lists
        Lists of this sequence and others.
    place : int
        Number of the sequence among these.
    """

    proved: bool
    lists: "Lists"
    place: int

    @property
    def paths(self) -> Integers:
        """Label ids (k, T), best first, equal ones by label ids."""
        return self.lists.paths_of(self.place)

    @property
    def values(self) -> Integers:
        """Values (k,), grid units."""
        return np.asarray(self.lists.all_values[self.place, : self.lists.number_of(self.place)])

    @property
    def machines(self) -> tuple[MachineKey, ...]:
        """The active machines."""
        return self._machines(1)

    @property
    def product(self) -> frozenset[MachineKey]:
        """The active machines that the lattice was multiplied with."""
        return frozenset(self._machines(INSIDE))

    @property
    def multipliers(self) -> dict[MachineKey, int]:
        """Multipliers of components that are sums, grid units."""
        multipliers, components = self.lists.all_marks[self.place, 1], self.lists.entry.components
        return {components[m]: multipliers.item(m) for m in np.flatnonzero(multipliers).tolist()}

    def _machines(self, least: int) -> tuple[MachineKey, ...]:
        keys, marks = self.lists.entry.keys, self.lists.all_marks[self.place, 0]
        return tuple([keys[m] for m in np.flatnonzero(marks >= least).tolist()])


@dataclass
class Lists(Sequence[Ranked]):
    """The output of `decode_few` for N sequences and at most `top` labellings of each; arrays as there."""

    kernel: ClassVar[Any] = staticmethod(decode_few)
    entry: Entry
    begins: Integers
    limits: tuple[int, int]
    top: int
    all_paths: Integers
    all_values: Integers
    all_results: Integers
    all_marks: Integers

    @classmethod
    def of(cls, entry: Entry, given: Input, begins: Integers, top: int) -> "Lists":
        """Room for the output."""
        N, M, effort = len(given.lengths), len(entry.keys), EFFORT if given.time_limit is None else 1
        token, least, _ = entry.limits_of(max(given.lengths), given.time_limit)
        paths, values = np.empty(int(begins[-1]) * top, np.int64), np.empty((N, top), np.int64)
        rest = np.zeros((N, 3), np.int64), np.zeros((N, 2, M), np.int64)
        return cls(entry, begins, (effort * token, effort * least), top, paths, values, *rest)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Arrays that the kernel fills."""
        return self.all_paths, self.all_values, self.all_results, self.all_marks

    @cached_property
    def proved(self) -> bool:
        """Whether all of it is proved."""
        return bool(np.isin(self.all_results[:, CODE], (PROVED, NO_PATH, NO_LABELLING)).all())

    def __len__(self) -> int:
        return len(self.all_results)

    @overload
    def __getitem__(self, place: int) -> Ranked: ...

    @overload
    def __getitem__(self, place: slice) -> list[Ranked]: ...

    def __getitem__(self, place: int | slice) -> Ranked | list[Ranked]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        proved = self.all_results.item(place, CODE) in (PROVED, NO_PATH, NO_LABELLING)
        return Ranked(proved, self, place)

    def number_of(self, place: int) -> int:
        """The number of labellings."""
        return self.all_results.item(place, NUMBER)

    def paths_of(self, place: int) -> Integers:
        """Label ids (k, T)."""
        begin, end = self.begins[place] * self.top, self.begins[place + 1] * self.top
        return self.all_paths[begin:end].reshape(self.top, -1)[: self.number_of(place)]
