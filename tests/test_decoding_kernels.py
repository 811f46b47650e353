"""The decoding kernels against all labellings, on random tables that are read here by their documented meaning."""

from dataclasses import dataclass

import numpy as np
import pytest
from numba import njit

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.decoding import (
    BOUND,
    CODE,
    DIRECT,
    NO_LABELLING,
    NO_PATH,
    PROVED,
    RELAXED,
    TOO_MUCH_WORK,
    UNKNOWN_CLASS,
    VALUE,
    classify,
    decode_batch,
)
from ilpinfer.kernels.handle import together
from ilpinfer.kernels.recursion import bare
from ilpinfer.kernels.tables import EDGES, MACHINES, NODES, Machines, Scores, Windows

CASES = 60
"""Random tables of each seed, each with a few sequences."""
DEAD = FORBIDDEN // 2


@njit
def classified(windows, tokens, classes):
    return classify(windows, tokens, classes)


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
        return self.emission.shape[1], len(self.machines.states)

    def sequences(self):
        return [slice(*ends) for ends in zip(self.begins[:-1].tolist(), self.begins[1:].tolist())]

    def run(self, work=10**6, direct=DIRECT, given=None):
        N, total = len(self.begins) - 1, len(self.tokens)
        paths, results = np.empty(total, np.int64), np.zeros((N, 5), np.int64)
        masks = np.zeros((N, self.size[1]), np.uint8)
        completions = np.zeros((total, self.scores.edge.shape[2]), np.int64)
        handle = together(self.windows, self.scores, self.machines)
        given = np.empty((3, 0), np.int64) if given is None else given
        inputs = self.begins, self.tokens, self.rows, self.pool, given, (work, direct)
        decode_batch(handle, self.emission, *inputs, paths, results, masks, completions)
        return paths, results, masks, completions

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
        """The edge scores (T, K, K) of the steps into each token."""
        pool = self.pool[here] if len(self.pool) else np.zeros(classes.shape[1], np.int64)
        return self.scores.edge[self.scores.which[pool, classes[EDGES]]][:, :, : self.size[0]]

    def step(self, m, c, i, j, state):
        """The state of machine m after a step, and what the step costs."""
        machines = self.machines
        symbol = machines.symbols[machines.table[c, m] + (i + 1) * machines.stride[m] + j]
        arc = machines.arc[m] + state * machines.width[m] + symbol
        return int(machines.next_state[arc]), int(machines.cost[arc])

    def best(self, here, chosen):
        """The value and the path of the first of the best labellings, as the chosen machines charge; (None, None) for none."""
        classes = self.classes(here)
        nodes = self.emission[self.rows[here]] + self.scores.node[classes[NODES]]
        nodes, edges, kinds = nodes.tolist(), self.edges(here, classes).tolist(), classes[MACHINES].tolist()
        machines, best = self.machines, [None, None]

        def extend(path, states, value):
            t = len(path)
            if t == len(nodes):
                value -= sum(int(machines.final[machines.state_at[m] + s]) for m, s in zip(chosen, states))
                if value > DEAD and (best[0] is None or value > best[0]):
                    best[:] = value, path
                return
            i = path[-1] if path else -1
            for j in range(self.size[0]):
                after = [self.step(m, kinds[t], i, j, state) for m, state in zip(chosen, states)]
                more = nodes[t][j] + (edges[t][i][j] if t else 0) - sum(cost for _, cost in after)
                if value + more > DEAD:
                    extend([*path, j], [state for state, _ in after], value + more)

        extend([], [0] * len(chosen), 0)
        return best

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
            int(self.machines.final[self.machines.state_at[m] + s]) for m, s in enumerate(states)
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


