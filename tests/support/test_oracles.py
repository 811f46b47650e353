"""Hand-worked examples for the oracles; labels are written as one string, tokens too."""

import math
from fractions import Fraction

import numpy as np
import pytest
from support import oracles as o

UNIT = 2.0**-20


def test_snap_rounds_half_to_even():
    assert [o.snap(x * UNIT) for x in (0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.75)] == [0, 2, 2, 0, -2, -2, 1]
    assert o.snap(1) == 2**20 and o.snap(np.float32(-1)) == -(2**20) and o.snap(-math.inf) is None
    for x in (math.inf, math.nan):
        with pytest.raises((OverflowError, ValueError)):
            o.snap(x)


def test_labellings():
    assert list(o.labellings(2, 2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert len(list(o.labellings(4, 3))) == 81


def test_scores():
    start = np.array([1.0, -np.inf])
    edges = np.array([[[0.6, 1.6], [0, 0]], [[0, 0.6], [-np.inf, 5]]]) * UNIT
    start[0] *= UNIT
    assert o.score_units((0, 0, 1), start, edges) == 1 + 1 + 1  # 0.6 + 0.6 would snap to 1
    assert o.score_units((0, 1, 1), start, edges) == 1 + 2 + 5
    assert o.score_units((0, 1, 0), start, edges) is None
    assert o.score_units((1, 0, 0), start, edges) is None
    assert o.score_units((0,), start, edges[:0]) == 1
    emissions, transitions = np.array([[1, 2], [3, 4], [5, 6]]) * UNIT, np.array([[10, 20], [30, 40]]) * UNIT
    assert o.score_units_factored((0, 1, 0), emissions, transitions) == 1 + 20 + 4 + 30 + 5
    assert o.score_units_factored((0, 1, 0), emissions, transitions, [100 * UNIT, 0], [200 * UNIT, 0]) == 360
    assert o.score_units_factored((1, 1, 1), emissions, transitions, None, [0, -math.inf]) is None
    assert o.score_units_factored((0,), [[0.4 * UNIT]], [[0]], [0.4 * UNIT], [0.4 * UNIT]) == 0


def test_fields_of():
    assert o.fields_of("B-x", "plain") == [("B-x", "")] and o.fields_of("O", "plain") == [("O", "")]
    assert o.fields_of("B-x-y", "bio") == [("x-y", "B")] and o.fields_of("O", "paths") == [("O", "")]
    assert o.fields_of("S-x", "iobes") == [("x", "S")] and o.fields_of("O", "iobes") == [("O", "")]
    assert o.fields_of("I-venue/B-publisher", "paths") == [("venue", "I"), ("venue/publisher", "B")]
    for label, scheme in (("S-x", "bio"), ("x", "bio"), ("BI-x", "bio"), ("B-x/y", "paths")):
        with pytest.raises(ValueError, match=r".+"):
            o.fields_of(label, scheme)


@pytest.mark.parametrize(
    "scheme, labels, field, starts",
    [
        ("plain", "a a b a a O", "a", [0, 3]),
        ("plain", "O a O O", "O", [0, 2]),
        ("plain", "a b O a b", {"a", "b"}, [0, 3]),
        ("bio", "I-a I-a B-a O I-a", "a", [0, 2, 4]),
        ("bio", "O O B-a O", "O", [0, 3]),
        ("bio", "B-a B-b I-a B-a", {"a", "b"}, [0, 3]),  # moving inside the group begins nothing
        ("bio", "B-a B-b I-a B-a", "a", [0, 2, 3]),
        ("iobes", "S-a S-a B-a E-a I-a I-a E-a O E-a E-a", "a", [0, 1, 2, 4, 8, 9]),
        ("iobes", "B-a I-b E-a", "a", [0, 2]),
        ("paths", "B-v I-v/B-p I-v/I-p B-v/I-p I-v I-v/I-p", "v", [0, 3]),
        ("paths", "B-v I-v/B-p I-v/I-p B-v/I-p I-v I-v/I-p", "v/p", [1, 3, 5]),  # at 3 the parent begins anew
        ("paths", "B-a/B-b/B-c B-a/I-b/I-c", "a/b/c", [0, 1]),
        ("paths", "I-v I-v/B-p I-v/B-p", {"v", "v/p"}, [0, 2]),  # v/p is entered from within the group at 1
    ],
)
def test_run_starts(scheme, labels, field, starts):
    assert o.run_starts(labels.split(), field, scheme) == starts
    if isinstance(field, str):
        assert o.run_starts(labels.split(), {field}, scheme) == starts


def test_tokens_of():
    names = ["B-v", "I-v/B-p", "O", "B-p"]
    expected = {"v": [0, 1], "v/p": [1], "p": [3], "O": [2], ("p", "O"): [2, 3], "z": [], (): []}
    assert {A: o.tokens_of(names, A, "paths") for A in expected} == expected


@pytest.mark.parametrize(
    "scheme, labels, expected",
    [
        ("plain", "a a b O O a", [2, 3, 5]),
        ("bio", "B-a I-a B-a O O I-b I-a", [2, 3, 5, 6]),
        ("iobes", "S-a S-a O O B-b E-b E-b", [1, 2, 4, 6]),
        ("paths", "B-v/B-p I-v/I-p I-v I-v/I-p B-v/I-p O", [3, 4, 5]),  # a child that ends begins nothing (2)
    ],
)
def test_changes(scheme, labels, expected):
    assert o.changes(labels.split(), scheme) == expected


def test_local_rules():
    names, tokens = ["a", "O", "a", "a", "b", "O", "a"], list("a,1a.,1")
    call = {"names": names, "tokens": tokens, "scheme": "plain"}
    assert o.forbidden_transition(A="a", B="O", **call) == 1
    assert o.forbidden_transition(A="a", B={"a", "b", "O"}, **call) == 3
    assert o.forbidden_transition(A={"a", "b"}, B={"a", "b"}, **call) == 2
    assert (o.starts_with(A="a", **call), o.starts_with(A={"b", "O"}, **call)) == (0, 1)
    assert (o.ends_with(A="O", **call), o.ends_with(A={"a", "b"}, **call)) == (1, 0)
    # changes at 1 (after a), 2 (after ,), 4 (after a), 5 (after .), 6 (after ,)
    assert o.changes_only_after(matches=lambda token: token in ",.", **call) == 2
    dates = {"names": ["AUTH", "AUTH", "DATE", "DATE"], "tokens": list("wxyz"), "scheme": "plain"}
    assert o.changes_only_after(matches=lambda token: token in ",.", **dates) == 1  # seed 002, count


def test_order_rules():
    def before(labels, A="a", B="b", scheme="plain"):
        return o.requires_before(labels.split(), labels.split(), A, B, scheme)

    assert [before(x) for x in ("O O", "a b O b", "b b O b a b", "b", "b a")] == [0, 0, 2, 1, 1]
    assert before("B-b B-b B-a I-b", scheme="bio") == 2
    assert before("a a O a", "a", "a") == 1 and before("a b", "a", {"a", "b"}) == 1


@pytest.mark.parametrize(
    "scheme, labels, count",
    [
        ("plain", "a I-b O", 0),
        ("bio", "B-a I-a I-a O B-a B-b I-b", 0),
        ("bio", "I-a I-a I-b O I-b", 3),
        ("iobes", "B-a I-a E-a S-b O B-a E-a", 0),
        ("iobes", "B-a", 1),  # the end
        ("iobes", "I-a", 2),  # start and end
        ("iobes", "E-a", 1),
        ("iobes", "B-a E-b", 1),
        ("iobes", "B-a O I-a S-a E-a", 4),  # B|O, O|I, I|S, S|E
        ("bilou", "B-a I-a L-a U-a O", 0),
        ("bilou", "L-a U-a B-a I-a", 2),  # START|L, I|END
        ("bmes", "B-a M-a E-a S-b M-a", 2),  # S|M, M|END
        ("iob1", "I-a I-a B-a I-b O I-a", 0),
        ("iob1", "B-a I-a O B-a B-b", 3),
        ("paths", "B-v I-v/B-p I-v/I-p I-v O B-v/B-p", 0),
        ("paths", "I-v B-v/I-p", 2),
        ("paths", "B-v/B-p B-v/I-p", 1),  # the child does not begin anew
        ("paths", "B-v/B-p O I-v/I-p I-v/I-q", 2),  # one for each position, even if two levels are wrong
        ("paths", "B-v/B-p/B-x B-v/B-p/I-x", 1),
        ("paths", "B-v I-v/I-p", 1),
    ],
)
def test_valid_scheme(scheme, labels, count):
    assert o.valid_scheme(labels.split(), labels.split(), scheme) == count


def test_best_and_top():
    def score(y):
        return None if y == (1, 1) else 10 * sum(y)

    assert o.best(2, 2, score, lambda y: 0) == (10, {(0, 1), (1, 0)})
    assert o.top(2, 2, score, lambda y: 0, 2) == [(10, (0, 1)), (10, (1, 0))]
    assert o.top(2, 2, score, lambda y: 11 * y[0], 9) == [(10, (0, 1)), (0, (0, 0)), (-1, (1, 0))]
    assert o.best(2, 2, score, lambda y: None if y == (0, 1) else 10 * y[0]) == (0, {(0, 0), (1, 0)})
    assert o.best(2, 2, score, lambda y: None) == (None, set())
    assert o.top(2, 2, score, lambda y: None, 3) == []


def test_two_phase():
    table = {(0,): -10, (1,): -11, (2,): -12, (3,): -13, (4,): -1, (5,): None}
    cost = {(0,): 5, (1,): 2, (2,): 2, (3,): 0, (4,): 0, (5,): 0}

    def run(tau, bound, hard_ok=lambda y: y != (4,)):
        return o.two_phase(1, 6, table.get, hard_ok, cost.get, tau, bound)

    assert run(1.0, "relative") == (-10, -10, 5, -10, {(0,)})
    assert run(0.75, "relative") == (-10, -12, 2, -11, {(1,)})  # -12.5 rounded up
    assert run(Fraction(9, 10), "relative") == (-10, -11, 2, -11, {(1,)})
    # as a float, 0.9 is a little above 9/10, which rounds to it
    assert run(0.9, "relative") == (-10, -11, 2, -11, {(1,)})
    assert run(0.5, "relative") == (-10, -15, 0, -13, {(3,)})
    assert run(1.0, "odds")[:2] == (-10, -10)
    assert run(math.exp(-2.5 * UNIT), "odds") == (-10, -12, 2, -11, {(1,)})
    assert run(0, "odds") == (-10, None, 0, -13, {(3,)})
    assert run(0.5, "odds")[1] == -10 - 726817  # log 2 * 2**20 = 726817.497...
    assert run(0.5, "relative", lambda y: y == (5,)) is None
    positive = o.two_phase(2, 2, lambda y: 10 - y[0], lambda y: True, lambda y: 1 - y[0], 0.75, "relative")
    assert positive == (10, 8, 0, 9, {(1, 0), (1, 1)})  # 7.5 rounded up; ties stay together
