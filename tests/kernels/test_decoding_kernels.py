"""The decoding kernels against all labellings, on random tables that are read here by their documented meaning."""

import numpy as np
from support.random_tables import DEAD, cases

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import (
    BOUND,
    CODE,
    EDGES,
    INSIDE,
    MULTIPLIERS,
    NO_LABELLING,
    NO_PATH,
    NODES,
    PROVED,
    RELAXED,
    TOO_MUCH_WORK,
    UNKNOWN_CLASS,
    VALUE,
)


def check_proofs(seed):
    """The codes of results that are held against brute force, and the largest number of machines that a search takes up."""
    codes, taken_up = set(), 0
    for case in cases(seed):
        everything = range(case.size[1])
        paths, results, marks = case.run()
        for here, result, (mask, _) in zip(case.sequences(), results, marks):
            value, path = case.best(here, everything)
            without, _ = case.best(here, [])
            codes.add(int(result[CODE]))
            taken_up = max(taken_up, np.count_nonzero(mask))
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
    return codes, taken_up


def test_one_seed():
    assert PROVED in check_proofs(0)[0]


def test_the_first_of_the_best_labellings_is_proved():
    codes, taken_up = zip(*map(check_proofs, range(10)), strict=True)
    assert set().union(*codes) == {PROVED, NO_PATH, NO_LABELLING}
    assert max(taken_up) >= 3


def test_bounds_and_incumbents_hold_where_the_work_ends():
    codes, ways = set(), set()
    for seed in range(10, 18):
        for case in cases(seed):
            for work in (0, 3, 12, 50, 200):
                paths, results, marks = case.run(work)
                for here, result, (mask, multipliers) in zip(case.sequences(), results, marks):
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
                    assert result[MULTIPLIERS] == np.count_nonzero(multipliers)
                    if result[CODE] == PROVED:
                        assert result[VALUE] == optimum and paths[here].tolist() == path
                        ways.add((bool(multipliers.any()), bool(mask.any()), bool((mask == INSIDE).any())))
    assert {(TOO_MUCH_WORK, dead, lower) for dead in (False, True) for lower in (False, True)} <= codes
    assert {(True, False, False), (True, True, False), (True, True, True), (False, True, True)} <= ways


def test_a_direct_index_and_a_hash_table_agree():
    for seed in range(20, 23):
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
            first = kernels.classify(case.tables, case.tokens[here], classes)
            assert first == (unknown[0] if unknown else -1)
            assert np.array_equal(classes, mine)
            assert (result[CODE] == UNKNOWN_CLASS) == bool(unknown)
            codes.add(bool(unknown))
    assert codes == {False, True}


def test_completions_and_bare_viterbi():
    for case in cases(32):
        K, plain = case.size[0], case.scores._replace(node=np.zeros((1, case.size[0]), np.int64))
        for here in case.sequences():
            classes, rows = case.classes(here), case.rows[here]
            nodes, edges = case.emission[rows] + case.scores.node[classes[NODES]], case.edges(here, classes)
            pool = case.pool[here] if len(case.pool) else 0
            edge_at = np.broadcast_to(case.scores.which[pool, classes[EDGES]], len(rows)).copy()
            completion, tail = np.empty((2, len(rows), case.scores.edge.shape[2]), np.int64)
            mine = np.empty(len(rows), np.int64)
            total = kernels.viterbi(plain, nodes, edge_at, completion, tail, mine)
            after = np.zeros(K, np.int64)
            for t in range(len(rows) - 1, -1, -1):
                own = completion[t]
                same = (own[:K] == after) | ((own[:K] < DEAD) & (after < DEAD))
                assert same.all() and (own[K:] == FORBIDDEN).all()
                after = np.maximum(edges[t] + np.maximum(nodes[t] + after, FORBIDDEN), FORBIDDEN).max(axis=1)
            value, path = case.best(here, [])
            assert total == value if value is not None else total < DEAD
            assert value is None or mine.tolist() == path
