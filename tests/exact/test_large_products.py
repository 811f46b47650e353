"""Large products, with sums that have multipliers inside, against all labellings; and their proofs."""

import importlib
import sys
from dataclasses import replace

import numpy as np
import pytest
from routes import begun, priced
from support.effort import seeds
from support.processes import python
from support.proofs import accepted
from support.trellises import near_tie_trellis, random_trellis, valued

import ilpinfer
from formulations import Trellis, time_limits
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer import checker
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import Leaf
from ilpinfer.exact import limits, mixtures
from ilpinfer.exact.large_products import by_product, in_contexts
from ilpinfer.references.making import tables_of
from ilpinfer.references.proofs import plain_trees

T = 7


def drawn(seed):
    """A problem of equations, windows and orders, and the values of its labellings."""
    rng = np.random.default_rng(seed)
    penalties = [
        float("inf") if hard else penalty
        for hard, penalty in zip(rng.random(4) < 0.5, (1.5, 0.4, 0.75, 2), strict=True)
    ]
    weights = rng.integers(1, 6, 3).tolist()
    text = " + ".join(f"{w}*tokens({label})" for w, label in zip(weights, "abO", strict=True))
    rules = [
        C.linear(f"{text} = {int(rng.integers(8, 25))}", penalty=penalties[0]),
        C.at_most_in_window("a", 1, width=3, penalty=penalties[1]),
        C.requires_before("b", "O", penalty=penalties[2]),
        C.exactly_tokens("b", int(rng.integers(0, 5)), penalty=penalties[3]),
        C.at_most_runs("O", 1, penalty=0.5),
    ]
    trellis = near_tie_trellis(seed, T) if seed % 4 == 0 else random_trellis(seed, T)
    problem = compile_problem(trellis, rules)
    return problem, valued(problem)


def ordered(seed):
    """A problem of orders of two fields and of hard numbers of their runs."""
    rng = np.random.default_rng(seed)
    labels = [("B-a", "I-a", "B-b", "I-b"), ("a", "b", "O")][seed % 2]
    orders = C.presence_precedence, C.precedence, C.requires_before, C.alternation
    soft = [
        order(*pair, penalty=float(rng.integers(1, 9)) / 4)
        for order in orders
        for pair in ("ab", "ba")
        if rng.random() < 0.6
    ]
    runs = [
        (C.exactly_runs, C.at_most_runs)[rng.integers(2)](field, int(rng.integers(1, 3))) for field in "ab"
    ]
    problem = compile_problem(random_trellis(seed, 6, labels), [*soft, *runs])
    return problem, valued(problem)


@seeds(40)
def test_machines_in_contexts_find_the_optimum_and_prove_it(seed, monkeypatch):
    monkeypatch.setattr(limits, "FIRST_STEP", 2**10)
    problem, ranked = ordered(seed)
    state = begun(problem)
    one, smaller = state.problem.instance, state.problem.in_contexts
    plain = replace(state, active=tuple(range(len(one.sources)))).leaf()
    after, best = in_contexts(state), ranked[0][0]
    reads_before = any(machine.symbols.shape[1] > 1 for machine in smaller.instance.sources)
    assert seed % 2 or (reads_before and set(smaller.contexts) <= after.inside)
    assert after.closed and after.value == after.bound == best
    for leaf in (plain, after.proof, Leaf({}, tuple(one.keys))):
        assert accepted(problem, leaf, best) and not accepted(problem, leaf, best - 1)


