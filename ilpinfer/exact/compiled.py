"""Decoding by compiled rules in kernels: one sequence, or many in one call, without the interpreter's lock."""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from formulations import Trellis
from formulations.compiled.folding import EDGES, MACHINES, Folding
from formulations.compiled.machine import TooManyStates, longest
from formulations.compiled.rules import CompiledRules
from formulations.compiled.vocabulary import TooManyClasses, Vocabulary
from formulations.grid import Grid, add, is_forbidden
from ilpinfer.certificate import Part
from ilpinfer.kernels.decoding import CODE, DIRECT, PROVED, UNKNOWN_CLASS, decode_batch
from ilpinfer.kernels.handle import together
from ilpinfer.kernels.packing import pack_machines, pack_scores, pack_windows, padded
from ilpinfer.kernels.tables import Integers, Scores

PASSES = 30
"""Label setting that takes as many steps as so many Viterbi passes is left to other methods."""
MOST_POOLS = 8
"""Edge scores of models that tables are kept for."""
MOST_WEIGHT = 1 << 40
"""Grid units that weights and penalties may come to in all where their total need not be looked at closely."""
NO_STEPS, NO_CLASSES = np.zeros(0, np.int64), np.empty((3, 0), np.int64)
NO_COMPLETIONS = np.empty((0, 0), np.int64)


class Outcome(NamedTuple):
    """One sequence, as far as kernels have come.

    Parameters
    ----------
    proved : whether the labelling is the best one under the rules that the tables hold
    path : label ids (T,), -1 where there is none
    value : of the labelling, grid units
    taken : the machines that were taken up
    """

    proved: bool
    path: Integers
    value: int
    taken: tuple[Part, ...]

    @property
    def incumbent(self) -> Integers | None:
        """The labelling, where there is one that keeps the hard rules of the tables."""
        return None if is_forbidden(self.value) else self.path


class Group(NamedTuple):
    """Sequences that one call of a kernel decodes: they share a pool, and their lengths are near each other."""

    pool: Grid
    length: int
    trellises: list[Trellis]
    places: list[int]


