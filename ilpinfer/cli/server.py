"""The web server, with the signals of a command."""

import asyncio
import contextlib
import logging
import math
import signal
import socket
from collections.abc import Iterator
from types import FrameType
from typing import Any

import uvicorn

from ilpinfer.serving.limits import Limits

AT_ONCE, BACKLOG = 8, 2048
"""Connections that are accepted before others can be closed, and those that wait in the system."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def configuration(app: Any, grace: float, limits: Limits, most: int) -> uvicorn.Config:
    """The settings of a server of at most `most` connections; running requests have `grace` seconds to end; only the application logs."""
    from ilpinfer.serving.connections import limited

    return uvicorn.Config(
        app,
        loop="asyncio",
        http=limited(limits, most),
        backlog=AT_ONCE,
        log_config=None,
        log_level=logging.CRITICAL,
        access_log=False,
        lifespan="on",
        ws="none",
        server_header=False,
        timeout_keep_alive=math.ceil(limits.idle_time) + 1,
        timeout_graceful_shutdown=grace,  # type: ignore[arg-type]
    )


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what the system refuses, such as another file descriptor, as one line, and anything else with its traceback."""
    if isinstance(context.get("exception"), OSError):
        logging.getLogger("ilpinfer.serving").warning("%s: %s", context["message"], context["exception"])
    else:
        loop.default_exception_handler(context)


class Server(uvicorn.Server):
    """A server that stops at the first signal, after its requests are answered; the command handles the second one."""

    interrupted = False
    unfinished = 0
    _before: dict[int, Any]

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals here until the server ends; no signal is raised again afterwards."""
        self._before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in self._before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        asyncio.get_running_loop().set_exception_handler(_report)
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; at the second signal at once."""
        if self.should_exit:
            self._before[sig](sig, frame)
        self.interrupted |= sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer the running requests; `unfinished` counts those that exceed the grace period."""
        waiting = asyncio.create_task(super().shutdown(sockets))
        tasks = set(self.server_state.tasks)
        await waiting
        self.unfinished = sum(task.cancelling() > 0 for task in tasks)
