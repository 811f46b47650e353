"""Connections of the service, with limits that the web server lacks: on headers, on time, and on the number of connections.

A connection *waits* while its client has not sent a whole request. Where there are too many connections, the one that has waited
longest is closed; those with a request in work are not.
"""

import asyncio
import json
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ilpinfer.serving.limits import Limits
from ilpinfer.serving.refusal import UNAVAILABLE

BAD_REQUEST, TIMED_OUT, HEADERS_TOO_LARGE = 400, 408, 431
PIECE = 4096
"""Bytes that are parsed between two checks."""
OVERHEAD = 8
"""Bytes that a chunk of a body may take for each byte of content, beyond the limit on headers."""
MOST_AHEAD = 8
"""Requests of a connection that may follow one in work."""
LINGER, MOST_UNREAD = 2.0, 2**20
"""Seconds in which a client can read an answer before its connection is ended, and bytes that it may send meanwhile."""


class TooManyRequests(ValueError):
    """A client sends requests without reading answers."""


class Connection(HttpToolsProtocol):
    """A connection of a server with the default limits; `limited` makes a class of those of another one."""

    limits: ClassVar[Limits] = Limits()
    most: ClassVar[int] = limits.connections
    waiting: ClassVar[dict["Connection", None]] = {}
    """Connections that wait for their clients, longest first."""
    idle: ClassVar[dict["Connection", None]] = {}
    """Those without a part of a request, longest first."""

    _timer: asyncio.TimerHandle | None = None
    _within = False
    """Whether a part of a request has arrived."""
    _heading = False
    """Whether it ends within the headers."""
    _refused = False
    _received = _content = 0
    """Bytes of the request, and those of them that are its body."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait(self.limits.headers_time)
        if len(self.connections) <= self.most:
            return
        oldest = next(iter(self.waiting))
        if oldest is self:
            self._refuse(UNAVAILABLE, f"{self.most} connections have requests in work; try again later")
        else:
            oldest.end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._received += len(data)
            if self._received > MOST_UNREAD:
                self.end()
            return
        if self in self.idle:
            self._wait(self.limits.headers_time)
        for place in range(0, len(data), PIECE):
            if self._refused or self.transport.is_closing():
                return
            piece = data[place : place + PIECE]
            self._received += len(piece)
            super().data_received(piece)
            if self._received - OVERHEAD * self._content > self.limits.headers and not self._refused:
                most = self.limits.headers
                self._refuse(HEADERS_TOO_LARGE, f"headers: at most {most} bytes are accepted; send less")

    def eof_received(self) -> bool:  # type: ignore[override]
        """Whether to keep the connection for the answer to a whole request."""
        if not self._working or self._refused:
            return False
        self.cycle.keep_alive = False
        return True

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= MOST_AHEAD:
            raise TooManyRequests
        super().on_message_begin()
        self._within = self._heading = True
        self._received = self._content = 0

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._heading = False
        self._watch(None)  # the application limits the time of the body

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._content += len(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._within, self._received, self._content = False, 0, 0
        if self._working:
            self.waiting.pop(self, None)
        else:
            self._rest()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._wait(LINGER)
        elif not self._working:
            self._rest()

    def send_400_response(self, msg: str) -> None:
        self._refuse(BAD_REQUEST, "request: this is not HTTP/1.1; send a request of it, without encryption")

    def shutdown(self) -> None:
        """Close the connection now, or after the request in work."""
        if self in self.waiting:
            self.end()
        else:
            super().shutdown()

    def end(self) -> None:
        """End the connection now, whatever its client has not read."""
        self._leave()
        self.connections.discard(self)
        self.transport.abort()

    @property
    def _working(self) -> bool:
        """Whether a whole request has no complete answer."""
        return bool(self.pipeline) or (
            self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete
        )

    def _rest(self) -> None:
        if self._within:
            self._wait(self.limits.headers_time)
            return
        self._wait(self.limits.idle_time)
        self.idle[self] = None
        if len(self.idle) > self.limits.idle:
            next(iter(self.idle)).end()

    def _wait(self, seconds: float) -> None:
        self._leave()
        self.waiting[self] = None
        self._watch(seconds)

    def _leave(self) -> None:
        self.waiting.pop(self, None)
        self.idle.pop(self, None)
        self._watch(None)

    def _watch(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        if self._heading and not self._refused:
            seconds = self.limits.headers_time
            self._refuse(TIMED_OUT, f"headers: not complete after {seconds:g} s; send them at once")
        else:
            self.end()

    def _refuse(self, status: int, detail: str) -> None:
        """Answer, and end the connection when the client has had time to read."""
        self._refused, self._received = True, 0
        self._wait(LINGER)
        body = json.dumps({"detail": detail}).encode()
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(
            body
        )
        self.transport.write(STATUS_LINE[status] + head + body)
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write_eof()
        else:
            self.transport.close()


def limited(limits: Limits, most: int) -> type[Connection]:
    own: dict[str, Any] = {"limits": limits, "most": most, "waiting": {}, "idle": {}}
    return type("LimitedConnection", (Connection,), own)
