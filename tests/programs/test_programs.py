"""Sizes as published, the record's three forms, and what the extra rows mean."""

import itertools
import math
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from support import oracles
from support.effort import examples
from support.strategies import problems
from support.trellises import random_trellis, valued

import ilpinfer
from formulations import LabelSet, Trellis, time_limits
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import exclude_labelling, formulate, score_floor
from formulations.programs.loss_bounds import best_score, losses
from formulations.programs.record import UNBOUNDED, stable_order
from ilpinfer import solvers

NAMES = [str(k) for k in range(5)]


def path_vector(program, path, order=1):
    """The 0/1 vector of a path as Stokman 2011, eq. 53, numbers its columns; of second order, states are pairs."""
    T, K = program.tokens, program.labels
    states, S = list(path), K
    if order == 2:
        S = (K + 1) * K
        states = [(before + 1) * K + label for before, label in zip([-1, *path[:-1]], path, strict=True)]
    x = np.zeros(program.n_columns, np.int64)
    x[[states[0], S + (T - 1) * S * K + states[-1]]] = 1
    for t in range(1, T):
        x[S + (t - 1) * S * K + states[t - 1] * K + path[t]] = 1
    return x


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("T", "K"), [(1, 1), (1, 3), (2, 1), (2, 3), (4, 2), (5, 1)])
def test_a_program_takes_exactly_the_labellings(T, K, order):
    """nm + 2 nodes and (n - 1) m² + 2m edges: Fersini et al. 2014, section 3."""
    scores = random_trellis(T, T, NAMES[:K], order=order)
    program = formulate(compile_problem(scores, [])).soft()
    S = K if order == 1 else (K + 1) * K
    assert program.n_columns == program.n_edges == (T - 1) * S * K + 2 * S
    assert program.n_rows == T * S + 2
    best, loss = losses(scores.lattice)
    assert best == best_score(scores.lattice) and loss.min() == 0
    forbidden = exclude_labelling(program, np.zeros(T, np.int64))
    for path in itertools.product(range(K), repeat=T):
        x = path_vector(program, path, order)
        assert program.satisfied_by(x)
        assert program.labelling(x).tolist() == list(path)
        assert program.value(x) == best - int(loss @ x[: len(loss)]) == oracles.snap(scores.score(path))
        assert forbidden.satisfied_by(x) == any(path)


def test_clamping_three_of_six_tokens_leaves_4_to_the_3_paths():
    """Liao et al. 2009, figure 1: four labels, six tokens, three of them decided by rules."""
    labels = LabelSet(("B-company", "I-company", "B-date", "O"), "plain")
    tokens = ["Microsoft", "on", "Monday", "announced", "a", "deal"]
    rules = [
        C.tag_at("B-company", words=["Microsoft"]),
        C.tag_at("O", words=["on"]),
        C.tag_at("B-date", words=["Monday"]),
    ]
    scores = Trellis(np.zeros(4), np.zeros((5, 4, 4)), labels=labels, tokens=tokens)
    assert len(ilpinfer.decode(scores, top=4**6 + 1)) == 4**6
    assert len(ilpinfer.decode(scores, rules, top=4**6)) == 4**3


def program_with_every_row_kind():
    rules = [
        C.at_most_runs("0", 1, penalty=1.0),
        C.at_least_tokens("1", 2, penalty=0.5),
        C.requires_before("0", "1", penalty=2.0),
        C.requires_present("1", "2"),
        C.forbidden_transition("0", "2", penalty=0.25, distance="binary"),
    ]
    return formulate(compile_problem(random_trellis(0, 4, NAMES[:3]), rules)).soft()


def test_the_canonical_form_has_only_one_kind_of_inequality():
    program = program_with_every_row_kind()
    canonical = program.canonical()
    assert np.all((canonical.row_upper == UNBOUNDED) | (canonical.row_upper == canonical.row_lower))
    rng = np.random.default_rng(1)
    for _ in range(300):
        x = rng.integers(program.lower, program.upper + 1)
        assert program.satisfied_by(x) == canonical.satisfied_by(x)


def test_the_standard_form_has_only_equalities_and_the_same_solutions():
    program = program_with_every_row_kind()
    standard = program.standard()
    assert np.array_equal(standard.row_lower, standard.row_upper)
    canonical = program.canonical()
    inequalities = canonical.row_upper == UNBOUNDED
    for path in itertools.product(range(3), repeat=4):
        x = completed(program, np.array(path))
        if x is None:
            continue
        surplus = (canonical.activity(x) - canonical.row_lower)[inequalities]
        assert standard.satisfied_by(np.concatenate([x, surplus]))
        assert standard.value(np.concatenate([x, surplus])) == program.value(x)
        assert not standard.satisfied_by(np.concatenate([x, surplus + 1]))


