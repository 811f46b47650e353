"""The web server, with the signals of a command."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator
from types import FrameType
from typing import Any

import uvicorn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def configuration(app: Any, headers: int, connections: int, idle_time: float, grace: float) -> uvicorn.Config:
    """The settings of a server with limits on bytes of headers, connections, and seconds; only the application logs."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",  # which has a limit on headers
        log_config=None,
        log_level=logging.CRITICAL,
        access_log=False,
        lifespan="on",
        ws="none",
        server_header=False,
        h11_max_incomplete_event_size=headers,
        limit_concurrency=connections + 1,  # uvicorn refuses at this number
        timeout_keep_alive=idle_time,  # type: ignore[arg-type]
        timeout_graceful_shutdown=grace,  # type: ignore[arg-type]
    )


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log system errors, such as a lack of file descriptors, as one line, and other errors with their traceback."""
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
        asyncio.get_running_loop().set_exception_handler(_report)
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; at the second signal immediately."""
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
