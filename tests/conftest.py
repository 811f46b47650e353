"""Interrupts reach the tests even where a shell started them in the background, with interrupts ignored."""

import signal

from command_line import folder  # noqa: F401
from hypothesis import HealthCheck, settings

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

signal.signal(signal.SIGINT, signal.default_int_handler)
