"""Trellises: scores, features, names, and what their arrays say."""

import math

import numpy as np
import pytest
from support import oracles

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN, add, snap
from formulations.problem.compiled_rules import compile_problem

UNIT = 2.0**-20


def test_halves_of_a_unit_are_rounded_to_even_units():
    assert snap(np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.75]) * UNIT).tolist() == [0, 2, 2, 0, -2, -2, 1]


@pytest.mark.parametrize("method", ["auto", "highs", "beam"])
def test_factored_scores_decode_like_dense_ones(method):
    rng = np.random.default_rng(2)
    emissions, transitions, start = (rng.normal(size=shape) for shape in ((6, 3), (3, 3), 3))
    end = [0, 1, 2]
    tokens = ["a", ".", "b", "c", ".", "d"]
    rules = [
        C.at_most_runs("0", 1, penalty=0.7),
        C.changes_only_after(penalty=0.4),
        C.starts_with("2", penalty=0.3),
        C.feature(from_="1", to="1", weight=0.25, words=["c"]),
        C.feature(label="2", weight=-0.5, pattern="[ab]"),
    ]
    factored = Trellis.from_emissions(emissions, transitions, start=start, end=end, tokens=tokens)
    dense = Trellis(factored.lattice.node[0] / 2**20, factored.lattice.edge_scores() / 2**20, tokens=tokens)
    one, two = (ilpinfer.decode(t, rules, method=method) for t in (factored, dense))
    assert (one.score, one.labels, one.violations) == (two.score, two.labels, two.violations)
    assert one.status == "optimal"
    assert len(compile_problem(factored, rules).fold().lattice.pool) <= 4


def test_features_are_scores_and_not_penalties():
    trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, 0.0]]] * 2, labels=["a", "b"], tokens=["x", "y", "x"])
    features = [
        C.feature(from_="a", to="a", weight=0.5),
        C.feature(from_="a", to="b", weight=-0.25),
        C.feature(label="b", words=["x"], weight=-0.125),
        C.feature(to=C.other_than("a"), weight=0.0625),
    ]
    values = {}
    for names in ("a a a", "a b b", "b b b"):
        problem = compile_problem(trellis, features)
        value = problem.value(trellis.ids(names.split()))
        assert value.penalty == 0 and value.violations == {}
        values[names] = value.features / 2**20
    assert values == {"a a a": 1.0, "a b b": -0.25 - 0.125 + 2 * 0.0625, "b b b": -0.25 + 2 * 0.0625}
    solution = ilpinfer.decode(trellis, features)
    assert (solution.score, solution.feature_score, solution.model_score) == (1.0, 1.0, 0.0)


def test_forbidden_saturates():
    forbidden = np.full(3, FORBIDDEN)
    for _ in range(100):
        forbidden = add(forbidden, forbidden, snap([1.0, -1.0, 2.0**30]))
    assert forbidden.tolist() == [FORBIDDEN] * 3


def test_labellings_are_checked():
    trellis = Trellis([0, 0], [[[0, 1], [2, 3]]], labels=["title", "O"])
    assert trellis.score(["title", 1]) == 1.0
    for labelling, message in (
        (["O", "titel"], "token 1: no label 'titel'; did you mean \"title\""),
        ([0, 2], "neither a label name nor an id from 0 to 1"),
        ([0, 0, 0], "3 labels for 2 tokens"),
    ):
        with pytest.raises(ValueError, match=message):
            trellis.score(labelling)


def test_rule_names_are_unique_and_numbered():
    trellis = Trellis([0, 0], [], labels=["title", "O"])
    rules = [
        C.starts_with("title", penalty=1),
        C.starts_with("title", penalty=2),
        C.starts_with("O", name="mine", penalty=1),
    ]
    names = ["starts_with(title)", "starts_with(title) #2", "mine"]
    assert list(ilpinfer.decode(trellis, rules).violations) == names


def test_group_names_stand_for_their_labels():
    labels = LabelSet(("a", "b", "O"))
    described = C.group("described", ["a", "b"])
    assert C.at_most_runs(described, 1).violations(["a", "b", "O", "b"], labels=labels) == 1
    assert C.at_most_runs(described, 1).title == "at_most_runs(described, 1)"
    leaving = C.forbidden_transition(described, C.other_than(described))
    assert leaving.violations(["a", "b", "O"], labels=labels) == 1


def _draw(rng, *shape):
    scores = rng.integers(-40, 40, shape) / 8
    scores[rng.random(shape) < 0.1] = -math.inf
    return scores


def _along(table, *ids):
    return sum(table[t, *step] for t, step in enumerate(zip(*ids, strict=True)))


@pytest.mark.parametrize("T", [1, 2, 5])
@pytest.mark.parametrize("K", [1, 3])
def test_arrays_of_first_order(T, K):
    rng = np.random.default_rng(10 * T + K)
    dense = Trellis(_draw(rng, K), _draw(rng, T - 1, K, K))
    factored = Trellis.from_emissions(
        _draw(rng, T, K), _draw(rng, K, K), start=_draw(rng, K), end=_draw(rng, K)
    )
    for trellis in (dense, factored, Trellis.joined([dense, factored])):
        length = len(trellis)
        assert trellis.first is None and trellis.emissions.shape == (length, K)
        assert trellis.edges.shape == trellis.transitions.shape == (length - 1, K, K)
        for y in rng.integers(0, K, (20, length)):
            score = trellis.score(y)
            assert score == trellis.start[y[0]] + _along(trellis.edges, y[:-1], y[1:])
            assert score == _along(trellis.emissions, y) + _along(trellis.transitions, y[:-1], y[1:])


@pytest.mark.parametrize("T", [1, 2, 5])
def test_arrays_of_second_order(T):
    K = 3
    rng = np.random.default_rng(T)
    dense = Trellis.second_order(
        _draw(rng, K), _draw(rng, K, K) if T > 1 else None, _draw(rng, max(T - 2, 0), K, K, K)
    )
    factored = Trellis.from_emissions(_draw(rng, T, K), _draw(rng, K, K, K), first=_draw(rng, K, K))
    for trellis in (dense, factored):
        for path in oracles.labellings(T, K):
            y = np.array(path)
            score = trellis.start[y[0]] + (trellis.first[y[0], y[1]] if T > 1 else 0.0)
            assert trellis.score(y) == score + _along(trellis.edges, y[:-2], y[1:-1], y[2:])
        with pytest.raises(ValueError, match="read start, first and edges"):
            _ = trellis.emissions
        with pytest.raises(ValueError, match="read start, first and edges"):
            _ = trellis.transitions


def test_one_table_of_transitions_is_not_repeated():
    trellis = Trellis.from_emissions(np.zeros((10_000, 100)), np.zeros((100, 100)))
    assert trellis.transitions.shape == (9_999, 100, 100) and trellis.transitions.strides[0] == 0
    assert not trellis.transitions.flags.writeable
