"""Tabu search: windows are refitted by the best labels, and nothing is undone at once."""

import numpy as np
from support.trellises import many_runs

import ilpinfer
from formulations import Trellis
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.exact.ground import plain_ground
from ilpinfer.kernels import tabu as tabu_kernels
from ilpinfer.search import tabu
from ilpinfer.search.population import Individuals, Population
from ilpinfer.search.tabu import Tabu


def test_a_window_is_refitted_by_its_best_labels_that_are_not_tabu():
    rng = np.random.default_rng(1)
    T, K = 7, 3
    lattice = Trellis(rng.normal(size=K), rng.normal(size=(T - 1, K, K))).lattice
    scores, now = plain_ground(lattice).chain, 5
    room = np.empty((32, K), np.int64), np.zeros((32, K), np.int32)
    for seed in range(200):
        before, until = rng.integers(K, size=T).astype(np.int32), rng.integers(12, size=(T, K))
        y, memory = before.copy(), tabu_kernels.Memory(until, np.zeros(4, np.int64), *room)
        first, last = tabu_kernels._refit(scores, y, np.array([seed], np.uint64), memory, now)
        if last < first:
            assert (y == before).all()
            continue
        inside = np.indices((K,) * (last - first + 1)).reshape(last - first + 1, -1).T
        choices = np.tile(before, (len(inside), 1))
        choices[:, first : last + 1] = inside
        allowed = (until[np.arange(first, last + 1), inside] <= now).all(axis=1)
        moved = [
            lattice.score(c) for c in choices[allowed & (choices != before).any(axis=1)].astype(np.int64)
        ]
        assert (until[np.arange(first, last + 1), y[first : last + 1]] <= now).all()
        assert (y != before).any()
        assert lattice.score(y.astype(np.int64)) <= max(moved)
        pinned = [
            max(lattice.score(c) for c in choices[allowed & (choices[:, t] != before[t])].astype(np.int64))
            for t in range(first, last + 1)
            if (allowed & (choices[:, t] != before[t])).any()
        ]
        assert lattice.score(y.astype(np.int64)) in pinned


def test_a_label_that_was_lost_stays_away_for_its_tenure():
    trellis, _ = many_runs(40, 5, 3)
    folded, start = compile_problem(trellis, []).fold(), np.asarray(ilpinfer.decode(trellis).ids)
    population = Population(folded, Task(Deadline()), Individuals(2, 2, seed=0), start, 2**60)
    parameters, seen = Tabu(iterations=1, candidates=5, tenure=8, patience=10**6, refit_rate=1.0), []
    memory = tabu.memory_of(population, parameters)
    for _ in range(6):
        before = population.arrays[0][tabu_kernels.CURRENT].copy()
        tabu.move(population, parameters, memory)
        after = population.arrays[0][tabu_kernels.CURRENT].copy()
        assert all(after[t] != k for t, k in seen)
        seen += [(t, before[t]) for t in np.flatnonzero(before != after)]
    assert len(seen) >= 6
