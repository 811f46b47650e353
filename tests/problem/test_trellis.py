"""Scores on the grid, shapes, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracles

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.grid import FORBIDDEN, add, snap
from formulations.problem.compiled_rules import compile_problem

SCORES = st.one_of(st.floats(-1e4, 1e4), st.just(-math.inf))


@settings(deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 3))
def test_scores_are_sums_on_the_grid(data, T, K):
    draw = lambda *shape: np.array(  # noqa: E731
        data.draw(st.lists(SCORES, min_size=math.prod(shape), max_size=math.prod(shape)))
    ).reshape(shape)
    start, edges = draw(K), draw(T - 1, K, K)
    emissions, transitions, first, last = draw(T, K), draw(K, K), draw(K), draw(K)
    dense = Trellis(start, edges)
    factored = Trellis.from_emissions(emissions, transitions, start=first, end=last)
    for path in oracles.labellings(T, K):
        expected = oracles.score_units(path, start, edges)
        assert dense.score(path) == (-math.inf if expected is None else expected / 2**20)
        expected = oracles.score_units_factored(path, emissions, transitions, first, last)
        assert factored.score(path) == (-math.inf if expected is None else expected / 2**20)


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


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Trellis([0, math.nan], []), r"start\[1\] is nan"),
        (lambda: Trellis([0, 0], [[[0, 0], [math.inf, 0]]]), r"edges\[0, 1, 0\] is inf"),
        (lambda: Trellis([0, 0], [[[0, 0, 0], [0, 0, 0]]]), r"edges has shape \(1, 2, 3\); expected \(T-1, 2, 2\)"),
        (lambda: Trellis([[0, 0]], []), r"start has shape \(1, 2\); expected \(K,\)"),
        (lambda: Trellis([], []), r"start has shape \(0,\)"),
        (lambda: Trellis([0, 0], [[[0, 0], [0]]]), "rows of equal length"),
        (lambda: Trellis([0, 0], [], labels=["a"]), "1 labels are named, but the scores have 2"),
        (lambda: Trellis([0, 0], [], labels=["a", "a"]), "label 'a' is given twice"),
        (lambda: Trellis([0, 0], [], labels="ab"), "labels is 'ab'; expected a list of 2 names"),
        (lambda: Trellis([0, 0], [], tokens=["x", "y"]), "2 tokens are given, but the scores cover 1"),
        (lambda: Trellis([0, 0], [], tokens=[7]), r"tokens\[0\] is 7; expected a text"),
        (lambda: Trellis([0, 0], [], scheme="biose"), "no scheme 'biose'"),
        (lambda: Trellis([0, 0], [], labels=["x", "O"], scheme="bio"), "label 'x' does not fit scheme bio"),
        (lambda: Trellis([0, 0], np.zeros((0, 5, 5))), r"edges has shape \(0, 5, 5\); expected \(T-1, 2, 2\)"),
        (lambda: Trellis(["1", "2"], []), "start must hold numbers"),
        (lambda: Trellis.from_emissions(np.full((8192, 1), 2.0**31), [[0.0]]), "more than 2\\^31"),
        (lambda: Trellis([1e30, 0], []), "beyond 2\\^31 nats.*-inf, which forbids"),
        (lambda: Trellis([2e9, 0], [[[0, 0], [0, -1e9]]]), r"largest entry is start\[0\] = 2e\+09.*-inf forbids"),
        (lambda: Trellis.from_emissions(np.zeros((0, 2)), np.zeros((2, 2))), "at least one token"),
        (lambda: Trellis.from_emissions(np.zeros((3, 2)), np.zeros((3, 2))), r"transitions has shape \(3, 2\); expected \(2, 2\)"),
        (lambda: Trellis.from_emissions(np.zeros((3, 2)), np.zeros((2, 2)), end=[1]), r"end has shape \(1,\); expected \(2,\)"),
        (lambda: Trellis.from_emissions(np.full((5, 2), -1e9), np.zeros((2, 2))), r"largest entry is emissions\[0, 0\]"),
    ],
)  # fmt: skip
def test_bad_scores_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_labellings_are_checked():
    trellis = Trellis([0, 0], [[[0, 1], [2, 3]]], labels=["title", "O"])
    assert trellis.score(["title", 1]) == 1.0
    for labelling, message in (
        (["O", "titel"], "token 1: no label 'titel'; did you mean \"title\""),
        ([0, 2], "neither a label name nor an id from 0 to 1"),
        ([0, 0, 0], "3 labels, but there are 2 tokens"),
    ):
        with pytest.raises(ValueError, match=message):
            trellis.score(labelling)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (lambda: [C.at_most_runs("titel")], 'at_most_runs\\(titel, 1\\): no field "titel"; did you mean "title"'),
        (lambda: [C.at_most_runs("title", penalty=-1)], "penalty is -1: a penalty is positive"),
        (lambda: [C.at_most_runs("title", penalty=0)], "penalty is 0: a penalty is positive"),
        (lambda: [C.at_most_runs("title", penalty=1e-9)], "which is 0 on the score grid"),
        (lambda: [C.at_most_runs("title", penalty=math.nan)], "is nan"),
        (lambda: [C.at_most_runs("title", penalty="2")], "give nats, or inf for a hard rule"),
        (lambda: [C.at_most_runs("title", -1)], "n is -1; expected a whole number from 0"),
        (lambda: [C.at_most_runs("title", distance="jaccard")], "no distance 'jaccard'; there are count, binary, hamming"),
        (lambda: [C.tag_at("title")], "tag_at names no token: give words or a pattern"),
        (lambda: [C.tag_at("title", words="pp")], "words is 'pp'; expected a list"),
        (lambda: [C.tag_at("title", pattern="(")], "is not a regular expression"),
        (lambda: [C.feature(weight=1.0)], "name either a label, or the from and to of a step"),
        (lambda: [C.feature(weight=math.inf, label="title")], "weight is inf"),
        (lambda: [C.feature(weight=1, label="each field")], '"each field" does not fit here'),
        (lambda: [C.at_most_runs("title", name="x"), C.starts_with("title", name="x")], "two rules are named 'x'"),
        (lambda: [C.at_most_runs("title", 1, penalty=2**2000)], "beyond 2\\^31 nats"),
        (lambda: [C.at_least_runs("title", 10**30)], "expected a whole number from 0 to 2\\^31"),
        (lambda: C.at_most_runs("title"), "expected a list of rules"),
        (lambda: [C.at_most_runs([])], "field is an empty list; expected at least one field"),
        (lambda: ["title"], "rule 1 is 'title'; expected a rule"),
        (lambda: [C.at_least_tokens("title", 10**9, penalty=1e6)], "pass 2\\^31 nats: lower the penalty"),
    ],
)  # fmt: skip
def test_bad_rules_are_refused(rules, message):
    trellis = Trellis([0, 0], [[[0, 1], [2, 3]]], labels=["title", "O"])
    with pytest.raises(ValueError, match=message):
        ilpinfer.decode(trellis, rules())


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
