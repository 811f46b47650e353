"""The pass in Python over few steps, the graph of a claim, and max-marginals, against all labellings one by one."""

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from support.trellises import near_tie_trellis, valued

import ilpinfer
from benchmarks.data.synthetic import ruled
from formulations import constraints as C
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.proof import graphs, stages
from ilpinfer.proof.graphs import Marginals, Product
from ilpinfer.proof.machines import acceptor, machine_of
from ilpinfer.proof.meter import CheckFailure, Meter
from ilpinfer.proof.stages import Stage
from ilpinfer.references.making import make
from ilpinfer.references.verification import verify

T, K = 4, 3
RULES = [
    C.at_most_runs("a", 1, penalty=2 * 2**-20),
    C.requires_before("a", "b", penalty=3 * 2**-20, distance="binary"),
    C.at_least_tokens("b", 1),
]


def drawn(seed, order):
    """A problem of near ties with some scores that forbid, and all its machines."""
    trellis = near_tie_trellis(seed, T, order=order, forbidden=0.1)
    problem = compile_problem(trellis, RULES).fold()
    rules = problem.rules
    keys = [(r, m) for r, rule in enumerate(rules) for m in range(len(rule.machines))]
    assert len(keys) == len(RULES)
    return problem, [machine_of(rules, key, 1, None, Meter()) for key in keys]


def stage(problem, machines, excluded, limit, meter=None):
    """All machines over the graph of a limit."""
    meter = meter or Meter()
    apart = [acceptor(excluded, K, meter)] if excluded else []
    graph = Marginals(problem.lattice).graph(limit, meter)
    return Stage(graph, [*machines, *apart], limit, K, meter)


def ways(problem, machines, excluded, limit):
    """Whether nothing passes the limit: in Python, by arrays, and by a product with the first machine."""
    given = stage(problem, machines, excluded, limit)
    assert len(given.base.layers) == T
    yield given.excludes()
    yield given.graph().best[0][0] <= limit
    product = Product(given.base, machines[:1], Meter())
    yield Stage(product, given.machines[1:], limit, K, Meter()).graph().best[0][0] <= limit


CASES = [(seed, order) for seed in range(20) for order in (1, 2)]


@pytest.mark.parametrize(("seed", "order"), CASES)
def test_what_is_excluded_is_what_brute_force_does_not_find(seed, order):
    problem, machines = drawn(seed, order)
    ranked = valued(problem)
    assert len(ranked) > 3
    for place in range(4):
        excluded = tuple(path for _, path in ranked[:place])
        best = ranked[place][0]
        if Marginals(problem.lattice).best > best:
            assert all(ways(problem, machines, excluded, best))
        assert not any(ways(problem, machines, excluded, best - 1))
    assert all(ways(problem, machines, tuple(path for _, path in ranked), -(2**50)))


@pytest.mark.parametrize(("seed", "order"), CASES)
def test_the_graph_of_a_limit_has_the_labellings_above_it(seed, order):
    """A stage without machines leaves the paths whose every step lies on one above the limit."""
    problem, _ = drawn(seed, order)
    problem = replace(problem, rules=())
    scores = {path: score for score, path in valued(problem)}
    limit = sorted(scores.values())[-5]
    graph = Marginals(problem.lattice).graph(limit, Meter())
    above = [path for path, score in scores.items() if score > limit]
    edges = {(t, *path[max(t - order, 0) : t + 1]) for path in above for t in range(T)}
    assert sum(graph.sizes) == len(edges)
    for path in above:
        node, total = 0, 0
        for t, label in enumerate(path):
            steps = graph.steps(t, np.array([node]))
            [place] = np.flatnonzero(steps.arc % K == label)
            node, total = steps.target[place], total + steps.score[place]
        assert total == scores[path]


@pytest.mark.parametrize(("seed", "order"), CASES)
def test_max_marginals_are_the_best_through_each_state(seed, order):
    lattice = drawn(seed, order)[0].lattice
    expected = np.full(lattice.node.shape, FORBIDDEN)
    for path in itertools.product(range(K), repeat=T):
        states = lattice.states_of(np.array(path))
        places = np.arange(T), states
        expected[places] = np.maximum(expected[places], lattice.score(np.array(path)))
    scores = Marginals(lattice)
    assert (np.where(is_forbidden(scores.through), FORBIDDEN, scores.through) == expected).all()
    assert scores.best == expected[0].max()


@pytest.mark.parametrize(("seed", "order"), CASES)
def test_chunks_change_nothing(seed, order):
    problem, machines = drawn(seed, order)
    given = (tuple(path for _, path in valued(problem)[:1]), valued(problem)[2][0])
    whole, cells = stage(problem, machines, *given), 16 * K
    with patch.object(graphs, "MOST_CELLS", cells):
        assert plain(stage(problem, machines, *given).base) == plain(whole.base)
    expected = plain(whole.graph())
    with patch.object(stages, "MOST_CELLS", cells):
        assert plain(whole.graph()) == expected


def plain(graph):
    steps = [[column.tolist() for column in layer] for layer in graph.layers]
    return steps, [best.tolist() for best in graph.best]


def test_many_steps_and_shared_penalties_are_left_to_arrays():
    problem, machines = drawn(0, 1)
    ranked = valued(problem)
    given = (tuple(path for _, path in ranked[:1]), ranked[1][0])
    assert stage(problem, machines, *given).excludes()
    with patch.object(stages, "FEW", 20):
        assert not stage(problem, machines, *given).excludes()
    shared = [replace(machine, shared=0) for machine in machines]
    assert not stage(problem, shared, *given).excludes()


def test_many_prefixes_are_left_to_arrays():
    problem, machines = drawn(0, 1)
    ranked = valued(problem)
    worst = tuple(path for _, path in ranked), ranked[-1][0] - 100
    edges = sum(stage(problem, machines, *worst).base.sizes)
    with patch.object(stages, "FEW", edges * (2 + len(machines))):
        assert not stage(problem, machines, *worst).excludes()
    assert stage(problem, machines, *worst).excludes()


def test_steps_are_asked_for():
    problem, machines = drawn(0, 1)
    given = stage(problem, machines, (), 0)
    for pass_over in (Stage.excludes, Stage.graph):
        with pytest.raises(CheckFailure, match="more than 10 steps"):
            pass_over(replace(given, meter=Meter(10)))


def test_large_references_need_no_arrays():
    trellis, rules = ruled(200, 30, 2.0)
    reference = make(trellis, rules)
    solution = ilpinfer.decode(trellis, rules)
    with patch.object(Stage, "graph") as graph:
        assert ilpinfer.verify(trellis, rules, solution)
    graph.assert_not_called()
    assert verify(reference, "meaning")
    worse = replace(reference.levels[0], score=reference.levels[0].score - 1)
    assert not verify(replace(reference, levels=(worse, *reference.levels[1:])), "meaning")
