"""Graphs of a claim, stages, products and max-marginals, against all labellings one by one."""

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from support.effort import seeds
from support.trellises import near_tie_trellis, valued

import ilpinfer
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from formulations import constraints as C
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.trees import Leaf
from ilpinfer.proof import graphs, joint, leaf, stages
from ilpinfer.proof.graphs import MaxMarginals
from ilpinfer.proof.machines import acceptor, machine_of
from ilpinfer.proof.meter import CheckFailure, Meter
from ilpinfer.proof.product import GraphProduct
from ilpinfer.proof.stages import MachinePass
from ilpinfer.proof.tree import check_tree
from ilpinfer.references.making import make
from ilpinfer.references.verification import verify

T, K = 4, 3
RULES = [
    C.at_most_runs("a", 1, penalty=2 * 2**-20),
    C.requires_before("a", "b", penalty=3 * 2**-20, distance="binary"),
    C.at_least_tokens("b", 1),
    C.never_together("X", "Y", scope="each pair", distance="binary", penalty=2**-20),
]
ORDERS = pytest.mark.parametrize("order", [1, 2])


def drawn(seed, order):
    """A problem of near ties with some scores that forbid, and all its machines, of which some count once together."""
    trellis = near_tie_trellis(seed, T, order=order, forbidden=0.1)
    problem = compile_problem(trellis, RULES).fold()
    rules = problem.rules
    keys = [(r, m) for r, rule in enumerate(rules) for m in range(len(rule.machines))]
    machines = [machine_of(rules, key, 1, None, Meter()) for key in keys]
    assert any(machine.group is not None for machine in machines)
    return problem, machines


def stage(problem, machines, excluded, limit, meter=None):
    """All machines over the graph of a limit."""
    meter = meter or Meter()
    apart = [acceptor(excluded, T, K, meter)] if excluded else []
    graph = MaxMarginals(problem.lattice).graph(limit, meter)
    return MachinePass(graph, [*machines, *apart], limit, meter)


def ways(problem, machines, excluded, limit):
    """Whether nothing passes the limit: at once, one after the other, by a product, and where moves are forgotten."""
    given = stage(problem, machines, excluded, limit)
    assert len(given.base.layers) == T
    yield given.graph().best[0][0] <= limit
    alone, others = given.joint.machines[:1], given.joint.machines[1:]
    for base in (
        MachinePass(given.base, alone, limit, Meter()).graph(),
        GraphProduct(given.base, alone, Meter()),
    ):
        yield MachinePass(base, others, limit, Meter()).graph().best[0][0] <= limit
    with patch.object(joint, "FULL", 0):
        yield stage(problem, machines, excluded, limit).graph().best[0][0] <= limit


@ORDERS
@seeds(20)
def test_what_is_excluded_is_what_brute_force_does_not_find(seed, order):
    problem, machines = drawn(seed, order)
    ranked = valued(problem)
    assert len(ranked) > 3
    for place in range(4):
        excluded = tuple(path for _, path in ranked[:place])
        best = ranked[place][0]
        if MaxMarginals(problem.lattice).best > best:
            assert all(ways(problem, machines, excluded, best))
        assert not any(ways(problem, machines, excluded, best - 1))
    assert all(ways(problem, machines, tuple(path for _, path in ranked), -(2**50)))


@ORDERS
@seeds(20)
def test_the_graph_of_a_limit_has_the_labellings_above_it(seed, order):
    """Without machines, the paths are left whose every step lies on one above the limit."""
    problem, _ = drawn(seed, order)
    problem = replace(problem, rules=())
    scores = {path: score for score, path in valued(problem)}
    limit = sorted(scores.values())[-5]
    graph = MaxMarginals(problem.lattice).graph(limit, Meter())
    above = [path for path, score in scores.items() if score > limit]
    edges = {(t, *path[max(t - order, 0) : t + 1]) for path in above for t in range(T)}
    assert sum(len(steps.arc) for steps in graph.layers) == len(edges)
    for path in above:
        node, total = 0, 0
        for t, label in enumerate(path):
            _, steps = graph.of(t, np.array([node]))
            [place] = np.flatnonzero(steps.arc % K == label)
            node, total = steps.target[place], total + steps.score[place]
        assert total == scores[path]


@ORDERS
@seeds(20)
def test_max_marginals_are_the_best_through_each_state(seed, order):
    lattice = drawn(seed, order)[0].lattice
    expected = np.full(lattice.node.shape, FORBIDDEN)
    for path in itertools.product(range(K), repeat=T):
        states = lattice.states_of(np.array(path))
        places = np.arange(T), states
        expected[places] = np.maximum(expected[places], lattice.score(np.array(path)))
    scores = MaxMarginals(lattice)
    assert (np.where(is_forbidden(scores.through), FORBIDDEN, scores.through) == expected).all()
    assert scores.best == expected[0].max()


@ORDERS
@seeds(20)
def test_chunks_change_nothing(seed, order):
    problem, machines = drawn(seed, order)
    given = (tuple(path for _, path in valued(problem)[:1]), valued(problem)[2][0])
    whole, cells = stage(problem, machines, *given), 16 * K
    expected = plain(whole.graph())
    with patch.object(graphs, "MOST_CELLS", cells):
        assert plain(stage(problem, machines, *given).base) == plain(whole.base)
    with patch.object(stages, "MOST_CELLS", cells):
        assert plain(stage(problem, machines, *given).graph()) == expected


def plain(graph):
    steps = [[column.tolist() for column in layer] for layer in graph.layers]
    return steps, [best.tolist() for best in graph.best]


@seeds(5)
def test_a_product_proves_what_pruned_steps_prove(seed):
    problem = compile_problem(near_tie_trellis(seed, T), RULES[:3])
    ranked, keys = valued(problem), tuple((r, 0) for r in range(3))
    for product, *later in ((keys,), (keys[:2], keys[2:])):
        form = Leaf(product=product, stages=tuple(later))
        for most in (-1, leaf.MOST_PRUNED):
            with patch.object(leaf, "MOST_PRUNED", most):
                for place in range(3):
                    excluded = tuple(path for _, path in ranked[:place])
                    check_tree(problem, form, ranked[place][0], excluded)
                    with pytest.raises(CheckFailure, match="not excluded"):
                        check_tree(problem, form, ranked[place][0] - 1, excluded)


def test_steps_are_asked_for():
    problem, machines = drawn(0, 1)
    given = stage(problem, machines, (), 0)
    with pytest.raises(CheckFailure, match="more than 10 steps"):
        MachinePass(given.base, machines, 0, Meter(10)).graph()
    assert given.pruned(0) is None
    with patch.object(stages, "MOST_STORED", 6), pytest.raises(CheckFailure, match="more than 1 steps"):
        stage(problem, machines, (), 0).graph()


def test_large_references_are_verified_and_worse_ones_refused():
    labels = labels_of_size(29)
    trellis, rules = document(100, 0, labels, 2.0), document_rules(labels)
    reference = make(trellis, rules)
    assert ilpinfer.verify(trellis, rules, ilpinfer.decode(trellis, rules))
    assert verify(reference, "meaning")
    worse = replace(reference.levels[0], score=reference.levels[0].score - 1)
    assert not verify(replace(reference, levels=(worse, *reference.levels[1:])), "meaning")
