"""The delay of the event loop, which requests wait before they are read."""

import asyncio
import time

PERIOD = 0.02
"""Seconds between two measurements."""


class Lag:
    """The latest delay of the event loop."""

    def __init__(self) -> None:
        self.seconds = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            due = time.perf_counter() + PERIOD
            await asyncio.sleep(PERIOD)
            self.seconds = max(0.0, time.perf_counter() - due)
