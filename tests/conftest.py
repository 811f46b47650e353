"""Interrupts reach the tests even where a shell started them in the background, with interrupts ignored."""

import signal

from hypothesis import HealthCheck, settings
from support.command_line import folder  # noqa: F401

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

signal.signal(signal.SIGINT, signal.default_int_handler)
