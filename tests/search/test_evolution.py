"""The evolutionary algorithm: selection against its formula, mutations, variants and their starts, and what it passes through."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import problems
from support.trellises import many_runs

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.grid import is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.kernels.native import kernels
from ilpinfer.search import evolution
from ilpinfer.search.evolution import Evolution
from ilpinfer.search.population import Population, Settings


def example(T=70, hard=False):
    trellis, rules = many_runs(T, 6, 4, seed=1, **({} if hard else {"penalty": 1.0}))
    return trellis, [*rules, C.requires_before("L0", "L1", penalty=2.0)]


def test_sampling_draws_each_about_as_often_as_its_rank_says():
    size, n, s = 10, 5, 1.5
    seed, chosen, drawn = np.array([7], np.uint64), np.empty(n, np.int64), np.zeros(size)
    for _ in range(4000):
        kernels.sample(np.arange(size), n, s, seed, chosen)
        drawn += np.bincount(chosen, minlength=size)
    expected = (2 - s) / size + 2 * np.arange(size) * (s - 1) / (size * (size - 1))
    assert np.allclose(drawn / drawn.sum(), expected, atol=0.004)


def test_mutations_move_a_border_back_or_change_one_run():
    seed, borders = np.array([3], np.uint64), np.empty(9, np.int64)
    before = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2], np.int32)
    plain = LabelSet(("a", "b", "c"))
    runs = plain.joins, plain.run_forms
    for _ in range(50):
        shifted, flipped = before.copy(), before.copy()
        first, last = kernels.mutate(shifted, seed, borders, 3, 1.0, False, runs)
        (moved,) = np.flatnonzero(shifted != before)
        assert first <= moved <= last
        assert moved in (2, 5)
        assert shifted[moved] == before[moved + 1]
        first, last = kernels.mutate(flipped, seed, borders, 3, 0.0, False, runs)
        changed = np.flatnonzero(flipped != before)
        assert all(first <= t <= last for t in changed)
        assert changed.tolist() in ([], [0, 1, 2], [3, 4, 5], [6, 7, 8])
        assert all(len(set(flipped[t : t + 3].tolist())) == 1 for t in (0, 3, 6))


def test_the_hybrid_takes_short_sequences_to_one_search_and_long_ones_to_the_other():
    for T, method in ((60, "lds"), (61, "evolutionary")):
        for border, expected in (({}, method), ({"border": 61}, "lds")):
            solution = ilpinfer.decode(*example(T), method="hybrid", time_limit=0.05, **border)
            assert f"hybrid: {expected}" in solution.method


OWN = {
    "varied": {"parents": "ranked", "shift": "both", "start": "viterbi"},
    "published": {"parents": "uniform", "shift": "backwards", "start": "best-first"},
}


@pytest.mark.parametrize("variant", OWN)
def test_a_variant_chooses_the_parameters_that_are_not_given(variant):
    assert Evolution(variant) == Evolution(variant, **OWN[variant])
    for other in OWN.values():
        for name, value in other.items():
            assert Evolution(variant, **{name: value}) == Evolution(variant, **(OWN[variant] | {name: value}))
    assert Evolution() == Evolution("varied")


def published(trellis, rules, **options):
    return ilpinfer.decode(trellis, rules, method="evolutionary", variant="published", **options)


def test_the_published_algorithm_begins_with_the_best_first_labelling():
    trellis, rules = example()
    problem = compile_problem(trellis, rules).fold()
    first = evolution.best_first_labelling(problem, Deadline())
    alone = published(trellis, rules, population=1, offspring=1, mutation_rate=0.0, iterations=1)
    assert alone.ids.tolist() == first.tolist()
    options = {"population": 1, "iterations": 1, "mutation_rate": 0.0}
    varied = ilpinfer.decode(trellis, rules, method="evolutionary", **options)
    other = ilpinfer.decode(trellis, rules, method="constrained-viterbi")
    assert varied.labels == other.labels != alone.labels


def test_a_published_start_that_is_not_there_in_time_is_not_replaced(monkeypatch):
    trellis, rules = example(hard=True)
    assert published(trellis, rules, iterations=3).has_labelling
    monkeypatch.setattr("ilpinfer.search.evolution._MOST_NODES", 5)
    late = published(trellis, rules, iterations=3)
    assert (late.status, late.has_labelling) == ("unknown", False)
    assert late.method == "evolutionary: no first labelling in time"
    assert late.bound >= ilpinfer.decode(trellis, rules).score
    for options in ({}, {"variant": "published", "start": "viterbi"}):
        other = ilpinfer.decode(trellis, rules, method="evolutionary", iterations=300, **options)
        assert other.has_labelling


def test_the_search_for_a_published_start_has_all_the_time(monkeypatch):
    trellis, rules = example()
    tasks = []
    original = evolution.DiscrepancySearch

    def search(folded, task, parameters):
        tasks.append((task.deadline.limit, parameters.variant))
        return original(folded, task, parameters)

    monkeypatch.setattr(evolution, "DiscrepancySearch", search)
    published(trellis, rules, time_limit=1000.0, iterations=2)
    ((all_of_it, variant),) = tasks
    assert 900 < all_of_it <= 1000
    assert variant == "published"


@settings(max_examples=examples(100))
@given(problem=problems())
def test_the_best_first_labelling_keeps_the_hard_rules_if_there_is_one(problem):
    expected, _ = problem.best()
    first = evolution.best_first_labelling(problem.compiled().fold(), Deadline())
    assert (first is None) == (expected is None)
    assert first is None or problem.machined().value(first).feasible


@pytest.mark.parametrize(
    ("variant", "words"), [("strong", ("admissible", "varied")), ("published", ("published",) * 2)]
)
def test_the_hybrid_takes_both_searches_in_its_variant(variant, words, monkeypatch):
    taken = []
    monkeypatch.setattr(
        evolution, "limited_discrepancy", lambda problem, task, name: taken.append(task) or ()
    )
    monkeypatch.setattr(evolution, "evolutionary", lambda problem, task, name: taken.append(task) or ())
    for T in (60, 61):
        trellis, rules = example(T)
        ilpinfer.decode(trellis, rules, method="hybrid", variant=variant)
    assert tuple(task.parameters.variant for task in taken) == words


def check(compiled, population, places):
    label, _, _, _, total, breaks = population.arrays
    for who in places:
        path = label[who].astype(np.int64)
        value = compiled.value(path)
        assert (breaks[who] == 0) == (value.feasible and not is_forbidden(compiled.lattice.score(path)))
        assert breaks[who] or total[who] == value.score
    best = population.incumbents
    assert best.path is None or compiled.value(best.path).score == best.value
    values = [improvement.value for improvement in best.improvements]
    assert len(values) < 2 or values[-1] > values[0]


PARAMETERS = st.builds(
    Evolution,
    population=st.integers(1, 6),
    offspring=st.integers(1, 7),
    mutation_rate=st.just(0.7),
    shift_rate=st.just(0.5),
    parents=st.sampled_from(("uniform", "ranked")),
    shift=st.sampled_from(("backwards", "both")),
    seed=st.integers(0, 99),
    iterations=st.just(12),
)


@settings(max_examples=examples(100))
@given(problem=problems(), parameters=PARAMETERS, data=st.data())
def test_evolution(problem, parameters, data):
    compiled, start = problem.machined(), np.array(data.draw(st.sampled_from(problem.labellings)))
    population = Population(problem.compiled().fold(), Task(Deadline()), parameters, start, 2**60)
    population.run()
    check(compiled, population, population.places[0].tolist())


def test_settings_are_those_of_the_parameters():
    problem = compile_problem(Trellis(np.zeros(2), np.zeros((2, 2, 2)), labels=["a", "O"]), []).fold()
    parameters = Evolution(parents="ranked", shift="backwards")
    made = Population(problem, Task(Deadline()), parameters, np.zeros(3, np.int64), 0)
    assert made.settings == Settings(0.25, 1.5, 0.9, True, False)
