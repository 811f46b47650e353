"""References against brute force: what they list is all there is, and the plain checker proves it."""

import json

from hypothesis import HealthCheck, given, settings
from support import oracles
from support.effort import examples
from support.strategies import NEAR_TIES, cost_units, problems

from ilpinfer import checker
from ilpinfer.references.making import make
from ilpinfer.references.record import Reference

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def ranked(instance, cases):
    """Scores and labellings of all that is feasible, best first."""
    return oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y), None)


def agrees(reference, expected):
    """Whether each level lists all labellings of its score, and the last one says whether there are more."""
    plain = json.loads(json.dumps(reference.to_dict(), allow_nan=False))
    checker.check(plain)
    assert Reference.from_dict(plain) == reference
    left = list(expected)
    for number, level in enumerate(reference.levels):
        if level.score is None:
            assert not left and not level.labellings
            continue
        equal = {y for units, y in left if units == level.score}
        assert left[0][0] == level.score and set(level.labellings) <= equal
        if number < len(reference.levels) - 1:
            assert set(level.labellings) == equal
        left = [pair for pair in left if pair[0] < level.score]


@settings(max_examples=examples(120), **SLOW)
@given(problems())
def test_levels_are_those_of_brute_force(drawn):
    instance, cases = drawn
    agrees(make(instance.trellis, [case.rule for case in cases]), ranked(instance, cases))


@settings(max_examples=examples(120), **SLOW)
@given(problems(scores=NEAR_TIES, longest=3))
def test_ties_are_all_listed(drawn):
    instance, cases = drawn
    expected = ranked(instance, cases)
    reference = make(instance.trellis, [case.rule for case in cases])
    agrees(reference, expected)
    optima = [y for units, y in expected if units == expected[0][0]] if expected else []
    assert len(reference.optima) == min(len(optima), 100)
    assert reference.complete == (len(optima) <= 100)
