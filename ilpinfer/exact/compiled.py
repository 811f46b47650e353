"""Decoding by compiled rules in kernels: one sequence, or many in one call, without the interpreter's lock."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.automata.machine import TooManyStates, longest
from formulations.dtypes import Integers
from formulations.forks import fork_safe
from formulations.grid import SPARE, Grid, add
from formulations.problem.compiled_rules import CompiledRules, compile_rules
from formulations.problem.folding import EDGES, MACHINES, Folding
from formulations.problem.vocabulary import TooManyClasses, Vocabulary
from ilpinfer.core.certificate import MachineKey
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.exact.calls import NO_STEPS, STEPS_PER_SECOND, Entry, Input, Outcome, Several, input_of, single
from ilpinfer.exact.lists import Lists, Ranked
from ilpinfer.kernels.decoding import DIRECT
from ilpinfer.kernels.handle import together
from ilpinfer.kernels.packing import pack_machines, pack_scores, pack_windows, pad
from ilpinfer.kernels.tables import CODE, UNKNOWN_CLASS, Scores
from ilpinfer.kernels.warming import Stage, example_trellis
from ilpinfer.kernels.work import Steps, Work, finished

Read = TypeVar("Read")
Output = TypeVar("Output", Several, Lists)

PASSES = 30
"""Limit on the steps of label setting, in Viterbi passes, before other methods take over."""
LEAST_STEPS = 2**22
"""Steps that are granted to any sequence, since other methods have larger start-up costs."""
MOST_POOLS = 8
"""Number of pools of edge scores for which tables are kept."""
MOST_SCORES = 2**22
"""Scores of the tokens, or of the classes of tokens, beyond which new tables are made; an eighth of it for a pool that is kept."""


class Tables:
    """Compiled rules as tables for kernels. Tables grow with new tokens, and threads may share them.

    Parameters
    ----------
    rules : CompiledRules
        Rules for K labels.
    first, last : Grid, optional
        (K,) grid scores of the first and the last token that a model adds for every sequence.
    """

    def __init__(self, rules: CompiledRules, first: Grid | None = None, last: Grid | None = None) -> None:
        self.rules, self.folding, self._lock = rules, Folding(rules, first, last), fork_safe(Lock())
        self._size = len(rules.labels)
        self.vocabulary: Vocabulary = self.folding.vocabulary()
        self.vocabulary.rows([""])
        self._pools: tuple[tuple[Grid, bytes], ...] = ()
        self._kinds: dict[int, int] = {}
        self._first: dict[tuple[int, ...], int] = {}
        self._entries: dict[tuple[int, int], Entry] = {}
        self._machines: dict[tuple[int, ...], tuple[Any, list[MachineKey], list[MachineKey]]] = {}

    @property
    def full(self) -> bool:
        """Whether they hold as much as they may, so that new tables must be made."""
        classes = len(self.vocabulary.truths[EDGES])
        return self.vocabulary.full or (classes * self._size**2 > MOST_SCORES and classes > 1)

    def holds(self, trellis: Trellis, time_limit: float | None = None) -> bool:
        """Whether kernels can decode a sequence in time under the rules on tokens and their neighbours."""
        T, folding = len(trellis.tokens), self.folding
        if (
            trellis.lattice.node.shape[1] != self._size
            or T * folding.weight > SPARE
            or not folding.independent
        ):
            return False
        if time_limit is not None and not self.in_time(T, time_limit):
            return False
        return folding.ignores_tokens or any(trellis.tokens)

    def in_time(self, length: int, time_limit: float) -> bool:
        """Whether a Viterbi pass over a sequence certainly takes much less than a time limit."""
        return 4 * length * self._size**2 < time_limit * STEPS_PER_SECOND

    def decode_one(self, trellis: Trellis, time_limit: float | None = None) -> Outcome | None:
        """As `decode`, for a single sequence."""
        if not self.holds(trellis, time_limit):
            return None
        lattice, words = trellis.lattice, trellis.tokens
        pool, tokens = self._known(lattice.pool), None
        if len(pool) == 1:
            with self._lock:
                entry = self._entries.get((id(pool), longest(len(words))))
                if entry is not None and entry.changes == self.vocabulary.changes:
                    tokens = self._known_rows(words)
            if entry is not None and tokens is not None:
                outcome = single(entry, lattice.node, tokens, NO_STEPS, True, time_limit)
                if outcome is not None:
                    return outcome
        return self._one(input_of([trellis], pool, time_limit))

    def _one(self, given: Input) -> Outcome | None:
        """A single sequence whose tokens or classes may be new."""
        with self._lock:
            tokens = self._rows(given.words)
            try:
                for purpose in range(3):
                    self.vocabulary.class_of(purpose, tokens)
                entry = self._entry(given, longest(len(tokens)), tokens)
            except (TooManyStates, TooManyClasses):
                return None
            emission, _ = self._emission(given, tokens)
        return single(entry, emission, tokens, given.steps, given.emission is not None, given.time_limit)

    def _known_rows(self, words: Sequence[str]) -> Integers | None:
        """The rows of tokens; None unless all are known."""
        if not self.folding.reads_tokens:
            return np.zeros(len(words), np.int64)
        return self.vocabulary.known_rows(words)

    def decode(
        self, trellises: Sequence[Trellis], time_limit: float | None = None
    ) -> Steps[Sequence[Outcome | None]]:
        """The best labellings by the rules of the tables; None for a sequence that does not fit the tables."""
        return (yield from self._grouped(trellises, time_limit, self.run))

    def decode_top(
        self, trellises: Sequence[Trellis], top: int, time_limit: float | None = None
    ) -> Steps[Sequence[Ranked | None]]:
        """As `decode`, for at most `top` labellings of each."""
        return (yield from self._grouped(trellises, time_limit, partial(self.run_top, top=top)))

    def _grouped(
        self,
        trellises: Sequence[Trellis],
        time_limit: float | None,
        run: Callable[[Input], Steps[Sequence[Read | None]]],
    ) -> Steps[Sequence[Read | None]]:
        """The outcomes of calls for sequences with the same edge scores and machines."""
        result: list[Read | None] = [None] * len(trellises)
        groups: dict[tuple[int, int], list[int]] = {}
        pools: dict[int, Grid] = {}
        for place, trellis in enumerate(trellises):
            if self.holds(trellis, time_limit):
                pool, length = self._known(trellis.lattice.pool), longest(len(trellis.tokens))
                key = id(pool), self._kinds.get(length) or self._kind(length)
                if key not in groups:
                    groups[key], pools[id(pool)] = [], pool
                groups[key].append(place)
        for (pool_id, _), places in groups.items():
            if len(places) == len(trellises):
                return (yield from run(input_of(trellises, pools[pool_id], time_limit)))
            sums_within = [trellises[place] for place in places]
            outcomes = yield from run(input_of(sums_within, pools[pool_id], time_limit))
            for place, outcome in zip(places, outcomes, strict=True):
                result[place] = outcome
        return result

    def _kind(self, length: int) -> int:
        """The first length with the same states of all machines; sequences of other lengths are decoded separately."""
        try:
            states = tuple(machine.automaton.states for machine in self.folding.machines(length))
        except TooManyStates:
            states = (-length,)
        self._kinds[length] = kind = self._first.setdefault(states, length)
        return kind

    def _known(self, pool: Grid) -> Grid:
        """A stored pool with the same scores, or None."""
        for known, _ in self._pools:
            if known is pool:
                return known
        if len(pool) == 1:
            content = pool.tobytes()
            for known, its in self._pools:
                if its == content:
                    return known
        return pool

    def run(self, given: Input) -> Steps[Sequence[Outcome | None]]:
        """The best labellings by the rules of the tables."""
        return (yield from self._run(given, Several.of))

    def run_top(self, given: Input, top: int) -> Steps[Sequence[Ranked | None]]:
        """At most `top` labellings of each sequence by the rules of the tables."""
        return (yield from self._run(given, partial(Lists.of, top=top)))

    def _run(
        self, given: Input, output_of: Callable[[Entry, Input, Integers], Output]
    ) -> Steps[Output | list[None]]:
        """The output of a kernel."""
        N, total = len(given.lengths), len(given.words)
        begins = np.array([0, total]) if N == 1 else np.cumsum([0, *given.lengths])
        length, unknown = longest(max(given.lengths)), set[int]()
        while True:
            with self._lock:
                tokens = self._rows(given.words)
                try:
                    for n in unknown:
                        for purpose in range(3):
                            self.vocabulary.class_of(purpose, tokens[begins[n] : begins[n + 1]])
                    entry = self._entry(given, length, tokens)
                except (TooManyStates, TooManyClasses):
                    return [None] * N
                emission, rows = self._emission(given, tokens)
            output: Output = output_of(entry, given, begins)
            arguments: list[Any] = [entry.handle, emission, begins, tokens, rows, given.steps, output.limits]
            yield Work(output.kernel, (*arguments, *output.arrays), N)
            codes = output.all_results[:, CODE]
            if int(codes.max()) < UNKNOWN_CLASS:
                return output
            unknown.update(np.flatnonzero(codes == UNKNOWN_CLASS).tolist())

    def _rows(self, words: Sequence[str]) -> Integers:
        """The row of each token in the vocabulary; the same for all tokens if texts do not matter."""
        return self.vocabulary.rows(words) if self.folding.reads_tokens else np.zeros(len(words), np.int64)

    def _emission(self, given: Input, tokens: Integers) -> tuple[Grid, Integers]:
        """Scores of labels, and the row of them for each token."""
        assert given.emission is not None
        return given.emission, np.arange(len(tokens))

    def _entry(self, given: Input, length: int, tokens: Integers) -> Entry:
        pool, vocabulary = given.pool, self.vocabulary
        known = self._entries.get((id(pool), length))
        if known is not None and known.changes == vocabulary.changes:
            return known
        machines, keys, components = self._pack(length)
        scores = self._steps_of(pool, tokens) if given.own else pack_scores(self.folding, vocabulary, pool)
        handle = together(pack_windows(vocabulary), scores, machines)
        K, padded_K = scores.edge.shape[1:]
        entry = Entry(
            pool, vocabulary.changes, handle, keys, components, (PASSES * K * padded_K, LEAST_STEPS, DIRECT)
        )
        if not given.own and pool.size <= MOST_SCORES // MOST_POOLS:
            if not any(kept is pool for kept, _ in self._pools):
                content = pool.tobytes() if len(pool) == 1 else b""
                self._pools = ((pool, content), *self._pools)[:MOST_POOLS]
            kept = {id(kept) for kept, _ in self._pools}
            self._entries = {key: value for key, value in self._entries.items() if key[0] in kept}
            self._entries[id(pool), length] = entry
        return entry

    def _steps_of(self, pool: Grid, tokens: Integers) -> Scores:
        """Scores of one sequence, whose pool has an entry for each of its steps."""
        vocabulary = self.vocabulary
        classes = vocabulary.class_of(EDGES, tokens)[1:]
        scores = pack_scores(self.folding, vocabulary, np.zeros_like(pool[:1]))
        edges = scores.edge[..., : pool.shape[2]]
        which = np.repeat(np.arange(len(pool))[:, None], len(edges), axis=1)
        return Scores(scores.node, pad(add(pool, edges[classes])), which)

    def _pack(self, length: int) -> tuple[Any, list[MachineKey], list[MachineKey]]:
        """Machines for the classes met so far; those for other lengths, where they are the same."""
        classes = len(self.vocabulary.truths[MACHINES])
        templates = self.folding.machines(length)
        key = (classes, *(machine.automaton.states for machine in templates))
        if key not in self._machines:
            packed = (
                pack_machines(templates, self.folding, self.vocabulary),
                [machine.key for machine in templates],
                [machine.component for machine in templates],
            )
            self._machines = {k: v for k, v in self._machines.items() if k[0] == classes} | {key: packed}
        return self._machines[key]


def tables_of(rules: RuleCompiler, labels: LabelSet) -> Tables:
    """The tables of rules for a label set, from a cache."""
    recent = rules.recent(Tables)
    for tables in recent.items:
        if tables.rules.labels is labels and not tables.full:
            return tables
    compiled = rules.compiled(labels)
    recent.drop(lambda one: one.full)
    return recent.find(lambda one: one.rules is compiled, lambda: Tables(compiled))


def _example() -> tuple[Tables, Trellis]:
    trellis = example_trellis()
    return Tables(compile_rules([C.at_most_runs("0", 1)], trellis.labels)), trellis


def _single() -> None:
    tables, trellis = _example()
    tables.decode_one(trellis)


def _several() -> None:
    tables, trellis = _example()
    finished(tables.decode([trellis]))
    Work(tables.decode_one, (), 0).wait(None, 0)


def _few() -> None:
    tables, trellis = _example()
    finished(tables.decode_top([trellis], 3))


COMPILED = Stage("compiled", "decoding by compiled rules", _single)
BATCHES = Stage("batches", "decoding many sequences in one call", _several)
FEW = Stage("few", "the best few labellings by compiled rules", _few)
