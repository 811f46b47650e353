"""Interrupts reach the tests even where a shell started them in the background, with interrupts ignored."""

import signal

import pytest
from hypothesis import HealthCheck, settings
from support.command_line import folder  # noqa: F401

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(autouse=True)
def interrupts():
    """CP-SAT, where it is solved in this process, leaves interrupts to the system, which would end the tests."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
