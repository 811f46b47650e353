"""What the certifying engine does with odd input: the right answer, or one clear error."""

import math

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C

RULES = [C.at_most_runs("a", 1), C.requires_present("a", "b")]
CONTRADICTION = [C.at_least_tokens("a", 5), C.at_most_tokens("a", 4)]


def trellis(T=10, K=4, scores=None):
    rng = np.random.default_rng(0)
    draw = rng.normal if scores is None else lambda size: np.full(size, scores)
    return Trellis(draw(size=K), draw(size=(T - 1, K, K)), labels=list("abcO")[:K])


def only_path():
    start, edges = np.full(4, -np.inf), np.full((9, 4, 4), -np.inf)
    start[1] = edges[:, 1, 2] = edges[:, 2, 1] = 0
    return Trellis(start, edges, labels=list("abcO"))


def test_no_time_at_all_leaves_everything_open():
    solution = ilpinfer.decode(trellis(), RULES, time_limit=1e-9)
    assert (solution.status, solution.score, solution.bound) == ("unknown", -math.inf, math.inf)
    assert ilpinfer.decode(trellis(), RULES, time_limit=1e-9, top=3) == []
    assert ilpinfer.verify(trellis(), RULES, solution).ok


@pytest.mark.parametrize("limit", [math.inf, 1e300, np.float32(100)])
def test_a_limit_without_effect(limit):
    assert ilpinfer.decode(trellis(), RULES, time_limit=limit).status == "optimal"


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        (trellis(), CONTRADICTION),
        (only_path(), [C.requires_present("b", "a")]),
        (trellis(scores=-np.inf), []),
        (trellis(T=1), [C.at_least_tokens("a", 2)]),
        (trellis(K=1), [C.at_most_tokens("a", 9)]),
    ],
)
def test_nothing_is_possible_and_that_is_proved(given, rules):
    solution = ilpinfer.decode(given, rules)
    assert (solution.status, solution.bound, solution.gap) == ("infeasible", -math.inf, 0)
    assert ilpinfer.verify(given, rules, solution).proved
    assert ilpinfer.decode(given, rules, top=3) == []


@pytest.mark.parametrize(
    ("given", "rules", "labels", "score"),
    [
        (trellis(scores=0.0), RULES, "aaaaaaaaab", 0),
        (trellis(scores=0.0), [C.at_least_runs("a", 2), C.requires_before("b", "c")], "aaaaaaaaba", None),
        (only_path(), [C.requires_present("b", "a", penalty=3)], "bcbcbcbcbc", -3),
        (trellis(K=1, scores=0.0), [C.at_most_tokens("a", 1, penalty=1)], "aaaaaaaaaa", -9),
        (trellis(T=1, scores=0.0), RULES, "b", 0),
        (trellis(T=1, K=1, scores=0.0), [], "a", 0),
    ],
)
def test_all_that_is_left(given, rules, labels, score):
    solution = ilpinfer.decode(given, rules)
    best = ilpinfer.decode(given, rules, top=4)
    assert solution.status == "optimal"
    assert best[0].labels == solution.labels
    assert ilpinfer.verify(given, rules, solution).proved and ilpinfer.verify(given, rules, best).proved
    if score is not None:
        assert ("".join(solution.labels), solution.score) == (labels, score)


def test_an_error_of_the_callback_is_the_callers_own():
    def callback(*now):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ilpinfer.decode(trellis(), RULES, callback=callback)
    assert ilpinfer.decode(trellis(), RULES).status == "optimal"


def test_hundreds_of_rules():
    rng = np.random.default_rng(0)
    names = [f"field{k}" for k in range(12)]
    given = Trellis(rng.normal(size=12), rng.normal(size=(29, 12, 12)), labels=names)
    pairs = [(a, b) for a in names for b in names if a != b]
    rules = [C.requires_present(a, b, penalty=0.01 + i / 1000) for i, (a, b) in enumerate(pairs)]
    rules += [C.at_most_runs(a, n, penalty=0.02 * n) for a in names for n in range(1, 9)]
    solution = ilpinfer.decode(given, rules, time_limit=20)
    assert solution.status == "optimal"
    assert ilpinfer.verify(given, rules, solution).proved
    short = ilpinfer.decode(given, rules, time_limit=0.02)
    assert short.score <= solution.score <= short.bound
    assert ilpinfer.verify(given, rules, short).ok


def test_trellises_that_break_off_half_way():
    def trellises():
        yield trellis()
        raise OSError("half way")

    result = ilpinfer.decode_many(trellises(), RULES)
    assert next(result).status == "optimal"
    with pytest.raises(OSError, match="half way"):
        next(result)
