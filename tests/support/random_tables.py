"""Random tables for the decoding kernels, with an oracle for their documented meaning."""

from dataclasses import dataclass

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.exact.limits import DIRECT
from ilpinfer.kernels.counts import NO_COUNTS
from ilpinfer.kernels.native import Tables, kernels
from ilpinfer.kernels.tables import (
    ARC,
    EDGES,
    FINAL,
    MACHINES,
    NODES,
    STRIDE,
    WIDTH,
    Machines,
    Scores,
    Windows,
)

CASES = 60
"""Random tables of each seed, each with a few sequences."""
DEAD, OPEN = FORBIDDEN // 2, 2**60


@dataclass
class Case:
    """Random tables, and N sequences."""

    windows: Windows
    scores: Scores
    machines: Machines
    emission: np.ndarray
    begins: np.ndarray
    tokens: np.ndarray
    rows: np.ndarray
    pool: np.ndarray

    @property
    def size(self):
        return self.emission.shape[1], len(self.machines.layout)

    def sequences(self):
        return [slice(*ends) for ends in zip(self.begins[:-1].tolist(), self.begins[1:].tolist())]

    @property
    def tables(self):
        return Tables(self.windows, self.scores, self.machines, NO_COUNTS)

    @property
    def batch(self):
        return self.emission, self.begins, self.tokens, self.rows, self.pool

    def run(self, work=10**6, direct=DIRECT):
        paths, _, results, _, marks = self.output(kernels.decode_best, 1, (work, 0, direct))
        return paths, results, marks

    def run_few(self, top, work=10**6):
        paths, values, results, _, marks = self.output(kernels.decode_lists, top, (work, 0, DIRECT))
        lists = [paths[here.start * top : here.stop * top].reshape(top, -1) for here in self.sequences()]
        return lists, values, results, marks

    def output(self, kernel, top, limits, threads=1):
        """Paths of all sequences, values (N, top), results (N, 7), parts (N, top, 5), and marks (N, 2, M)."""
        N, M = len(self.begins) - 1, self.size[1]
        shapes = [(len(self.tokens) * top,), (N, top), (N, 7), (N, top, 5), (N, 2, M)]
        ends = np.cumsum([np.prod(shape) for shape in shapes])
        buffer = np.zeros(ends[-1], np.int64)
        kernel(self.tables, self.batch, limits, top, buffer, threads, np.zeros(1, np.int64))
        return [part.reshape(shape) for part, shape in zip(np.split(buffer, ends[:-1]), shapes)]

    def classes(self, here):
        """Classes (3, T) of a sequence."""
        tokens, windows = self.tokens[here].tolist(), self.windows
        classes = np.empty((3, len(tokens)), np.int64)
        for purpose in range(3):
            table = windows.classes[windows.start[purpose] :][: windows.shape[purpose].prod()]
            table = table.reshape(windows.shape[purpose])
            for t, token in enumerate(tokens):
                before = windows.numbers[tokens[t - 1], purpose, 0] if t else 0
                after = windows.numbers[tokens[t + 1], purpose, 2] if t + 1 < len(tokens) else 0
                classes[purpose, t] = table[before, windows.numbers[token, purpose, 1], after]
        return classes

    def edges(self, here, classes):
        pool = self.pool[here] if len(self.pool) else np.zeros(classes.shape[1], np.int64)
        return self.scores.edge[self.scores.which[pool, classes[EDGES]]][:, :, : self.size[0]]

    def step(self, m, c, i, j, state):
        """The state of machine m after a step, and the cost of the step."""
        machines = self.machines
        layout = machines.layout[m]
        symbol = machines.symbols[machines.table[c, m] + (i + 1) * layout[STRIDE] + j]
        arc = layout[ARC] + state * layout[WIDTH] + symbol
        return int(machines.next_state[arc]), int(machines.cost[arc])

    def best(self, here, chosen):
        """The value and the path of the first of the best labellings under the chosen machines; (None, None) if there
        is none.
        """
        return min(self.labellings(here, chosen), key=lambda one: -one[0], default=(None, None))

    def labellings(self, here, chosen):
        """Value and path of every labelling under the chosen machines, ordered by labels."""
        classes = self.classes(here)
        nodes = self.emission[self.rows[here]] + self.scores.node[classes[NODES]]
        nodes, edges, kinds = nodes.tolist(), self.edges(here, classes).tolist(), classes[MACHINES].tolist()
        machines, result = self.machines, []

        def extend(path, states, value):
            t = len(path)
            if t == len(nodes):
                value -= sum(
                    int(machines.final[machines.layout[m, FINAL] + s]) for m, s in zip(chosen, states)
                )
                if value > DEAD:
                    result.append((value, path))
                return
            i = path[-1] if path else -1
            for j in range(self.size[0]):
                after = [self.step(m, kinds[t], i, j, state) for m, state in zip(chosen, states)]
                more = nodes[t][j] + (edges[t][i][j] if t else 0) - sum(cost for _, cost in after)
                if value + more > DEAD:
                    extend([*path, j], [state for state, _ in after], value + more)

        extend([], [0] * len(chosen), 0)
        return result

    def value(self, here, path):
        """What a labelling is worth with all machines."""
        classes, total = self.classes(here), 0
        edges, states = self.edges(here, classes), [0] * self.size[1]
        for t, j in enumerate(path):
            total += int(self.emission[self.rows[here][t], j] + self.scores.node[classes[NODES, t], j])
            total += int(edges[t, path[t - 1], j]) if t else 0
            for m, state in enumerate(states):
                states[m], cost = self.step(m, classes[MACHINES, t], path[t - 1] if t else -1, j, state)
                total -= cost
        return total - sum(
            int(self.machines.final[self.machines.layout[m, FINAL] + s]) for m, s in enumerate(states)
        )


