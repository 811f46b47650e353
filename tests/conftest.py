"""Interrupts reach the tests even where a shell started them in the background, with interrupts ignored."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