def random_machines(rng, K, classes, scale):
    """Up to 4 machines of up to 4 states, mostly silent."""
    M = int(rng.integers(0, 5))
    states, width = rng.integers(1, 5, M), rng.integers(1, 4, M)
    stride = rng.choice([0, K], M)
    blocks = np.where(stride, K + 1, 1) * K
    table = np.cumsum([np.zeros_like(blocks), *[blocks] * classes], axis=0)[:classes] + np.cumsum(
        blocks * classes
    )
    table -= blocks * classes
    symbols = np.zeros(int((blocks * classes).sum()), np.int16)
    for m in range(M):
        for c in range(classes):
            symbols[table[c, m] :][: blocks[m]] = rng.integers(0, width[m], blocks[m])

    def costs(size):
        hard = rng.random(size) < rng.choice([0, 0.1])
        return np.where(hard, -FORBIDDEN, rng.integers(1, 4, size) * scale) * (rng.random(size) < 0.3)

    sizes = states * width
    following = [
        np.where(rng.random(size) < 0.5, np.repeat(np.arange(s), w), rng.integers(0, s, size))
        for s, w, size in zip(states, width, sizes)
    ]
    next_state = np.concatenate([*following, np.zeros(0)]).astype(np.int32)
    cost, final = costs(int(sizes.sum())), costs(int(states.sum())) * int(rng.integers(0, 2))
    state_at = np.cumsum(states) - states
    return Machines(
        symbols,
        table.reshape(classes, M),
        stride,
        np.cumsum(sizes) - sizes,
        width,
        next_state,
        cost,
        state_at,
        final,
        states,
        *events(symbols, table, stride, K, next_state, cost, np.cumsum(sizes) - sizes, width, states),
        np.flatnonzero(final[state_at] != 0).astype(np.int32) if M else np.zeros(0, np.int32),
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
                        event.append(m)
                begin.append(len(event))
    return np.array(begin, np.int32), np.array(event, np.int32)


def random_case(rng, unknown=0.0):
    K, scale = int(rng.integers(1, 5)), int(rng.choice([1, 2**19, 2**21]))
    C = rng.integers(1, 4, 3)
    E, P, V = rng.integers(1, 4, 3)
    forbidden = rng.choice([0, 0.1, 0.4])
    edge = np.full((E, K, 8), FORBIDDEN)
    edge[:, :, :K] = random_scores(rng, (E, K, K), scale, forbidden)
    which = rng.integers(0, E, (P, C[EDGES]))
    scores = Scores(random_scores(rng, (C[NODES], K), scale, forbidden / 4), edge, which)
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


def test_the_first_of_the_best_labellings_is_proved():
    codes, taken_up = set(), 0
    for seed in range(10):
        for case in cases(seed):
            everything = range(case.size[1])
            paths, results, masks, _ = case.run()
            for here, result, mask in zip(case.sequences(), results, masks):
                value, path = case.best(here, everything)
                without, _ = case.best(here, [])
                codes.add(int(result[CODE]))
                taken_up = max(taken_up, mask.sum())
                if value is None:
                    assert result[CODE] == (NO_PATH if without is None else NO_LABELLING)
                    assert result[VALUE] == result[BOUND] == FORBIDDEN
                    assert (paths[here] == -1).all()
                else:
                    assert result[CODE] == PROVED
                    assert result[VALUE] == result[BOUND] == value
                    assert paths[here].tolist() == path
                assert result[RELAXED] == (FORBIDDEN if without is None else without)
                assert case.best(here, np.flatnonzero(mask).tolist())[0] == value
    assert codes == {PROVED, NO_PATH, NO_LABELLING}
    assert taken_up >= 3


def test_bounds_and_incumbents_hold_where_the_work_ends():
    codes = set()
    for seed in range(10, 18):
        for case in cases(seed):
            for work in (0, 3, 12):
                paths, results, _, _ = case.run(work)
                for here, result in zip(case.sequences(), results):
                    value, path = case.best(here, range(case.size[1]))
                    optimum = FORBIDDEN if value is None else value
                    codes.add(
                        (int(result[CODE]), bool(result[VALUE] < DEAD), bool(result[BOUND] < result[RELAXED]))
                    )
                    assert result[VALUE] <= optimum <= result[BOUND] <= result[RELAXED]
                    if result[VALUE] == FORBIDDEN:
                        assert (paths[here] == -1).all()
                    else:
                        assert case.value(here, paths[here].tolist()) == result[VALUE]
                    if result[CODE] == PROVED:
                        assert result[VALUE] == optimum and paths[here].tolist() == path
    assert {(TOO_MUCH_WORK, dead, lower) for dead in (False, True) for lower in (False, True)} <= codes


def test_a_direct_index_and_a_hash_table_agree():
    for seed in range(20, 30):
        for case in cases(seed):
            for one, other in zip(case.run(), case.run(direct=0)):
                assert np.array_equal(one, other)


def test_classes_of_windows():
    codes = set()
    for case in cases(30, unknown=0.05):
        results = case.run()[1]
        for here, result in zip(case.sequences(), results):
            classes, mine = np.empty((3, here.stop - here.start), np.int64), case.classes(here)
            unknown = np.flatnonzero((mine < 0).any(axis=0)).tolist()
            assert classified(case.windows, case.tokens[here], classes) == (unknown[0] if unknown else -1)
            assert np.array_equal(classes, mine)
            assert (result[CODE] == UNKNOWN_CLASS) == bool(unknown)
            codes.add(bool(unknown))
    assert codes == {False, True}


def test_classes_can_be_given():
    for case in cases(31):
        given = np.concatenate([case.classes(here) for here in case.sequences()], axis=1)
        for one, other in zip(case.run(), case.run(given=given)):
            assert np.array_equal(one, other)


def test_completions_and_bare_viterbi():
    for case in cases(32):
        completions, handle = case.run()[3], together(case.windows, case.scores, case.machines)
        K = case.size[0]
        for here in case.sequences():
            classes, rows = case.classes(here), case.rows[here]
            nodes, edges = case.emission[rows] + case.scores.node[classes[NODES]], case.edges(here, classes)
            after = np.zeros(K, np.int64)
            for t in range(len(rows) - 1, -1, -1):
                own = completions[here][t]
                same = (own[:K] == after) | ((own[:K] < DEAD) & (after < DEAD))
                assert same.all() and (own[K:] == FORBIDDEN).all()
                after = np.maximum(edges[t] + np.maximum(nodes[t] + after, FORBIDDEN), FORBIDDEN).max(axis=1)
            value, path = case.best(here, [])
            mine, pool = np.empty(len(rows), np.int64), case.pool[here] if len(case.pool) else 0
            edge_at = np.broadcast_to(case.scores.which[pool, classes[EDGES]], len(rows)).copy()
            total = bare(handle, case.emission, rows, classes[NODES], edge_at, mine)
            assert total == value if value is not None else total < DEAD
            assert value is None or mine.tolist() == path


@pytest.mark.parametrize("direct", [DIRECT, 0])
def test_many_prefixes_need_room(direct):
    """Parity machines without gains from merging, and scores that are all equal."""
    K, T, M = 4, 8, 10
    rng = np.random.default_rng(5)
    block = K
    symbols = rng.integers(0, 2, M * block).astype(np.int16)
    table = (np.arange(M) * block)[None]
    cost, final = np.zeros(4 * M, np.int64), np.tile([0, 1], M)
    next_state = np.tile([0, 1, 1, 0], M).astype(np.int32)
    final[::2], final[1::2] = 1, 0
    arc, width, states, stride = np.arange(M) * 4, np.full(M, 2), np.full(M, 2), np.zeros(M, np.int64)
    found = events(symbols, table, stride, K, next_state, cost, arc, width, states)
    owing = np.arange(M, dtype=np.int32)
    machines = Machines(
        symbols, table, stride, arc, width, next_state, cost, np.arange(M) * 2, final, states, *found, owing
    )
    one = np.ones((3, 3), np.int64)
    windows = Windows(np.ones((1, 3, 3), np.int32), np.arange(3) * 8, one + 1, np.zeros(24, np.int32))
    edge = np.full((1, K, 8), FORBIDDEN)
    edge[:, :, :K] = 0
    scores = Scores(np.zeros((1, K), np.int64), edge, np.zeros((1, 1), np.int64))
    zeros, emission = np.zeros(T, np.int64), np.zeros((1, K), np.int64)
    case = Case(windows, scores, machines, emission, np.array([0, T]), zeros, zeros, zeros[:0])
    paths, results, _, _ = case.run(10**9, direct)
    parities = {}
    for number in range(K**T):
        path = [number // K ** (T - 1 - t) % K for t in range(T)]
        counts = tuple(path.count(k) % 2 for k in range(K))
        parities.setdefault(counts, path)
    read = symbols.reshape(M, K).astype(int)
    least = {counts: int(((read @ counts) % 2 == 0).sum()) for counts in parities}
    assert results[0, VALUE] == -min(least.values())
    assert paths.tolist() == min(parities[c] for c in parities if least[c] == min(least.values()))
