"""Compiled rules as flat arrays for kernels."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, HARD, Grid, add, violation_costs
from formulations.problem.folding import EDGES, MACHINES, NODES, Folding, RuleMachine
from formulations.problem.vocabulary import Vocabulary
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import ARC, FINAL, STATES, WEIGHT, WIDTH, Chain, Machines, Scores, Windows

BLOCK = 8
"""The number of labels is padded to a multiple of this number, so that loops over labels become vector instructions."""
MOST_CHARGED = 2**56
"""The largest total of the multipliers of all sums, grid units."""
LONG = 2**20
"""Number of tokens of the longest sequences for which `MOST_CHARGED` holds."""
MOST_EVENTS = 2**22
"""Steps of all machines at all classes of the tokens of one sequence beyond which they are not indexed."""
OPEN = 2**60
"""Value of a missing side of a sum."""


def pack_windows(vocabulary: Vocabulary) -> Windows:
    """The classes met so far. Tokens that the vocabulary enters later are included, new classes are not."""
    tables = vocabulary.classes
    sizes = [table.size for table in tables]
    return Windows(
        numbers=vocabulary.numbers,
        start=np.cumsum([0, *sizes[:-1]]),
        shape=np.array([table.shape for table in tables], np.int64),
        classes=np.concatenate([table.reshape(-1) for table in tables]),
    )


def pad(scores: Grid) -> Grid:
    """Scores (…, K) as (…, Kp), `FORBIDDEN` beyond K."""
    more = -scores.shape[-1] % BLOCK
    return np.pad(scores, [(0, 0)] * (scores.ndim - 1) + [(0, more)], constant_values=FORBIDDEN)


def pack_scores(folding: Folding, vocabulary: Vocabulary, pool: Grid) -> Scores:
    """Scores for the classes met so far, and for the edges (P, K, K) of a model.

    Kernels read the first edge table at the first token, too, so that there is one even for sequences without steps.
    """
    K = len(folding.rules.labels)
    pool = pool if len(pool) else np.zeros((1, K, K), np.int64)
    nodes, edges = (
        [folding.of_class(purpose, truth).total for truth in vocabulary.truths[purpose]]
        for purpose in (NODES, EDGES)
    )
    every = add(pool[:, None], np.array(edges, np.int64).reshape(1, -1, K, K))
    return Scores(
        node=np.array(nodes, np.int64).reshape(-1, K),
        edge=pad(every.reshape(-1, K, K)),
        which=np.arange(every.shape[0] * every.shape[1]).reshape(every.shape[:2]),
        base=np.zeros(K, np.int64),
        labels=K,
    )


def lattice_scores(lattice: Lattice) -> Scores:
    """The scores of steps of one lattice; those of its states are an `emission`."""
    (_, B), S = lattice.shape, lattice.states
    pool = lattice.pool if len(lattice.pool) else np.zeros((1, S, B), np.int64)
    which = np.arange(len(pool))[:, None]
    return Scores(np.zeros((1, S), np.int64), pad(pool), which, lattice.base, B)


def chain_of(lattice: Lattice) -> Chain:
    """The scores of a lattice for searches, without padding."""
    return Chain(lattice.node, lattice.pool, lattice.step, lattice.base)


def pack_classes(machines: Sequence[RuleMachine], folding: Folding, vocabulary: Vocabulary) -> Machines:
    """Machines of compiled rules for the classes met so far."""
    place = {condition: i for i, condition in enumerate(folding.conditions[MACHINES])}
    truths, K = vocabulary.truths[MACHINES], len(folding.rules.labels)
    which = [
        [int(truth[place[machine.condition]] and len(machine.symbols) > 1) for machine in machines]
        for truth in truths
    ]
    return pack_machines(machines, np.array(which, np.int64).reshape(len(truths), len(machines)), K, K, 2**62)


def pack_machines(
    machines: Sequence[RuleMachine], which: Integers, states: int, labels: int, most: int = MOST_EVENTS
) -> Machines:
    """Machines as flat arrays. `which` (C, M) tells which of its tables of symbols a machine reads at tokens of each class.

    There are no events beyond `most` steps of all machines at all classes; states and labels are S and B of `Scores`.
    """
    values = [machine.symbols for machine in machines]
    automata = [machine.automaton for machine in machines]
    rows = np.array([v[0].size for v in values], np.int64)
    arcs = [_once(machine, machine.automaton.emits) for machine in machines]
    ends = [_once(machine, machine.automaton.final) for machine in machines]
    costs, finals = (
        [violation_costs(count, m.penalty) for count, m in zip(each, machines, strict=True)]
        for each in (arcs, ends)
    )
    weights = [_weights(machine) for machine in machines]
    columns = [
        _starts([cost.size for cost in costs]),
        [cost.shape[1] for cost in costs],
        [labels if v.shape[1] > 1 else 0 for v in values],
        _starts([len(final) for final in finals]),
        [len(final) for final in finals],
        _starts([len(weight) for weight in weights]),
    ]
    table, layout = _starts([v.size for v in values]) + which * rows, np.array(columns, np.int64).T.copy()
    steps = (labels + 1) * labels if states == labels else states
    packed = Machines(
        symbols=_flat(values, np.int16),
        table=table,
        layout=layout,
        next_state=_flat([one.next_state for one in automata], np.int32),
        cost=_flat(costs, np.int64),
        final=_flat(finals, np.int64),
        begin=np.zeros(1, np.int32),
        event=np.zeros((0, 2), np.int16),
        owing=np.array([m for m, final in enumerate(finals) if final[0]], np.int32),
        weight=_flat(weights, np.int64),
        sums=np.array([_sum(machine, len(machines)) for machine in machines], np.int64).reshape(-1, 4),
        charged=np.zeros(len(machines), bool),
        mark=np.array([machine.mark for machine in machines], np.int64),
        penalty=np.array([machine.penalty for machine in machines], np.int64),
        violations=_flat(arcs, np.int64),
        last=_flat(ends, np.int64),
    )
    if which.size * steps > most or len(machines) > np.iinfo(np.int16).max:
        return packed
    begin, event = kernels.index_events(packed, states, labels)
    return packed._replace(begin=begin, event=event)


def with_penalties(packed: Machines, machines: Sequence[RuleMachine]) -> Machines:
    """Packed machines of soft rules with the penalties of these, which are the same otherwise."""
    penalty = np.array([machine.penalty for machine in machines], np.int64)
    soft, owner = penalty < HARD, np.arange(len(penalty))
    arcs = np.repeat(owner, packed.layout[:, WIDTH] * packed.layout[:, STATES])
    states = np.repeat(owner, packed.layout[:, STATES])
    return packed._replace(
        cost=np.where(soft[arcs], penalty[arcs] * packed.violations, packed.cost),
        final=np.where(soft[states], penalty[states] * packed.last, packed.final),
        sums=np.array([_sum(machine, len(machines)) for machine in machines], np.int64).reshape(-1, 4),
        penalty=penalty,
    )


def pack_beside(packed: Machines, machines: Sequence[RuleMachine], which: Integers, labels: int) -> Machines:
    """Packed machines and more of first order, without events. `which` (C, 1 + M) is the class before of each new class, then as for `pack_machines`."""
    added = pack_machines(machines, which[:, 1:], labels, labels, -1)
    table = np.hstack([packed.table[which[:, 0]], added.table + len(packed.symbols)])
    layout = added.layout.copy()
    for column, values in ((ARC, packed.cost), (FINAL, packed.final), (WEIGHT, packed.weight)):
        layout[:, column] += len(values)
    owing = added.owing + np.int32(len(packed.mark))
    added = added._replace(table=packed.table[:0], layout=layout, owing=owing)
    pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(packed, added, strict=True)
    joined = (np.concatenate(pair) for pair in pairs)
    return Machines(*joined)._replace(table=table, begin=added.begin, event=added.event)


def _once(machine: RuleMachine, violations: Integers) -> Integers:
    return violations if machine.mark < 0 else np.minimum(violations, 1)


def _weights(machine: RuleMachine) -> Integers:
    symbols = machine.automaton.next_state.shape[1]
    return np.zeros(symbols, np.int64) if machine.total is None else machine.total.weights


def _sum(machine: RuleMachine, count: int) -> tuple[int, int, int, int]:
    """Sides of one of `count` machines, and its range of multipliers.

    A sum with weights of both signs has multipliers only where these are of one size: other machines of such sums have arcs
    of less than their weight, at the ends of the range of sums.
    """
    total = machine.total
    if total is None:
        return -OPEN, OPEN, 0, 0
    low, high = (-OPEN if total.low is None else total.low), (OPEN if total.high is None else total.high)
    if total.weights[0] < 0 < total.weights[-1] and len({abs(w) for w in total.weights.tolist() if w}) > 1:
        return low, high, 0, 0
    heaviest = max(1, int(np.abs(total.weights).max()), *(abs(s) for s in (low, high) if abs(s) < OPEN))
    most = min(machine.penalty, MOST_CHARGED // (LONG * count * heaviest))
    return low, high, 0 if low == -OPEN else -most, 0 if high == OPEN else most


def _starts(sizes: list[int]) -> Integers:
    return np.cumsum([0, *sizes[:-1]]).astype(np.int64) if sizes else np.zeros(0, np.int64)


def _flat(arrays: Sequence[Integers], kind: type) -> NDArray[Any]:
    return np.concatenate([a.reshape(-1) for a in arrays]).astype(kind) if arrays else np.zeros(0, kind)