class Tables:
    """Compiled rules in the form that kernels read; they grow with the tokens met, and threads may share them.

    Parameters
    ----------
    rules : for K labels
    """

    def __init__(self, rules: CompiledRules) -> None:
        self.rules, self.folding, self._lock = rules, Folding(rules), Lock()
        self._begin()

    def _begin(self) -> None:
        """Forget all tokens."""
        self._pools: tuple[Grid, ...] = ()
        self._handles: dict[tuple[int, int], tuple[Grid, int, Any, list[Part]]] = {}
        self._machines: dict[tuple[int, ...], tuple[Any, list[Part]]] = {}
        vocabulary = self.folding.vocabulary()
        vocabulary.rows([""])
        self.vocabulary: Vocabulary = vocabulary

    def holds(self, trellis: Trellis) -> bool:
        """Whether kernels can decode a sequence as far as the rules go that look at neighbours only."""
        if trellis.lattice.order > 1 or len(trellis) * self.folding.weight > MOST_WEIGHT:
            return False
        silent = not self.folding.reads and not self.folding.left
        return self.folding.apart and (silent or any(trellis.tokens))

    def decode(self, trellises: Sequence[Trellis]) -> list[Outcome | None]:
        """The best labellings by the rules of the tables; None for a sequence that they cannot hold."""
        found: list[Outcome | None] = [None] * len(trellises)
        groups: dict[tuple[int, int], Group] = {}
        for place, trellis in enumerate(trellises):
            if self.holds(trellis):
                pool, length = self._known(trellis.lattice.pool), longest(len(trellis))
                group = groups.setdefault((id(pool), length), Group(pool, length, [], []))
                group.trellises.append(trellis)
                group.places.append(place)
        for group in groups.values():
            try:
                outcomes = self._batch(group)
            except (TooManyStates, TooManyClasses):
                continue
            for place, outcome in zip(group.places, outcomes, strict=True):
                found[place] = outcome
        return found

    def _known(self, pool: Grid) -> Grid:
        """A pool with the same scores that tables are kept for, where there is one."""
        for known in self._pools:
            if known is pool:
                return known
        if len(pool) == 1:
            for known in self._pools:
                if known.shape == pool.shape and np.array_equal(known, pool):
                    return known
        return pool

    def _batch(self, group: Group) -> list[Outcome]:
        trellises, lattices = group.trellises, [trellis.lattice for trellis in group.trellises]
        N, begins = len(trellises), np.cumsum([0, *map(len, trellises)])
        total, words = int(begins[-1]), [token for trellis in trellises for token in trellis.tokens]
        emission = lattices[0].node if N == 1 else np.concatenate([lattice.node for lattice in lattices])
        steps = NO_STEPS
        if len(group.pool) > 1:
            steps = np.zeros(total, np.int64)
            for begin, lattice in zip(begins.tolist(), lattices, strict=False):
                steps[begin + 1 : begin + 1 + len(lattice.step)] = lattice.step
        limits, unknown = (PASSES * emission.shape[1] ** 2, DIRECT), set[int]()
        while True:
            with self._lock:
                tokens = self._rows(words)
                self._enter([tokens[begins[n] : begins[n + 1]] for n in unknown])
                handle, keys = self._handle(group, tokens)
            inputs = emission, begins, tokens, np.arange(total), steps, NO_CLASSES
            paths, results = np.empty(total, np.int64), np.zeros((N, 5), np.int64)
            masks = np.zeros((N, len(keys)), np.uint8)
            decode_batch(handle, *inputs, limits, paths, results, masks, NO_COMPLETIONS)
            more = np.flatnonzero(results[:, CODE] == UNKNOWN_CLASS).tolist()
            unknown.update(more)
            if not more:
                return [
                    Outcome(
                        code == PROVED, paths[begin:end], value, tuple(keys[m] for m in np.flatnonzero(mask))
                    )
                    for (code, value, *_), mask, begin, end in zip(
                        results.tolist(), masks, begins[:-1].tolist(), begins[1:].tolist(), strict=True
                    )
                ]

    def _rows(self, words: Sequence[str]) -> Integers:
        """The row of each token in the vocabulary, which is begun anew where it is full."""
        if not self.folding.reads:
            return np.zeros(len(words), np.int64)
        if self.vocabulary.full:
            self._begin()
        return self.vocabulary.rows(words)

    def _enter(self, sequences: Iterable[Integers]) -> None:
        """Enter the classes of tokens."""
        for tokens in sequences:
            for purpose in range(3):
                self.vocabulary.class_of(purpose, tokens)

    def _handle(self, group: Group, tokens: Integers) -> tuple[Any, list[Part]]:
        """The tables as one object, and the machine of each place in them."""
        pool, lattice, vocabulary = group.pool, group.trellises[0].lattice, self.vocabulary
        changes = vocabulary.changes
        known = self._handles.get((id(pool), group.length))
        if known is not None and known[1] == changes:
            return known[2], known[3]
        machines, keys = self._packed(group.length)
        alone = len(group.trellises) == 1 and len(pool) > 1
        own = alone and np.array_equal(lattice.step, np.arange(len(pool)))
        scores = self._steps_of(pool, tokens) if own else pack_scores(self.folding, vocabulary, pool)
        handle = together(pack_windows(vocabulary), scores, machines)
        if not own:
            self._keep(pool, group.length, (pool, changes, handle, keys))
        return handle, keys

    def _keep(self, pool: Grid, length: int, entry: tuple[Grid, int, Any, list[Part]]) -> None:
        """Keep the tables of a pool, and forget those of the one that was new first."""
        if not any(known is pool for known in self._pools):
            self._pools = (pool, *self._pools)[:MOST_POOLS]
        kept = set(map(id, self._pools))
        handles = {key: value for key, value in self._handles.items() if key[0] in kept}
        self._handles = {**handles, (id(pool), length): entry}

    def _steps_of(self, pool: Grid, tokens: Integers) -> Scores:
        """Scores of one sequence, whose pool has an entry for each of its steps."""
        vocabulary = self.vocabulary
        classes = vocabulary.class_of(EDGES, tokens)[1:]
        scores = pack_scores(self.folding, vocabulary, np.zeros_like(pool[:1]))
        edges = scores.edge[..., : pool.shape[2]]
        which = np.repeat(np.arange(len(pool))[:, None], len(edges), axis=1)
        return Scores(scores.node, padded(add(pool, edges[classes])), which)

    def _packed(self, length: int) -> tuple[Any, list[Part]]:
        """Machines for the classes met so far; those for other lengths, where they are the same."""
        classes = len(self.vocabulary.truths[MACHINES])
        followed = self.folding.machines(length)
        key = (classes, *(machine.automaton.states for machine in followed))
        if key not in self._machines:
            packed = (
                pack_machines(followed, self.folding, self.vocabulary),
                [machine.key for machine in followed],
            )
            self._machines = {k: v for k, v in self._machines.items() if k[0] == classes} | {key: packed}
        return self._machines[key]
