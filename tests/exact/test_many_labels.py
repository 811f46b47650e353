"""Problems with many labels: components have machines once a labelling breaks them, and results are those of brute force."""

import time

import numpy as np
import pytest
from support.checks import ranking
from support.trellises import valued

import ilpinfer
from formulations import Trellis, blocks
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.exact import limits

LABELS = ["O", "B-a", "I-a", "B-b", "I-b"]
RULES = {
    "runs": [C.valid_scheme(), C.at_most_runs(C.EACH_FIELD, 1)],
    "soft": [
        C.valid_scheme(penalty=0.5),
        C.at_least_runs(C.EACH_FIELD, 1, penalty=0.75),
        C.max_run_length(C.EACH_FIELD, 1, penalty=1.25),
    ],
    "once": [
        C.at_most_tokens(C.EACH_FIELD, 1, distance="binary", penalty=1.0),
        C.requires_before("a", "b", penalty=0.5),
    ],
    "windows": [C.at_most_in_window("a", 1, width=3), C.between_runs("b", 1, 1), C.max_gap("a", "b", 1)],
    "contradiction": [C.at_least_tokens(C.EACH_FIELD, 3)],
}


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 0)
    monkeypatch.setattr(limits, "MOST_ENTRIES", 0)


def trellis_of(seed, T=4):
    rng, K = np.random.default_rng(seed), len(LABELS)
    scores = rng.integers(-2, 3, (T, K)) + 3.0 * (np.arange(K) > 0)
    return Trellis.from_emissions(scores, rng.integers(-1, 2, (K, K)).astype(float), labels=LABELS)


@pytest.mark.parametrize("name", RULES)
def test_results_are_those_of_brute_force_and_proved(many, name):
    rules = RULES[name]
    decoder = ilpinfer.Decoder(rules)
    for seed in range(3):
        trellis = trellis_of(seed)
        expected = valued(compile_problem(trellis, rules))
        best = decoder.decode(trellis)
        few = decoder.decode(trellis, top=3)
        assert (ranking([best]) if best.has_labelling else []) == expected[:1]
        assert best.status == ("optimal" if expected else "infeasible")
        assert ranking(few) == expected[:3]
        for solution in (best, *few[:1]):
            verdict = ilpinfer.verify(trellis, decoder.rules, solution)
            assert verdict.proved, verdict.reasons
        if expected:
            assert best.violations == {
                rule: each.violations(best.labels, labels=trellis)
                for rule, each in zip(best.violations, rules, strict=True)
            }


def test_keys_of_machines_are_those_of_all_machines(many, monkeypatch):
    """A proof names machines by the places that they have among all."""
    trellis = trellis_of(1, 5)
    lazy = ilpinfer.decode(trellis, RULES["runs"]).certificate.tree
    monkeypatch.setattr(limits, "MOST_ENTRIES", 2**24)
    eager = ilpinfer.decode(trellis, list(RULES["runs"])).certificate.tree
    assert set(lazy.stages) | {lazy.product} == set(eager.stages) | {eager.product}


def test_values_that_are_reported_are_those_under_all_rules(many):
    trellis, seen = trellis_of(2, 6), list[tuple[float, float]]()
    best = ilpinfer.decode(
        trellis, RULES["runs"], callback=lambda _, score, bound: seen.append((score, bound))
    )
    assert seen and all(score <= best.score <= bound for score, bound in seen)
    assert all(each.score <= best.score for each in best.incumbents)


def large(fields, T, seed=0):
    names = ["O", *(f"{mark}-f{n}" for n in range(fields) for mark in "BI")]
    scores = np.random.default_rng(seed).normal(size=(T, len(names))) * 3
    return Trellis.from_emissions(scores, np.zeros((len(names),) * 2), labels=names)


def test_a_rule_on_each_of_many_fields_takes_the_time_of_few_machines():
    rules = [C.valid_scheme(), C.at_most_runs(C.EACH_FIELD, 1)]
    ilpinfer.decode(large(2, 5), rules, callback=lambda *_: None)
    trellis = large(100, 12)
    began = time.process_time()
    solution = ilpinfer.decode(trellis, [C.valid_scheme(), C.at_most_runs(C.EACH_FIELD, 1)], time_limit=60)
    assert solution.status == "optimal" and time.process_time() - began < 2
    assert ilpinfer.verify(trellis, rules, solution).proved


def test_outside_everywhere_where_time_is_over(monkeypatch):
    """Time ends when the engine begins; that no token has a field keeps the rules."""
    trellis, rules = trellis_of(0), [C.valid_scheme(), C.at_most_runs(C.EACH_FIELD, 1)]
    monkeypatch.setattr("ilpinfer.exact.auto.best", lambda state: state.left_open("no time left"))
    solution = ilpinfer.decode(trellis, rules, callback=lambda *_: None)
    assert solution.labels == ["O"] * 4 and solution.status == "feasible"
    assert solution.method.endswith("no time left; O for all tokens") and solution.bound >= solution.score
    nothing = ilpinfer.decode(trellis, [*rules, C.at_least_tokens("a", 1)], callback=lambda *_: None)
    assert nothing.status == "unknown" and not nothing.has_labelling
