"""Clients of a service in the same process, and a decoder that waits."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx

from formulations import RuleSet, Trellis
from ilpinfer import Decoder, decode
from ilpinfer.serving import Limits
from ilpinfer.serving.app import Service, build

GENEROUS = 60.0
EDGES = {"label_names": ["title", "O"], "start": [0.0, -1.0], "edges": [[[0.0, -1.0], [-2.0, 0.5]]]}
"""Two tokens; the best labelling is title title, then O O, then title O."""


class WaitingDecoder:
    """A decoder that begins to decode when it is let go, one permit for each sequence."""

    model = labels = None
    rules = RuleSet(())

    def __init__(self) -> None:
        self.permits = threading.Semaphore(0)
        self.begun: list[float] = []
        """The time limit of each sequence that was begun."""

    def of(self, metadata: dict[str, Any]) -> "WaitingDecoder":
        return self

    def with_time_limit(self, seconds: float) -> "WaitingDecoder":
        self.begun.append(seconds)
        return self

    def decode(self, trellis: Trellis, top: int | None = None) -> Any:
        assert self.permits.acquire(timeout=GENEROUS)
        return decode(trellis, top=top)


@contextlib.asynccontextmanager
async def serving(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service."""
    app = build(service)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client,
    ):
        yield client


def service_of(decoder: Any, **limits: Any) -> Service:
    """A service with one thread and generous deadlines."""
    limits = {"workers": 1, "deadline": GENEROUS, "longest_deadline": GENEROUS, **limits}
    return Service(decoder, Limits(**limits), scheme="")


def talk(service: Service, conversation: Callable[[httpx.AsyncClient], Awaitable[Any]]) -> Any:
    """What a conversation with a service returns."""

    async def run() -> Any:
        async with serving(service) as client:
            return await conversation(client)

    return asyncio.run(run())


def post(decoder: Decoder, path: str, content: Any, **limits: Any) -> httpx.Response:
    """The response to one request; content of bytes or text is sent as it is."""
    raw = isinstance(content, bytes | str)

    async def conversation(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(path, **({"content": content} if raw else {"json": content}))

    return talk(service_of(decoder, **limits), conversation)


class Refused(Exception):
    """The status and the message of an answer that is no result."""


def asked(content: Any, path: str = "/decode", rules: Any = (), model: Any = None, **limits: Any) -> None:
    """Raise what a service of these rules refuses a request with."""
    response = post(Decoder(rules, model=model), path, content, **limits)
    if response.status_code != 200:
        raise Refused(f"{response.status_code} {response.json()['detail']}")


async def until(happened: Callable[[], object]) -> None:
    """Let other tasks run until something has happened."""
    async with asyncio.timeout(GENEROUS):
        while not happened():
            await asyncio.sleep(0.001)
