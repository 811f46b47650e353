"""How many machines rules have, and how often they can be broken."""

import inspect
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from support.effort import examples
from support.strategies import problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem

LABELS = ["B-a", "I-a", "B-b", "I-b", "O"]
WORDS = ["of", "the", "2.", "end"]
ARGUMENTS = {
    "field": "a", "other": "b", "next": "b", "first": "a", "last": "b", "allowed": "b", "from_": "a", "to": "b", "span": "b",
    "earlier": "a", "later": "b", "required": "b", "position": 1, "second": "b", "before": "a", "after": "b", "previous": "a",
    "n": 2, "low": 1, "high": 2, "width": 4, "words": ["of"], "phrases": ["of the"], "sequence": ["a", "b"], "regex": "a* .*",
}  # fmt: skip
OWN = {
    "next_field": {"required": True},
    "tag_sequence": {"field": "a", "sequence": ["of", "the"]},
    "sequence_implies_sequence": {"field": ["a", "b"], "required": ["b", "a"]},
}
TEXTS = {
    "linear": ["tokens(a) <= 3", "runs(a) - runs(b) <= 1"],
    "logic": [
        "forall t: a(t) -> exists s > t: b(s)",
        "forall t: begins(a, t) -> not exists s < t: b(s)",
        "exists t: a(t) and b(t + 1)",
    ],
}


def rules_of(name, penalty):
    make, given = getattr(C, name), dict(OWN.get(name, {}))
    for parameter in inspect.signature(make).parameters.values():
        if parameter.name in ARGUMENTS and parameter.kind != parameter.VAR_KEYWORD:
            given.setdefault(parameter.name, ARGUMENTS[parameter.name])
    if name in TEXTS:
        return [make(text, penalty=penalty) for text in TEXTS[name]]
    wide = [C.at_most_in_window("a", 2, width=20), C.at_most_in_window("a", 0, width=4, penalty=penalty)]
    return [make(**given, penalty=penalty), *(wide if name == "at_most_in_window" else ())]


@pytest.mark.parametrize("penalty", [1.5, math.inf])
@pytest.mark.parametrize("name", sorted(C.TEMPLATES))
def test_a_sequence_of_twice_the_length_has_as_many_machines(name, penalty):
    counts = []
    for T in (24, 48):
        scores = np.zeros((T, len(LABELS)))
        trellis = Trellis.from_emissions(scores, np.zeros((5, 5)), labels=LABELS, tokens=WORDS * (T // 4))
        problem = compile_problem(trellis, rules_of(name, penalty))
        counts.append([len(rule.machines) for rule in problem.rules])
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 4


@settings(max_examples=examples(300))
@given(problems())
def test_no_labelling_passes_them(problem):
    stated = problem.compiled()
    T, K = stated.shape
    for path in product(range(K), repeat=T):
        for rule in stated.rules:
            assert rule.violations(np.array(path)) <= rule.most
            for machine in rule.machines:
                assert machine.violations(np.array(path)) <= machine.most


@pytest.mark.parametrize("rule", [C.presence_precedence, C.requires_before, C.precedence])
def test_an_order_in_a_long_document_counts_runs(rule):
    T = 5000
    scores = np.tile([1.0, 0.0, 0.5], (T, 1))
    trellis = Trellis.from_emissions(scores, np.zeros((3, 3)), labels=["a", "b", "O"])
    rules = [rule("b", "a", penalty=60.0)]
    (stated,) = compile_problem(trellis, rules).rules
    assert T / 2 <= stated.most <= 2 * T
    assert ilpinfer.decode(trellis, rules).status == "optimal"
