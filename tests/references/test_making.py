"""References against brute force: what they list is all there is, and the plain checker proves it."""

import itertools
import json
from importlib.resources import files

import fastjsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import examples, seeds
from support.reference_generator import generate
from support.strategies import NEAR_TIES, cost_units, problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from ilpinfer import checker
from ilpinfer.references import making
from ilpinfer.references.making import UnprovedOptimum, make
from ilpinfer.references.proofs import plain_trees
from ilpinfer.references.record import Reference
from ilpinfer.references.shipped import KINDS
from ilpinfer.references.tables import tables_of
from ilpinfer.references.verification import Finding, verify

VALIDATE = fastjsonschema.compile(
    json.loads(files("ilpinfer.references").joinpath("reference.schema.json").read_text("utf-8"))
)


def ranked(instance, cases):
    """Scores and labellings of all that is feasible, best first."""
    return oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y), None)


def agrees(reference, expected):
    """Whether each level lists all labellings of its score, and the last one says whether there are more."""
    plain = json.loads(json.dumps(reference.to_dict(), allow_nan=False))
    checker.check(plain)
    assert Reference.from_dict(plain) == reference
    left = list(expected)
    for number, level in enumerate(reference.levels):
        if level.score is None:
            assert not left and not level.labellings
            continue
        equal = {y for units, y in left if units == level.score}
        assert left[0][0] == level.score and set(level.labellings) <= equal
        if number < len(reference.levels) - 1:
            assert set(level.labellings) == equal
        left = [pair for pair in left if pair[0] < level.score]


@settings(max_examples=examples(120))
@given(problems())
def test_levels_are_those_of_brute_force(drawn):
    instance, cases = drawn
    agrees(make(instance.trellis, [case.rule for case in cases]), ranked(instance, cases))


@settings(max_examples=examples(120))
@given(problems(scores=NEAR_TIES, longest=3))
def test_ties_are_all_listed(drawn):
    instance, cases = drawn
    expected = ranked(instance, cases)
    reference = make(instance.trellis, [case.rule for case in cases])
    agrees(reference, expected)
    optima = [y for units, y in expected if units == expected[0][0]] if expected else []
    assert len(reference.optima) == min(len(optima), 100)
    assert reference.complete == (len(optima) <= 100)


@settings(max_examples=examples(60))
@given(problems(longest=3), st.integers(1, 4))
def test_longer_lists_are_proved_level_by_level_and_mean_what_they_say(drawn, top):
    instance, cases = drawn
    expected = ranked(instance, cases)
    reference = make(instance.trellis, [case.rule for case in cases], top=top)
    agrees(reference, expected)
    assert sum(len(level.labellings) for level in reference.levels) >= min(top, len(expected))
    VALIDATE(json.loads(json.dumps(reference.to_dict())))
    assert verify(reference, "meaning") == Finding(True)


@settings(max_examples=examples(120))
@given(st.one_of(problems(), problems(scores=NEAR_TIES)))
def test_what_is_verified_passes_the_single_file_too(drawn):
    instance, cases = drawn
    rules = [case.rule for case in cases]
    solution = ilpinfer.decode(instance.trellis, rules)
    assert ilpinfer.verify(instance.trellis, rules, solution)
    certificate_is_accepted(instance.trellis, rules, solution)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("T", "K"), [(8, 4), (25, 8)])
def test_verified_certificates_of_generated_instances_pass_the_single_file_too(kind, T, K):
    for instance in generate(kind, 8, seed=17, T=T, K=K, hardness=0.7):
        solution = ilpinfer.decode(instance.trellis, instance.rules)
        assert ilpinfer.verify(instance.trellis, instance.rules, solution)
        certificate_is_accepted(instance.trellis, instance.rules, solution)


def certificate_is_accepted(trellis, rules, solution):
    """Check that the single file accepts the reference, and the proof of this very certificate in it."""
    record = make(trellis, rules, ties=1).to_dict()
    checker.check(json.loads(json.dumps(record)))
    score = round(solution.score * UNITS_PER_NAT) if solution.has_labelling else None
    assert record["levels"][0]["score"] == score
    problem = compile_problem(trellis, rules)
    trees = plain_trees(problem, tables_of(problem), solution.certificate.tree)
    fine = checker.FINE * (score is not None)
    own = checker.read(json.loads(json.dumps(record)), [checker.MAX_STEPS], fine)
    level = {"score": score, "labellings": [solution.ids.tolist()] if solution.has_labelling else []}
    assert any(is_accepted(own, {**level, "proof": {"tree": tree}}) for tree in trees)


