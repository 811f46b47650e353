"""Constrained Viterbi and post-correction, against brute force and the example that tells them apart."""

import math

import numpy as np
from hypothesis import given, settings
from support.effort import examples
from support.strategies import problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.search.viterbi import allowed_labels

LABELS = ["B-company", "I-company", "O"]


def steel() -> Trellis:
    """ "Steel works": the word after the name pulls the name into itself, as in Liao et al. 2009, figure 2."""
    emissions = np.array([[0.0, -9.0, -1.0], [-9.0, 0.0, -1.5]])
    moves = np.array([[-9.0, 0.0, -3.0], [-9.0, 0.0, -3.0], [-3.0, -9.0, 0.0]])
    return Trellis.from_emissions(emissions, moves, labels=LABELS, tokens=("Steel", "works"))


def test_clamping_one_word_repairs_its_neighbour_and_post_correction_does_not():
    rules = [C.tag_at("O", words=("works",))]
    result = {m: ilpinfer.decode(steel(), rules, method=m).labels for m in METHODS}
    assert ilpinfer.decode(steel(), rules, method="viterbi").labels == ["B-company", "I-company"]
    assert result["constrained-viterbi"] == ["O", "O"]
    assert result["post-correction"] == ["B-company", "O"]


METHODS = ("constrained-viterbi", "post-correction")


@settings(max_examples=examples(150))
@given(problems())
def test_constrained_viterbi_is_the_best_under_the_local_rules(problem):
    compiled = problem.compiled()
    local = [case for case, rule in zip(problem.cases, compiled.rules, strict=True) if rule.folds]
    solution = ilpinfer.decode(*problem.given, method="constrained-viterbi")
    expected, labellings = problem._replace(cases=local).best()
    if expected is None:
        assert solution.status == "infeasible"
        return
    assert tuple(solution.ids.tolist()) in labellings
    assert solution.bound == expected / 2**20
    whole = problem.best()[0]
    assert solution.score <= (-math.inf if whole is None else whole / 2**20) <= solution.bound


@settings(max_examples=examples(150))
@given(problems())
def test_post_correction_keeps_what_token_rules_leave_and_moves_nothing_else(problem):
    compiled = problem.compiled()
    plain = ilpinfer.decode(*problem.given, method="viterbi")
    solution = ilpinfer.decode(*problem.given, method="post-correction")
    if plain.path is None:
        assert solution.status == "infeasible"
        return
    allowed = allowed_labels(compiled)
    for t, (before, after) in enumerate(zip(plain.ids.tolist(), solution.ids.tolist(), strict=True)):
        assert after == before if allowed[t, before] or not allowed[t].any() else allowed[t, after]
