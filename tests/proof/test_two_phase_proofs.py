"""Proofs of both phases of two-phase inference, of single members of the best few, and of lists that are complete."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.oracles import score_floor
from support.strategies import near_ties, problems
from test_verification import claimed, example
from test_verification import trees as proof_trees

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import hard_only
from ilpinfer.core.certificate import Phases, Rest
from ilpinfer.core.trees import Leaf
from ilpinfer.decoding.two_phase import TwoPhaseSolution
from ilpinfer.proof.phases import weighted_problem

TAUS = st.sampled_from((0.0, 0.3, 0.9, 1.0))
BOUNDS = st.sampled_from(("relative", "odds"))


@settings(max_examples=examples(60))
@given(problems() | near_ties(), TAUS, BOUNDS, st.integers(1, 4))
def test_both_phases_are_proved_for_each_of_the_best_few(problem, tau, bound, top):
    problem.machined()
    result = ilpinfer.decode_two_phase(*problem.given, tau, bound, top=top)
    *_, order = problem.two_phase(tau, bound) or [[]]
    assert [tuple(s.ids.tolist()) for s in result] == [y for *_, y in order[:top]]
    for solution in result:
        verdict = ilpinfer.verify(*problem.given, solution)
        assert solution.certificate.kind == "exact"
        assert (verdict.ok, verdict.proved, verdict.reasons) == (True, True, ())
    if result:
        assert ilpinfer.verify(*problem.given, result).proved
    else:
        alone = ilpinfer.decode_two_phase(*problem.given, tau, bound)
        assert alone.status == "infeasible" and ilpinfer.verify(*problem.given, alone).proved


def two_phase(trellis, rules, y, phases, tau, bound, best, excluded=()):
    """A solution that claims the labelling to be the best of both phases, its own figures right."""
    one_phase = claimed(trellis, rules, y, phases, excluded=excluded)
    floor = score_floor(best, tau, bound)
    return TwoPhaseSolution(
        **{field.name: getattr(one_phase, field.name) for field in fields(one_phase) if field.init},
        best_score=nats(best),
        floor=-math.inf if floor is None else nats(floor),
        cost_bound=one_phase.penalty,
        tau=tau,
        floor_kind=bound,
    )


@settings(max_examples=examples(150))
@given(problems() | near_ties(), TAUS, BOUNDS, st.data())
def test_no_proof_of_two_phases_proves_what_is_false(problem, tau, bound, data):
    """Any labelling, best score, weight, trees and exclusions: what is accepted is the truth."""
    whole = problem.machined()
    expected = problem.two_phase(tau, bound)
    assume(expected)
    best, _, order = expected
    scored = [y for y in problem.labellings if whole.value(np.array(y)).feasible]
    y, witness = data.draw(st.sampled_from(scored)), data.draw(st.sampled_from(scored))
    claimed = data.draw(st.sampled_from([best, problem.units(witness)]))
    weight = data.draw(st.integers(1, 2**22))
    trees = [
        data.draw(proof_trees(p.rules, problem.shape, depth=1))
        for p in (hard_only(whole), weighted_problem(whole, weight))
    ]
    honest = ilpinfer.decode_two_phase(*problem.given, tau, bound).certificate.tree
    if honest is not None and data.draw(st.booleans()):
        trees = [honest.best, honest.least or trees[1]]
    phases = Phases(trees[0], witness, data.draw(st.sampled_from([trees[1], None])), weight)
    excluded = tuple(data.draw(st.lists(st.sampled_from(scored), max_size=2)))
    solution = two_phase(*problem.given, y, phases, tau, bound, claimed, excluded)
    if ilpinfer.verify(*problem.given, solution).proved:
        assert claimed == best == problem.units(witness)
        left = [rank for rank in order if rank[2] not in excluded]
        assert [(cost, score) for cost, score, z in left if z == y] == [left[0][:2]]


RULES = [
    C.at_most_runs("title", 1, penalty=1.5, name="one title"),
    C.requires_before("author", "title", penalty=0.5, name="author before title"),
    C.at_least_tokens("author", 1, name="an author"),
    C.forbidden_transition("O", "O", penalty=0.25, name="no rest"),
]


TRELLIS = example(13, "abcde")
FEW = ilpinfer.decode_two_phase(TRELLIS, RULES, 0.7, top=4)
BEST = FEW[0]
TREE = BEST.certificate.tree
NEARBY = 1.5


def with_phases(**change):
    return {"certificate": replace(BEST.certificate, tree=replace(TREE, **change))}


def test_the_example_spends_something_for_less_cost():
    assert TREE.least is not None and BEST.best_score > BEST.model_score >= BEST.floor
    assert all(ilpinfer.verify(TRELLIS, RULES, solution).proved for solution in FEW)
    assert BEST.to_dict()["certificate"]["tree"]["weight"] == TREE.weight


@pytest.mark.parametrize(
    "change, words",
    [
        ({"best_score": BEST.best_score + 2**-20}, ""),
        ({"best_score": BEST.best_score - 2**-20}, ""),
        ({"best_score": BEST.best_score + 1, "tau": 1.0, "floor": BEST.best_score + 1}, "floor"),
        ({"best_score": BEST.best_score + 2**-30}, "grid"),
        ({"best_score": math.nan}, "grid"),
        ({"floor": BEST.floor + 2**-20}, "floor"),
        ({"floor": BEST.floor - 2**-20}, "floor"),
        ({"floor": -math.inf}, "floor"),
        ({"tau": 0.71}, "floor"),
        ({"tau": math.nan}, "cannot be read"),
        ({"floor_kind": "odds"}, "floor"),
        ({"floor_kind": "any"}, "cannot be read"),
        ({"cost_bound": BEST.cost_bound + 2**-20}, "cost_bound"),
        ({"cost_bound": 0.0 if BEST.penalty else -1.0}, "cost_bound"),
        ({"cost_bound": math.nan}, "cost_bound"),
        ({"path": FEW[1].path}, "score"),
        ({"bound": BEST.bound + 2**-20}, "status"),
        ({"status": "infeasible"}, "status"),
        (with_phases(witness=tuple(BEST.ids.tolist())), "witness"),
        (with_phases(witness=()), "witness"),
        (with_phases(witness=(0, 1, 2, 1, 3)), "label id"),
        (with_phases(best=Leaf(stages=(((9, 0),),))), "rule"),
        (with_phases(best=None), "neither leaf nor split"),
        (with_phases(least=None), "no proof of the second phase"),
        (with_phases(least=Leaf()), "not excluded"),
        (with_phases(least=TREE), "neither leaf nor split"),
        (with_phases(weight=0), "weight"),
        (with_phases(weight=-1), "weight"),
        (with_phases(weight=True), "weight"),
        (with_phases(weight=2**56), "add"),
        ({"certificate": replace(BEST.certificate, tree=Leaf())}, "another kind of inference"),
        ({"certificate": replace(BEST.certificate, tree=TREE.best)}, "another kind of inference"),
        ({"certificate": replace(BEST.certificate, make_digest=str)}, "digest"),
        ({"certificate": replace(BEST.certificate, rest=Rest(-math.inf, Leaf()))}, "list"),
    ],
)
def test_whatever_is_changed_in_two_phases_is_rejected(change, words):
    verdict = ilpinfer.verify(TRELLIS, RULES, replace(BEST, **change))
    assert not verdict.ok and not verdict.proved
    assert words in " ".join(verdict.reasons), verdict.reasons


def test_a_proof_of_two_phases_proves_no_ordinary_solution():
    ordinary = ilpinfer.decode(TRELLIS, RULES)
    forged = replace(ordinary, certificate=replace(ordinary.certificate, tree=TREE))
    verdict = ilpinfer.verify(TRELLIS, RULES, forged)
    assert not verdict.ok and "another kind of inference" in verdict.reasons[0]


def test_a_price_that_is_not_spent_proves_no_second_phase():
    """Given back in full, it would make labellings look worse than they are, and their cost no higher."""
    trellis = Trellis([0.0, 1.0], [[[0.0, 0.0], [0.0, 0.0]]], labels=["a", "b"])
    rules = [C.at_least_tokens("a", 5, penalty=1.0), C.starts_with("a", penalty=1.0)]
    best, worst = 2**20, 4 * 2**20
    assert compile_problem(trellis, rules).value(np.array([1, 1])).penalty > worst
    least = Leaf({(0, 0): 0}, (), (((1, 0),),))
    forged = two_phase(trellis, rules, (1, 1), Phases(Leaf(), (1, 1), least, 2**20), 0.0, "odds", best)
    verdict = ilpinfer.verify(trellis, rules, forged)
    assert (
        not verdict.ok
        and "no machine in a stage, which is needed where costs are counted" in verdict.reasons[0]
    )
    honest = ilpinfer.decode_two_phase(trellis, rules, 0.0, "odds")
    assert ilpinfer.verify(trellis, rules, honest).proved and honest.labels == ["a", "a"]


def test_two_phase_by_a_solver_is_a_solvers_word():
    solution = ilpinfer.decode_two_phase(TRELLIS, RULES, 0.7, method="highs")
    assert solution.certificate.kind == "solver"
    verdict = ilpinfer.verify(TRELLIS, RULES, solution)
    assert verdict.ok and not verdict.proved and "is claimed by" in verdict.reasons[0]
    below = replace(solution, path=solution.path, cost_bound=solution.penalty + 1)
    assert not ilpinfer.verify(TRELLIS, RULES, below).ok


@settings(max_examples=examples(60))
@given(problems() | near_ties(), st.integers(1, 6), st.data())
def test_each_of_the_best_few_is_proved_by_itself(problem, top, data):
    whole = problem.machined()
    everything = problem.top()
    result = ilpinfer.decode(*problem.given, top=top)
    for solution in result:
        assert ilpinfer.verify(*problem.given, solution).proved
        given = solution.certificate.excluded
        excluded = tuple(data.draw(st.lists(st.sampled_from([y for _, y in everything]), max_size=3)))
        forged = replace(solution, certificate=replace(solution.certificate, excluded=excluded))
        verdict = ilpinfer.verify(*problem.given, forged)
        own = tuple(solution.ids.tolist())
        value = whole.value(solution.ids).score
        left = [total for total, y in everything if y not in excluded]
        fair = all(whole.value(np.array(y)).score >= value for y in excluded)
        right = fair and own not in excluded and len(set(excluded)) == len(excluded) and left[0] <= value
        assert not verdict.proved or right
        assert verdict.proved or set(excluded) != set(given) or len(excluded) != len(given)
    verdict = ilpinfer.verify(*problem.given, result, top=top)
    assert verdict.ok and verdict.proved == bool(result), verdict.reasons


@pytest.mark.parametrize("few", [FEW, ilpinfer.decode(TRELLIS, RULES, top=4)])
def test_what_a_member_excludes_is_checked(few):
    last = few[-1]
    before = last.certificate.excluded
    own = tuple(last.ids.tolist())
    worse = (2, 2, 2, 2, 2)
    for excluded, words in (
        (before[1:], "not excluded"),
        ((*before, own), "the solution's own"),
        ((*before, before[0]), "excludes a labelling twice"),
        ((*before, worse), "worse"),
        ((*before, (0, 1)), "shape"),
        ((*before, (0, 1, 2, 1, 3)), "label id"),
        ((*before, None), "excluded or listed"),
    ):
        forged = replace(last, certificate=replace(last.certificate, excluded=excluded))
        verdict = ilpinfer.verify(TRELLIS, RULES, forged)
        assert not verdict.ok and words in " ".join(verdict.reasons), (excluded, verdict.reasons)


def test_a_list_is_proved_to_be_complete_where_it_is():
    rules = [*RULES, C.at_most_tokens("O", 0), C.at_most_tokens("author", 1), C.at_most_runs("title", 1)]
    result = ilpinfer.decode(TRELLIS, rules, top=50)
    assert 1 < len(result) < 50
    assert ilpinfer.verify(TRELLIS, rules, result, top=50).proved
    assert ilpinfer.verify(TRELLIS, rules, result[-1]).proved
    for short in (result[:-1], [*result[:-1], replace(result[-1], certificate=without_rest(result[-1]))]):
        verdict = ilpinfer.verify(TRELLIS, rules, short, top=50)
        assert verdict.ok and not verdict.proved and "it is not proved that" in verdict.reasons[0]
        assert ilpinfer.verify(TRELLIS, rules, short).proved
    verdict = ilpinfer.verify(TRELLIS, rules, result[:1], top=50)
    assert verdict.reasons == ("it is not proved that the list of 1 labelling is complete",)
    rest = result[-1].certificate.rest
    forged = replace(result[-2], certificate=replace(result[-2].certificate, rest=rest))
    assert not ilpinfer.verify(TRELLIS, rules, [*result[:-2], forged], top=50).ok
    assert not ilpinfer.verify(TRELLIS, rules, forged).ok


def test_a_list_holds_nothing_beyond_what_was_asked_for():
    result = ilpinfer.decode(TRELLIS, RULES, top=4)
    assert result[0].score > result[-1].score
    assert ilpinfer.verify(TRELLIS, RULES, result, top=4).proved
    verdict = ilpinfer.verify(TRELLIS, RULES, result, top=3)
    assert not verdict.ok
    assert verdict.reasons == ("the list has 4 labellings, but at most 3 were requested",)
    verdict = ilpinfer.verify(TRELLIS, RULES, result, top=4, within=0.0)
    assert not verdict.ok and "its score is more than 0.0 nats below the best" in verdict.reasons[0]
    for wrong in ({"top": 0}, {"top": True}, {"top": 2.5}, {"within": -1.0}, {"within": float("nan")}):
        with pytest.raises(ValueError, match=r"(top|within) is "):
            ilpinfer.verify(TRELLIS, RULES, result, **wrong)


def without_rest(solution):
    return replace(solution.certificate, rest=None)


def test_a_list_within_a_distance_is_proved_to_be_complete():
    result = ilpinfer.decode(TRELLIS, RULES, top=200, within=NEARBY)
    assert 1 < len(result) < 200
    assert ilpinfer.verify(TRELLIS, RULES, result, top=200, within=NEARBY).proved
    for wider in (None, 2 * NEARBY):
        verdict = ilpinfer.verify(TRELLIS, RULES, result, top=200, within=wider)
        assert verdict.ok and not verdict.proved and "it is not proved that" in verdict.reasons[0]
    rest = Rest(result[-1].certificate.rest.bound - 1, result[-1].certificate.rest.tree)
    forged = replace(result[-1], certificate=replace(result[-1].certificate, rest=rest))
    assert not ilpinfer.verify(TRELLIS, RULES, forged).ok


def test_an_empty_list_holds_no_proof():
    rules = [*RULES, C.at_most_tokens("author", 0)]
    assert ilpinfer.decode(TRELLIS, rules, top=2) == []
    verdict = ilpinfer.verify(TRELLIS, rules, [], top=2)
    assert verdict.ok and not verdict.proved and "no proof" in verdict.reasons[0]
    assert ilpinfer.verify(TRELLIS, rules, ilpinfer.decode(TRELLIS, rules)).proved
