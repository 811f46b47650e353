"""Lattices multiplied with machines, and long documents whose relaxation has machines inside, against all labellings."""

import numpy as np
import pytest
from support.proofs import accepted
from support.trellises import feasible, random_trellis, valued

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.automata.lattice import Lattice, StepTable
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact import auto, compiled, mixtures, stages, sum_relaxation
from ilpinfer.exact.known import Known
from ilpinfer.exact.mixtures import Pool, relax
from ilpinfer.exact.product_lattice import ProductLattice
from ilpinfer.exact.sum_relaxation import SumRelaxation, sums_within

T = 6
INF = float("inf")


def machines(seed):
    """Rules on lengths, windows, orders and presence, some of them hard, some of certain tokens; labels with and without beginnings, and near
    ties."""
    rng = np.random.default_rng(seed)
    labels = [("a", "b", "O"), ("B-a", "I-a", "B-b", "I-b")][seed % 2]

    def penalty():
        return INF if rng.random() < 0.3 else float(rng.integers(1, 9)) / 4

    rules = [
        C.min_run_length("a", 3, penalty=penalty()),
        C.max_run_length("b", 1, penalty=penalty()),
        C.at_most_in_window("a", 1, width=3, penalty=penalty()),
        C.requires_present("a", "b", penalty=penalty()),
        C.requires_before("b", "a", penalty=penalty()),
        C.changes_only_after(penalty=penalty()),
    ]
    chosen = [rule for rule in rules if rng.random() < 0.6]
    tokens = rng.choice([",", "y"], T).tolist()
    scale = 2.0**-20 if seed % 4 == 2 else 1.0
    return random_trellis(seed, T, labels, tokens, scale=scale, forbidden=0.15 * (seed % 3)), chosen


@pytest.mark.parametrize("seed", range(60))
def test_the_best_path_of_the_product_is_the_best_labelling(seed):
    problem = compile_problem(*machines(seed))
    one, product = Known.unfolded(problem, Deadline()).ground, ProductLattice.of(problem.lattice)
    for m, plain in enumerate(one.plain):
        steps = StepTable(plain.symbols, one.which[one.classes[1], m])
        product = product.times(steps, plain.automaton, plain.penalty, 10**6)
    value, path, cost = product.best(product.lattice)
    ranked = valued(problem)
    if not ranked:
        assert is_forbidden(value)
        return
    worth = problem.value(path)
    assert value == worth.score == ranked[0][0]
    assert cost == problem.lattice.score(path) - worth.score


def test_a_product_ends_where_a_pass_takes_more_steps_than_wanted():
    trellis = Trellis.from_emissions(np.zeros((T, 3)), np.zeros((3, 3)), labels=["a", "b", "O"])
    problem = compile_problem(trellis, [C.max_run_length("a", 2, penalty=1.0)])
    one = Known.of(problem, Deadline()).ground
    arguments = (
        StepTable(one.plain[0].symbols, one.which[one.classes[1], 0]),
        one.plain[0].automaton,
        one.plain[0].penalty,
    )
    product = ProductLattice.of(problem.lattice)
    states = product.times(*arguments, 10**6).lattice.states
    assert states == 4
    assert product.times(*arguments, T * states**2).lattice.states == states
    assert product.times(*arguments, T * states**2 - 1) is None


def test_second_order_has_no_product():
    rng = np.random.default_rng(0)
    trellis = Trellis.second_order(rng.normal(size=2), rng.normal(size=(2, 2)), rng.normal(size=(3, 2, 2, 2)))
    product = ProductLattice.of(trellis.lattice)
    one = Known.of(compile_problem(trellis, [C.max_run_length("0", 1, penalty=1.0)]), Deadline()).ground
    plain = one.plain[0]
    assert (
        product.times(StepTable(plain.symbols, np.zeros(5, int)), plain.automaton, plain.penalty, 10**6)
        is None
    )