@pytest.mark.parametrize("most", [1, 8, 1024])
@seeds(40)
def test_products_with_sums_find_the_optimum_and_prove_it(seed, most, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(limits, "FIRST_STEP", 2**10)
    problem, ranked = drawn(seed)
    state = priced(begun(problem))
    one = state.problem.instance
    sums = {key for key, is_sum in zip(one.keys, one.sums) if is_sum}
    after = by_product(state, most)
    if not after.closed:
        best = ranked[0][0] if ranked else None
        assert best is None or after.bound >= best
        assert seed % 2
        return
    assert bool(after.answer) == bool(ranked)
    if not ranked:
        assert accepted(problem, after.proof, None)
        return
    best = ranked[0][0]
    assert after.value == after.bound == best
    assert accepted(problem, after.proof, best) and not accepted(problem, after.proof, best - 1)
    assert most < 1024 or not after.multipliers or sums & set(after.proof.product)


def far_ahead(T, seed):
    """Labels in blocks, and rules on the presence and the number of all of them."""
    rng, labels = np.random.default_rng(seed), [*"abcdef", "O"]
    trellis = Trellis.from_emissions(rng.normal(0, 1, (T, 7)), rng.normal(0, 0.5, (7, 7)), labels=labels)
    pairs = [(a, b) for a in labels[:6] for b in labels[:6] if a != b]
    soft = [C.never_together(a, b, penalty=float(rng.uniform(0.5, 4))) for a, b in pairs if a < b]
    chosen = rng.permutation(len(pairs))[:12].tolist()
    return trellis, [
        *soft,
        *(C.requires_present(*pairs[n], penalty=float(rng.uniform(0.5, 3))) for n in chosen),
    ]


@seeds(4, 1)
def test_a_large_product_is_verified_and_no_forged_one(seed, monkeypatch):
    for name in ("PASSES", "LEAST_STEPS", "BEAMS"):
        monkeypatch.setattr(limits, name, 0)
    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    trellis, rules = far_ahead(30, seed)
    solution = ilpinfer.decode(trellis, rules)
    assert "a product of" in solution.method and ilpinfer.verify(trellis, rules, solution).proved
    problem, leaf, best = (
        compile_problem(trellis, rules),
        solution.certificate.tree,
        round(solution.bound * 2**20),
    )
    assert len(leaf.product) > 8
    assert accepted(problem, leaf, best) and not accepted(problem, leaf, best - 1)
    broken = [r for r, rule in enumerate(problem.rules) if rule.violations(solution.ids)]
    for r in broken:
        without = tuple(key for key in leaf.product if key[0] != r)
        stages_left = tuple(tuple(key for key in stage if key[0] != r) for stage in leaf.stages)
        forged = type(leaf)(leaf.multipliers, without, tuple(stage for stage in stages_left if stage))
        assert not accepted(problem, forged, best)
    assert broken


def test_searches_that_the_checker_could_not_follow_are_no_proofs(monkeypatch):
    monkeypatch.setattr(limits, "KEYS_OF_TOKEN", 0)
    for seed in range(0, 20, 5):
        problem, ranked = drawn(seed)
        after = by_product(priced(begun(problem)), 1)
        assert not after.closed
        assert not ranked or after.bound >= ranked[0][0]


@pytest.mark.parametrize("make", [drawn, ordered])
@seeds(10, 2)
def test_the_plain_checker_accepts_products(make, seed):
    problem, ranked = make(4 * seed)
    state = priced(begun(problem))
    after = by_product(state, 64) if make == drawn else in_contexts(state)
    tables = tables_of(problem)
    record = {"labels": list(problem.labels.names), "tables": tables.plain}
    best = ranked[0][0] if ranked else None
    listed = [list(path) for value, path in ranked if value == best]
    own = checker.read(record, [checker.MAX_STEPS], *([] if ranked else [0]))
    for score in (best,) if best is None else (best, best - 1):
        verdicts = []
        for plain in plain_trees(problem, tables, after.proof):
            level = {"score": score, "labellings": listed if score == best else [], "proof": {"tree": plain}}
            try:
                verdicts.append(checker.check_level(*own, level, [], checker.MAX_STEPS) > 0)
            except checker.CheckError:
                verdicts.append(False)
        assert any(verdicts) == (score == best)


def test_hard_machines_that_read_the_previous_label_are_multiplied_in_long_sequences():
    rng, labels = np.random.default_rng(0), [f"L{k}" for k in range(10)]
    trellis = ilpinfer.Trellis.from_emissions(
        2 * rng.normal(size=(3000, 10)), rng.normal(size=(10, 10)), labels=labels
    )
    rules = [C.min_run_length("L1", 3), C.never_together("L4", "L5", penalty=3.0)]
    solution = ilpinfer.decode(trellis, rules)
    assert solution.method == "auto: label setting over 2 machines"
    assert ilpinfer.verify(trellis, rules, solution).proved


def test_no_library_is_imported_where_its_import_could_pass_the_limit(monkeypatch):
    trellis = Trellis.from_emissions(np.eye(3), np.zeros((3, 3)), labels=["a", "b", "O"])
    problem = compile_problem(trellis, [C.linear("2 tokens(a) + 3 tokens(b) <= 3")]).fold()
    terms = [term for _, term in mixtures.sums_of(problem)]
    monkeypatch.delitem(sys.modules, "scipy.optimize", raising=False)
    with time_limits.time_limit(lambda: False, lambda: 0.5):
        assert len(mixtures.relax(problem.lattice, terms, 10.0, Deadline()).paths) == 1
        assert "scipy.optimize" not in sys.modules
        importlib.import_module("scipy.optimize")
        assert len(mixtures.relax(problem.lattice, terms, 10.0, Deadline()).paths) > 1


def test_a_batch_under_a_short_limit_imports_it_before():
    code = (
        "import sys, ilpinfer, numpy as np; from ilpinfer import Trellis\n"
        "trellis = Trellis.from_emissions(np.eye(2), np.zeros((2, 2)), labels=['a', 'b'])\n"
        "for limit in (5, 0.5):\n"
        "    list(ilpinfer.decode_many([trellis], time_limit=limit)); print('scipy.optimize' in sys.modules)"
    )
    assert python("-c", code, check=True).stdout.split() == ["False", "True"]
