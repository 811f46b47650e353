"""Proofs of labellings that are known already: what they say of themselves is not believed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import check_optimum
from support.effort import examples, seeds
from support.strategies import near_ties, problems
from support.trellises import random_trellis

import ilpinfer
from formulations import constraints as C
from ilpinfer.core.certificate import Certificate
from ilpinfer.core.result import Result
from ilpinfer.decoding import certification as proving


def rules(penalty):
    return [C.at_most_runs("a", 1, penalty=penalty), C.at_least_tokens("b", 3, penalty=penalty)]


@seeds(6, 1)
@pytest.mark.parametrize("before, now", [(0.1, 3.0), (3.0, 0.1), (0.1, math.inf), (math.inf, 0.1)])
def test_a_solution_of_other_penalties_is_valued_anew(seed, before, now):
    scores = random_trellis(seed, 6)
    given = ilpinfer.decode(scores, rules(before), method="highs")
    proved = ilpinfer.prove(scores, rules(now), given)
    best = ilpinfer.decode(scores, rules(now))
    assert (proved.status, proved.score, proved.bound) == ("optimal", best.score, best.bound)
    assert proved.score <= proved.bound and ilpinfer.verify(scores, rules(now), proved).proved


@settings(max_examples=examples(160))
@given(problems(longest=4) | near_ties(), st.data())
def test_any_labelling_is_proved_or_bettered_whatever_it_says_of_itself(problem, data):
    solution = ilpinfer.decode(*problem.given, method="viterbi")
    if not solution.has_labelling:
        return
    path = np.array(data.draw(st.sampled_from(problem.labellings)))
    lie = replace(solution, path=path, score=1e6, bound=-1e6, status="optimal", violations={})
    proved = ilpinfer.prove(*problem.given, lie)
    check_optimum(problem, proved)
    assert ilpinfer.verify(*problem.given, proved).ok
    if tuple(path.tolist()) in problem.best()[1]:
        assert proved.ids.tolist() == path.tolist()


def open_ended(monkeypatch):
    """An engine that comes to no end, and knows a bound alone."""

    class Engine:
        function = None

        name = "auto"

        def run(self, problem, task):
            yield Result(None, 2.0**40, "auto: no time left", Certificate("none", "a bound of some kind"))

    monkeypatch.setattr(proving, "method", lambda _: Engine())


def test_a_solvers_word_is_kept_only_where_it_speaks_of_these_rules(monkeypatch):
    scores = random_trellis(3, 6)
    solver = ilpinfer.decode(scores, rules(1.0), method="highs")
    open_ended(monkeypatch)
    kept = ilpinfer.prove(scores, rules(1.0), solver)
    assert (kept.status, kept.bound, kept.certificate.kind) == ("optimal", solver.bound, "solver")
    changed = replace(solver, score=solver.score + 1, bound=solver.bound + 1)
    nothing = replace(solver, certificate=Certificate("none"))
    for lie in (changed, nothing):
        left = ilpinfer.prove(scores, rules(1.0), lie)
        assert (left.status, left.score, left.bound) == ("feasible", solver.score, 2.0**20)
        assert left.certificate.kind == "none"
