"""Compiled rules as tables of the decoding kernels, which grow with new tokens."""

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from operator import sub
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from formulations import LabelSet, Trellis
from formulations.automata.machine import TooManyStates, longest
from formulations.dtypes import Integers
from formulations.forks import fork_safe
from formulations.grid import SPARE, Grid, add
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.folding import EDGES, MACHINES, NODES, Folding, RuleMachine
from formulations.problem.vocabulary import TooManyClasses, Vocabulary
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.exact import limits
from ilpinfer.exact.calls import Call
from ilpinfer.exact.instance import Instance
from ilpinfer.kernels.counts import Counts, pack_events, pack_rules
from ilpinfer.kernels.packing import pack_classes, pack_scores, pack_windows, pad
from ilpinfer.kernels.tables import Machines, Scores

NO_STEPS = np.zeros(0, np.int64)

SECOND_ORDER = "scores of second order"
LARGE = "weights and penalties too large for sums without overflow checks"
PRIORITIES = "priorities that depend on the whole sequence"
SHORT = "a time limit that is shorter than one kernel call may take"
NO_TOKENS = "no tokens to look at"
STATES = "a machine with too many states"
CLASSES = "too many classes of tokens"
"""Why kernels cannot decode a sequence."""


class Sequences(NamedTuple):
    """Sequences of one group as concatenated arrays. `ends` has the first token of each, then the total number of tokens."""

    words: Sequence[str]
    """Empty if all are empty texts, which have the first row of the vocabulary."""
    ends: list[int]
    pool: Grid
    steps: Integers = NO_STEPS
    """(T,) the pool entry of the step into each token; empty if the pool has one entry."""
    own: bool = False
    """Whether the pool has an entry for each step of a single sequence."""
    emission: Grid = np.zeros((0, 0), np.int64)
    """(R, K) scores of labels; empty if tables have them by token."""
    rows: Integers | None = None
    """(T,) the emission row of each token; None if token t has row t."""