def test_a_lattice_without_a_first_label_has_no_product():
    problem = compile_problem(random_trellis(0, T), [C.max_run_length("a", 2, penalty=1.0)])
    one, lattice = Known.of(problem, Deadline()).ground, problem.lattice
    node = lattice.node.copy()
    node[0] = FORBIDDEN
    plain, steps = one.plain[0], StepTable(one.plain[0].symbols, one.which[one.classes[1], 0])
    product = ProductLattice.of(Lattice(node, lattice.pool, lattice.step))
    assert product.times(steps, plain.automaton, plain.penalty, 10**6) is None


def test_a_long_document_without_sums_has_the_bound_of_its_product(all_are_long):
    product = ProductLattice.of(random_trellis(0, T).lattice)
    value, path, _ = product.best(product.lattice)
    relaxed = relax(product, [], 1.0, Pool(), Deadline())
    assert relaxed.bound == value and any(np.array_equal(one, path) for one in relaxed.paths)


def test_the_proof_names_sums_that_no_labelling_keeps(all_are_long):
    rules = [
        C.linear(f"tokens(a) + tokens(b) + tokens(O) >= {T + 2}", penalty=0.5),
        C.max_run_length("a", 1, penalty=1.0),
    ]
    problem = compile_problem(random_trellis(0, T), rules)
    known = Known.of(problem, Deadline())
    SumRelaxation(problem, sums_within(problem)).bound(problem, known)
    best = valued(problem)[0][0]
    assert known.bound == best and accepted(problem, known.tree, best)


def long(seed):
    """Limits on runs and tokens, one of which no labelling keeps, and rules on lengths, windows and orders."""
    rng = np.random.default_rng(seed)
    trellis, rules = machines(seed)
    first, second = rng.integers(0, 3, 2).tolist()
    return trellis, [
        *rules,
        C.at_most_runs("a", 1 + first % 2, penalty=0.75),
        C.at_most_tokens("b", 1 + second, penalty=[0.5, INF][seed % 5 == 0]),
        C.linear("tokens(a) - 2*tokens(b) >= -1", penalty=0.4),
        *[C.at_least_runs("a", T + 1, penalty=0.25)] * (seed % 3 == 0),
    ]


@pytest.fixture
def all_are_long(monkeypatch):
    """Each sequence is a long document, and kernels give up at once."""
    for module in (auto, mixtures, sum_relaxation):
        monkeypatch.setattr(module, "LONG", 1)
    for module in (compiled, stages):
        monkeypatch.setattr(module, "PASSES", 0)
        monkeypatch.setattr(module, "LEAST_STEPS", 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_relaxation_over_machines_bounds_all_labellings_and_proves_that(seed, all_are_long):
    problem = compile_problem(*long(seed))
    known, relaxation = Known.of(problem, Deadline()), SumRelaxation(problem, sums_within(problem))
    without, apart = Known.of(problem, Deadline()), SumRelaxation(problem, sums_within(problem))
    relaxation.bound(problem, known)
    if not any(plain.total is None for plain in known.ground.plain):
        assert not relaxation.inside
        return
    assert relaxation.inside
    best = max((worth.score for _, worth in feasible(problem)), default=None)
    if best is None:
        return
    assert known.value <= best <= known.bound
    assert accepted(problem, known.tree, known.bound) and not accepted(problem, known.tree, best - 1)
    apart.bound(problem, without)
    assert known.bound <= without.bound


@pytest.mark.parametrize("seed", range(30))
def test_a_long_document_has_the_best_labelling(seed, all_are_long):
    trellis, rules = long(seed)
    solution = ilpinfer.decode(trellis, rules)
    ranked = valued(compile_problem(trellis, rules))
    if not ranked:
        assert solution.status == "infeasible"
        return
    assert solution.status == "optimal" and solution.score == solution.bound
    assert tuple(solution.ids) == ranked[0][1]
    assert ilpinfer.verify(trellis, rules, solution)


def test_equal_labellings_of_a_long_document_come_by_label_ids(all_are_long):
    trellis = Trellis.from_emissions(np.zeros((T, 3)), np.zeros((3, 3)), labels=["a", "b", "O"])
    solution = ilpinfer.decode(trellis, [C.exactly_tokens("O", 2, penalty=1.0)])
    assert solution.status == "optimal" and solution.labels == ["a"] * (T - 2) + ["O"] * 2