def completed(program, path):
    """The best solution of the program that takes this path, by HiGHS, or None."""
    return on_path(program, path_vector(program, path)).x


def on_path(program, x):
    lower, upper = program.lower.copy(), program.upper.copy()
    lower[: program.n_edges] = upper[: program.n_edges] = x[: program.n_edges]
    return solvers.solve("highs", replace(program, lower=lower, upper=upper), time_limit=60.0, threads=1)


@pytest.mark.parametrize(
    ("best", "tau", "bound", "floor"),
    [
        *((-10, 1.0, "relative", -10), (-10, 0.5, "relative", -15), (10, 0.5, "relative", 5)),
        *((11, 0.5, "relative", 6), (-11, 0.5, "relative", -16), (0, 0.3, "relative", 0)),
        *((10, 0.9, "relative", 9), (-10, 0.9, "relative", -11), (30, 0.7, "relative", 21)),
        *(
            (-10, 0.0, "relative", -20),
            (7, 1.0, "odds", 7),
            (0, 0.5, "odds", -726817),
            (7, 0.0, "odds", None),
        ),
    ],
)
def test_floors_are_right_for_both_signs_and_rounded_up(best, tau, bound, floor):
    assert score_floor(best, tau, bound) == floor


def two_phase_case(shift: float) -> Trellis:
    """Two tokens; the best labelling breaks the rule, the next best is two grid units below."""
    unit = 2.0**-20
    return Trellis([shift, shift - 1.0], [[[0.0, -1.0], [-1.0, 1.0 - 2 * unit]]], labels=["a", "b"])


@pytest.mark.parametrize("method", ["auto", "cbc", "cp-sat", "highs", "scip"])
@pytest.mark.parametrize("shift", [8.0, 0.0, -8.0])
def test_a_floor_one_grid_unit_above_a_labelling_keeps_it_out(method, shift):
    """The tolerance of a solver must not let a labelling through that misses the floor by one unit."""
    scores = two_phase_case(shift)
    rules = [C.at_most_tokens("a", 0, penalty=1.0)]
    unit = 2.0**-20
    best, rival = scores.score(["a", "a"]), scores.score(["b", "b"])
    assert best - rival == 2 * unit
    for below, expected in ((1, ["a", "a"]), (2, ["b", "b"])):
        tau, bound = float(np.exp(-(below + 0.5) * unit)), "odds"
        if best:
            tau, bound = 1 - below * unit / abs(best), "relative"
        solution = ilpinfer.decode_two_phase(scores, rules, tau, bound, method=method)
        assert solution.floor == best - below * unit
        assert (solution.status, solution.labels) == ("optimal", expected)


def test_two_phase_with_hard_rules_and_the_best_few():
    scores = random_trellis(3, 4)
    rules = [C.at_least_runs("a", 1), C.at_most_runs("b", 1, penalty=2.0), C.ends_with("O", penalty=1.0)]
    result = ilpinfer.decode_two_phase(scores, rules, 0.2, top=5)
    order = [(s.penalty, -(s.model_score + s.feature_score)) for s in result]
    assert order == sorted(order)
    assert len({tuple(s.labels) for s in result}) == len(result) == 5
    assert all("a" in s.labels and s.status == "optimal" for s in result)
    assert all(s.model_score >= s.floor for s in result)
    impossible = ilpinfer.decode_two_phase(scores, [C.at_least_runs("a", 9)], 0.5)
    assert impossible.status == "infeasible"
    assert "at_least_runs(a, 9)" in impossible.reason
    assert ilpinfer.decode_two_phase(scores, [C.at_least_runs("a", 9)], 0.5, top=2) == []
    with pytest.raises(ValueError, match="needs an exact method"):
        ilpinfer.decode_two_phase(scores, rules, method="beam")


@pytest.mark.parametrize("largest", [1, 5, 70_000, 2**32 - 1])
def test_the_radix_order_is_the_stable_one(largest):
    keys = np.random.default_rng(0).integers(0, largest, 20_000)
    assert np.array_equal(stable_order(keys), np.argsort(keys, kind="stable"))


PENALTIES = st.sampled_from((math.inf, 1.0))


