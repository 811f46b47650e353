"""Changed input of every kind ends with an exit code, one clear line, and nothing half written."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stress import fuzz
from support.effort import examples


@pytest.fixture(scope="module")
def workplace():
    with fuzz.workplace():
        yield


@settings(max_examples=examples(300, 16), suppress_health_check=list(HealthCheck))
@given(rng=st.randoms(use_true_random=False))
def test_changed_input_is_refused_in_one_line_or_taken(workplace, rng):
    name, shown, _, result = fuzz.case(rng, fuzz.in_process)
    assert not result, f"{name}: {shown}"


@pytest.mark.parametrize(
    ("code", "err", "fault"),
    [
        (2, "ilpinfer: KeyError: 'x'; set ILPINFER_TRACEBACK=1 to print the traceback\n", "a raw error"),
        (2, "Traceback (most recent call last):\nilpinfer: x\n", "a raw error"),
        (0, "x.py:3: RuntimeWarning: overflow\n", "a raw error"),
        (2, "", "0 lines for exit code 2"),
        (2, "ilpinfer: a\nilpinfer: b\n", "2 lines for exit code 2"),
        (-11, "ilpinfer: a\n", "exit code -11"),
    ],
)
def test_the_fuzzer_sees_what_is_wrong(code, err, fault):
    assert fault in list(fuzz.faults(code, err, 0.1, 0))
    assert list(fuzz.faults(2, "ilpinfer: notice: x\nilpinfer: y\n  z\n", 0.1, 0)) == []
