"""Interrupts reach the tests even where a shell started them in the background, with interrupts ignored."""

import signal

from command_line import folder  # noqa: F401

signal.signal(signal.SIGINT, signal.default_int_handler)