def random_scores(rng, shape, scale, forbidden):
    values = rng.integers(-3, 4, shape) * scale
    return np.where(rng.random(shape) < forbidden, FORBIDDEN, values)


def random_windows(rng, classes, unknown):
    """Windows of 4 distinct tokens."""
    shape = rng.integers(2, 4, (3, 3))
    numbers = np.stack([rng.integers(1, shape[p], (4, 3)) for p in range(3)], axis=1).astype(np.int32)
    sizes = shape.prod(axis=1)
    table = np.concatenate([rng.integers(0, c, size) for c, size in zip(classes, sizes)])
    table = np.where(rng.random(len(table)) < unknown, -1, table).astype(np.int32)
    return Windows(numbers, np.cumsum(sizes) - sizes, shape, table)


@dataclass
class Parts:
    """One machine: symbols for each class, tables (Q, S) of its arcs, final costs, and what makes it a sum."""

    symbols: list[np.ndarray]
    next_state: np.ndarray
    cost: np.ndarray
    final: np.ndarray
    weight: np.ndarray
    side: tuple[int, int] = (-OPEN, OPEN)
    box: tuple[int, int] = (0, 0)


def random_automaton(rng, scale):
    """Up to 4 states, mostly silent."""
    states, width = rng.integers(1, 5), rng.integers(1, 4)

    def costs(size):
        hard = rng.random(size) < rng.choice([0, 0.1])
        return np.where(hard, -FORBIDDEN, rng.integers(1, 4, size) * scale) * (rng.random(size) < 0.3)

    following = rng.integers(0, states, (states, width))
    stays = rng.random((states, width)) < 0.5
    next_state = np.where(stays, np.arange(states)[:, None], following)
    final = costs(states) * int(rng.integers(0, 2))
    return Parts([], next_state, costs((states, width)), final, np.zeros(width, np.int64))


def random_sum(rng, scale):
    """A sum of weights of one sign within sides: what is too much costs at once, what is missing at the end."""
    sign, each = int(rng.choice([-1, 1])), np.arange(int(rng.integers(2, 4)))
    high = int(rng.integers(1, 4)) if rng.random() < 0.8 else None
    low = int(rng.integers(1, high + 1 if high else 3)) if rng.random() < 0.3 or high is None else None
    hard = rng.random() < 0.3
    penalty = -FORBIDDEN if hard else int(rng.integers(1, 4)) * scale
    top = high if high is not None else low
    totals = np.arange(top + 1)[:, None] + each
    excess = np.maximum(totals - top, 0) * (high is not None)
    missing = np.maximum(0, (low or 0) - np.arange(top + 1))
    cost, final = ((x > 0) * penalty if hard else x * penalty for x in (excess, missing))
    most = 2**30 if hard else penalty
    side = (-OPEN if low is None else low), (OPEN if high is None else high)
    box = (0 if low is None else -most), (0 if high is None else most)
    if sign < 0:
        side, box = (-side[1], -side[0]), (-box[1], -box[0])
    return Parts([], np.minimum(totals, top), cost, final, sign * each, side, box)


