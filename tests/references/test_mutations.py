"""Changed references: nothing false is accepted, and whatever is refused is refused with a message."""

import json
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.reference_mutations import falsehood, mutated
from support.strategies import NEAR_TIES, problems

from ilpinfer import checker
from ilpinfer.references.making import make

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def accepted(record):
    try:
        checker.check(record, 10**7)
    except checker.Wrong as fault:
        return not str(fault)
    return True


@settings(max_examples=examples(100), **SLOW)
@given(st.one_of(problems(longest=3), problems(scores=NEAR_TIES, longest=3)), st.integers(0, 2**32))
def test_nothing_false_is_accepted(drawn, seed):
    instance, cases = drawn
    record = make(instance.trellis, [case.rule for case in cases], ties=5).to_dict()
    assert accepted(record) and not falsehood(record)
    random = Random(seed)
    for _ in range(10):
        changed = mutated(record, random)
        assert not accepted(changed) or falsehood(changed) == "", json.dumps(changed)


@pytest.mark.parametrize("record", [None, [], 1, "x", {}, {"format": checker.FORMAT}, {"format": []}])
def test_what_is_no_reference_is_refused(record):
    assert not accepted(record)
