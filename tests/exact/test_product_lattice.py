"""Lattices multiplied with machines, against all labellings."""

import numpy as np
from support.effort import seeds
from support.trellises import random_trellis, valued

from formulations import Trellis
from formulations import constraints as C
from formulations.automata.lattice import Lattice
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.product_lattice import ProductLattice
from ilpinfer.exact.viterbi import viterbi

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


def factors(problem):
    """Symbols on the steps, automaton and penalty of each machine."""
    one, classes = problem.instance, problem.tokens.classes
    return [(one.steps(m, classes), s.automaton, s.penalty) for m, s in enumerate(one.sources)]


@seeds(60)
def test_the_best_path_of_the_product_is_the_best_labelling(seed):
    problem = compile_problem(*machines(seed))
    product = ProductLattice.of(problem.lattice)
    for given in factors(GroundProblem.unfolded(problem, Deadline())):
        product = product.times(*given, 10**6)
    value, states = viterbi(product.lattice)
    path = product.label[states]
    ranked = valued(problem)
    if not ranked:
        assert is_forbidden(value)
        return
    assert value == problem.value(path).score == ranked[0][0]


def test_a_product_ends_where_a_pass_takes_more_steps_than_wanted():
    trellis = Trellis.from_emissions(np.zeros((T, 3)), np.zeros((3, 3)), labels=["a", "b", "O"])
    problem = compile_problem(trellis, [C.max_run_length("a", 2, penalty=1.0)])
    [arguments] = factors(GroundProblem.of(problem, Deadline()))
    product = ProductLattice.of(problem.lattice)
    states = product.times(*arguments, 10**6).lattice.states
    assert states == 4
    assert product.times(*arguments, T * states**2).lattice.states == states
    assert product.times(*arguments, T * states**2 - 1) is None


def test_second_order_has_no_product():
    rng = np.random.default_rng(0)
    trellis = Trellis.second_order(rng.normal(size=2), rng.normal(size=(2, 2)), rng.normal(size=(3, 2, 2, 2)))
    product = ProductLattice.of(trellis.lattice)
    problem = compile_problem(trellis, [C.max_run_length("0", 1, penalty=1.0)])
    [given] = factors(GroundProblem.of(problem, Deadline()))
    assert product.times(*given, 10**6) is None


def test_a_lattice_without_a_first_label_has_no_product():
    problem = compile_problem(random_trellis(0, T), [C.max_run_length("a", 2, penalty=1.0)])
    [given], lattice = factors(GroundProblem.of(problem, Deadline())), problem.lattice
    node = lattice.node.copy()
    node[0] = FORBIDDEN
    product = ProductLattice.of(Lattice(node, lattice.pool, lattice.step))
    assert product.times(*given, 10**6) is None
