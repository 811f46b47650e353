"""Machines of formulas: as many violations as the formula has, and few states, at whatever length."""

from itertools import product

import numpy as np
import pytest
from support.effort import STRICT

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.logic.texts import FormulaError
from formulations.problem.compiled_rules import compile_problem

LABELS = LabelSet(["a", "b", "O"])
SMALL = {
    "forall t: a(t) -> exists s < t: b(s)": 2,
    "forall t: a(t) -> forall s > t: not b(s)": 3,
    "forall t: a(t) -> exists s > t: b(s)": 2,
    "forall t: a(t) -> not exists s: b(s)": 4,
    "(exists t: a(t)) -> (forall t: not b(t))": 4,
    "forall t: a(t) -> forall s > t: s > t + 1 -> not a(s)": 4,
    "forall t: a(t) -> forall s < t: not b(s) or exists u < s: O(u)": 4,
}
"""Formulas, and the most states of their machines where one violation counts as much as many."""
OTHERS = [
    "forall t > 0: not (a(t - 1) and b(t))",
    "forall s, t > s: a(s) and a(t) -> a(t - 1)",
    "exists t > 1: a(t) and b(t - 1) and not a(t - 2)",
    "forall t in 1..last - 1: O(t - 1) or a(t) or O(t) or b(t + 1)",
    "a(last) -> b(first)",
    "forall t: token(t) is number -> exists s > t: a(s) and b(s - 1)",
]
COMPARED = {
    "forall t: change(t) -> exists s < t: label(s) = label(t)": [3] * 3,
    "forall t: change(t) -> exists s < t: field(s) = field(t)": [3] * 3,
    "forall t: change(t) -> exists s < t: not label(s) != label(t)": [3] * 3,
    "forall t: change(t) -> forall s < t - 1: label(s) != label(t)": [5] * 3,
    "forall t: exists s != t: label(s) = label(t)": [3] * 3,
    "forall t: change(t) -> exists s: s < t and label(s) = label(t)": [3] * 3,
    "forall t > 0: change(t) -> exists s < t: edge(s) = edge(t)": [4] * 9,
    "forall t: a(t) -> exists s > t: label(s) = label(t - 1)": [4] * 4,
    "forall t: not label(t) = label(t - 2)": [5] * 3,
    "forall s, t > s: label(s) = label(t) -> a(t) or token(s) is number": [8] * 3,
    "forall X in labels, t: X(t) and change(t) -> exists s < t: X(s)": [3] * 3,
    "forall t: exists s < t, u < s: label(u) = label(s) and label(s) != label(t)": [],
    "exists t: change(t) and forall s < t: label(s) != label(t)": [],
}
"""Formulas that compare labels, and the most states of the hard machine of each label; nothing where there is none a label."""


def machines(rule, T):
    tokens = ["1" if t % 3 == 1 else "x" for t in range(T)]
    [ground] = compile_problem(
        Trellis(np.zeros(3), np.zeros((T - 1, 3, 3)), labels=LABELS, tokens=tokens), [rule]
    ).rules
    return ground, ground.machines


@pytest.mark.examples
@pytest.mark.parametrize("how", [{"penalty": 1.0}, {"penalty": 1.0, "distance": "binary"}, {}], ids=str)
@pytest.mark.parametrize("formula", [*SMALL, *OTHERS, *COMPARED])
def test_machines_emit_the_violations_of_every_labelling(formula, how):
    for T in range(1, 7 if STRICT else 5):
        ground, some = machines(C.logic(formula, **how), T)
        for path in map(np.array, product(range(3), repeat=T)):
            emitted, violations = sum(machine.violations(path) for machine in some), ground.violations(path)
            if how.get("distance") == "binary" or not how:
                emitted, violations = min(emitted, 1), min(violations, 1)
            assert emitted == violations, (T, path)


@pytest.mark.parametrize("formula", SMALL)
def test_states_of_hard_formulas_do_not_grow_with_the_sequence(formula):
    for T in (12, 24):
        assert sum(machine.states for machine in machines(C.logic(formula), T)[1]) <= SMALL[formula]


@pytest.mark.parametrize("formula", [formula for formula, states in COMPARED.items() if states])
def test_a_comparison_of_labels_has_a_small_machine_for_each_label(formula):
    for T in (24, 48):
        some = machines(C.logic(formula), T)[1]
        assert all(one.states <= most for one, most in zip(some, COMPARED[formula], strict=True))


@pytest.mark.parametrize(
    "formula", ["forall t: a(t) -> forall s > t: not b(s)", "forall t: a(t) -> exists s > t: b(s)"]
)
def test_violations_that_are_counted_take_a_state_for_each_number(formula):
    assert [machine.states for machine in machines(C.logic(formula, penalty=1.0), 45)[1]] == [52]


def test_steps_that_only_token_0_has_make_no_states():
    """The tables of steps have no row for the first label, which no literal reads."""
    names = [f"f{k}" for k in range(20)]
    clauses = [f"(forall t > 0: edge(t) = (f{i}, f{i + 1}) -> exists s > t: f{i + 2}(s))" for i in range(4)]
    trellis = Trellis.from_emissions(np.zeros((12, 20)), np.zeros((20, 20)), labels=names)
    [ground] = compile_problem(trellis, [C.logic(" and ".join(clauses))]).rules
    assert not ground.machineless and sum(machine.states for machine in ground.machines) <= 17


def test_an_order_of_many_fields_is_proved():
    """Label setting follows the product of all machines, which have two states each."""
    rng, names = np.random.default_rng(1), [*"abcdefgh"]
    trellis = Trellis.from_emissions(rng.normal(size=(45, 8)), rng.normal(size=(8, 8)) / 2, labels=names)
    pairs = zip(names, names[1:], strict=False)
    rules = [C.logic(f"forall t: {later}(t) -> forall s > t: not {earlier}(s)") for earlier, later in pairs]
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == "optimal" and solution.certificate.kind == "exact"
    assert ilpinfer.verify(trellis, rules, solution).proved
    solver = ilpinfer.decode(trellis, rules, method="cp-sat")
    assert solver.status == "optimal" and solver.score == solution.score


def test_a_comparison_of_labels_is_proved():
    rng, names = np.random.default_rng(0), [f"c{k}" for k in range(8)]
    scores, steps = rng.normal(size=(45, 8)), np.where(np.eye(8) > 0, 0.0, -1.0)
    trellis = Trellis.from_emissions(scores, steps, labels=names)
    rule = C.logic("forall t: change(t) -> exists s < t: label(s) = label(t)", penalty=1.0)
    solution = ilpinfer.decode(trellis, [rule])
    assert solution.status == "optimal" and ilpinfer.verify(trellis, [rule], solution).proved
    each = [C.logic(f"forall t: change(t) and {k}(t) -> exists s < t: {k}(s)", penalty=1.0) for k in names]
    assert ilpinfer.decode(trellis, each).score == solution.score


def test_errors_of_a_formula_keep_their_type():
    rule = C.logic('forall t: field(t) = "B-x" -> field(t + 1) = "x"')
    with pytest.raises(FormulaError):
        rule.violations(["B-x", "O"])
