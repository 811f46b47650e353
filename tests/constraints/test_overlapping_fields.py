"""Rules about two fields of which one holds the other, or that are the same: nested paths, and groups."""

import math
import random

import numpy as np
import pytest
from support import oracles, template_oracles
from support.checks import check_optimum
from support.strategies import by_numbers
from test_distances import backwards

import ilpinfer
from formulations import LabelSet
from formulations import constraints as C
from formulations.automata.machine import Machine

PATHS = LabelSet(("B-v", "I-v", "B-v/B-p", "I-v/B-p", "I-v/I-p", "O"))
BIO = LabelSet(("B-a", "I-a", "B-b", "O"))
PAIRS = [
    (PATHS, "v", "v/p"),
    (PATHS, "v/p", "v"),
    (PATHS, "v", "v"),
    (PATHS, ["v/p", "O"], "v"),
    (BIO, "a", ["a", "b"]),
    (BIO, ["a", "b"], "b"),
    (BIO, "a", "a"),
    (BIO, "a", "B-a"),
    (BIO, "B-a", "a"),
    (BIO, C.other_than("b"), ["a", "b"]),
]
COMPLEMENT = ("B-a", "I-a", "O")
"""The labels other than those of b."""
TEMPLATES = ("precedence", "presence_precedence", "inside")
LENGTH = 4


def expected(name, labels, one, other, names):
    """By the oracle, with a complement written out as the labels that it is."""
    written = [COMPLEMENT if isinstance(each, C.Group) else each for each in (one, other)]
    fields = (each if isinstance(each, str) else tuple(each) for each in written)
    return getattr(template_oracles, name)(names, names, *fields, labels.scheme)


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize(("labels", "one", "other"), PAIRS)
def test_checker_machines_and_oracle_agree(name, labels, one, other):
    rule = getattr(C, name)(one, other)
    (machine,) = rule.ground(labels, [""] * LENGTH)
    everything = list(oracles.labellings(LENGTH, len(labels)))
    for y in random.Random(name).sample(everything, min(len(everything), 250)):
        names, path = [labels.names[k] for k in y], labels.ids(y)
        result = expected(name, labels, one, other, names)
        assert rule.violations(names, labels=labels) == result
        assert (
            machine.violations(path)
            == Machine(machine.steps, machine.automaton.early).violations(path)
            == result
        )
        if machine.automaton.backward is not None:
            assert backwards(Machine(machine.steps, machine.automaton.backward), path) == result


@pytest.mark.parametrize("penalty", [0.5, math.inf])
@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize(("labels", "one", "other"), PAIRS[:3])
def test_programs_count_the_same(name, labels, one, other, penalty):
    rng, K = np.random.default_rng(len(name)), len(labels)
    rule = getattr(C, name)(one, other, penalty=penalty)
    counted = rule, lambda names: expected(name, labels, one, other, names)
    problem = by_numbers(rng.uniform(-1, 1, K), rng.uniform(-1, 1, (2, K, K)), labels, counted)
    for method in ("auto", "cbc"):
        check_optimum(problem, ilpinfer.decode(*problem.given, method=method))


def test_of_the_runs_of_a_field_each_is_followed_or_not():
    for y in oracles.labellings(LENGTH, len(PATHS)):
        names = [PATHS.names[k] for k in y]
        without = C.precedence("v", "v/p").violations(names, labels=PATHS)
        followed = C.presence_precedence("v/p", "v").violations(names, labels=PATHS)
        assert without + followed == len(oracles.run_starts(names, "v", "paths"))
