"""The service as an ASGI application."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ilpinfer.errors import describe, where
from ilpinfer.serving.description import PAGES, About, complete, operation, page
from ilpinfer.serving.refusal import FAILED, GONE, TOO_SLOW, Refusal, too_large
from ilpinfer.serving.requests import BatchRequest, DecodeRequest
from ilpinfer.serving.service import Service

logger = logging.getLogger("ilpinfer.serving")

DESCRIPTION = """Exact, constrained decoding of label sequences: scores and rules in, a proved labelling out.
Scores are in nats, times in seconds. A deadline counts from the arrival of a request. A request that cannot be answered in time is refused with
status 503 and the header Retry-After."""
FILES = {"style.css": "text/css", "workbench.js": "text/javascript", "docs.js": "text/javascript"}
ONLY_OWN = {
    "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
}
"""Headers of pages, which load nothing from elsewhere."""
Answer = Callable[[bytes, float], Awaitable[dict[str, Any]]]


def build(service: Service) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(service.lag.watch())
        yield
        watching.cancel()
        service.close()

    app = FastAPI(
        title="ilpinfer",
        version=version("ilpinfer"),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )

    @app.post("/decode", summary="Decode one sequence", **operation(service.decoder, DecodeRequest))
    async def decode(request: Request) -> Response:
        return await _answer(service, "/decode", request, service.single)

    @app.post(
        "/batch",
        summary="Decode many sequences, with one deadline",
        **operation(service.decoder, BatchRequest),
    )
    async def batch(request: Request) -> Response:
        return await _answer(service, "/batch", request, service.several)

    @app.get("/health", summary="Whether the process is alive")
    async def health() -> Response:
        return _json(200, {"status": "alive"})

    @app.get("/ready", summary="Whether requests are answered")
    async def ready() -> Response:
        return _json(200, {"status": "ready"})

    @app.get("/metrics", summary="Counters in the text format of Prometheus")
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/about", summary="What the service decodes with: rules, labels, examples", response_model=About)
    async def about() -> Response:
        return _json(200, service.about)

    @app.get("/", include_in_schema=False)
    async def workbench() -> Response:
        return Response((PAGES / "workbench.html").read_bytes(), 200, ONLY_OWN, "text/html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(page(app.openapi()), 200, ONLY_OWN, "text/html")

    @app.get("/pages/{name}", include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in FILES:
            raise HTTPException(404)
        return Response((PAGES / name).read_bytes(), media_type=FILES[name])

    @app.exception_handler(HTTPException)
    async def elsewhere(request: Request, error: HTTPException) -> Response:
        """The answer to a path or a method that there is not."""
        path, allowed = request.url.path[:60], (error.headers or {}).get("Allow", "")
        if error.status_code == 405:
            return _json(
                405,
                {"detail": f"{path}: {request.method} is not answered; use {allowed}"},
                {"Allow": allowed},
            )
        return _json(
            404, {"detail": f"{path}: there is no such path; POST to /decode or /batch, or see /docs"}
        )

    app.openapi = partial(complete, app, app.openapi)  # type: ignore[method-assign]
    return app


async def _answer(service: Service, path: str, request: Request, answer: Answer) -> Response:
    """The response to a request; the metrics count it."""
    arrived = time.perf_counter() - service.lag.seconds
    try:
        body = await _body(request, service.limits.body, service.limits.longest_deadline)
        response = _json(200, await answer(body, arrived))
    except Refusal as refusal:
        service.metrics.refused.labels(refusal.reason).inc()
        response = _json(refusal.status, refusal.body, refusal.headers)
    except Exception as error:
        logger.error("%s: %s", path, where(error))
        service.metrics.refused.labels("failed").inc()
        response = _json(FAILED, {"detail": f"decoding failed: {describe(error)}"})
    service.metrics.requests.labels(path, response.status_code).inc()
    service.metrics.seconds.labels(path).observe(time.perf_counter() - arrived)
    return response


async def _body(request: Request, most: int, seconds: float) -> bytes:
    """The body; Refusal for a body that is too large, or that does not arrive in time."""
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said[:20]) > most:
        raise _too_large(int(said[:20]), most)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise _too_large(len(body), most)
    except TimeoutError:
        message = f"body: not complete after {seconds:g} s; send it at once"
        raise Refusal(TOO_SLOW, message, "slow") from None
    except ClientDisconnect:
        raise Refusal(GONE, "body: the client closed the connection before its end", "gone") from None
    return bytes(body)


def _too_large(count: int, most: int) -> Refusal:
    return too_large(f"body: {count} bytes; at most {most} are accepted, send less at once")


def _json(status: int, value: Any, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8", "backslashreplace"), status, headers, media_type="application/json")
