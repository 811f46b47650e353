"""Fixtures of all tests: interrupts reach them, and errors that the engine has survived fail them."""

import signal
import sys

import pytest
from hypothesis import HealthCheck, settings
from support.command_line import folder  # noqa: F401

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(autouse=True)
def interrupts():
    """CP-SAT, where it is solved in this process, leaves interrupts to the system, which would end the tests."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def errors_of_kernels():
    """An error of a call for many sequences is a defect, even where each of them can be decoded alone."""
    yield
    chunks = sys.modules.get("ilpinfer.decoding.chunks")
    assert not getattr(chunks, "unexplained", 0)
