"""Compiled rules as flat arrays for kernels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.automata.windows import StepChoice
from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, Grid, add, violation_costs
from formulations.problem.folding import EDGES, MACHINES, NODES, Folding, MachineTemplate
from formulations.problem.vocabulary import Vocabulary
from ilpinfer.kernels.tables import Machines, Scores, Windows

BLOCK = 8
"""The number of labels is padded to a multiple of this number, so that loops over labels become vector instructions."""
MOST_CHARGED = 2**56
"""The largest total of the multipliers of all sums, grid units."""
LONG = 2**20
"""Number of tokens of the longest sequences for which `MOST_CHARGED` holds."""
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
    nodes = [folding.node_scores(truth) for truth in vocabulary.truths[NODES]]
    edges = [folding.edge_scores(truth) for truth in vocabulary.truths[EDGES]]
    every = add(pool[:, None], np.array(edges, np.int64).reshape(1, -1, K, K))
    return Scores(
        node=np.array(nodes, np.int64).reshape(-1, K),
        edge=pad(every.reshape(-1, K, K)),
        which=np.arange(every.shape[0] * every.shape[1]).reshape(every.shape[:2]),
    )


def pack_machines(machines: Sequence[MachineTemplate], folding: Folding, vocabulary: Vocabulary) -> Machines:
    """Machines for the classes met so far."""
    K, truths = len(folding.rules.labels), vocabulary.truths[MACHINES]
    place = {condition: i for i, condition in enumerate(folding.conditions[MACHINES])}
    values = [machine.steps.values for machine in machines]
    starts = _starts([v.size for v in values])
    which = np.array(
        [
            [_chosen(machine.steps, truth[place[machine.steps.condition]]) for machine in machines]
            for truth in truths
        ],
        np.int64,
    ).reshape(len(truths), len(machines))
    rows = np.array([v[0].size for v in values], np.int64)
    costs = [violation_costs(machine.automaton.emits, machine.penalty) for machine in machines]
    finals = [violation_costs(machine.automaton.final, machine.penalty) for machine in machines]
    begin, event = _events(machines, costs, which, K)
    weights = [_weights(machine) for machine in machines]
    layout = [
        _starts([cost.size for cost in costs]),
        [cost.shape[1] for cost in costs],
        [K if v.shape[1] > 1 else 0 for v in values],
        _starts([len(final) for final in finals]),
        [len(final) for final in finals],
        _starts([len(weight) for weight in weights]),
    ]
    return Machines(
        symbols=_flat(values, np.int16),
        table=starts + which * rows,
        layout=np.array(layout, np.int64).T.copy(),
        next_state=_flat([machine.automaton.next_state for machine in machines], np.int32),
        cost=_flat(costs, np.int64),
        final=_flat(finals, np.int64),
        begin=begin,
        event=event,
        owing=np.array([m for m, final in enumerate(finals) if final[0]], np.int32),
        weight=_flat(weights, np.int64),
        sums=np.array([_sum(machine, len(machines)) for machine in machines], np.int64).reshape(-1, 4),
    )


def _weights(machine: MachineTemplate) -> Integers:
    symbols = machine.automaton.next_state.shape[1]
    return np.zeros(symbols, np.int64) if machine.total is None else machine.total.weights


def _sum(machine: MachineTemplate, count: int) -> tuple[int, int, int, int]:
    """Sides of one of `count` machines, and its range of multipliers; a sum with weights of both signs has no
    multiplier.
    """
    total = machine.total
    if total is None:
        return -OPEN, OPEN, 0, 0
    low, high = (-OPEN if total.low is None else total.low), (OPEN if total.high is None else total.high)
    if total.weights[0] < 0 < total.weights[-1]:
        return low, high, 0, 0
    heaviest = max(1, int(np.abs(total.weights).max()), *(abs(s) for s in (low, high) if abs(s) < OPEN))
    most = min(machine.penalty, MOST_CHARGED // (LONG * count * heaviest))
    return low, high, 0 if low == -OPEN else -most, 0 if high == OPEN else most


def _chosen(steps: StepChoice, holds: bool) -> int:
    return int(holds and len(steps.values) > 1)


def _events(
    machines: Sequence[MachineTemplate], costs: Sequence[Grid], which: Integers, K: int
) -> tuple[Small, Small]:
    """The events of each step: machines whose state or cost it can change, and their symbols, by class, previous and
    next label.
    """
    begin, events = [0], [np.zeros((0, 2), np.int64)]
    for chosen in which:
        moved = np.empty((len(machines), K + 1, K), bool)
        symbols = np.empty(moved.shape, np.int16)
        for m, (machine, cost, p) in enumerate(zip(machines, costs, chosen.tolist(), strict=True)):
            automaton = machine.automaton
            stays = automaton.next_state == np.arange(automaton.states)[:, None]
            symbols[m] = machine.steps.values[p]
            moved[m] = (~stays | (cost != 0)).any(axis=0)[symbols[m]]
        at, read = (array.reshape(len(machines), (K + 1) * K).T for array in (moved, symbols))
        begin += (begin[-1] + np.cumsum(at.sum(axis=1))).tolist()
        events.append(np.stack([np.nonzero(at)[1], read[at]], axis=1))
    return np.array(begin, np.int32), np.concatenate(events).astype(np.int32)


def _starts(sizes: list[int]) -> Integers:
    return np.cumsum([0, *sizes[:-1]]).astype(np.int64) if sizes else np.zeros(0, np.int64)


def _flat(arrays: Sequence[Integers], kind: type) -> NDArray[Any]:
    return np.concatenate([a.reshape(-1) for a in arrays]).astype(kind) if arrays else np.zeros(0, kind)
