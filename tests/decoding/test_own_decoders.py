"""Decoders of one's own: what they return, raise, and do about time."""

import logging
import os
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import problems

import ilpinfer
from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.grid import nats
from ilpinfer.core import registry
from ilpinfer.core.deadline import Deadline
from ilpinfer.decoding import outside
from ilpinfer.decoding.workers import WorkerError

TRELLIS = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]] * 2, labels=["a", "b"])
RULES = [C.requires_present("a", "b", penalty=0.75)]


def names(trellis, rules, *, time_limit, seed):
    """A text, whose letters are labels."""
    return "a" * len(trellis)


def wise(trellis, rules, *, time_limit, seed):
    return ilpinfer.decode(trellis, rules).ids


def drawn(trellis, rules, *, time_limit, seed):
    return np.random.default_rng(seed).integers(len(trellis.labels), size=len(trellis))


def nothing(trellis, rules, *, time_limit, seed):
    return None


def endless(trellis, rules, *, time_limit, seed):
    while True:
        time.sleep(0.01)


def dying(trellis, rules, *, time_limit, seed):
    os._exit(7)


def raising(trellis, rules, *, time_limit, seed):
    raise KeyError("weights")


def timing_out(trellis, rules, *, time_limit, seed):
    raise TimeoutError("my server")


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    yield
    outside.end_all()


def decode(decoder, *, process=False, **options):
    ilpinfer.register_method("mine", decoder, process=process)
    return ilpinfer.decode(TRELLIS, RULES, method="mine", **options)


@pytest.mark.parametrize("process", [False, True])
def test_a_labelling_is_valued_here(process):
    solution = decode(names, process=process, time_limit=20)
    assert (solution.labels, solution.score, solution.penalty) == (["a"] * 3, -0.75, 0.75)
    assert (solution.status, solution.method) == ("feasible", "mine")
    assert solution.bound == 0.0, "of the scores alone"
    assert ilpinfer.verify(TRELLIS, RULES, solution).ok


def test_a_score_that_meets_the_bound_is_optimal():
    solution = ilpinfer.decode(TRELLIS, [], method="test_own_decoders:names")
    assert (solution.status, solution.gap) == ("optimal", 0.0)
    assert ilpinfer.verify(TRELLIS, [], solution).proved


def test_no_labelling_is_unknown():
    solution = decode(nothing)
    assert (solution.status, solution.has_labelling, solution.gap) == ("unknown", False, np.inf)


def test_it_is_given_rules_seed_and_what_is_left_of_the_limit():
    given = []

    def watching(trellis, rules, *, time_limit, seed):
        given.append((trellis, rules, time_limit, seed))
        return names(trellis, rules, time_limit=time_limit, seed=seed)

    decode(watching, seed=5)
    decode(watching, time_limit=20.0)
    (trellis, rules, limit, seed), (*_, second_limit, second_seed) = given
    assert trellis is TRELLIS and isinstance(rules, RuleSet) and list(rules) == RULES
    assert (limit, seed, second_seed) == (None, 5, 0) and 0 < second_limit <= 20.0


def test_seeds_are_checked_and_used():
    found = {tuple(decode(drawn, seed=seed).ids) for seed in range(20)}
    assert len(found) > 1
    assert decode(drawn, seed=3).labels == decode(drawn, seed=3).labels
    with pytest.raises(ValueError, match="seed is -1"):
        decode(drawn, seed=-1)
    with pytest.raises(ValueError, match="no option 'width'"):
        decode(drawn, width=3)


@pytest.mark.parametrize("process", [False, True])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (["a"], "mine returned no labelling of this trellis: the labelling has 1 label for 3"),
        ([0.5, 0, 0], "mine returned no labelling of this trellis: token 0: 0.5 is neither"),
        (3, "mine returned no labelling of this trellis: labelling is 3; expected a list of labels"),
    ],
)
def test_wrong_answers_are_named(monkeypatch, answer, words, process):
    monkeypatch.setattr(outside, "_in_process", lambda *_: (answer, ""))
    decoder = names if process else lambda trellis, rules, *, time_limit, seed: answer
    with pytest.raises(ValueError, match=words):
        decode(decoder, process=process, time_limit=9)


