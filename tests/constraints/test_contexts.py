"""Machines in the context of hard ones: they count the same where these are kept, and no less elsewhere, with fewer joint states."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import examples
from support.strategies import LABEL_SETS, cases

from formulations import LabelSet, Trellis, time_limits
from formulations import constraints as C
from formulations.automata.contexts import in_context
from formulations.automata.machine import Machine
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.contexts import in_contexts

ORDERS = [
    C.presence_precedence("a", "b"),
    C.precedence("b", "a"),
    C.requires_before("b", "a"),
    C.alternation("a", "b"),
    C.inside("a", "b"),
]
HARD = [
    C.exactly_runs("a", 1),
    C.at_most_runs("b", 1),
    C.at_most_runs("a", 2),
    C.exactly_tokens("a", 2),
    C.requires_before("b", "O"),
]
BIO = LabelSet(("B-a", "I-a", "B-b", "I-b", "O"), "bio")


def components(rule, labels, tokens):
    return [part for part in rule.ground(labels, tokens) for part in part.machines or ()]


def check(machine: Machine, context: Machine, labels: int, length: int) -> bool:
    """Whether the machine has a smaller one, which is held against the two on all labellings."""
    smaller = in_context(machine, context)
    for y in oracles.labellings(length, labels) if smaller else ():
        path = np.array(y)
        before, after = machine.violations(path), smaller.violations(path)
        assert after >= before
        assert after == before or context.violations(path)
    return smaller is not None


@pytest.mark.parametrize("length", [1, 3, pytest.param(5, marks=pytest.mark.slow)])
def test_a_machine_in_a_context_counts_the_same_where_that_is_kept(length):
    tokens, made = ["x"] * length, 0
    for labels in (BIO, LabelSet(("a", "b", "O"))):
        for rule in ORDERS:
            for hard in HARD:
                [machine], [context] = (components(each, labels, tokens) for each in (rule, hard))
                made += check(machine, context, len(labels), length)
    assert made > 5


@settings(max_examples=examples(200))
@given(st.sampled_from([s for s in LABEL_SETS if len(s[1]) < 6]), st.integers(1, 4), st.data())
def test_any_machine_in_any_context_counts_the_same_where_that_is_kept(pair, length, data):
    labels = LabelSet(pair[1], pair[0])
    tokens = ["pp", ".", "2000", "2001"][:length]
    first, second = (
        components(data.draw(cases(labels, st.just(1.0))).rule, labels, tokens) for _ in range(2)
    )
    for machine in first[:2]:
        for context in second[:2]:
            check(machine, context, len(labels), length)


def test_orders_of_fields_with_one_run_are_sets():
    fields = "abcdef"
    labels = LabelSet(tuple(f"{bi}-{field}" for field in fields for bi in "BI"), "bio")
    trellis = Trellis(np.zeros(12), np.zeros((9, 12, 12)), labels=labels)
    orders = [C.presence_precedence(x, y, penalty=1.0) for x, y in pairwise([*fields, *fields[::-1]])]
    problem = compile_problem(trellis, [*orders, C.exactly_runs(C.EACH_FIELD, 1)])
    rules, contexts = in_contexts(problem.rules)
    assert len(contexts) == 6

    def joint(rules) -> int:
        """The number of pairs of a label and joint states that labellings without hard violations reach."""
        machines = [machine for rule in rules for machine in rule.machines]
        hard = [rule.hard for rule in rules for _ in rule.machines]
        seen = front = {(-1, (0,) * len(machines))}
        while front:
            after = set()
            for label, states in front:
                for k in range(12):
                    reads = [machine.steps.of(int(label >= 0), label, k) for machine in machines]
                    arcs = list(zip(machines, hard, states, reads, strict=True))
                    if not any(h and m.emits[q, c] for m, h, q, c in arcs):
                        after.add((k, tuple(int(m.next_state[q, c]) for m, _, q, c in arcs)))
            front = after - seen
            seen = seen | front
        return len(seen)

    assert joint(rules) == 1 + 12 * 2**5 < joint(problem.rules)


@pytest.mark.parametrize("more", [[], [C.requires_before("b", "a", penalty=1.0)]])
def test_contexts_look_at_the_clock(more):
    trellis = Trellis(np.zeros(3), np.zeros((2, 3, 3)), labels=LabelSet(("a", "b", "O")))
    ground = compile_problem(trellis, [C.exactly_runs("a", 1), *more]).rules
    with time_limits.time_limit(lambda: True), pytest.raises(time_limits.OutOfTime):
        in_contexts(ground)
