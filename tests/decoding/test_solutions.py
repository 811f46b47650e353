"""What `decode` says beyond the labelling: statuses, limits, reasons, options."""

import json
import math

import numpy as np
import pytest
from support.checks import GENERAL_METHODS
from support.effort import at_most
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C


def trellis(seed: int = 0) -> Trellis:
    return random_trellis(seed, T=6)


@pytest.mark.parametrize("method", GENERAL_METHODS, ids=lambda method: method.name)
def test_every_method_returns_a_whole_solution(method):
    rules = [C.at_most_runs("a", 1, penalty=0.5), C.ends_with("b", penalty=0.25)]
    solution = ilpinfer.decode(trellis(), rules, method=method.name, time_limit=60 if method.exact else 0.2)
    assert solution.labels == [["a", "b", "O"][k] for k in solution.ids]
    assert solution.score == solution.model_score + solution.feature_score - solution.penalty
    assert set(solution.violations) == {"at_most_runs(a, 1)", "ends_with(b)"}
    assert solution.gap == solution.bound - solution.score >= 0
    assert solution.seconds > 0
    assert solution.method.startswith(method.name)
    assert solution.certificate.kind in ("exact", "solver")
    json.loads(json.dumps(solution.to_dict(), allow_nan=False))


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ([C.at_least_runs("a", 9, name="nine")], 'no labelling keeps rule "nine"'),
        (
            [C.ends_with("a", name="end"), C.at_most_tokens("a", 0, name="none")],
            'no labelling keeps all of the hard rules "end" at token 5, "none" at token 5',
        ),
    ],
)
@pytest.mark.parametrize("method", ["auto", "highs", "viterbi"])
def test_infeasible_rules_are_named(method, rules, reason):
    solution = ilpinfer.decode(trellis(), [*rules, C.starts_with("b", penalty=1)], method=method)
    if method == "viterbi":
        assert (solution.status, solution.score, solution.has_labelling) == ("unknown", -math.inf, True)
        return
    assert solution.status == "infeasible"
    assert reason in solution.reason
    assert not solution.has_labelling
    assert ilpinfer.decode(trellis(), rules, method=method, top=3) == []
    with pytest.raises(ValueError, match="infeasible"):
        _ = solution.ids


def test_the_last_straw_is_named():
    rules = [
        C.starts_with("a", name="start"),
        C.ends_with("a", name="end"),
        C.at_most_runs("a", 1, name="once"),
        C.forbidden_transition("a", "a", name="short"),
    ]
    reason = ilpinfer.decode(trellis(), rules).reason
    told = 'all of the hard rules "start" at token 0, "end" at token 5, "once", "short" at token 1;'
    assert told in reason
    assert "cheapest relaxation: allow 1 violation of" in reason
    forbidding = Trellis([-math.inf, -math.inf], [])
    assert "scores themselves forbid" in ilpinfer.decode(forbidding).reason


def hard_case() -> tuple[Trellis, list]:
    """A reference-sized problem whose program takes seconds."""
    rng = np.random.default_rng(1)
    T, K = 77, 26
    names = [f"{prefix}-{field}" for field in "abcdefghijklm" for prefix in "BI"]
    tokens = [("." if t % 5 == 4 else "word") for t in range(T)]
    scores = Trellis(rng.normal(size=K), rng.normal(size=(T - 1, K, K)), labels=names, tokens=tokens)
    return scores, [C.at_most_runs(C.EACH_FIELD, 1, penalty=2.0), C.changes_only_after(penalty=1.0)]


@pytest.mark.parametrize("limit", [1e-6, 0.5])
@pytest.mark.parametrize("method", ["cbc", "cp-sat", "highs", "scip", "auto", "beam", "viterbi"])
def test_a_time_limit_is_kept_and_nothing_false_is_said(method, limit):
    scores, rules = hard_case()
    ilpinfer.decode(trellis(), rules[:0], method=method)
    beam = ilpinfer.decode(scores, rules, method="beam", width=500)
    solution = ilpinfer.decode(scores, rules, method=method, time_limit=limit)
    assert solution.seconds < at_most(limit + 0.6)
    assert solution.status in ("optimal", "feasible", "unknown")
    assert solution.bound >= beam.score
    if solution.status == "optimal":
        assert solution.score >= beam.score
    if not solution.has_labelling:
        assert (solution.score, solution.gap) == (-math.inf, math.inf)


@pytest.mark.parametrize("limit", [1e-6, 0.3, 1.0])
def test_two_phase_under_a_limit_says_nothing_false(limit):
    scores, rules = hard_case()
    solution = ilpinfer.decode_two_phase(scores, rules, 0.5, time_limit=limit)
    assert solution.seconds < at_most(limit + 0.6)
    assert solution.status in ("optimal", "feasible", "unknown")
    if solution.has_labelling:
        assert solution.model_score >= solution.floor
        assert solution.cost_bound <= solution.penalty
        assert solution.bound >= solution.score


def test_two_phase_keeps_the_floor_when_the_second_phase_is_cut_short(monkeypatch):
    """A labelling that costs less but misses the floor must not take the place of the one in hand."""
    from ilpinfer.core.certificate import NONE
    from ilpinfer.decoding import two_phase_search

    scores = Trellis([0.0, -1.0, -1.5, -5.0], [], labels=["a", "b", "c", "d"])
    rules = [C.starts_with(["b", "c", "d"], penalty=2.0), C.starts_with("d", penalty=1.0)]
    replies = iter(
        [
            two_phase_search.ProgramAnswer("optimal", np.array([0]), 0.0, NONE),
            two_phase_search.ProgramAnswer("optimal", np.array([2]), -(2.0**20), NONE),
            two_phase_search.ProgramAnswer("feasible", np.array([3]), math.inf, NONE),
        ]
    )
    monkeypatch.setattr(two_phase_search, "solve", lambda *_: next(replies))
    solution = ilpinfer.decode_two_phase(scores, rules, math.exp(-2), "odds", method="highs")
    assert (solution.status, solution.labels, solution.penalty) == ("feasible", ["c"], 1.0)
    assert solution.model_score >= solution.floor