@pytest.mark.parametrize("order", [1, 2])
@settings(max_examples=examples(60))
@given(data=st.data())
def test_rows_keep_exactly_the_labellings_without_violations(order, data):
    """Each labelling is fixed in turn: what is left, auxiliary columns and σ, is feasible as the oracle says."""
    problem = data.draw(problems(penalties=PENALTIES, longest=3, order=order))
    program = formulate(problem.compiled()).soft()
    for row in range(program.n_rows):
        entries = program.indices[program.indptr[row] : program.indptr[row + 1]]
        assert len(set(entries.tolist())) == len(entries), "solvers refuse a column twice in a row"
    for labelling in problem.labellings[:: max(1, len(problem.labellings) // 8)]:
        fixed = path_vector(program, labelling, order)
        if (fixed > program.upper)[: program.n_edges].any():
            assert problem.units(labelling) is None
            continue
        answer, cost = on_path(program, fixed), problem.cost(labelling)
        assert (answer.status == "optimal") == (cost is not None)
        if answer.status == "optimal":
            assert problem.units(labelling) - program.value(answer.x) == cost


def test_no_row_names_a_column_twice():
    rule = C.logic("a(first) <-> forall s, t <= s: a(t)")
    labels = LabelSet(("a", "b", "c", "O"))
    program = formulate(compile_problem(random_trellis(0, 3, labels), [rule])).soft()
    rows = [program.indices[i:j].tolist() for i, j in itertools.pairwise(program.indptr)]
    assert all(len(set(row)) == len(row) for row in rows)


def test_windows_share_the_columns_of_their_tokens():
    """Each window names ten columns, and not the K·K edges behind each of them again."""
    T, K, width = 40, 6, 10
    labels = LabelSet(tuple("abcdef"))
    problem = compile_problem(random_trellis(0, T, labels), [C.at_most_in_window("a", 3, width=width)])
    path = formulate(replace(problem, rules=())).program
    added = len(formulate(problem).program.data) - len(path.data)
    assert added == T + 1 + (T - 1) * K + (T - width + 1) * width


@pytest.mark.parametrize(
    "rule",
    [C.at_most_in_window("a", 1, width=3), C.at_most_runs("a", 1, distance="hamming", penalty=1.0)],
    ids=["windows", "hamming"],
)
def test_a_single_rule_looks_at_the_clock_at_each_token(rule):
    T = 100
    trellis = Trellis.from_emissions(np.zeros((T, 2)), np.zeros((2, 2)), labels=["a", "O"])
    problem, reads = compile_problem(trellis, [rule]), count()
    formulate(problem)
    with time_limits.time_limit(lambda: next(reads) > 2 * T), pytest.raises(time_limits.OutOfTime):
        formulate(problem)


FORMULAS = [
    "forall t > 0: not (a(t - 1) and b(t))",
    "forall t > 0: a(t) -> a(t - 1) or b(t - 1)",
    "forall s, t > s: a(s) and a(t) -> a(t - 1)",
    "forall t in 1..last - 1: O(t - 1) or a(t) or O(t) or b(t + 1)",
    "exists t > 0: a(t) and b(t - 1)",
    "exists t > 1: a(t) and b(t - 1) and not a(t - 2)",
]


def example(formula, penalty, seed, T=5):
    rng = np.random.default_rng(seed)
    start, edges = rng.integers(-8, 8, 3) / 4, rng.integers(-8, 8, (T - 1, 3, 3)) / 4
    return Trellis(start, edges, labels=["a", "b", "O"]), [C.logic(formula, penalty=penalty)]


@pytest.mark.parametrize("penalty", [0.75, math.inf])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_optimum_is_that_of_brute_force(formula, penalty):
    for seed in range(6):
        given = example(formula, penalty, seed)
        solution, ranked = ilpinfer.decode(*given, method="cp-sat"), valued(compile_problem(*given))
        assert (solution.status, solution.score) == ("optimal", ranked[0][0] / UNITS_PER_NAT)


@pytest.mark.parametrize(("number", "most"), [(2, 1.9), (3, 1.2)])
def test_an_indicator_for_both_tokens_of_a_step_makes_the_relaxation_tighter(number, most):
    """Nats above the optimum, of six problems together; with an indicator for each literal they are 2.83 and 2.02."""
    above = 0.0
    for seed in range(6):
        trellis, rules = example(FORMULAS[number], math.inf, seed, T=8)
        program = formulate(compile_problem(trellis, rules)).soft()
        lower, upper = program.float_sides
        rows = csr_matrix(
            (program.data, program.indices, program.indptr), (program.n_rows, program.n_columns)
        )
        sides = np.concatenate([upper, -lower])
        kept = np.flatnonzero(np.isfinite(sides))
        both = csr_matrix(np.vstack([rows.toarray(), -rows.toarray()])[kept])
        boxes = np.stack([program.lower, program.upper], 1)
        relaxed = linprog(-program.objective, both, sides[kept], bounds=boxes)
        above += -relaxed.fun / UNITS_PER_NAT - ilpinfer.decode(trellis, rules).score
    assert -1e-6 < above < most