class RuleTables:
    """Compiled rules as tables for kernels. Tables grow with new tokens, and threads may share them."""

    def __init__(self, rules: CompiledRules, first: Grid | None = None, last: Grid | None = None) -> None:
        self.rules, self.folding, self._lock = rules, Folding(rules, first, last), fork_safe(Lock())
        self.names = tuple(rule.name for rule in rules.rules)
        self._size = len(rules.labels)
        self.vocabulary: Vocabulary = self.folding.vocabulary()
        self.vocabulary.rows([""])
        self._pools: tuple[tuple[Grid, bytes], ...] = ()
        self._kinds: dict[int, int] = {}
        self._first: dict[tuple[int, ...], int] = {}
        self._instances: dict[tuple[int, int, int], Instance] = {}
        self._machines: dict[tuple[int, ...], tuple[Machines, tuple[RuleMachine, ...]]] = {}
        self._events: tuple[tuple[int, int], Any] = (-1, -1), None
        self._rules = pack_rules(self.folding)
        self.full, self._growth = False, 0

    @property
    def weight(self) -> int:
        """The largest value that a token adds to a labelling in addition to its trellis, grid units."""
        return self.folding.weight

    def _is_full(self) -> bool:
        """Whether the tables have reached their size limits, so that new tables must be made."""
        classes = len(self.vocabulary.truths[EDGES])
        return self.vocabulary.full or (classes * self._size**2 > limits.MOST_SCORES and classes > 1)

    def refusal(self, item: Trellis, time_limit: float | None) -> str:
        """Why kernels cannot decode a sequence in time under the rules on tokens and their neighbours; empty where they
        can."""
        if item.token_scores is None and item.lattice.node.shape[1] != self._size:
            return SECOND_ORDER
        return self.refusal_of(len(item.tokens), item.tokens, time_limit)

    def refusal_of(self, T: int, words: Sequence[str], time_limit: float | None = None) -> str:
        """As `refusal`, for sequences of at most T tokens and first order."""
        folding = self.folding
        if not folding.ignores_tokens and not any(words):
            return NO_TOKENS
        if T * self.weight > SPARE:
            return LARGE
        if not folding.independent:
            return PRIORITIES
        if time_limit is not None and 4 * T * self._size**2 >= time_limit * limits.STEPS_PER_SECOND:
            return SHORT
        return ""

    def group(self, item: Trellis) -> tuple[int, int]:
        """A key; sequences with equal keys can be decoded in one call."""
        return id(self._pool_of(item)), self.kind(len(item.tokens))

    def kind(self, T: int) -> int:
        """The first length with the same states of all machines; sequences of other lengths are decoded separately."""
        length = longest(T)
        return self._kinds.get(length) or self._kind(length)

    def call(
        self,
        items: Sequence[Trellis],
        top: int | None = None,
        time_limit: float | None = None,
        *,
        meet: bool = False,
    ) -> Call | str:
        """A call for sequences of one group, or the reason why there is none.

        With `meet`, the classes of their tokens are entered, which is necessary if a first call met unknown classes.
        """
        words: Sequence[str] = items[0].tokens
        ends = [0, len(words)]
        if len(items) > 1:
            ends = [0, *accumulate([len(item.tokens) for item in items])]
            words = list(chain.from_iterable([item.tokens for item in items]))
        return self.call_of(self._sequences(items, words, ends), top, time_limit, meet=meet)

    def call_of(
        self,
        sequences: Sequences,
        top: int | None = None,
        time_limit: float | None = None,
        *,
        meet: bool = False,
    ) -> Call | str:
        """As `call`, for arrays."""
        words, ends, pool, steps, own, *_ = sequences
        vocabulary = self.vocabulary
        with self._lock:
            tokens = self._rows(words) if words else np.zeros(ends[-1], np.int64)
            try:
                for begin, end in pairwise(ends) if meet else ():
                    for purpose in range(3):
                        vocabulary.class_of(purpose, tokens[begin:end])
                length = ends[1] if len(ends) == 2 else max(map(sub, ends[1:], ends))
                instance = self._instance(pool, longest(length), tokens if own else None)
            except TooManyStates:
                return STATES
            except TooManyClasses:
                return CLASSES
            emission, rows = self._emission(sequences, tokens)
            growth = vocabulary.changes + len(vocabulary)
            if growth != self._growth:
                self._growth, self.full = growth, self._is_full()
        return Call(instance, ends, tokens, rows, steps, emission, top, time_limit)

    def digest(self, item: Trellis, call: Call, n: int) -> str:
        """The digest of rules, scores and tokens of a sequence of a call."""
        return self.rules.digest_of(item)

    def _pool_of(self, item: Trellis) -> Grid:
        """A stored pool with the same scores, or the trellis's own."""
        pool = item.lattice.pool
        for known, _ in self._pools:
            if known is pool:
                return known
        if len(pool) == 1:
            content = pool.tobytes()
            for known, its in self._pools:
                if its == content:
                    return known
        return pool

    def _sequences(self, items: Sequence[Trellis], words: Sequence[str], ends: list[int]) -> Sequences:
        pool, steps, own = self._pool_of(items[0]), NO_STEPS, False
        if len(pool) > 1:
            steps = np.concatenate([steps for item in items for steps in ([0], item.lattice.step)])
            own = len(items) == 1 and np.array_equal(items[0].lattice.step, np.arange(len(pool)))
        nodes = [item.lattice.node for item in items]
        emission = nodes[0] if len(nodes) == 1 else np.concatenate(nodes)
        return Sequences(words, ends, pool, steps, own, emission)

    def _emission(self, sequences: Sequences, tokens: Integers) -> tuple[Grid, Integers]:
        """Scores of labels, and the row of each token."""
        rows = sequences.rows
        return sequences.emission, np.arange(len(tokens)) if rows is None else rows

    def _kind(self, length: int) -> int:
        try:
            states = tuple(machine.automaton.states for machine in self.folding.machines(length))
        except TooManyStates:
            states = (-length,)
        self._kinds[length] = kind = self._first.setdefault(states, length)
        return kind

    def _rows(self, words: Sequence[str]) -> Integers:
        """The vocabulary row of each token; equal for all tokens if rules ignore texts."""
        return self.vocabulary.rows(words) if self.folding.reads_tokens else np.zeros(len(words), np.int64)

    def _instance(self, pool: Grid, length: int, own: Integers | None) -> Instance:
        """The tables for a pool and a length; `own` are the tokens of a sequence with a separate pool."""
        vocabulary, K = self.vocabulary, self._size
        changes = vocabulary.changes
        known = self._instances.get((id(pool), length, changes))
        if known is not None:
            return known
        machines, sources = self._pack(length)
        scores = pack_scores(self.folding, vocabulary, pool) if own is None else self._steps_of(pool, own)
        model = np.ascontiguousarray(pool) if len(pool) else np.zeros((1, K, K), np.int64)
        owner = np.array([source.key[0] for source in sources], np.int32)
        nodes, edges, events, overruled = self._pack_events()
        counts = Counts(nodes, edges, events, overruled, owner, self._rules, model)
        instance = Instance(scores, machines, sources, pack_windows(vocabulary), counts)
        if own is None and pool.size <= limits.MOST_SCORES // limits.MOST_POOLS:
            if not any(kept is pool for kept, _ in self._pools):
                content = pool.tobytes() if len(pool) == 1 else b""
                self._pools = ((pool, content), *self._pools)[: limits.MOST_POOLS]
            kept = {id(kept) for kept, _ in self._pools}
            others = self._instances.items()
            self._instances = {key: one for key, one in others if key[0] in kept and key[2] == changes}
            self._instances[id(pool), length, changes] = instance
        return instance

    def _steps_of(self, pool: Grid, tokens: Integers) -> Scores:
        """Scores of one sequence with a pool entry for each step."""
        vocabulary = self.vocabulary
        classes = vocabulary.class_of(EDGES, tokens)[1:]
        scores = pack_scores(self.folding, vocabulary, np.zeros_like(pool[:1]))
        edges = scores.edge[..., : pool.shape[2]]
        which = np.repeat(np.arange(len(pool))[:, None], len(edges), axis=1)
        return scores._replace(edge=pad(add(pool, edges[classes])), which=which)

    def _pack_events(self) -> tuple[Any, ...]:
        """`pack_events` for the classes met so far."""
        met = len(self.vocabulary.truths[NODES]), len(self.vocabulary.truths[EDGES])
        if self._events[0] != met:
            self._events = met, pack_events(self.folding, self.vocabulary)
        packed: tuple[Any, ...] = self._events[1]
        return packed

    def _pack(self, length: int) -> tuple[Machines, tuple[RuleMachine, ...]]:
        """Machines for the classes met so far; machines for another length are reused if equal."""
        classes = len(self.vocabulary.truths[MACHINES])
        sources = tuple(self.folding.machines(length))
        key = (classes, *(source.automaton.states for source in sources))
        if key not in self._machines:
            packed = pack_classes(sources, self.folding, self.vocabulary), sources
            self._machines = {k: v for k, v in self._machines.items() if k[0] == classes} | {key: packed}
        return self._machines[key]


def tables_of(rules: RuleCompiler, labels: LabelSet) -> RuleTables:
    """The tables of rules for a label set, from a cache."""
    recent = rules.recent(RuleTables)
    for tables in recent.items:
        if tables.rules.labels is labels and not tables.full:
            return tables
    compiled = rules.compiled(labels)
    recent.drop(lambda one: one.full)
    return recent.find(lambda one: one.rules is compiled, lambda: RuleTables(compiled))
