"""The service as an ASGI application, with the page of the workbench."""

import asyncio
import contextlib
import json
import logging
import math
from collections.abc import Iterable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, exposition
from pydantic import TypeAdapter
from starlette.requests import ClientDisconnect

from formulations import dump_rules
from ilpinfer.core.deadline import Deadline
from ilpinfer.corpus.examples import InputError
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.errors import describe, where
from ilpinfer.serving.decoding import RecordDecoder, Row, failed_row
from ilpinfer.serving.limits import Limits
from ilpinfer.serving.requests import BatchRequest, DecodeRequest, LimitError, RequestOptions, read_request
from ilpinfer.serving.work_queue import PATIENCE, Busy, WorkQueue, late

logger = logging.getLogger("ilpinfer.serving")

TOO_LARGE, INVALID, GONE, FAILED, UNAVAILABLE = 413, 422, 499, 500, 503
PAGES = Path(__file__).parent / "pages"
ONLY_OWN = {"Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'"}
"""Headers of a page that loads nothing from elsewhere."""
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper ends of the histograms of seconds."""


class Service:
    """A decoder with a queue and metrics; arguments as of `create_app`."""

    def __init__(self, decoder: Decoder, limits: Limits, scheme: str) -> None:
        self.limits, self.records = limits, RecordDecoder(decoder, scheme, limits)
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"namespace": "ilpinfer", "registry": self.registry}
        self.requests = Counter("requests", "Requests by path and status of HTTP.", ["path", "status"], **own)
        self.sequences = Counter("sequences", "Sequences by status of their solution.", ["status"], **own)
        self.seconds = Histogram(
            "request_seconds", "Seconds from arrival to answer.", ["path"], **own, buckets=BUCKETS
        )
        waited = Histogram("queue_seconds", "Seconds from arrival to work.", **own, buckets=BUCKETS)
        self.queue = queue = WorkQueue(limits.workers, limits.queue, waited.observe)
        waiting = Gauge("queue_length", "Requests that wait for a thread.", **own)
        waiting.set_function(lambda: queue.waiting)
        running = Gauge("running", "Requests that threads work on.", **own)
        running.set_function(lambda: queue.running)

    async def answer(self, kind: type[RequestOptions], body: bytes, deadline: Deadline) -> Row:
        """The answer to a request; Busy if no sequence is decoded in time."""
        request, record = read_request(kind, body, self.limits)
        deadline.limit = request.deadline or self.limits.deadline
        if not isinstance(request, BatchRequest):
            row: Row = await self.queue.run(
                partial(self.records.row, record, "body", request, deadline), deadline
            )
            self._count(row)
            return row
        rows = dict[int, Row]()
        try:
            work = partial(self.records.fill, rows, request.sequences, request, deadline)
            await self.queue.run(work, deadline)
        except Busy:
            if not rows:
                raise
        results = [rows.get(n) or failed_row(late(deadline)) for n in range(len(request.sequences))]
        for row in results:
            self._count(row)
        return {"results": results}

    def _count(self, row: Row) -> None:
        self.sequences.labels("error" if row.get("error") else row["status"]).inc()


def build(service: Service, examples: Iterable[dict[str, Any]] = (), rules_text: str = "") -> FastAPI:
    app = FastAPI(title="ilpinfer", version=version("ilpinfer"), docs_url=None, redoc_url=None)
    app.mount("/pages", StaticFiles(directory=PAGES))
    page = _page(service, examples, rules_text)

    @app.post("/decode", summary="Decode one sequence", openapi_extra=_body_of(DecodeRequest))
    async def decode(request: Request) -> Response:
        return await _answer(service, DecodeRequest, request)

    @app.post("/batch", summary="Decode many sequences", openapi_extra=_body_of(BatchRequest))
    async def batch(request: Request) -> Response:
        return await _answer(service, BatchRequest, request)

    @app.get("/ready", summary="Whether requests are answered")
    async def ready() -> dict[str, str]:
        return {"status": "ready"}

    @app.get("/metrics", summary="Counters in the text format of Prometheus")
    async def metrics() -> Response:
        text = exposition.generate_latest(service.registry)
        return Response(text, media_type=exposition.CONTENT_TYPE_LATEST)

    @app.get("/", include_in_schema=False)
    async def workbench() -> Response:
        return Response(page, headers=ONLY_OWN, media_type="text/html")

    return app


def _body_of(kind: type[RequestOptions]) -> dict[str, Any]:
    """What OpenAPI says about a body, which is read whatever type of content its header names."""
    content = {"application/json": {"schema": TypeAdapter(kind).json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


async def _answer(service: Service, kind: type[RequestOptions], request: Request) -> Response:
    """The response to a request; the metrics count it."""
    deadline, path, content, headers = Deadline(), request.url.path, {}, {}
    try:
        body = await _body(request, service.limits.body, service.limits.longest_deadline)
        status, content = 200, await service.answer(kind, body, deadline)
    except ClientDisconnect:
        status = GONE
    except InputError as error:
        status, content = TOO_LARGE if isinstance(error, LimitError) else INVALID, {"detail": str(error)}
    except Busy as busy:
        status, content = UNAVAILABLE, {"detail": str(busy)}
        headers = {"Retry-After": str(max(1, math.ceil(PATIENCE * deadline.limit)))}
    except Exception as error:
        logger.error("%s: %s", path, where(error))
        status, content = FAILED, {"detail": f"decoding failed: {describe(error)}"}
    service.requests.labels(path, status).inc()
    service.seconds.labels(path).observe(deadline.elapsed)
    text = json.dumps(content, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
    return Response(text, status, headers, "application/json")


async def _body(request: Request, most: int, seconds: float) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise LimitError(f"body: more than {most} bytes, which is the limit; send less at once")
    except TimeoutError:
        raise InputError(f"body: not complete after {seconds:g} s; send it at once") from None
    return bytes(body)


def _page(service: Service, examples: Iterable[dict[str, Any]], rules_text: str) -> str:
    """The page of the workbench, which knows rules as text, if they have a form, bytes that a text may have, and examples."""
    decoder, rules = service.records.decoder, None
    with contextlib.suppress(ValueError):  # of rules from Python that have no form in a file
        rules = rules_text or dump_rules(decoder.rules)
    known = {"rules": rules, "rule_text": service.limits.rule_text, "examples": list(examples)}
    about = json.dumps({**known, "model": decoder.model is not None})
    return (PAGES / "workbench.html").read_text("utf-8").replace("{about}", about.replace("<", r"\u003c"))
