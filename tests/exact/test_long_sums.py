"""Soft sums on long documents: the descent to multipliers, and labellings that are mended."""

import numpy as np
import pytest

from formulations import Trellis
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact import mixtures
from ilpinfer.exact.known import Known
from ilpinfer.exact.mending import mend
from ilpinfer.exact.mixtures import Pool, relax, sums_of
from ilpinfer.exact.product_lattice import ProductLattice
from ilpinfer.exact.sum_relaxation import SumRelaxation, sums_within
from ilpinfer.exact.viterbi import viterbi

NAMES = [f"l{k}" for k in range(6)]


def problem(T, seed=0):
    """Runs and tokens of some labels are limited to fewer than the best labelling has, some of them at some tokens only."""
    rng = np.random.default_rng(seed)
    scores, steps = rng.normal(size=(T, 6)), rng.normal(size=(6, 6)) / 2
    tokens = rng.choice(["a", "b"], T).tolist()
    trellis = Trellis.from_emissions(scores, steps, labels=NAMES, tokens=tokens)
    few = T // 8
    rules = [
        *(C.at_most_runs(name, few, penalty=1.0) for name in NAMES[:2]),
        C.at_most_tokens(NAMES[2], few, penalty=1.0),
        C.at_least_tokens(NAMES[3], T // 4, penalty=0.5),
        C.linear(f"2*tokens({NAMES[4]}) - tokens({NAMES[5]}) <= {few}", penalty=0.75),
    ]
    return compile_problem(trellis, rules)


def terms_of(one):
    return [term for _, term in sums_of(one)]


def test_the_descent_reaches_the_bound_of_the_column_generation(monkeypatch):
    one = problem(520)
    terms, lattice = terms_of(one), ProductLattice.of(one.fold().lattice)
    long = relax(lattice, terms, 10.0, Pool(), Deadline())
    monkeypatch.setattr(mixtures, "LONG", 10_000)
    exact = relax(lattice, terms, 10.0, Pool(), Deadline())
    assert exact.weights is not None
    assert abs(long.bound - exact.bound) < UNITS_PER_NAT / 50


@pytest.mark.parametrize("seed", range(4))
def test_a_mended_labelling_is_worth_more_and_no_more_than_the_bound(seed):
    one = problem(60, seed)
    known = Known.of(one, Deadline())
    terms, lattice = terms_of(one), ProductLattice.of(known.folded.lattice)
    relaxed = relax(lattice, terms, 10.0, Pool(), Deadline())
    multipliers = np.array(relaxed.multipliers) // 2
    _, before = viterbi(mixtures.charged(lattice.base, [term.total.steps for term in terms], multipliers))
    mended = mend(lattice, terms, multipliers)
    assert mended is not None
    assert one.value(before).score < one.value(mended).score <= relaxed.bound


def test_labellings_of_second_order_are_not_mended():
    rng = np.random.default_rng(0)
    trellis = Trellis.second_order(rng.normal(size=2), rng.normal(size=(2, 2)), rng.normal(size=(3, 2, 2, 2)))
    one = compile_problem(trellis, [C.at_most_tokens("0", 1, penalty=1.0)])
    assert mend(ProductLattice.of(one.lattice), terms_of(one), np.array([0])) is None


def test_a_long_document_is_left_with_a_small_gap():
    one = problem(600)
    known = Known.of(one, Deadline())
    relaxation = SumRelaxation(one, sums_within(one))
    relaxed = relaxation.bound(one, known)
    assert known.bound == relaxed.bound
    assert 0 <= known.bound - known.value < UNITS_PER_NAT
