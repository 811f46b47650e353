"""Decoding by compiled rules in kernels: many sequences in one call, without the interpreter's lock."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.compiled.folding import EDGES, MACHINES, Folding
from formulations.compiled.lattice import Lattice
from formulations.compiled.machine import TooManyStates, longest
from formulations.compiled.rules import CompiledRules
from formulations.compiled.vocabulary import TooManyClasses, Vocabulary
from formulations.grid import Grid, add
from ilpinfer.certificate import Part
from ilpinfer.kernels.decoding import CODE, DIRECT, PROVED, UNKNOWN_CLASS, VALUE, decode_batch
from ilpinfer.kernels.handle import together
from ilpinfer.kernels.packing import pack_machines, pack_scores, pack_windows, padded
from ilpinfer.kernels.tables import Integers, Scores

PASSES = 150
"""Label setting that takes as many steps as so many Viterbi passes is left to other methods."""
MOST_POOLS = 8
"""Edge scores of models that tables are kept for."""
MOST_RULES = 1 << 40
"""Grid units that weights and penalties of a sequence may come to where their total need not be looked at closely."""
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Outcome:
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


class Tables:
    """Compiled rules in the form that kernels read; they grow with the tokens met, and may be shared by threads.

    Parameters
    ----------
    rules : for K labels
    """

    def __init__(self, rules: CompiledRules) -> None:
        self.rules, self.folding = rules, Folding(rules)
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        """Forget all tokens."""
        self.vocabulary: Vocabulary = self.folding.vocabulary()
        self._reads = bool(self.vocabulary.patterns)
        self._same = self.vocabulary.rows([""])
        self._pools: list[Grid] = []
        self._handles: dict[tuple[int, int], tuple[Grid, int, Any, list[Part]]] = {}
        self._machines: dict[tuple[int, ...], tuple[Any, list[Part]]] = {}

    def decode(self, trellises: Sequence[Trellis]) -> list[Outcome | None]:
        """The best labellings by the rules of the tables; None for a sequence that they cannot hold."""
        found: list[Outcome | None] = [None] * len(trellises)
        groups: dict[tuple[int, int], list[int]] = {}
        for n, trellis in enumerate(trellises):
            if trellis.lattice.order == 1:
                pool = self._known_pool(trellis.lattice)
                groups.setdefault((id(pool), longest(len(trellis))), []).append(n)
        for places in groups.values():
            chosen = [trellises[n] for n in places]
            try:
                outcomes = self._batch(chosen, self._known_pool(chosen[0].lattice))
            except (TooManyStates, TooManyClasses):
                continue
            for n, outcome in zip(places, outcomes, strict=True):
                found[n] = outcome
        return found

    def _known_pool(self, lattice: Lattice) -> Grid:
        """A pool that tables are kept for, with the same scores, where there is one."""
        pool = lattice.pool
        for known in self._pools:
            if known is pool:
                return known
        if len(pool) == 1:
            for known in self._pools:
                if known.shape == pool.shape and np.array_equal(known, pool):
                    return known
        return pool

    def _batch(self, trellises: Sequence[Trellis], pool: Grid) -> list[Outcome]:
        """Sequences with one pool and up to one length."""
        vocabulary = self.vocabulary
        lengths = [len(trellis) for trellis in trellises]
        begins = np.cumsum([0, *lengths])
        total = int(begins[-1])
        if self._reads:
            tokens = vocabulary.rows([token for trellis in trellises for token in trellis.tokens])
        else:
            tokens = np.zeros(total, np.int64)
        lattices = [trellis.lattice for trellis in trellises]
        emission = (
            lattices[0].node if len(lattices) == 1 else np.concatenate([lattice.node for lattice in lattices])
        )
        steps = NOTHING
        if len(pool) > 1:
            steps = np.zeros(total, np.int64)
            for begin, lattice in zip(begins.tolist(), lattices, strict=False):
                steps[begin + 1 : begin + 1 + len(lattice.step)] = lattice.step
        while True:
            handle, keys = self._handle(pool, lattices[0], tokens)
            paths, results = np.empty(total, np.int64), np.zeros((len(trellises), 5), np.int64)
            masks = np.zeros((len(trellises), len(keys)), np.uint8)
            inputs = emission, begins, tokens, np.arange(total), steps, np.empty((3, 0), np.int64)
            limits = PASSES * emission.shape[1] ** 2, DIRECT
            decode_batch(handle, *inputs, limits, paths, results, masks, np.empty((0, 0), np.int64))
            unknown = np.flatnonzero(results[:, CODE] == UNKNOWN_CLASS)
            if not len(unknown):
                break
            for n in unknown:
                for purpose in range(3):
                    vocabulary.class_of(purpose, tokens[begins[n] : begins[n + 1]])
        return [
            Outcome(
                bool(result[CODE] == PROVED),
                paths[begin:end],
                int(result[VALUE]),
                tuple(keys[m] for m in np.flatnonzero(mask)),
            )
            for result, mask, begin, end in zip(results, masks, begins[:-1], begins[1:], strict=True)
        ]

    def _handle(self, pool: Grid, lattice: Lattice, tokens: Integers) -> tuple[Any, list[Part]]:
        """The tables as one object, and the machine of each place in them."""
        vocabulary = self.vocabulary
        state = vocabulary.changes
        length = longest(lattice.shape[0])
        known = self._handles.get((id(pool), length))
        if known is not None and known[1] == state:
            return known[2], known[3]
        machines, keys = self._packed(length)
        own = len(pool) > 1 and np.array_equal(lattice.step, np.arange(len(pool)))
        scores = self._steps_of(pool, tokens) if own else pack_scores(self.folding, vocabulary, pool)
        handle = together(pack_windows(vocabulary), scores, machines)
        if not own:
            self._handles[id(pool), length] = pool, state, handle, keys
            self._keep(pool)
        return handle, keys

    def _keep(self, pool: Grid) -> None:
        """Keep the tables of a pool, and forget those of the one that was not used for longest."""
        pools = [pool, *(known for known in self._pools if known is not pool)]
        kept = {id(known) for known in pools[:MOST_POOLS]}
        self._handles = {key: value for key, value in self._handles.items() if key[0] in kept}
        self._pools = pools[:MOST_POOLS]

    def _steps_of(self, pool: Grid, tokens: Integers) -> Scores:
        """Scores of one sequence, whose pool has an entry for each of its steps."""
        vocabulary = self.vocabulary
        classes = vocabulary.class_of(EDGES, tokens)[1:]
        scores = pack_scores(self.folding, vocabulary, pool[:1])
        edges = scores.edge[..., : pool.shape[2]].reshape(-1, *pool.shape[1:])
        edge = padded(add(pool, edges[classes] - pool[0]))
        which = np.repeat(np.arange(len(pool))[:, None], len(edges), axis=1)
        return Scores(scores.node, edge, which)

    def _packed(self, length: int) -> tuple[Any, list[Part]]:
        """Machines for the classes met so far; those of other lengths, where they are the same."""
        classes = len(self.vocabulary.truths[MACHINES])
        followed = self.folding.machines(length)
        key = (classes, *(machine.automaton.states for machine in followed))
        if key not in self._machines:
            packed = pack_machines(followed, self.folding, self.vocabulary)
            self._machines = {k: v for k, v in self._machines.items() if k[0] == classes}
            self._machines[key] = packed, [machine.key for machine in followed]
        return self._machines[key]
