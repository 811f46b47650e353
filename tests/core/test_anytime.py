"""Incumbents: each worth what brute force says of its labels, better than those before it, the last one the solution."""

import json
import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from support.checks import SEARCHES
from support.effort import examples
from support.strategies import UNIT, problems
from support.trellises import many_runs

import ilpinfer
from formulations import constraints as C
from formulations.problem.problem import Problem


@pytest.mark.parametrize("method", ["auto", *SEARCHES])
@settings(max_examples=examples(40))
@given(problem=problems())
def test_every_incumbent_is_worth_and_breaks_what_the_rules_say(method, problem):
    solution = ilpinfer.decode(*problem.given, method=method, **SEARCHES.get(method, {}))
    passed = solution.incumbents
    if not solution.has_labelling:
        assert passed == ()
        return
    assert (passed[-1].score, passed[-1].violations) == (solution.score, solution.violations)
    assert all(a.score < b.score and a.seconds <= b.seconds for a, b in pairwise(passed))
    assert passed[-1].seconds <= solution.seconds
    for incumbent, kept in zip(passed[:-1], solution.improvements, strict=False):
        labelling = tuple(kept.path.tolist())
        assert incumbent.score == (problem.units(labelling) - problem.cost(labelling)) * UNIT
        assert list(incumbent.violations.values()) == problem.violations(labelling)


def example():
    return many_runs(60, 5, 3, seed=5, penalty=1.0)


@pytest.mark.parametrize("method", ["lds", "evolutionary"])
def test_searches_pass_several_and_nothing_is_valued_unasked(method, monkeypatch):
    trellis, rules = example()
    counted = []
    options = {"zero": "best", "keep_going": True} if method == "lds" else {}
    solution = ilpinfer.decode(trellis, rules, method=method, time_limit=2.0, **options)
    whole = Problem.value
    monkeypatch.setattr(Problem, "value", lambda *given: counted.append(1) or whole(*given))
    assert len(solution.incumbents) == len(solution.improvements) > 2
    assert solution.incumbents is solution.incumbents
    assert len(counted) == len(solution.incumbents) - 1
    row = json.loads(json.dumps(solution.to_dict(incumbents=True), allow_nan=False))
    assert row["incumbents"][-1] == {
        "seconds": solution.incumbents[-1].seconds,
        "score": solution.score,
        "violations": solution.violations,
    }
    assert "incumbents" not in solution.to_dict()


def test_methods_without_a_record_have_the_solution_itself():
    trellis, rules = example()
    for method in ("viterbi", "beam", "highs"):
        solution = ilpinfer.decode(trellis, rules[:1], method=method)
        (only,) = solution.incumbents
        assert (only.seconds, only.score) == (solution.seconds, solution.score)
    first, second = ilpinfer.decode(trellis, rules[:1], top=2)
    assert len(second.incumbents) == 1
    assert first.incumbents[-1].score == first.score
    hard = [C.at_most_runs("L0", 0)]
    (broken,) = ilpinfer.decode(trellis, hard, method="viterbi").incumbents
    assert broken.score == -math.inf
    assert broken.to_dict()["score"] is None
    assert sum(broken.violations.values()) > 0
    two_phase = ilpinfer.decode_two_phase(trellis, rules[:1], 0.9)
    assert [i.violations for i in two_phase.incumbents] == [two_phase.violations]


def test_processes_hand_incumbents_back():
    trellis, rules = example()
    (there,) = ilpinfer.decode_many([trellis], rules, n_jobs=2, method="evolutionary", iterations=30)
    here = ilpinfer.decode(trellis, rules, method="evolutionary", iterations=30)
    assert [(i.score, i.violations) for i in there.incumbents] == [
        (i.score, i.violations) for i in here.incumbents
    ]