def random_machines(rng, K, classes, scale):
    """Up to 4 machines, some of them sums."""
    parts = [
        (random_sum if rng.random() < 0.4 else random_automaton)(rng, scale)
        for _ in range(rng.integers(0, 5))
    ]
    stride = rng.choice([0, K], len(parts))
    for part, step in zip(parts, stride):
        size = (K + 1) * K if step else K
        part.symbols = [rng.integers(0, len(part.weight), size) for _ in range(classes)]
    return laid_out(parts, stride, K, classes)


def laid_out(parts, stride, K, classes):
    """Machines as `Machines` documents them."""

    def flat(arrays, kind=np.int64):
        return np.concatenate([*(np.ravel(array) for array in arrays), np.zeros(0)]).astype(kind)

    def starts(arrays):
        sizes = np.array([np.size(array) for array in arrays], np.int64)
        return np.cumsum(sizes) - sizes

    M = len(parts)
    blocks = [block for part in parts for block in part.symbols]
    symbols, table = flat(blocks, np.int16), starts(blocks).reshape(M, classes).T.copy()
    width, states = (np.array([p.cost.shape[i] for p in parts], np.int64) for i in (1, 0))
    next_state, cost = flat([p.next_state for p in parts], np.int32), flat([p.cost for p in parts])
    final, state_at = flat([p.final for p in parts]), starts([p.final for p in parts])
    arc = starts([p.cost for p in parts])
    weights = [p.weight for p in parts]
    layout = np.array([arc, width, stride, state_at, states, starts(weights)], np.int64).T.copy()
    return Machines(
        symbols,
        table,
        layout,
        next_state,
        cost,
        final,
        *events(symbols, table, stride, K, next_state, cost, arc, width, states),
        np.flatnonzero(final[state_at] != 0).astype(np.int32) if M else np.zeros(0, np.int32),
        flat(weights),
        np.array([(*p.side, *p.box) for p in parts], np.int64).reshape(M, 4),
        np.zeros(M, bool),
        np.full(M, -1),
        np.ones(M, np.int64),
        cost,
        final,
    )


def events(symbols, table, stride, K, next_state, cost, arc, width, states):
    begin, event = [0], []
    for c in range(len(table)):
        for i in range(K + 1):
            for j in range(K):
                for m in range(len(states)):
                    symbol = symbols[table[c, m] + i * stride[m] + j]
                    arcs = arc[m] + np.arange(states[m]) * width[m] + symbol
                    if (next_state[arcs] != np.arange(states[m])).any() or cost[arcs].any():
                        event.append((m, symbol))
                begin.append(len(event))
    return np.array(begin, np.int32), np.array(event, np.int16).reshape(-1, 2)


def random_case(rng, unknown=0.0):
    K, scale = int(rng.integers(1, 5)), int(rng.choice([1, 2**19, 2**21]))
    C = rng.integers(1, 4, 3)
    E, P, V = rng.integers(1, 4, 3)
    forbidden = rng.choice([0, 0.1, 0.4])
    edge = np.full((E, K, 8), FORBIDDEN)
    edge[:, :, :K] = random_scores(rng, (E, K, K), scale, forbidden)
    which = rng.integers(0, E, (P, C[EDGES]))
    scores = Scores(
        random_scores(rng, (C[NODES], K), scale, forbidden / 4), edge, which, np.zeros(K, np.int64), K
    )
    longest = {1: 6, 2: 6, 3: 5, 4: 4}[K]
    begins = np.concatenate([[0], np.cumsum(rng.integers(1, longest + 1, 3))])
    total = int(begins[-1])
    return Case(
        random_windows(rng, C, unknown),
        scores,
        random_machines(rng, K, C[MACHINES], scale),
        random_scores(rng, (V, K), scale, forbidden / 4),
        begins,
        rng.integers(0, 4, total),
        rng.integers(0, V, total),
        rng.integers(0, P, total) if rng.random() < 0.5 else np.zeros(0, np.int64),
    )


def cases(seed, **options):
    rng = np.random.default_rng(seed)
    return [random_case(rng, **options) for _ in range(CASES)]