def is_accepted(problem, level):
    try:
        checker.check_level(*problem, level, [], checker.MAX_STEPS)
    except checker.CheckError:
        return False
    return True


def second_order(seed, T=4, K=3):
    rng = np.random.default_rng(seed)
    start, first, edges = (rng.integers(-3, 4, shape) / 2**20 for shape in (K, (K, K), (T - 2, K, K, K)))
    return Trellis.second_order(start, first, edges, labels=["a", "b", "O"])


def by_hand(trellis, rules):
    """All feasible labellings with their scores, best first, by the compiled rules."""
    problem, (T, K) = compile_problem(trellis, rules), trellis.lattice.shape
    values = [(problem.value(np.array(y)), y) for y in itertools.product(range(K), repeat=T)]
    return sorted(((v.score, y) for v, y in values if v.feasible), key=lambda pair: -pair[0])


@seeds(6)
def test_second_order(seed):
    trellis, rules = second_order(seed), [C.at_most_runs("a", 1, penalty=2**-19), C.requires_before("a", "b")]
    reference = make(trellis, rules)
    agrees(reference, by_hand(trellis, rules))
    assert verify(reference, "meaning")


def test_shared_penalties_of_several_machines():
    rng = np.random.default_rng(5)
    scores = (rng.integers(-3, 4, shape) / 2**20 for shape in (3, (4, 3, 3)))
    trellis = Trellis(*scores, labels=["a", "b", "c"])
    rules = [C.at_most_runs("each field", 1, penalty=2**-19, distance="binary")]
    reference = make(trellis, rules)
    assert [machine["group"] for machine in reference.tables["machines"]] == [0, 0, 0]
    agrees(reference, by_hand(trellis, rules))
    assert verify(reference, "meaning")


def test_infeasible_rules_have_a_proof():
    trellis = Trellis([0.0, 0.0], [[[0.0, 0.0], [0.0, 0.0]]], labels=["a", "b"])
    reference = make(trellis, [C.at_least_tokens("a", 2), C.at_least_tokens("b", 1)])
    assert reference.status == "infeasible" and reference.complete
    assert reference.score is None and reference.optima == ()
    checker.check(reference.to_dict())
    with pytest.raises(checker.CheckError):
        checker.check(reference.to_dict() | {"status": "optimal"})
    with pytest.raises(ValueError, match="status"):
        Reference.from_dict(reference.to_dict() | {"status": "optimal"})


def test_a_long_tie_is_cut():
    trellis = Trellis(np.zeros(2), np.zeros((4, 2, 2)), labels=["a", "b"])
    reference = make(trellis, [], ties=5)
    assert len(reference.optima) == 5 and not reference.complete and reference.margin is None
    checker.check(reference.to_dict())


def test_a_budget_is_kept():
    trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    record = make(trellis, [C.requires_present("a", "b", penalty=0.75)]).to_dict()
    steps = record["levels"][0]["proof"]["steps"]
    with pytest.raises(checker.CheckError, match="more steps than the reference states, or than max_steps"):
        checker.check(record, steps - 1)
    record["levels"][0]["proof"]["steps"] = steps - 1
    with pytest.raises(checker.CheckError, match="more steps"):
        checker.check(record)
    with pytest.raises(UnprovedOptimum):
        make(trellis, [], max_steps=1)


def test_whole_numbers_of_nats_are_read_back_as_they_were():
    trellis = Trellis.from_emissions([[0.0, 1.0], [1.0, 0.0]], [[0.0] * 2] * 2, labels=["a", "O"])
    whole = [C.at_most_runs("a", 1, penalty=1), C.feature(label="a", weight=2)]
    fractions = [C.at_most_runs("a", 1, penalty=1.0), C.feature(label="a", weight=2.0)]
    assert make(trellis, whole).to_dict() == make(trellis, fractions).to_dict()


def test_a_time_limit_that_leaves_no_labelling(monkeypatch):
    """The list may be empty where the time is over."""
    trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    decode = making.decode
    monkeypatch.setattr(
        making, "decode", lambda *given, top=None, **options: [] if top else decode(*given, **options)
    )
    with pytest.raises(UnprovedOptimum, match="no labelling was proved optimal in time"):
        make(trellis, [C.starts_with("b")], time_limit=0.001)