@pytest.mark.parametrize("process", [False, True])
def test_its_errors_are_raised_or_become_rows(process):
    with pytest.raises(KeyError, match="weights"):
        decode(raising, process=process, time_limit=20)
    with pytest.raises(TimeoutError, match="my server"):
        decode(timing_out, process=process, time_limit=20)
    ilpinfer.register_method("mine", raising, process=process)
    rows = ilpinfer.decode_many([TRELLIS] * 2, RULES, method="mine", time_limit=20, on_error="row")
    assert [(row.status, row.error) for row in rows] == [("unknown", "KeyError")] * 2


def test_an_endless_decoder_is_ended_where_it_is_a_process(monkeypatch):
    solution = decode(endless, process=True, time_limit=0.2)
    assert (solution.status, solution.method) == ("unknown", "mine: ended at its time limit")
    assert endless not in outside._workers, "its process is gone"
    excused = []
    monkeypatch.setattr(Deadline, "excuse", lambda deadline, seconds: excused.append(seconds))
    decode(endless, process=True, time_limit=0.1)
    assert len(excused) == 1 and excused[0] > 0, "and started anew"


def test_a_late_decoder_in_this_process_is_reported(monkeypatch, caplog):
    monkeypatch.setattr(outside, "GRACE", 0.01)

    def late(trellis, rules, *, time_limit, seed):
        end = time.monotonic() + 60
        while not caplog.records and time.monotonic() < end:
            time.sleep(0.01)
        return [0] * len(trellis)

    with caplog.at_level(logging.WARNING, "ilpinfer"):
        solution = decode(late, time_limit=0.05)
    (record,) = caplog.records
    assert "mine has passed its time limit of 0.05 s and still runs" in record.getMessage()
    assert "over its time limit" in solution.method and solution.labels == ["a"] * 3


def test_a_process_that_dies_is_an_error_and_the_next_one_goes_on():
    with pytest.raises(WorkerError, match="code 7"):
        decode(dying, process=True, time_limit=20)
    assert decode(names, process=True, time_limit=20).labels == ["a"] * 3


def test_processes_of_a_batch_know_it():
    ilpinfer.register_method("mine", wise)
    solutions = list(ilpinfer.decode_many([TRELLIS] * 3, RULES, method="mine", n_jobs=2))
    assert {solution.score for solution in solutions} == {ilpinfer.decode(TRELLIS, RULES).score}


@settings(max_examples=examples(150))
@given(problems(), st.data())
def test_the_worth_of_any_labelling_is_the_oracle_s(problem, data):
    labelling = data.draw(st.sampled_from(problem.labellings))
    worth = ilpinfer.evaluate_labelling(*problem.given, labelling)
    model, cost = problem.units(labelling), problem.cost(labelling)
    expected = -np.inf if model is None or cost is None else nats(model - cost)
    assert worth.score == expected
    assert worth.ids.tolist() == list(labelling)
    assert list(worth.violations.values()) == problem.violations(labelling)
    assert (worth.bound, worth.gap, worth.certificate.kind) == (np.inf, np.inf, "none")
    assert worth.status == ("feasible" if np.isfinite(expected) else "unknown")
    best = ilpinfer.decode(*problem.given)
    if best.has_labelling:
        bounded = ilpinfer.evaluate_labelling(*problem.given, labelling, bound=best.bound)
        assert bounded.gap == (best.score - expected if np.isfinite(expected) else np.inf)
        assert bounded.status == ("optimal" if expected == best.score else worth.status)


def test_the_bound_of_an_infeasible_trellis_is_no_contradiction():
    impossible = Trellis([-np.inf, -np.inf], [], labels=["a", "b"])
    bound = ilpinfer.decode(impossible).bound
    worth = ilpinfer.evaluate_labelling(impossible, [], ["a"], bound=bound)
    assert (worth.score, worth.status, worth.gap) == (-np.inf, "unknown", np.inf)
